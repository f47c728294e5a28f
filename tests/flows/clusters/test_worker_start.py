"""The process that workers are copied from: only what the stages of a project need, and no threads."""

import multiprocessing
import subprocess
import sys

import pytest
from sentences import refused

from features.core.faults import FileSystem
from flows.clusters.worker_start import get_ready, modules, starting
from flows.project import Project

PLAIN = {"name": "p", "corpora": [{"dataset": "example"}]}
THREADS = """
import importlib, os, sys
for name in sys.argv[1:]:
    importlib.import_module(name)
names = [open(f"/proc/self/task/{thread}/comm").read() for thread in os.listdir("/proc/self/task")]
print(len(names) - names.count("jemalloc_bg_thd\\n"))
"""


def project(**sections):
    return Project.model_validate(PLAIN | sections)


def test_a_project_with_graphs_of_its_own_needs_no_torch():
    off = {"enabled": False}
    given = project(
        amr={"graphs": ["g.amr"]},
        dependencies=off,
        srl=off,
        embeddings=off,
        label_vectors={"backend": "glove", "file": "v"},
    )
    assert not {"torch", "sentence_transformers", "spacy"} & set(modules(given))
    assert {"torch", "sentence_transformers", "spacy"} <= set(modules(project(dependencies={"enabled": True})))


def test_what_no_encoder_reads_is_not_imported():
    assert "spacy" not in modules(project())


def test_a_gpu_is_left_to_the_worker_that_sees_it():
    assert not {"torch", "sentence_transformers"} & set(modules(project(cluster={"gpu_workers": 1})))


@pytest.mark.slow
@pytest.mark.soak
def test_what_is_imported_ahead_has_no_thread_that_a_copy_would_lack():
    """Where pandas is installed, torch's libraries import it and it imports pyarrow, whose allocator has a thread: the
    allocator starts that anew in a copy."""
    run = subprocess.run(
        [sys.executable, "-c", THREADS, *modules(project())],
        env={"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    assert run.stdout.strip() == "1"


def test_no_garbage_is_looked_for_while_the_rest_is_imported(monkeypatch):
    given = []
    monkeypatch.setattr("multiprocessing.forkserver.set_forkserver_preload", given.extend)
    monkeypatch.setattr("multiprocessing.forkserver.ensure_running", lambda: None)
    get_ready(project())
    first, *between, last = given
    assert tuple(between) == modules(project())
    code = f"import gc, {first}; print(gc.isenabled()); import {last}; print(gc.isenabled(), gc.get_freeze_count() > 0)"
    run = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=True)
    assert run.stdout == "False\nTrue True\n"


def test_who_imports_metrics_and_facets_does_not_wait_for_scipy():
    modules = "features.metrics.measurement, training.encoders.s3bert.facets"
    code = f"import {modules}, sys; print({{'scipy.stats', 'scipy.optimize', 'scipy.special'}} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=True)
    assert run.stdout == "set()\n"


def test_an_existing_cluster_has_workers_of_its_own(monkeypatch):
    monkeypatch.setattr("multiprocessing.forkserver.ensure_running", lambda: pytest.fail("nothing is to be started"))
    get_ready(project(), "tcp://host:8786")
    get_ready(project(cluster={"address": "tcp://host:8786"}))


def test_a_temporary_folder_whose_path_is_too_long_for_sockets_is_refused(tmp_path, monkeypatch):
    (folder := tmp_path / ("t" * 80)).mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    monkeypatch.setattr(multiprocessing.current_process(), "_config", {})
    with refused(FileSystem), starting({}):
        pass
