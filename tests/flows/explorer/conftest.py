"""A running explorer: of a folder without a project, and of a project with two releases and a training."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlencode

import click
import httpx
import polars as pl
import pytest

from features import models
from features.core.types import RejectCode
from features.graphs.batch import graphs_frame
from features.graphs.graph import AmrGraph
from features.schemas import Reject, StageOutput, rejects_frame
from features.sentences import sentence_id
from features.stages.registry import TABLES
from features.stages.stage import Recipe
from features.store.fingerprints import fingerprint
from features.store.releases import Release, write_release
from features.store.store import Store
from flows.console.explaining import Explainer
from flows.console.here import Here
from flows.explorer.server import Explorer
from flows.explorer.session import Session

PROJECT = 'name = "mine"\n[[corpora]]\ndataset = "pairs"\nname = "own"\nfiles = { train = "pairs.tsv" }\n'
HOSTILE = "<script>alert(1)</script> \"' onmouseover=alert(1) "
TEXTS = (
    *("Two cats look.", "A cat looks.", "Prices fall.", f"{HOSTILE}Prices rise."),
    *(f"{who} {does}." for who in ("A dog", "The boy", "The lawyer") for does in ("sleeps", "sees a cat", "sings")),
)
TOPICS = ("animals", "animals", "prices", f"{HOSTILE}prices")
RUN = "<i>own/00001-abcdef/seed-0"


@dataclass
class Visitor:
    """A browser with the cookie of an explorer."""

    explorer: Explorer
    session: Session
    client: httpx.Client
    texts: tuple[str, ...] = TEXTS

    def page(self, address: str, status: int = 200) -> str:
        answer = self.client.get(address)
        assert answer.status_code == status, answer.text
        return answer.text

    def json(self, address: str, status: int = 200) -> object:
        answer = self.client.get(address, headers={"Accept": "application/json"})
        assert answer.status_code == status, answer.text
        return answer.json()


def address_of(**values: str) -> str:
    """Return the query of an address."""
    return urlencode(values)


@contextmanager
def visited(here: Here, encoder: str | None = None) -> Iterator[Visitor]:
    """Serve a session to one client that has opened the printed address."""
    with click.Context(click.Command("explore")):
        session = Session(here, Explainer(here, encoder))
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
def of_a_map():
    """An explorer in a folder without a project, with an encoder that is a map of its start model's embeddings."""
    if models.bundled_encoder() is None:
        pytest.skip("needs the model all-MiniLM-L6-v2: facetflow models pull")
    with visited(Here(), models.BUNDLED_MAP) as visitor:
        yield visitor


@pytest.fixture(scope="session")
def in_project(tmp_path_factory):
    """An explorer of a project with two releases of measured pairs, hostile texts and labels, and a training."""
    folder = tmp_path_factory.mktemp("mine")
    (folder / "facetflow.toml").write_text(PROJECT)
    (folder / "pairs.tsv").write_text("sentence_a\tsentence_b\nA boy\t\n")
    make_store(folder / "store")
    run = folder / "runs" / RUN
    run.mkdir(parents=True)
    (run / "train.json").write_text("{}")
    (run / "run.json").write_text(json.dumps({"state": "failed", "message": f"{HOSTILE}", "at": "2026-03-01T09:00:00"}))
    course = [{"step": 10, "loss": 0.5}, {"step": 20, "loss": 0.25, "epoch": 1}, {"step": 20, "dev_<b>": 0.4}]
    (run / "progress.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in course) + '{"step": 30, "lo')
    with visited(Here.read(folder / "facetflow.toml")) as visitor:
        yield visitor


def make_store(folder):
    store = Store.open(folder, create=True, project="mine")
    ids = [sentence_id(text) for text in TEXTS]
    pairs = [("p1", "train", 0, 1), ("p2", "dev", 0, 2), ("p3", "dev", 2, 3)]
    graph = AmrGraph(["look-01", "cat"], [(1, ":quant", "2")], [(0, ":ARG0", 1)])
    parsed = {"sentence_id": ids[0], "parser": "none"}
    words = ["Two", "cats", "look", "."]
    rows = {
        "sentences": [{"sentence_id": each, "text": text} for each, text in zip(ids, TEXTS, strict=True)],
        "pairs": [
            {"pair_id": name, "corpus": "own", "split": split, "sentence_a": ids[a], "sentence_b": ids[b]}
            for name, split, a, b in pairs
        ],
        "labels": [
            {"label_id": f"l{n}", "corpus": "own", "split": "train", "sentence": of, "aspect": "topic"}
            | {"label": TOPICS[n % len(TOPICS)]}
            for n, of in enumerate(ids)
        ],
        "amr": [parsed | {"penman": "(l / look-01)"} | graphs_frame([graph]).to_dicts()[0]],
        "dependencies": [
            parsed
            | {"tokens": words, "lemmas": words, "tags": words, "starts": [0, 4, 9, 13], "heads": [1, 2, 2, 2]}
            | {"relations": ["nummod", "nsubj", "ROOT", "punct"]}
        ],
        "srl": [
            parsed
            | {"words": words, "predicates": [2], "span_frames": [0, 0], "span_labels": ["ARG0", "V"]}
            | {"span_starts": [0, 2], "span_ends": [2, 3]}
        ],
    }
    recipes = {name: Recipe(name, {}) for name in (*rows, "metrics", "ingest")}
    receipts = [_written(store, name, recipes[name], of) for name, of in rows.items()]
    rejects = [Reject("pairs.tsv:2", RejectCode.EMPTY_SENTENCE, "pairs.tsv:2: a sentence is empty")]
    receipts.append(store.write_rejects("ingest", "ingest", fingerprint(recipes["ingest"], []), rejects_frame(rejects)))
    for number, values in ((1, (0.25, 0.25, 0.0)), (2, (0.75, 0.25, 0.5))):
        recipes["metrics"] = Recipe("metrics", {"number": number})
        measured = [{"pair_id": pair[0], "smatch": value} for pair, value in zip(pairs, values, strict=True)]
        receipts.append(_written(store, "metrics", recipes["metrics"], measured))
        store.commit(receipts, run_id=f"made{number}", recipes=recipes)
        receipts = []
        versions = store.versions()
        tables = [*rows, "metrics"]
        release = Release(
            number=number,
            run_id=f"made{number}",
            created=f"2026-03-0{number}T09:00:00+00:00",
            code_version="0",
            versions={name: versions[name] for name in (*tables, "rejects")},
            recipes={name: recipes[name].as_dict() for name in tables},
            rows={name: len(of) for name, of in (rows | {"metrics": measured}).items()},
            rejects={},
        )
        write_release(store.storage, release)


def _written(store, table, recipe, rows):
    frame = pl.DataFrame(rows, schema=TABLES[table])
    return store.write_shard(table, f"{table}-00000", fingerprint(recipe, []), StageOutput(frame))
