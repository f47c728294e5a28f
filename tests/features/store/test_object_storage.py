"""A store in an object storage, whose answers get lost, and which throttles and refuses."""

import os
import threading
import time
from contextlib import suppress
from datetime import timedelta

import obstore
import polars as pl
import pytest
from sentences import refused

from features.core.faults import StorePathWrong, StoreUnreachable
from features.store import delta, object_storage, storage
from features.store.fingerprints import fingerprint
from features.store.locations import storage_at
from features.store.runs import RunRecord, now
from features.store.storage import FolderStorage
from features.store.store import Store


@pytest.fixture
def store(url) -> Store:
    return Store.open(url, create=True)


def test_a_store_is_built_read_verified_and_cleaned(url, fill, filled, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    store = Store.open(url, create=True, project="p")
    release = fill(store)

    again = Store.open(url)
    assert (again.location, again.id, again.project) == (url, store.id, "p")
    assert again.read("amr", release.versions["amr"])["sentence_id"].to_list() == ["a", "b"]
    assert again.rejected()["amr", "s1"].rows == 1
    assert again.verify(deep=True).damaged == ()
    again.withdraw([("amr", "s1")], run_id="later")
    assert again.collect_garbage(timedelta(0)).files == (), "the release needs it"
    store.write_shard("amr", "s9", "0" * 64, filled("amr", ["z"]))
    assert len(again.collect_garbage(timedelta(0)).files) == 1
    assert again.read("amr", release.versions["amr"]).height == 2
    again.record_run(RunRecord("run", "build_features", now()))
    assert [record.run_id for record in again.runs()] == ["run"]
    again.remove_run("run")
    assert again.runs() == []
    assert list(tmp_path.iterdir()) == [], "nobody made a folder of the location"


def test_the_newest_version_of_a_table_costs_one_request(server, store, fill, monkeypatch):
    def with_milliseconds(*arguments):  # as MinIO lists them, and moto does not
        listed = list_with_delimiter(*arguments)
        for each in listed["objects"]:
            each["last_modified"] = each["last_modified"].replace(microsecond=789_000)
        return listed

    list_with_delimiter = obstore.list_with_delimiter
    monkeypatch.setattr(obstore, "list_with_delimiter", with_milliseconds)
    fill(store)
    table = store._table("amr")
    newest, number = table.open(), len(server.seen())
    assert table.open() is newest
    assert [line.split()[0] for line in server.seen()[number:]] == ["GET"]
    assert table.open(table.version()) is newest, "what is listed and what is asked for by name has the same time"


def test_a_store_made_again_within_a_second_has_other_tables(server, url):
    time.sleep(1 - time.time() % 1)
    ids = []
    for _ in range(2):
        store = Store.open(url, create=True)
        ids.append(store._table("amr").open().metadata().id)
        server.clear()
    assert ids[0] != ids[1]


@pytest.mark.parametrize("fault", ["lost", "503"])
@pytest.mark.soak
def test_what_got_no_answer_or_was_throttled_is_repeated_and_doubles_nothing(server, url, fill, fault):
    puts = [f"PUT /bucket/some/prefix/{name}" for name in ("store.json", "tables/sentences/shard", "releases/")]
    places = [*puts, "GET /bucket/some/prefix/tables/amr/_delta_log", "PUT /bucket/some/prefix/tables/amr/_delta_log"]
    server.fail(*((words, fault, 1) for words in places))
    store = Store.open(url, create=True)
    fill(store)
    assert store.read("amr")["sentence_id"].to_list() == ["a", "b"]
    assert [release.number for release in store.releases()] == [1]
    assert store.verify(deep=True).broken == ()
    assert sum(line.startswith(fault) for line in server.seen()) == len(places)


@pytest.mark.parametrize("fault", ["lost", "409"])
@pytest.mark.soak
def test_a_commit_whose_answer_got_lost_or_that_met_another_is_made_once(server, store, fill, fault):
    server.fail(("PUT /bucket/some/prefix/tables/amr/_delta_log", fault, 1))
    fill(store)
    assert store.read("amr")["sentence_id"].to_list() == ["a", "b"]
    assert store.verify(deep=True).broken == ()


def test_a_listing_that_breaks_off_is_asked_for_again(server, store, fill, monkeypatch):
    monkeypatch.setattr(storage, "_PAUSES", (0.0, 0.0))
    monkeypatch.setattr(object_storage, "_FEW", 0)
    acts = (
        lambda: fill(store),
        store.verify,
        lambda: store.provenance("amr"),
        lambda: store.collect_garbage(timedelta(0)),
    )
    for act in acts:
        server.fail(("delimiter", "cut", 1), ("start-after", "cut", 1), ("Ftables%2Famr%2F", "cut", 1))
        act()
    assert store.read("amr")["sentence_id"].to_list() == ["a", "b"]
    assert sum(line.startswith("cut") for line in server.seen()) > len(acts)


@pytest.mark.soak
def test_credentials_that_expire_in_the_middle_are_one_sentence_and_nothing_is_lost(server, store, fill):
    server.fail(("PUT /bucket/some/prefix/tables/amr", "403", 100))
    with refused(StoreUnreachable):
        fill(store)
    server.fail()
    fill(store)
    assert store.read("amr")["sentence_id"].to_list() == ["a", "b"]


@pytest.mark.parametrize("few", [32, 0])
def test_what_the_storage_refuses_to_tell_is_no_damage(server, store, fill, monkeypatch, few):
    monkeypatch.setattr(object_storage, "_FEW", few)
    asked = "/tables/amr/shard" if few else "GET /bucket?list-type=2&prefix=some%2Fprefix%2Ftables%2Famr%2F"
    fill(store)
    for look in (store.damaged, lambda: store.damaged(deep=True), store.verify, lambda: store.read("amr")):
        server.fail((asked, "403", 1))
        with refused(StoreUnreachable):
            look()
    server.fail(("GET /bucket/some/prefix/tables/amr/shard", "403", 100))
    with refused(StoreUnreachable):
        store.read("amr")
    server.fail()
    (file,) = store.committed("amr").values()
    store.storage.delete(f"tables/amr/{file.path}")
    assert [damage.problem for damage in store.damaged()] == ["missing"]


def test_without_credentials_a_user_is_told_so(url, monkeypatch):
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    object_storage._client.cache_clear()
    monkeypatch.setattr(object_storage, "_ROLE", ("127.0.0.1", 9))
    with refused(StoreUnreachable):
        Store.open(url, create=True)
    object_storage._client.cache_clear()


def test_eight_writers_at_once_publish_a_number_once(place):
    outcomes = []

    def write(number: int) -> None:
        with suppress(FileExistsError):
            place.put_if_absent("releases/00001.json", str(number).encode())
            outcomes.append(number)

    threads = [threading.Thread(target=write, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(outcomes) == 1
    assert place.read("releases/00001.json") == str(outcomes[0]).encode()


def test_a_refusal_is_told_by_its_code_and_sends_nobody_to_restore_a_table(server, store, url):
    with pytest.raises(StoreUnreachable, match="the storage answered 404 Not Found NoSuchBucket; correct that"):
        Store.open(url.replace("//bucket", "//missing"), create=True)
    server.fail(("GET /bucket", "400", 100))
    with pytest.raises(StoreUnreachable, match="the storage answered 400 Bad Request; correct that"):
        store.versions()
    server.fail(("GET /bucket/some/prefix/tables/amr/_delta_log/0", "400", 100))
    with pytest.raises(StoreUnreachable, match="the storage answered 400 Bad Request; correct that"):
        store.committed("amr", 0)


@pytest.mark.parametrize("request_", ["PUT", "GET"])
def test_a_checkpoint_that_is_refused_sends_nobody_to_restore_a_table(
    server, url, filled, recipes, monkeypatch, request_
):
    monkeypatch.setitem(delta._CONFIGURATION, "delta.checkpointInterval", "2")
    store = Store.open(url, create=True)
    server.fail((f"{request_} /bucket/some/prefix/tables/amr/_delta_log/00000000000000000001.checkpoint", "403", 100))
    with refused(StoreUnreachable):
        for shard in ("s1", "s2"):
            receipt = store.write_shard("amr", shard, fingerprint(recipes["amr"], []), filled("amr", [shard]))
            store.commit([receipt], run_id="run", recipes=recipes)


def test_columns_whose_answer_got_lost_are_added(server, url):
    table = Store.open(url, create=True)._table("metrics")
    server.fail(("PUT /bucket/some/prefix/tables/metrics/_delta_log", "lost", 1))
    table.add_columns({**table.columns, "length": delta.OWN_COLUMN})
    assert "length" in table.columns_at()


def test_what_was_stored_although_every_answer_got_lost_is_told_as_stored(server, place):
    server.fail(("PUT /bucket/some/prefix/name", "lost", 11))
    place.put_if_absent("name", b"one")
    server.fail()
    with pytest.raises(FileExistsError):
        place.put_if_absent("name", b"two")


def test_what_another_was_about_to_store_is_not_told_as_missing(server, place):
    server.fail(("PUT /bucket/some/prefix/name", "409", 1))
    with pytest.raises(FileExistsError):
        place.put_if_absent("name", b"one")


def test_a_local_copy_is_fetched_once_for_each_content(server, place, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    place.put("graphs/a.bin", b"one")
    assert place.local("graphs/a.bin").read_bytes() == b"one"
    assert place.local("graphs/a.bin").read_bytes() == b"one"
    assert sum("GET" in line and "a.bin" in line for line in server.seen()) == 1
    place.put("graphs/a.bin", b"two")
    assert place.local("graphs/a.bin").read_bytes() == b"two"


def test_a_cache_that_cannot_be_written_is_named(place, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    place.put("graphs/a.bin", b"one")
    with refused(StoreUnreachable):
        place.local("graphs/a.bin")


def test_a_local_copy_goes_when_it_was_not_asked_for_in_a_while(place, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    copies = {}
    for name in ("asked_for", "forgotten"):
        place.put(f"graphs/{name}.bin", name.encode())
        copies[name] = place.local(f"graphs/{name}.bin")
        os.utime(copies[name].parent, (0, 0))
    half = tmp_path / "facetflow" / "objects" / "_tmp-of-a-killed-process"
    half.write_bytes(b"half")
    place.local("graphs/asked_for.bin")
    place.put("graphs/new.bin", b"new")
    new = place.local("graphs/new.bin")
    assert {path.name for path in tmp_path.rglob("*") if path.is_file()} == {copies["asked_for"].name, new.name}
    assert place.local("graphs/forgotten.bin").read_bytes() == b"forgotten"


@pytest.mark.parametrize(
    "address",
    [
        "s3://bucket",
        "s3://bucket/a//b",
        "s3://bucket/./a",
        "s3://bucket/a/../b",
        "s3://key:secret@bucket/x",
        "s3://bucket/x#y",
        "s3://bucket/x?secret=y",
        "s3://bucket/x?endpoint=host:9000",
        "ftp://host/x",
    ],
)
def test_an_address_that_is_none_is_refused(address):
    with refused(StorePathWrong):
        storage_at(address)


def test_the_log_of_a_table_is_read_once_for_each_version(server, url, fill):
    release = fill(Store.open(url, create=True))
    version = release.versions["amr"]
    before = len(server.seen())
    for at in (version, None):
        assert "s1" in Store.open(url).committed("amr", at)
    assert not [line for line in server.seen()[before:] if " GET " in line and "_delta_log/0" in line]
    Store.open(url).withdraw([("amr", "s1")], run_id="later")
    assert "s1" in Store.open(url).committed("amr", version)
    assert "s1" not in Store.open(url).committed("amr")


@pytest.mark.parametrize("number", [3, 40])
def test_many_objects_are_described_by_one_listing(server, place, number):
    names = [f"tables/amr/shard=s{at}/{at}.parquet" for at in range(number)]
    for name in names:
        place.put(name, name.encode())
    before = len(server.seen())
    *described, absent = place.stats("tables/amr", [*names, "tables/amr/shard=s/absent"])
    asked = server.seen()[before:]
    assert described == [place.stat(name) for name in names]
    assert isinstance(absent, FileNotFoundError)
    assert len(asked) == (1 if number == 40 else number + 1)


def test_garbage_is_described_by_one_listing(server, store, filled):
    for number in range(40):
        store.write_shard("amr", f"s{number}", "0" * 64, filled("amr", ["a"]))
    before = len(server.seen())
    assert len(store.collect_garbage(timedelta(0)).files) == 40
    assert sum("HEAD" in line for line in server.seen()[before:]) < 40


def test_uses_are_read_again_only_after_a_commit(server, store, fill):
    fill(store)
    uses, before = store.uses(), len(server.seen())
    assert store.uses() is uses
    assert len(server.seen()) == before + 3, "the newest versions of the tables of ingest"
    store.withdraw([("sentences", "s1")], run_id="later")
    assert store.uses() is not uses


def test_polars_reads_what_the_storage_names(url, place, fill):
    fill(Store.open(url, create=True))
    assert pl.read_delta(place.url("tables/amr"), storage_options=dict(place.options)).height == 2


@pytest.mark.soak
def test_a_store_moves_from_a_folder_and_back_file_by_file(url, fill, tmp_path):
    folder = tmp_path / "store"
    release = fill(Store.open(folder, create=True, project="p"))
    with storage_at(folder).lease("build.lock", "host:1", "A build works"):
        pass
    place = storage_at(url)
    for path in (path for path in folder.rglob("*") if path.is_file()):
        place.put(path.relative_to(folder).as_posix(), path)
    there = Store.open(url)
    with place.lease("build.lock", "host:2", "A build works"):
        assert place.lease_of("build.lock").holder == "host:2"
    assert there.verify(deep=True).broken == ()
    assert there.read("amr", release.versions["amr"])["sentence_id"].to_list() == ["a", "b"]
    there.withdraw([("amr", "s1")], run_id="there")

    back = FolderStorage(str(tmp_path / "back"))
    _copy(place, back)
    again = Store.open(tmp_path / "back")
    with back.lease("build.lock", "host:3", "A build works"):
        assert back.lease_of("build.lock").holder == "host:3"
    assert again.read("amr").is_empty()
    assert again.read("amr", again.release(1).versions["amr"])["sentence_id"].to_list() == ["a", "b"]


def _copy(source, target, folder=""):
    for name in source.names(folder):
        path = f"{folder}/{name}".strip("/")
        try:
            target.put(path, source.read(path))
        except FileNotFoundError:  # a folder
            _copy(source, target, path)
