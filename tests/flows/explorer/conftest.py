"""A running explorer: of a folder without a project, and of a project with two releases' worth of pairs."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import httpx
import polars as pl
import pytest

from features import models
from features.core.types import RejectCode
from features.sentences import sentence_id
from features.stage_output import Reject, StageOutput, rejects_frame
from features.stages.stage import Recipe
from features.store.fingerprints import fingerprint
from features.store.releases import Release, write_release
from features.store.store import Store
from features.store.tables import TABLES
from flows.console.explaining import Explainer
from flows.console.here import Here
from flows.explorer.server import Explorer
from flows.explorer.session import Session

PROJECT = 'name = "mine"\n[[corpora]]\ndataset = "pairs"\nname = "own"\nfiles = { train = "pairs.tsv" }\n'
HOSTILE = "<script>alert(1)</script> \"' onmouseover=alert(1) "
TEXTS = ("Two cats look.", "A cat looks.", "Prices fall.", f"{HOSTILE}Prices rise.")


@dataclass
class Visitor:
    """A browser with the cookie of an explorer."""

    explorer: Explorer
    session: Session
    client: httpx.Client

    def page(self, address: str, status: int = 200) -> str:
        answer = self.client.get(address)
        assert answer.status_code == status, answer.text
        return answer.text

    def json(self, address: str, status: int = 200) -> object:
        answer = self.client.get(address, headers={"Accept": "application/json"})
        assert answer.status_code == status, answer.text
        return answer.json()


@contextmanager
def visited(here: Here) -> Iterator[Visitor]:
    """Serve a session to one client that has opened the printed address."""
    session = Session(here, Explainer(here, None))
    explorer = Explorer(session)
    thread = threading.Thread(target=explorer.run)
    thread.start()
    try:
        with httpx.Client(
            base_url=f"http://127.0.0.1:{explorer.port}", timeout=600, follow_redirects=True, trust_env=False
        ) as client:
            assert client.get(explorer.address).status_code == 200
            yield Visitor(explorer, session, client)
    finally:
        explorer.stop()
        thread.join()


@pytest.fixture(scope="session")
def anywhere():
    """An explorer in a folder without a project."""
    if models.bundled_encoder() is None:
        pytest.skip("needs the model all-MiniLM-L6-v2: facetflow models pull")
    with visited(Here()) as visitor:
        yield visitor


@pytest.fixture(scope="session")
def in_project(tmp_path_factory):
    """An explorer of a project with a release of pairs, measured, one of them hostile, and a rejected row."""
    folder = tmp_path_factory.mktemp("mine")
    (folder / "facetflow.toml").write_text(PROJECT)
    (folder / "pairs.tsv").write_text("sentence_a\tsentence_b\nA boy\t\n")
    make_store(folder / "store")
    with visited(Here.read(folder / "facetflow.toml")) as visitor:
        yield visitor


def make_store(folder):
    store = Store.open(folder, create=True, project="mine")
    ids = [sentence_id(text) for text in TEXTS]
    pairs = [("p1", "train", 0, 1, 0.75), ("p2", "dev", 0, 2, 0.25), ("p3", "dev", 2, 3, 0.5)]
    rows = {
        "sentences": [{"sentence_id": each, "text": text} for each, text in zip(ids, TEXTS, strict=True)],
        "pairs": [
            {"pair_id": name, "corpus": "own", "split": split, "sentence_a": ids[a], "sentence_b": ids[b]}
            for name, split, a, b, _ in pairs
        ],
        "metrics": [{"pair_id": name, "smatch": smatch} for name, _, _, _, smatch in pairs],
    }
    recipes = {name: Recipe(name, {}) for name in (*rows, "ingest")}
    receipts = [
        store.write_shard(
            name, f"{name}-00000", fingerprint(recipes[name], []), StageOutput(pl.DataFrame(of, schema=TABLES[name]))
        )
        for name, of in rows.items()
    ]
    rejects = [Reject("pairs.tsv:2", RejectCode.EMPTY_SENTENCE, "pairs.tsv:2: a sentence is empty")]
    receipts.append(store.write_rejects("ingest", "ingest", fingerprint(recipes["ingest"], []), rejects_frame(rejects)))
    store.commit(receipts, run_id="made", recipes=recipes)
    versions = store.versions()
    release = Release(
        number=1,
        run_id="made",
        created="2026-03-01T09:00:00+00:00",
        code_version="0",
        versions={name: versions[name] for name in (*rows, "rejects")},
        recipes={name: recipes[name].as_dict() for name in rows},
        rows={name: len(of) for name, of in rows.items()},
        rejects={},
    )
    write_release(store.storage, release)
