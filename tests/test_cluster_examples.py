"""The files under examples/clusters, as far as they can be tested without Slurm and Kubernetes."""

import ast
import re
import runpy
import shlex
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

import click
import pytest
import yaml
from distributed.cli.dask_scheduler import main as scheduler
from distributed.cli.dask_worker import main as worker
from sentences import refused

from features.core.faults import CertificatesWrong
from flows.clusters.cluster_security import of_existing
from flows.command_line import cli
from flows.project import ClusterSettings
from tests.flows.clusters.test_external_cluster import write_certificates

COMMANDS = {"dask scheduler": scheduler, "dask worker": worker}


@pytest.fixture
def folder(root: Path) -> Path:
    return root / "examples" / "clusters"


@pytest.fixture
def manifests(folder: Path) -> list[dict]:
    return list(yaml.safe_load_all((folder / "kubernetes.yaml").read_text()))


def options_of(command: click.Command) -> set[str]:
    return {name for option in command.params for name in (*option.opts, *option.secondary_opts)}


def assert_known(words: list[str]) -> None:
    """Check that the commands and options in a command line of Dask or facetflow exist."""
    if words[0] == "dask":
        known = options_of(COMMANDS[f"dask {words[1]}"])
    else:
        assert words[0] == "facetflow"
        name = next(word for word in words if word in cli.list_commands(click.Context(cli)))
        _, command, _ = cli.resolve_command(click.Context(cli), [name])
        assert command is not None
        known = options_of(cli) | options_of(command)
    given = {word for word in words if word.startswith("--")}
    assert given <= known, f"{words}: {given - known}"


def command_lines(text: str) -> list[list[str]]:
    """Return the commands of Dask and facetflow in a shell script or a page."""
    joined = re.sub(r"\\\n\s*", " ", text)
    found = re.findall(
        r"(?:^|srun \S+ )((?:dask (?:scheduler|worker)|facetflow --project) .*?)\s*&?$", joined, re.MULTILINE
    )
    return [shlex.split(re.sub(r'"\$\(\(.*?\)\)\w*"', "1", line), comments=True) for line in found]


@pytest.mark.parametrize("script", ["certificates.sh", "slurm.sh"])
def test_scripts_are_bash(folder: Path, script: str) -> None:
    subprocess.run(["/bin/bash", "-n", str(folder / script)], check=True)


@pytest.mark.parametrize("page", ["examples/clusters/slurm.sh", "docs/howto/clusters.md"])
def test_commands_have_the_options_that_they_are_given(root: Path, page: str) -> None:
    lines = command_lines((root / page).read_text())
    assert [words[:2] for words in lines][:2] == [["dask", "scheduler"], ["dask", "worker"]]
    for words in lines:
        assert_known(words)


def test_manifests_are_yaml_and_their_commands_have_these_options(manifests: list[dict]) -> None:
    kinds = [document["kind"] for document in manifests]
    assert kinds == ["PersistentVolumeClaim", "DaskCluster", "DaskWorkerGroup", "Job"]
    _, dask, group, job = manifests
    specs = [dask["spec"]["scheduler"]["spec"], dask["spec"]["worker"]["spec"], group["spec"]["worker"]["spec"]]
    specs.append(job["spec"]["template"]["spec"])
    for spec in specs:
        (container,) = spec["containers"]
        assert_known(container.get("args") or container["command"])
        assert {mount["name"] for mount in container["volumeMounts"]} == {volume["name"] for volume in spec["volumes"]}
    images = {spec["containers"][0]["image"] for spec in specs}
    assert len(images) == 1, "one image, so that versions are the same"
    address = f"tls://{dask['metadata']['name']}-scheduler:8786"
    workers, flow = specs[1]["containers"][0]["args"], specs[3]["containers"][0]["command"]
    assert all(address in container for container in (workers, flow))
    assert group["spec"]["cluster"] == dask["metadata"]["name"]
    of_cpus, of_gpus = (worker["containers"][0]["env"] for worker in specs[1:3])
    assert of_cpus == of_gpus


def test_the_script_for_dask_jobqueue_is_python(folder: Path) -> None:
    tree = ast.parse((folder / "jobqueue.py").read_text())
    imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert imported == {"pathlib", "dask_jobqueue", "distributed.security"}


def test_jobs_of_dask_jobqueue_read_credentials_and_hold_none(folder: Path, tmp_path: Path) -> None:
    """With dask-jobqueue's own SLURMCluster, which is not among our packages: `pip install dask-jobqueue`."""
    pytest.importorskip("dask_jobqueue", reason="needs dask-jobqueue")
    write_certificates(tmp_path)
    namespace = runpy.run_path(str(folder / "jobqueue.py"))
    with namespace["cluster"](tmp_path, tmp_path / "of s3") as started:
        script = started.job_script()
    assert subprocess.run(["/bin/bash", "-n"], input=script, text=True, check=False).returncode == 0
    assert f"source '{tmp_path / 'of s3'}'" in script.splitlines()
    assert "#SBATCH --mem=8G" in script
    assert "--resources CPU=1" in script
    assert "tls://" in script


def test_manifests_are_valid_for_kubernetes_and_the_operator(manifests: list[dict]) -> None:
    """By the schemas of dask-kubernetes and kubernetes-validate, which are not among our packages."""
    operator = find_spec("dask_kubernetes")  # its files are enough; importing it needs a dozen packages
    if operator is None or operator.origin is None:
        pytest.skip("needs dask-kubernetes")
    validator = pytest.importorskip("kubernetes_validate", reason="needs kubernetes-validate")
    jsonschema = pytest.importorskip("jsonschema")
    custom = {}
    for name in ("cluster", "workergroup"):
        (file,) = Path(operator.origin).parent.rglob(f"crds/dask{name}.yaml")  # what its Helm chart installs
        definition = yaml.safe_load(file.read_text())
        (version,) = definition["spec"]["versions"]
        custom[definition["spec"]["names"]["kind"]] = version["schema"]["openAPIV3Schema"]
    assert {"DaskCluster", "DaskWorkerGroup"} <= custom.keys()
    for document in manifests:
        if document["kind"] in custom:
            jsonschema.validate(document, custom[document["kind"]])
            specs = [document["spec"][part]["spec"] for part in ("worker", "scheduler") if part in document["spec"]]
            pods = [{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}, "spec": spec} for spec in specs]
        else:
            pods = [document]
        for pod in pods:
            validator.validate(pod, validator.latest_version(), strict=True)


def test_every_pod_that_touches_the_store_has_its_credentials(manifests: list[dict]) -> None:
    _, dask, group, job = manifests
    pods = [dask["spec"]["worker"]["spec"], group["spec"]["worker"]["spec"], job["spec"]["template"]["spec"]]
    for pod in pods:
        assert pod["containers"][0]["envFrom"] == [{"secretRef": {"name": "s3-credentials"}}]
    volumes = [[volume["name"] for volume in pod["volumes"]] for pod in pods]
    assert volumes == [["certificates"], ["certificates"], ["project", "certificates"]], "workers share no volume"


def test_the_certificates_that_the_script_makes_are_taken(folder: Path, tmp_path: Path) -> None:
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl")
    made = tmp_path / "certificates"
    script = ["/bin/bash", str(folder / "certificates.sh"), str(made)]
    subprocess.run(script, check=True, capture_output=True)
    assert {path.stat().st_mode & 0o077 for path in (made, *made.glob("*key.pem"))} == {0}
    files = {f"tls_{name}": made / f"{name}.pem" for name in ("ca", "cert", "key")}
    assert of_existing(ClusterSettings(address="tls://server:8786", **files)).require_encryption
    files["tls_key"] = made / "ca-key.pem"
    with refused(CertificatesWrong):
        of_existing(ClusterSettings(address="tls://server:8786", **files))
    again = subprocess.run(script, check=False, capture_output=True, text=True)
    assert again.returncode == 1
    assert again.stderr == f"certificates.sh: {made} has certificates already\n"


def test_certificates_of_which_a_run_made_a_part_are_made_again(folder: Path, tmp_path: Path) -> None:
    if (real := shutil.which("openssl")) is None:
        pytest.skip("needs openssl")
    script = ["/bin/bash", str(folder / "certificates.sh"), str(tmp_path / "certificates")]
    (tmp_path / "openssl").write_text(f'#!/bin/bash\n[ "$1" = x509 ] || exec {real} "$@"\nexit 1\n')
    (tmp_path / "openssl").chmod(0o755)
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    assert subprocess.run(script, env=environment, check=False, capture_output=True).returncode == 1
    subprocess.run(script, check=True, capture_output=True)


def test_a_job_of_slurm_ends_when_its_scheduler_does(folder: Path, tmp_path: Path) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, line in {"activate": "", "dask": "exit 1", "python": "exit 1", "srun": "exit 1", "hostname": ""}.items():
        (programs / name).write_text(f"#!/bin/bash\n{line}\n")
        (programs / name).chmod(0o755)
    of_slurm = {"SLURM_NTASKS": "1", "SLURM_CPUS_PER_TASK": "2", "SLURM_MEM_PER_CPU": "4096", "SLURM_JOB_ID": "7"}
    done = subprocess.run(
        ["/bin/bash", str(folder / "slurm.sh"), "project"],
        env={
            **of_slurm,
            "FACETFLOW_ENVIRONMENT": str(tmp_path),
            "HOME": str(tmp_path),
            "PATH": f"{programs}:/usr/bin:/bin",
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "slurm.sh: the scheduler or all workers have ended, see above"


@pytest.mark.parametrize("path", ["docs/howto/clusters.md", "examples/clusters/slurm.sh"])
def test_no_http_server_of_dask_listens_on_every_interface(root, path):
    """One does without an address, also with --no-dashboard."""
    text = (root / path).read_text().replace("\\\n", " ")
    commands = [
        line for line in text.splitlines() if re.search(r"\bdask (scheduler|worker) .*--protocol|dask worker tls", line)
    ]
    assert len(commands) == 2
    assert all("--dashboard-address 127.0.0.1:" in command for command in commands)
