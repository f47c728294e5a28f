"""Ids in arrays are the ids that are written."""

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from features.ids import ID, from_hexadecimal, hexadecimal, unique_ids
from features.sentences import ID_BYTES

# Few different bytes, zeros among them, so that many ids are equal or begin alike.
written = st.lists(st.lists(st.sampled_from([0, 1, 255]), min_size=ID_BYTES, max_size=ID_BYTES).map(bytes))


@given(written)
def test_ids_are_written_as_hexadecimal_digits_and_read_again(ids):
    array = np.frombuffer(b"".join(ids), dtype=ID)

    digits = hexadecimal(array)

    assert digits.equals(pl.Series([each.hex() for each in ids], dtype=pl.String))
    assert from_hexadecimal(digits).tobytes() == array.tobytes()


@given(written, st.randoms(use_true_random=False))
def test_ids_are_numbered_in_their_order(ids, random):
    ids = [*ids, *random.sample(ids, len(ids) // 2)]

    different, first, numbers = unique_ids(np.frombuffer(b"".join(ids), dtype=ID))

    expected = sorted(set(ids))
    assert hexadecimal(different).to_list() == [each.hex() for each in expected]
    assert first.tolist() == [ids.index(each) for each in expected]
    assert numbers.tolist() == [expected.index(each) for each in ids]
