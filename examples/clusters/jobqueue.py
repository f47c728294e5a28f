"""A build on workers that dask-jobqueue submits to Slurm, as many as there is work for.

    pip install dask-jobqueue
    bash certificates.sh ~/.dask-certificates                   # once
    python jobqueue.py my-project --jobs 16 --credentials ~/.s3-credentials

Run it on a login node, or in a job of its own. With `store = "s3://bucket/prefix"` in the project file, nodes need to
share no more than the environment and the certificates, and the file of credentials, which has the lines
`export AWS_ACCESS_KEY_ID=...` and `export AWS_SECRET_ACCESS_KEY=...` and is readable by its owner only: a job reads it,
so that no secret is in its script. Without it, the store lies on a file system that all nodes share.
"""

import argparse
import shlex
import subprocess
import sys
from pathlib import Path

from dask_jobqueue import SLURMCluster
from distributed.security import Security


def cluster(certificates: Path, credentials: Path | None) -> SLURMCluster:
    """Return a cluster without jobs: a scheduler here, and what a job of one worker runs."""
    ca, certificate, key = (str(certificates / name) for name in ("ca.pem", "cert.pem", "key.pem"))
    security = Security(
        require_encryption=True,
        tls_ca_file=ca,
        **{f"tls_{role}_cert": certificate for role in ("client", "scheduler", "worker")},
        **{f"tls_{role}_key": key for role in ("client", "scheduler", "worker")},
    )
    # Dask's own value would have freed memory given back at once, which makes a build a fifth longer.
    freed = """export DASK_DISTRIBUTED__NANNY__PRE_SPAWN_ENVIRON='{"MALLOC_TRIM_THRESHOLD_": None}'"""
    prologue = ["export OMP_NUM_THREADS=1 TOKENIZERS_PARALLELISM=false", freed]
    if credentials is not None:
        prologue.append(f"source {shlex.quote(str(credentials))}")
    return SLURMCluster(
        protocol="tls://",
        security=security,
        cores=1,
        processes=1,
        memory="8GiB",
        walltime="08:00:00",
        worker_extra_args=["--resources", "CPU=1", "--no-dashboard", "--dashboard-address", "127.0.0.1:0"],
        job_script_prologue=prologue,
    )


def main() -> None:
    """Start the cluster, wait for the first worker, and build."""
    parser = argparse.ArgumentParser()
    parser.add_argument("project", type=Path, help="folder of the project")
    parser.add_argument("--jobs", type=int, default=8, help="workers, a Slurm job each")
    parser.add_argument("--certificates", type=Path, default=Path.home() / ".dask-certificates")
    parser.add_argument("--credentials", type=Path, help="shell file that exports the credentials of S3")
    arguments = parser.parse_args()
    with cluster(arguments.certificates, arguments.credentials) as started:
        started.scale(jobs=arguments.jobs)
        with started.get_client() as client:
            client.wait_for_workers(1)
        # The project file names the certificates: tls_ca, tls_cert and tls_key in [cluster].
        command = ["facetflow", "--project", str(arguments.project), "build"]
        sys.exit(subprocess.call([*command, "--dask-address", started.scheduler_address]))


if __name__ == "__main__":
    main()
