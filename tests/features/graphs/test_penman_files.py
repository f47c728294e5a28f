import gzip

import pytest
from sentences import refused

from features.core.faults import FileMissing, GzipWrong, NotText
from features.core.types import RejectCode
from features.graphs.penman_files import format_block, format_reject, read_blocks

GOOD = """# AMR release, with a header that belongs to no graph

# ::id 1 ::date 2013-05-13 ::annotator A B
# ::snt A boy :: sleeps.
(s / sleep-01
   :ARG0 (b / boy))


# ::id 2
# a remark among the metadata
(b / boy)
# ::id 3
(c / cat)
"""


def test_blocks_come_with_metadata_and_line(tmp_path):
    path = tmp_path / "good.amr"
    path.write_text(GOOD)
    blocks = list(read_blocks(path))
    assert [block.metadata.get("id") for block in blocks] == ["1", "2", "3"]
    assert blocks[0].metadata == {"id": "1", "date": "2013-05-13", "annotator": "A B", "snt": "A boy :: sleeps."}
    assert blocks[0].text == "(s / sleep-01\n   :ARG0 (b / boy))"
    assert [block.line for block in blocks] == [3, 9, 12]
    assert [block.graph.concepts for block in blocks] == [["sleep-01", "boy"], ["boy"], ["cat"]]
    assert all(block.error is None for block in blocks)


@pytest.mark.parametrize("name", ["file.amr.gz", "file.amr"])
def test_compression_byte_order_mark_and_line_ends_make_no_difference(tmp_path, name):
    path = tmp_path / name
    content = b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode()
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    blocks = list(read_blocks(path))
    assert [block.metadata["id"] for block in blocks] == ["1", "2", "3"]
    assert blocks[0].graph.relations == [(0, "ARG0", 1)]


def test_a_wrong_block_is_an_item_and_the_file_goes_on(tmp_path):
    path = tmp_path / "wrong.amr"
    path.write_bytes(
        b"# ::id open\n(s / sleep-01\n   :ARG0 (b / boy)\n\n"
        b"# ::id none\n\n"
        b"# ::id latin\n(b / gar\xe7on)\n\n"
        b"# ::id twice\n\n(b / boy\n  :mod (b / big))\n\n"
        b"# ::id good\n(c / cat)\n"
    )
    blocks = list(read_blocks(path))
    errors = [block.error and (block.error.code, block.error.message) for block in blocks]
    assert errors[0] == (
        RejectCode.UNBALANCED_PENMAN,
        "wrong.amr, graph at line 2: line 1, column 1: 1 parenthesis is not closed; the last opens here",
    )
    assert errors[1] == (RejectCode.NO_GRAPH, "wrong.amr, block at line 5: the block has metadata but no graph")
    assert errors[2] == (
        RejectCode.BAD_ENCODING,
        "wrong.amr, block at line 7: not UTF-8 (invalid continuation byte); convert the file to UTF-8",
    )
    assert errors[4] == (
        RejectCode.BAD_PENMAN,
        "wrong.amr, graph at line 12: line 2, column 9: variable 'b' is defined twice",
    )
    assert errors[5] is None
    assert blocks[5].graph.concepts == ["cat"]


def test_an_empty_file_has_no_blocks(tmp_path):
    (tmp_path / "empty.amr").write_text("\n\n")
    assert list(read_blocks(tmp_path / "empty.amr")) == []


def test_a_file_that_cannot_be_read_is_an_error_with_its_name(tmp_path):
    with refused(FileMissing):
        list(read_blocks(tmp_path / "missing.amr"))
    (tmp_path / "cut.amr.gz").write_bytes(gzip.compress(GOOD.encode())[:-20])
    with refused(GzipWrong):
        list(read_blocks(tmp_path / "cut.amr.gz"))


def test_a_reject_has_its_place_and_its_code_and_no_graph(tmp_path):
    path = tmp_path / "parsed.amr"
    reject = format_reject("2", "::id 9 (x / y)", "sentence_too_long", "600 words,\nmore than ::snt 512")
    path.write_text(
        format_block("1", "A cat.", "(c / cat)") + reject + format_reject("3", "", "empty_sentence", "empty")
    )
    first, second, third = read_blocks(path)
    assert first.error is None
    assert (second.graph, third.graph) == (None, None)
    assert second.metadata["id"] == "2"
    assert second.metadata["snt"] == "::id 9 (x / y)"
    assert (second.error.code, third.error.code) == (RejectCode.SENTENCE_TOO_LONG, RejectCode.EMPTY_SENTENCE)
    assert second.error.message == (
        "parsed.amr, block at line 5: rejected as sentence_too_long: 600 words, more than ::snt 512"
    )


def test_what_other_readers_make_of_a_reject(tmp_path):
    """How penman, smatch and amrlib handle it: `()` would stop smatch, an invented node would be scored."""
    import penman
    from amrlib.graph_processing.amr_loading import load_amr_entries
    from smatch import score_amr_pairs

    path = tmp_path / "parsed.amr"
    reject = format_reject("2", "The dogs.", "no_graph", "no file has it")
    path.write_text(format_block("1", "A cat.", "(c / cat)") + reject + format_block("3", "A dog.", "(d / dog)"))
    assert [graph.metadata["id"] for graph in penman.load(path)] == ["1", "3"]
    assert "reject" in penman.load(path)[1].metadata
    with pytest.raises(penman.DecodeError):  # at the end of a file
        penman.loads(reject)
    assert [entry.splitlines()[0] for entry in load_amr_entries(str(path))] == ["# ::id 1", "# ::id 2", "# ::id 3"]
    with path.open() as left, path.open() as right:
        assert list(score_amr_pairs(left, right)) == [(1.0, 1.0, 1.0)]


def test_a_binary_file_is_refused(tmp_path):
    (tmp_path / "binary.amr").write_bytes(bytes(range(256)))
    with refused(NotText):
        list(read_blocks(tmp_path / "binary.amr"))


@pytest.mark.parametrize(
    "filler",
    ["  :ARG0 (b / boy)\n" * 100_000, "# a remark\n" * 200_000, "  :ARG0 " + "b" * (2 << 20)],
    ids=["branches", "remarks", "one line"],
)
def test_a_block_of_more_than_a_mebibyte_is_an_item_with_its_error(tmp_path, filler):
    path = tmp_path / "large.amr"
    path.write_text(f"(a / ant)\n\n# ::snt Long.\n{filler.rstrip()}\n(b / boy)\n\n# ::snt A cat.\n(c / cat)\n")
    first, large, last = read_blocks(path)
    assert (first.error, last.error) == (None, None)
    assert (large.metadata, large.text) == ({"snt": "Long."}, "")
    assert (large.error.code, large.error.message) == ("bad_penman", "large.amr, block at line 3: larger than 1 MiB")


def test_a_graph_below_the_metadata_of_a_reject_is_read(tmp_path):
    """As penman writes a file with a reject again: its metadata come before the next graph."""
    (tmp_path / "again.amr").write_text("# ::id 2\n# ::reject no_graph: none\n(c / cat)\n")
    (block,) = read_blocks(tmp_path / "again.amr")
    assert (block.error, block.graph.concepts) == (None, ["cat"])


def test_a_reject_with_a_code_of_others_has_no_graph(tmp_path):
    (tmp_path / "theirs.amr").write_text("# ::id 2\n# ::reject too boring\n")
    assert [block.error.code for block in read_blocks(tmp_path / "theirs.amr")] == [RejectCode.NO_GRAPH]


def test_metadata_begin_at_a_word_and_sentences_and_tokens_end_with_the_line(tmp_path):
    (tmp_path / "one.amr").write_text("#::id a::b ::url http://c::d\n# ::tok A ::b c\n(c / cat)\n")
    (block,) = read_blocks(tmp_path / "one.amr")
    assert block.metadata == {"id": "a::b", "url": "http://c::d", "tok": "A ::b c"}


def test_a_remark_within_a_graph_starts_no_block(tmp_path):
    text = "(b / boy\n# a remark\n   :mod (y / young))"
    (tmp_path / "one.amr").write_text(text)
    (block,) = read_blocks(tmp_path / "one.amr")
    assert block.graph.concepts == ["boy", "young"]


def test_a_wrong_graph_is_kept_as_written_and_a_large_line_without_metadata_is_an_item(tmp_path):
    (tmp_path / "wrong.amr").write_text(f"(b / boy\n\n(c / {'c' * (2 << 20)})\n\n(d / dog)\n")
    assert [block.text for block in read_blocks(tmp_path / "wrong.amr")] == ["(b / boy", "", "(d / dog)"]
