"""Opening, writing and reading a store."""

import errno
import json
import os
import pickle
import shutil
import threading
from datetime import timedelta
from pathlib import Path

import polars as pl
import pytest
from sentences import refused

from features.core.faults import (
    NoStore,
    NotAStore,
    StoreDamaged,
    StorePathWrong,
    StoreUnreachable,
    StoreVersion,
    TableFileDamaged,
    UnknownShard,
    UnknownTable,
)
from features.schemas import SENTENCES
from features.stages.registry import TABLES
from features.store import delta, layout
from features.store.fingerprints import fingerprint
from features.store.reader import StoreAhead, decoding
from features.store.receipts import DataFile
from features.store.store import Store


@pytest.fixture
def put(store, recipes, filled):
    """Return a function that commits shards of a table, given the ids of each."""

    def put(table, into=store, **shards):
        receipts = [
            into.write_shard(table, shard, fingerprint(recipes[table], [shard]), filled(table, ids))
            for shard, ids in shards.items()
        ]
        return into.commit(receipts, run_id="run", recipes=recipes)

    return put


# -- opening -------------------------------------------------------------------------------------------------------


def test_new_store_has_every_table_empty(store):
    for name, columns in TABLES.items():
        rows = store.read(name)
        assert rows.height == 0
        assert dict(rows.select(columns.keys()).schema) == pl.Schema(columns)
    assert set(store.versions().values()) == {0}


def test_store_opens_by_path_and_by_url(store):
    assert Store.open(store.location).versions() == store.versions()
    assert Store.open(Path(store.location).as_uri()).location == store.location


@pytest.mark.parametrize("name", ["a store", "shard=x", "é*[1]?"])
def test_a_folder_may_have_any_name(tmp_path, put, name):
    path = tmp_path / name
    store = Store.open(path.as_uri(), create=True)
    put("sentences", into=store, s0=["a"])
    put("sentences", into=store, s0=["b"])

    assert Path(store.location) == path
    assert Store.open(path).read("sentences", with_shard=True).select("sentence_id", "shard").rows() == [("b", "s0")]
    assert len(store.collect_garbage(timedelta(0)).files) == 1


@pytest.mark.parametrize("name", ["a%20b", "a\\b", "a\nb", "a\0b", "a\udce9"])
def test_a_folder_that_the_library_of_tables_takes_for_another_is_refused(tmp_path, name):
    with refused(StorePathWrong):
        Store.open(tmp_path / name, create=True)


def test_processes_that_make_a_store_at_once_make_one(tmp_path):
    stores = []
    barrier = threading.Barrier(4)

    def make(project):
        barrier.wait()
        stores.append(Store.open(tmp_path / "store", create=True, project=project))

    threads = [threading.Thread(target=make, args=(project,)) for project in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [set(store.versions().values()) for store in stores] == [{0}] * 4
    assert {store.project for store in stores} == {Store.open(tmp_path / "store").project}
    assert not list((tmp_path / "store").glob("_tmp-*"))


def test_opening_again_keeps_what_is_there(store, put):
    put("sentences", s0=["a", "b"])

    assert Store.open(store.location, create=True).read("sentences").height == 2


def test_store_is_picklable(store, put):
    put("sentences", into=pickle.loads(pickle.dumps(store)), s0=["a"])
    assert store.read("sentences").height == 1


@pytest.mark.parametrize("create", [False, True])
def test_a_file_is_no_store(tmp_path, create):
    file = tmp_path / "file"
    file.write_text("x")

    with refused(StoreUnreachable):
        Store.open(file, create=create)
    with refused(StoreUnreachable):
        Store.open(file / "inside", create=create)


def test_missing_store_is_not_made_unasked(tmp_path):
    with refused(NoStore):
        Store.open(tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_folder_with_other_files_is_left_alone(tmp_path):
    (tmp_path / "thesis.tex").write_text("x")

    with refused(NotAStore):
        Store.open(tmp_path, create=True)


@pytest.mark.parametrize("url", ["hdfs://host/store", "http://host/store"])
def test_other_addresses_are_refused(url):
    with refused(StorePathWrong):
        Store.open(url, create=True)


@pytest.mark.parametrize("number", [layout.FORMAT - 1, layout.FORMAT + 1])
def test_a_store_of_another_format_is_refused(store, number):
    file = Path(store.location) / "store.json"
    content = json.loads(file.read_text())
    file.write_text(json.dumps(content | {"format": number}))

    with refused(StoreVersion):
        Store.open(store.location)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"format": "x", "tables": {}}', '{"format": 1}'])
def test_damaged_description_is_named(store, content):
    (Path(store.location) / "store.json").write_text(content)

    with refused(StoreDamaged):
        Store.open(store.location, create=True)


def test_store_that_was_half_made_is_made_to_the_end(store):
    (Path(store.location) / "store.json").unlink()
    shutil.rmtree(Path(store.location) / "tables" / "metrics")

    assert Store.open(store.location, create=True).read("metrics").height == 0


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_folder_without_permission_is_named(tmp_path):
    tmp_path.chmod(0o500)
    try:
        with refused(StoreUnreachable):
            Store.open(tmp_path / "store", create=True)
    finally:
        tmp_path.chmod(0o700)


# -- reading -------------------------------------------------------------------------------------------------------


def test_rows_come_by_shard_in_the_order_they_were_written(store, put):
    put("sentences", s1=["d", "c"], s0=["b", "a"])

    rows = store.read("sentences", with_shard=True)
    assert rows["sentence_id"].to_list() == ["b", "a", "d", "c"]
    assert rows["shard"].to_list() == ["s0", "s0", "s1", "s1"]
    assert rows.columns == [*SENTENCES, "shard"]


def test_shards_and_columns_are_chosen(store, put):
    put("sentences", s0=["a"], s1=["b"], s2=["c"])

    assert store.read("sentences", shards=["s2", "s0"], columns=["sentence_id"]).rows() == [("a",), ("c",)]
    assert store.read("sentences", shards=[]).height == 0
    assert store.scan("sentences", shards=["s1"]).collect()["sentence_id"].to_list() == ["b"]


def test_of_many_files_only_those_of_the_asked_shards_are_described(store, put, monkeypatch):
    put("sentences", **{f"s{number}": ["a"] for number in range(20)})
    described = []
    monkeypatch.setattr(delta, "DataFile", lambda **of_file: described.append(of_file) or DataFile(**of_file))
    assert store.read("sentences", shards=["s3", "s7"]).height == 2
    assert store.is_whole("sentences", "s5")
    assert [each["shard"] for each in described] == ["s3", "s7", "s5"]


def test_shard_without_rows_is_committed(store, put):
    put("sentences", s0=[], s1=["a"])

    assert [known.rows for known in store.committed("sentences").values()] == [0, 1]
    assert store.read("sentences", shards=["s0"]).height == 0
    assert store.read("sentences").height == 1


def test_older_versions_stay_as_they_were(store, put):
    first = put("sentences", s0=["a"])["sentences"]
    put("sentences", s0=["b", "c"], s1=["d"])

    assert store.read("sentences", first)["sentence_id"].to_list() == ["a"]
    assert store.committed("sentences", first)["s0"].rows == 1
    assert store.read("sentences")["sentence_id"].to_list() == ["b", "c", "d"]


def test_lazy_frame_stays_at_its_version(store, put):
    put("sentences", s0=["a"])
    lazy = store.scan("sentences")
    put("sentences", s0=["b"])

    assert lazy.collect()["sentence_id"].to_list() == ["a"]


def test_what_is_committed_is_known_without_opening_a_file(store, recipes, put):
    put("amr", s0=["a", "b"])
    for file in Path(store.location).rglob("*.parquet"):
        file.unlink()

    known = store.committed("amr")["s0"]
    assert (known.fingerprint, known.rows) == (fingerprint(recipes["amr"], ["s0"]), 2)


def test_other_programs_read_the_tables(store, recipes, put):
    put("sentences", s0=["a"])

    rows = pl.read_delta(str(Path(store.location) / "tables" / "sentences"))
    assert rows.select("sentence_id", "shard", "fingerprint").rows() == [
        ("a", "s0", fingerprint(recipes["sentences"], ["s0"]))
    ]


def test_every_column_of_every_table_comes_back_as_it_went_in(store, recipes):
    samples = {
        pl.String: "é\n\t'☃",
        pl.Float64: 0.1,
        pl.Boolean: True,
        pl.List(pl.String): ["a", ""],
        pl.List(pl.Int32): [0, -1],
        pl.List(pl.Float32): [0.5],
    }
    from features.schemas import StageOutput

    for table, columns in TABLES.items():
        if table == "rejects":
            continue
        key, *rest = columns
        values = {key: ["1", "2", "3"]}
        for name in rest:
            sample = next(value for dtype, value in samples.items() if columns[name] == dtype)
            values[name] = [sample, None, [] if isinstance(sample, list) else sample]
        rows = pl.DataFrame(values, schema=columns)
        receipt = store.write_shard(table, "s", fingerprint(recipes[table], []), StageOutput(rows))
        store.commit([receipt], run_id="run", recipes=recipes)

        assert store.read(table).equals(rows, null_equal=True)


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        ({"table": "nothing"}, UnknownTable),
        ({"table": "amr", "columns": ["penmann"]}, UnknownTable),
        ({"table": "amr", "shards": ["s9"]}, UnknownShard),
        ({"table": "amr", "version": 99}, StoreUnreachable),
        ({"table": "amr", "version": -1}, StoreDamaged),
    ],
)
def test_what_is_not_there_is_named(store, put, arguments, fault):
    put("amr", s0=["a"])

    with refused(fault):
        store.read(**arguments)


def test_rejects_are_asked_for_by_stage(store):
    with refused(UnknownTable):
        store.committed("rejects")


# -- damage --------------------------------------------------------------------------------------------------------


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:100])


def flip(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[4:60] = b"\xff" * 56
    file.write_bytes(content)


@pytest.mark.parametrize("damage", [cut, flip, Path.unlink])
def test_damaged_file_is_named(store, put, damage):
    put("sentences", s0=[f"{i}" for i in range(50)])
    damage(next((Path(store.location) / "tables" / "sentences").rglob("*.parquet")))

    for where in (None, pl.col("sentence_id").is_in(["0"])):
        with refused(TableFileDamaged):
            store.read("sentences", where=where)


@pytest.mark.parametrize("number", [errno.EAGAIN, errno.EMFILE])
def test_what_the_system_refuses_to_polars_is_no_damage(number):
    with refused(StoreUnreachable), decoding("sentences", "store"):
        raise pl.exceptions.PanicException(f'Os {{ code: {number}, message: "{os.strerror(number)}" }}')


def test_rows_are_chosen_by_an_expression(store, put):
    put("sentences", s0=["a", "b"], s1=["c", "d"])

    rows = store.read("sentences", columns=["sentence_id"], where=pl.col("sentence_id").is_in(["c", "a"]))

    assert rows["sentence_id"].to_list() == ["a", "c"]


@pytest.mark.parametrize("content", ["{", '{"add": {"path"'])
def test_damaged_log_is_named(store, put, content):
    put("sentences", s0=["a"])
    (Path(store.location) / "tables" / "sentences" / "_delta_log" / f"{1:020d}.json").write_text(content)

    with refused(StoreUnreachable):
        store.read("sentences")


def test_deleted_table_is_named(store):
    shutil.rmtree(Path(store.location) / "tables" / "amr")

    with refused(StoreDamaged):
        store.read("amr")
    with refused(StoreDamaged):
        Store.open(store.location, create=True).versions()


def test_table_that_was_deleted_and_made_again_is_refused(store, tmp_path):
    shutil.rmtree(Path(store.location) / "tables" / "amr")
    Store.open(tmp_path / "other", create=True)
    shutil.copytree(tmp_path / "other" / "tables" / "amr", Path(store.location) / "tables" / "amr")

    with refused(StoreDamaged):
        store.committed("amr")


def test_shard_that_another_program_added_twice_is_refused(store, put):
    put("sentences", s0=["a"])
    row = pl.read_delta(str(Path(store.location) / "tables" / "sentences"))
    row.write_delta(str(Path(store.location) / "tables" / "sentences"), mode="append")

    with refused(StoreDamaged):
        store.read("sentences")


# -- what will be stored -------------------------------------------------------------------------------------------


def test_a_store_ahead_has_what_will_be_committed_and_not_what_cannot_be_read(store, put, recipes, filled):
    first = put("pairs", s0=["a"], s1=["b"], s2=["c"])["pairs"]
    put("amr", s0=["a"])
    made = {shard: filled("pairs", ids).rows for shard, ids in (("s4", ["e"]), ("s3", ["d"]), ("s1", ["new"]))}
    marks = {("pairs", shard): fingerprint(recipes["pairs"], [shard]) for shard in ("s3", "s4")}
    ahead = StoreAhead(store, {"pairs": made}, [("pairs", "s0"), ("pairs", "s1"), ("amr", "s0")], marks)

    committed = ahead.committed("pairs")
    assert {shard: file.fingerprint for shard, file in committed.items() if shard > "s2"} == {
        shard: mark for (_, shard), mark in marks.items()
    }
    assert [committed[shard] for shard in ("s1", "s2")] == [store.committed("pairs")[shard] for shard in ("s1", "s2")]
    columns = ["pair_id"]
    of_all = {("new", "s1"), ("c", "s2"), ("d", "s3"), ("e", "s4")}
    assert set(ahead.read("pairs", columns=columns, with_shard=True).iter_rows()) == of_all
    assert ahead.read("pairs", shards=["s1", "s2", "s4"], columns=columns).rows() == [("c",), ("new",), ("e",)]
    assert ahead.read("pairs", first, columns=columns).rows() == [("a",), ("b",), ("c",)]
    assert ahead.committed("pairs", first) == store.committed("pairs", first)
    assert ahead.committed("amr") == store.committed("amr")
    assert ahead.read("amr").equals(store.read("amr"))


def test_reject_codes_are_counted_for_the_asked_shards_at_a_version_those_with_most_first(store, write, commit):
    first = commit(write("amr", "s0", ["a"], ["b"]), write("amr", "s1", [], ["c", "d"]))["rejects"]
    commit(write("dependencies", "s0", ["a"], ["b", "c"]), write("label_vectors", "s1", [], ["c", "d"]))
    commit(write("amr", "s1", ["d"], ["c"]))

    asked = [("amr", "s0"), ("dependencies", "s0"), ("label_vectors", "s1")]
    assert [*store.reject_codes(asked).values()] == [2, 2, 1]
    assert store.reject_codes([("amr", "s0"), ("amr", "s1")]) == {("amr", "no_graph"): 2}
    assert store.reject_codes([("amr", "s0"), ("amr", "s1")], first) == {("amr", "no_graph"): 3}
    assert store.reject_codes([("amr", "s2")]) == {}
