"""Measured pairs: selected, exported, read from a store, identified."""

import dataclasses
import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sentences import refused

from features.core.faults import ColumnMissing, NoRelease, ReleaseLacks, RowWrong, StoreDamaged
from features.metrics.registry import METRIC_NAMES
from features.store.store import Store
from training.data.measured_pairs import MeasuredPairs
from training.search.texts import texts_of_release


def texts_of(data: MeasuredPairs) -> list[tuple[str, str]]:
    return [(data.texts[a], data.texts[b]) for a, b in zip(data.first, data.second, strict=True)]


def damage(store: Store, table: str) -> None:
    """Change a byte of the one file of a table, but not its size and time."""
    (file,) = (Path(store.location) / "tables" / table).rglob("*.parquet")
    status, content = file.stat(), bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))


def test_each_sentence_is_kept_once_and_pairs_point_at_their_own(measured):
    assert len(set(measured.texts)) == len(measured.texts) < 2 * len(measured)
    assert measured.metrics().shape == (120, 15)
    assert measured.metrics(("root", "smatch")).shape == (120, 2)


def test_a_selection_of_all_is_the_same_and_of_one_row_has_its_sentences_alone(measured):
    assert measured.select() is measured
    one = measured.keep(measured.pairs["pair_id"] == measured.pairs["pair_id"][3])
    assert texts_of(one) == texts_of(measured)[3:4]
    assert set(one.texts) == set(texts_of(one)[0])


def test_a_selection_keeps_rows_texts_and_teacher_together(measured):
    teacher = np.arange(len(measured.texts), dtype=np.float32)[:, None]
    data = MeasuredPairs(measured.texts, measured.pairs, teacher)
    chosen = data.select(splits=("dev", "test"), kinds=("positive",), corpora=("left",))
    rows = data.pairs["split"].is_in(["dev", "test"]) & (data.pairs["kind"] == "positive")
    rows &= data.pairs["corpus"] == "left"
    expected = [pair for pair, wanted in zip(texts_of(data), rows, strict=True) if wanted]
    assert texts_of(chosen) == expected
    assert set(chosen.texts) == {text for pair in expected for text in pair}
    assert [data.texts[int(row)] for row in chosen.teacher[:, 0]] == list(chosen.texts)


@pytest.mark.parametrize("suffix", ["parquet", "tsv", "jsonl.gz"])
def test_an_export_reads_as_the_same_pairs(measured, tmp_path, suffix):
    path = tmp_path / f"pairs.{suffix}"
    measured.export(path)
    found = MeasuredPairs.from_file(path)
    assert texts_of(found) == texts_of(measured)
    np.testing.assert_allclose(found.metrics(), measured.metrics())
    assert found.pairs["positive_id"].to_list() == measured.pairs["positive_id"].to_list()


def test_an_export_without_a_metric_is_refused(measured, tmp_path):
    measured.export(tmp_path / "pairs.parquet")
    pl.read_parquet(tmp_path / "pairs.parquet").drop("wlk").write_parquet(tmp_path / "less.parquet")
    with refused(ColumnMissing):
        MeasuredPairs.from_file(tmp_path / "less.parquet")


def test_what_is_no_other_column_is_a_metric_of_ones_own(measured, tmp_path):
    path = tmp_path / "pairs.parquet"
    own = MeasuredPairs(measured.texts, measured.pairs.with_columns(length=0.5, depth=pl.col("smatch")))
    assert own.metric_names == (*METRIC_NAMES, "length", "depth")
    own.export(path)
    found = MeasuredPairs.from_file(path)
    assert found.metric_names == own.metric_names
    np.testing.assert_allclose(found.metrics(("depth",)), measured.metrics(("smatch",)))
    assert found.digest() != measured.digest()
    pl.read_parquet(path).with_columns(remark=pl.lit("fine")).write_parquet(path)
    with refused(RowWrong):
        MeasuredPairs.from_file(path)


@pytest.mark.parametrize("value", [None, float("nan"), float("inf")])
def test_a_metric_that_is_no_number_is_refused_with_its_pair(measured, tmp_path, value):
    measured.export(tmp_path / "pairs.parquet")
    broken = pl.read_parquet(tmp_path / "pairs.parquet").with_columns(
        root=pl.when(pl.col("pair_id") == "p3").then(pl.lit(value)).otherwise(pl.col("root"))
    )
    broken.write_parquet(tmp_path / "broken.parquet")
    with refused(RowWrong):
        MeasuredPairs.from_file(tmp_path / "broken.parquet")


def test_the_digest_changes_with_anything_that_can_change_a_training(measured):
    def changed(**columns):
        return MeasuredPairs(measured.texts, measured.pairs.with_columns(**columns)).digest()

    digests = {
        measured.digest(),
        changed(smatch=pl.col("smatch") / 2),
        changed(split=pl.lit("train")),
        changed(first=pl.col("first").reverse()),
        MeasuredPairs(measured.texts[::-1], measured.pairs).digest(),
        MeasuredPairs(measured.texts, measured.pairs, np.ones((len(measured.texts), 2), np.float32)).digest(),
    }
    assert len(digests) == 6
    assert MeasuredPairs(measured.texts, measured.pairs.clone()).digest() == measured.digest()


class TestFromStore:
    """Read through the store's own API, from a store that is written as a build writes it."""

    @pytest.fixture
    def store(self, measured, tmp_path):
        from features.metrics.registry import METRIC_COLUMNS
        from features.schemas import EMBEDDINGS, PAIRS, SENTENCES, StageOutput
        from features.sentences import sentence_id
        from features.stages.stage import Recipe
        from features.store.fingerprints import fingerprint
        from features.store.plan import plan
        from features.store.scope import PlannedStage

        store = Store.open(tmp_path / "store", create=True)
        ids = [sentence_id(text) for text in measured.texts]
        tables = {
            "sentences": pl.DataFrame({"sentence_id": ids, "text": measured.texts}, schema=SENTENCES),
            "pairs": measured.pairs.select(
                "pair_id",
                "corpus",
                "split",
                "kind",
                pl.Series("sentence_a", [ids[k] for k in measured.first]),
                pl.Series("sentence_b", [ids[k] for k in measured.second]),
                shard_a=pl.lit("sentences-00000"),
                shard_b=pl.lit("sentences-00000"),
                score="score",
                label=pl.lit(None, dtype=pl.String),
                positive_id="positive_id",
            ).select(list(PAIRS)),
            "metrics": measured.pairs[:-1]
            .select("pair_id", *METRIC_NAMES)
            .with_columns(pl.lit(value=True).alias(name) for name in METRIC_COLUMNS if name.endswith("_optimal")),
            "embeddings": pl.DataFrame(
                {"sentence_id": ids, "vector": [[float(k), 1.0] for k in range(len(ids))]}, schema=EMBEDDINGS
            ),
        }
        ingest = Recipe("ingest", {}, "1", None)
        sources = {"sentences": "sentences-00000", "pairs": "pairs-00000"}
        receipts = [
            store.write_shard(table, shard, fingerprint(ingest, [shard]), StageOutput(tables[table]))
            for table, shard in sources.items()
        ]
        store.commit(receipts, run_id="test", recipes=dict.fromkeys(sources, ingest))
        stages = [
            PlannedStage("embeddings", "sentences", ("sentences",), Recipe("embeddings", {}, "1", None)),
            PlannedStage("metrics", "pairs", ("pairs", "sentences"), Recipe("metrics", {}, "1", None)),
        ]
        for work in plan(store, stages).todo:
            receipt = store.write_shard(work.stage, work.shard, work.fingerprint, StageOutput(tables[work.stage]))
            store.commit([receipt], run_id="test", recipes={stage.name: stage.recipe for stage in stages})
        store.publish("test", stages=stages)
        return store

    def test_pairs_texts_metrics_and_teacher_belong_together(self, store, measured):
        found = MeasuredPairs.from_store(store.location)
        assert len(found) == len(measured) - 1  # the last pair was not measured
        expected = dict(zip(measured.pairs["pair_id"], texts_of(measured), strict=True))
        assert dict(zip(found.pairs["pair_id"], texts_of(found), strict=True)).items() <= expected.items()
        by_id = dict(zip(measured.pairs["pair_id"], measured.metrics().tolist(), strict=True))
        assert all(by_id[i] == row for i, row in zip(found.pairs["pair_id"], found.metrics().tolist(), strict=True))
        assert found.teacher is not None
        assert [measured.texts[int(row)] for row in found.teacher[:, 0]] == list(found.texts)
        assert found.teacher.flags.writeable  # torch warns the user of one that is not
        assert found.source["release"] == 1
        assert found.source["versions"] == store.release(1).versions

    def test_a_release_without_metrics_says_how_to_get_them(self, store, monkeypatch):
        release = store.release()
        versions, rows = (
            {table: n for table, n in of.items() if table != "metrics"} for of in (release.versions, release.rows)
        )
        unmeasured = dataclasses.replace(release, versions=versions, rows=rows)
        monkeypatch.setattr(type(store), "release", lambda *_: unmeasured)
        with refused(ReleaseLacks):
            MeasuredPairs.from_store(store.location)

    def test_a_release_that_is_not_there_is_an_error(self, store):
        with refused(NoRelease):
            MeasuredPairs.from_store(store.location, release=7)

    @pytest.mark.parametrize("table", ["sentences", "pairs", "metrics", "embeddings"])
    def test_only_files_whose_digest_holds_are_read(self, store, table):
        damage(store, table)
        with refused(StoreDamaged):
            MeasuredPairs.from_store(store.location)

    @pytest.mark.parametrize("table", ["metrics", "embeddings"])
    def test_a_search_depends_on_no_table_that_it_does_not_read(self, store, measured, table):
        damage(store, table)
        assert {*texts_of_release(store.location).texts} == {*measured.texts}
