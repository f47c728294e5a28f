"""A build on workers that dask-jobqueue submits to Slurm, as many as there is work for.

    pip install dask-jobqueue
    bash certificates.sh ~/.dask-certificates                   # once
    python jobqueue.py /shared/my-project --jobs 16

Run it on a login node, or in a job of its own. The project lies on a file system that all nodes share.
"""

import argparse
import subprocess
import sys
from pathlib import Path

from dask_jobqueue import SLURMCluster
from distributed.security import Security


def main() -> None:
    """Start the cluster, wait for the first worker, and build."""
    parser = argparse.ArgumentParser()
    parser.add_argument("project", type=Path, help="folder of the project")
    parser.add_argument("--jobs", type=int, default=8, help="workers, a Slurm job each")
    parser.add_argument("--certificates", type=Path, default=Path.home() / ".dask-certificates")
    arguments = parser.parse_args()
    ca, certificate, key = (str(arguments.certificates / name) for name in ("ca.pem", "cert.pem", "key.pem"))
    security = Security(
        require_encryption=True,
        tls_ca_file=ca,
        **{f"tls_{role}_cert": certificate for role in ("client", "scheduler", "worker")},
        **{f"tls_{role}_key": key for role in ("client", "scheduler", "worker")},
    )
    with SLURMCluster(
        protocol="tls://",
        security=security,
        cores=1,
        processes=1,
        memory="8GiB",
        walltime="08:00:00",
        worker_extra_args=["--resources", "CPU=1", "--no-dashboard", "--dashboard-address", "127.0.0.1:0"],
        job_script_prologue=["export OMP_NUM_THREADS=1 TOKENIZERS_PARALLELISM=false"],
    ) as cluster:
        cluster.scale(jobs=arguments.jobs)
        with cluster.get_client() as client:
            client.wait_for_workers(1)
        # The project file names the certificates: tls_ca, tls_cert and tls_key in [cluster].
        command = ["facetflow", "--project", str(arguments.project), "build"]
        sys.exit(subprocess.call([*command, "--dask-address", cluster.scheduler_address]))


if __name__ == "__main__":
    main()
