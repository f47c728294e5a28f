"""Corpora that have not changed are not read again, and what is said of them is what reading them again would say."""

import os
import random
import re
import time
from pathlib import Path

import pytest
from sentences import refused

from features.core.faults import FileChanged, StoreUnreachable
from features.corpora import sources as of_files
from features.corpora.reading import read_outcomes
from features.ingest import building, corpus_pairs
from features.ingest.unread import Memory
from features.schemas import rejects_frame
from features.stages.stage import Recipe
from features.store.fingerprints import fingerprint
from features.store.store import Store
from flows.building.ingest_corpora import in_words, ingest_corpora, last_ingested, read_corpora
from flows.project import Project, load

WORDS = ["A cat.", "a cat", "A dog.", "A pet.", "Some pet", "A bird!", "far too many words for this", "We parse.", ""]
# No two in a cell: the label of an evaluation text is kept out, unless a later row has it with one that is stored.
LABELS = ["", "parsing", "tagging", "Parsing"]


def write_project(folder: Path, *, draw: str = "", leakage: str = "drop", evaluation: bool = True) -> Project:
    """Write a project with two corpora of pairs, one of which is drawn, and two of texts."""
    (folder / "facetflow.toml").write_text(
        'name = "mine"\n[ingest]\nmax_words = 4\npairs_per_shard = 3\nsentences_per_shard = 4\n'
        f'[leakage]\nmode = "{leakage}"\n'
        + "".join(
            f'[[corpora]]\ndataset = "{dataset}"\nname = "{name}"\n{keys}\n'
            for dataset, name, keys in (
                ("pairs", "first", 'files = { train = "first.tsv", dev = "dev.tsv" }\nnegatives = ["train"]'),
                ("pairs", "second", f'files = {{ train = "second.tsv" }}\nneighbours = 1\n{draw}'),
                ("texts", "papers", f'files = {{ train = "papers.tsv" }}\n{draw}'),
                ("texts", "talks", f'files = {{ train = "talks.tsv" }}\n{draw}'),
            )
        )
        + ('[[evaluation]]\ndataset = "pairs"\nname = "held"\nfile = "held.tsv"\n' if evaluation else "")
    )
    return load(folder / "facetflow.toml")


def write_rows(folder: Path, name: str, chance: random.Random, rows: int) -> None:
    """Write a table of pairs, or of texts, with rows that are wrong among them; its time is an hour ago."""
    texts = WORDS if name != "held" else WORDS[:-1]  # a wrong row of an evaluation set is an error
    scores = ["", "1", "2", *(["x"] if name != "held" else [])]
    if name in {"papers", "talks"}:
        table = [("text", "label"), *((chance.choice(texts), chance.choice(LABELS)) for _ in range(rows))]
    else:
        cells = (texts, texts, scores)
        table = [("sentence_a", "sentence_b", "score"), *(tuple(map(chance.choice, cells)) for _ in range(rows))]
    path = folder / f"{name}.tsv"
    path.write_text("".join("\t".join(row) + "\n" for row in table))
    age(path)


def age(path: Path) -> None:
    """Give a file the time of an hour ago; that of its inode stays."""
    then = time.time() - 3600
    os.utime(path, (then, then))


FILES = ("first", "dev", "second", "papers", "talks", "held")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    # The time of the inode cannot be set, so files count as old at once.
    monkeypatch.setattr(of_files, "_GRANULARITY", 0)
    chance = random.Random(4)
    for name in FILES:
        write_rows(tmp_path, name, chance, 12)
    return tmp_path


@pytest.fixture
def ingested(folder):
    """Return a project, its store, and what its first ingest read."""
    project = write_project(folder)
    store = Store.open(project.store, create=True, project="mine")
    return project, store, ingest_corpora(project, store, "first")


@pytest.fixture
def read(monkeypatch):
    """Return the names of the corpora that were read, a list to clear."""
    names: list[str] = []

    def noting(reader):
        def read(corpus, base):
            names.append(corpus.name)
            return reader(corpus, base)

        return read

    for module in (building, corpus_pairs):
        monkeypatch.setattr(module, "read_outcomes", noting(read_outcomes))
    return names


def _killed(*_):
    raise KeyboardInterrupt


def outcome(project: Project, store: Store):
    """Return what reading today gives: report, rejects, new rows."""
    ingested = read_corpora(project, store)
    report = ingested.report.model_dump(exclude={"unread"})
    for fault in report["faults"]:  # the example is the first of the new ones, then of the known ones
        fault["text"] = re.sub("(more than once .*), such as .*?: all are kept", r"\1", fault["text"])
    return report, ingested.rejects, ingested.tables


def outcome_without_memory(project: Project, store: Store):
    """Return what reading everything gives."""
    path = Path(store.location) / "ingest.json"
    content = path.read_bytes() if path.exists() else None
    path.unlink(missing_ok=True)
    try:
        return outcome(project, store)
    finally:
        if content is not None:
            path.write_bytes(content)


def assert_as_if_all_were_read(project: Project, store: Store) -> None:
    report, rejects, tables = outcome(project, store)
    expected, expected_rejects, expected_tables = outcome_without_memory(project, store)
    assert report == expected
    assert rejects == expected_rejects
    for table, shards in expected_tables.items():
        assert list(tables[table]) == list(shards)
        assert all(tables[table][shard].equals(rows) for shard, rows in shards.items())


@pytest.mark.parametrize(
    "seed", [pytest.param(seed, marks=[pytest.mark.soak] if seed > 2 else []) for seed in range(12)]
)
def test_whatever_changed_the_result_is_that_of_reading_everything(folder, seed, read):
    chance = random.Random(seed)
    project = write_project(folder)
    store = Store.open(project.store, create=True, project="mine")
    for step in range(4):
        ingest_corpora(project, store, f"run-{step}")
        read.clear()
        assert_as_if_all_were_read(project, store)
        assert "first" in read  # by the reading without memory alone
        assert read.count("first") == 1
        project = write_project(
            folder,
            draw=chance.choice(["", "", "draw = { dev = 0.4 }", "draw = { dev = 0.3, test = 0.2, seed = 1 }"]),
            leakage=chance.choice(["drop", "drop", "report"]),
            evaluation=chance.random() < 0.8,
        )
        for name in chance.sample(FILES, chance.choice([0, 1, 1, 2])):
            write_rows(folder, name, chance, chance.choice([2, 12, 20]))
        assert_as_if_all_were_read(project, store)


def test_nothing_is_read_where_nothing_changed(read, ingested):
    project, store, first = ingested
    versions = store.versions()
    read.clear()

    again = ingest_corpora(project, store, "second")

    assert read == []
    assert store.versions() == versions
    assert again.report.unread == again.report.rows == first.report.rows
    assert again.rejects == first.rejects
    assert again.tables == {"sentences": {}, "pairs": {}, "labels": {}}
    told = in_words(project, again.report, [])[0]
    assert told.startswith(f"Read 0 rows ({first.report.rows} are in corpora that have not changed since they ")
    assert f"nothing new; of all rows {first.report.rejected} rejected" in told


def test_only_the_corpus_that_changed_is_read(folder, read, ingested):
    project, store, _ = ingested
    read.clear()

    write_rows(folder, "second", random.Random(9), 13)
    ingest_corpora(project, store, "second")
    assert set(read) == {"second"}

    read.clear()
    write_rows(folder, "talks", random.Random(9), 13)  # texts are drawn and compared across corpora
    ingest_corpora(project, store, "third")
    assert set(read) == {"papers", "talks"}


def test_a_file_that_is_changed_back_counts_as_unchanged(folder, read, ingested):
    project, store, _ = ingested
    content = (folder / "first.tsv").read_bytes()
    (folder / "first.tsv").write_bytes(content + b"A new.\tRow.\t1\n")
    assert read_corpora(project, store).report.new_pairs
    (folder / "first.tsv").write_bytes(content)
    read.clear()

    assert read_corpora(project, store).report.unread
    assert read == []


def test_a_change_that_keeps_size_and_time_is_seen(folder, read, ingested):
    project, store, _ = ingested
    path = folder / "first.tsv"
    before = path.stat()
    read.clear()
    path.write_text(path.read_text().replace("A", "E"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

    assert (path.stat().st_size, path.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    read_corpora(project, store)
    assert read == ["first"]


@pytest.mark.parametrize(
    "settings", [{"leakage": "report"}, {"evaluation": False}, {"draw": "draw = { dev = 0.4 }"}], ids=str
)
def test_other_settings_are_a_reason_to_read(folder, read, settings, ingested):
    _, store, _ = ingested
    read.clear()

    ingest_corpora(write_project(folder, **settings), store, "second")

    assert "second" in read


def test_a_build_that_is_killed_before_it_has_recorded_what_it_read_reads_again(folder, read, monkeypatch, ingested):
    project, store, _ = ingested
    write_rows(folder, "second", random.Random(9), 30)
    with monkeypatch.context() as killed:
        killed.setattr(Memory, "write", _killed)
        with pytest.raises(KeyboardInterrupt):
            ingest_corpora(project, store, "second")
    read.clear()

    assert_as_if_all_were_read(project, store)
    again = ingest_corpora(project, store, "third")

    assert set(read) == {"first", "second", "papers", "talks"}
    assert not any(again.tables.values())
    assert read_corpora(project, store).report.unread


def test_a_store_that_another_project_has_changed_is_read_for(folder, read, ingested):
    project, store, _ = ingested
    memory = (folder / "store" / "ingest.json").read_bytes()
    write_rows(folder, "second", random.Random(9), 30)
    ingest_corpora(project, store, "second")
    (folder / "store" / "ingest.json").write_bytes(memory)
    read.clear()

    ingest_corpora(project, store, "third")

    assert set(read) == {"first", "second", "papers", "talks"}


def test_nothing_is_kept_of_a_corpus_that_changes_while_it_is_read(folder, monkeypatch):
    def reading(corpus, base):
        yield from read_outcomes(corpus, base)
        write_rows(folder, "first", random.Random(9), 20)

    monkeypatch.setattr(corpus_pairs, "read_outcomes", reading)
    project = write_project(folder)
    store = Store.open(project.store, create=True, project="mine")
    with pytest.raises(FileChanged):
        ingest_corpora(project, store, "first")
    assert not store.committed("sentences")


def test_rejects_that_are_damaged_are_written_again(folder, ingested):
    project, store, first = ingested
    assert first.rejects
    (file,) = store._table("rejects").files()
    (folder / "store" / "tables" / "rejects" / file.path).unlink()

    ingest_corpora(project, store, "second", damaged=store.damaged())

    assert store.damaged() == []
    assert read_corpora(project, store).rejects == first.rejects


def test_rejects_of_a_corpus_that_the_project_no_longer_names_go_though_nothing_is_read(read, ingested):
    project, store, first = ingested
    of_second = [reject for reject in first.rejects if reject.message.startswith("second.tsv")]
    fewer = [corpus for corpus in project.corpora if corpus.name != "second"]
    read.clear()
    ingest_corpora(project.model_copy(update={"corpora": fewer}), store, "second")
    assert read == []
    assert last_ingested(store).rejects == [reject for reject in first.rejects if reject not in of_second]
    assert of_second


def test_lost_rejects_of_a_stage_are_not_read(folder, ingested):
    project, store, first = ingested
    recipe = Recipe("amr")
    receipt = store.write_rejects("amr", "sentences-00000", fingerprint(recipe, []), rejects_frame(first.rejects[:1]))
    store.commit([receipt], run_id="first", recipes={"amr": recipe})
    assert receipt.reject_data
    (folder / "store" / "tables" / "rejects" / receipt.reject_data.path).unlink()

    assert ingest_corpora(project, store, "second", damaged=store.damaged()).rejects == first.rejects


@pytest.mark.parametrize("content", [b"", b"{", b'{"format": 9}', b'{"state": 1}'])
def test_a_record_that_cannot_be_understood_is_made_again(folder, content, ingested):
    project, store, _ = ingested
    (folder / "store" / "ingest.json").write_bytes(content)

    assert not read_corpora(project, store).report.unread
    ingest_corpora(project, store, "second")
    assert read_corpora(project, store).report.unread


def test_a_record_that_cannot_be_read_is_not_taken_for_none(folder, ingested):
    _, store, _ = ingested
    record = folder / "store" / "ingest.json"
    record.rename(record.with_suffix(".kept"))
    record.symlink_to(record.name)  # which leads nowhere, whoever reads it

    with refused(StoreUnreachable):
        last_ingested(store)  # else a retry would hold no limit for the rows that were rejected


def test_the_digest_of_a_file_that_was_just_written_is_not_kept(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text("now")
    young = of_files.Digests({})
    young.of(path)

    assert young.to_record() == {}


def test_the_digest_of_an_old_file_is_kept_and_the_file_not_opened(tmp_path, monkeypatch):
    path = tmp_path / "a.tsv"
    path.write_text("then")
    monkeypatch.setattr(of_files, "_GRANULARITY", 0)
    first = of_files.Digests({})
    digest = first.of(path)
    monkeypatch.setattr(of_files, "open_bytes", None)

    again = of_files.Digests(first.to_record())
    assert again.of(path) == digest
    path.write_text("when")
    with pytest.raises(FileChanged):
        again.to_record()
