"""Pairs of captions of one image.

Five captions make ten pairs. If fewer are requested, they are drawn with the image's name as the seed, so that a
rebuild or a file with more images draws the same pairs.
"""

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, islice
from pathlib import Path
from typing import Literal, NamedTuple

from features.core.draws import seed_of
from features.core.errors import RowError
from features.core.faults import UnknownForm
from features.core.files import open_text
from features.core.types import RejectCode
from features.core.wording import counted
from features.corpora.cells import WrongRow, cell_rows, encoding_fault
from features.corpora.dataset import CaptionLayout

_HEAD = 1 << 16
"""Characters of the first line that show the layout: the only line of COCO's files is all of them."""
_MOST = 2000
"""Captions of an image; from a wrong column, 30,000 rows of one name would make 450 million pairs."""


class Caption(NamedTuple):
    """One caption of an image; `line` is that of the file, or the position among the annotations of COCO, from 1."""

    image: str
    text: str
    line: int


def read_captions(path: Path, layouts: Sequence[CaptionLayout]) -> Iterator[Caption | WrongRow]:
    """Read the captions of a file, or what was wrong with a line, in the first layout that it fits."""
    with open_text(path, newline="\n", errors="surrogateescape") as text:
        start = text.readline(_HEAD)
    header = start.rstrip("\r\n").split("\t")
    for layout in layouts:
        match layout.form:
            case "coco json" if start.lstrip().startswith("{"):
                return _coco(path)
            case "wide" if header[0] == layout.image and (
                captions := [at for at, name in enumerate(header) if name.rstrip("0123456789_.- ") == layout.caption]
            ):
                return _columns(path, len(header), 0, captions)
            case "rows" if {layout.image, layout.caption} <= set(header):
                return _columns(path, len(header), header.index(layout.image), [header.index(layout.caption)])
            case "tokens" if "#" in header[0] and len(header) == 2:
                return _tokens(path)
    expected = "; or ".join(_EXPECTED[layout.form].format(layout) for layout in layouts)
    raise UnknownForm(f"{str(path)!r} is not in a known form: it begins with {start[:80]!r}; expected {expected}.")


_EXPECTED: Mapping[str, str] = {
    "coco json": "an annotation file of COCO (JSON)",
    "wide": "tab separated columns {0.image}, {0.caption}1, {0.caption}2, ...",
    "rows": "tab separated columns {0.image} and {0.caption}",
    "tokens": "rows image#number <tab> caption",
}


def _columns(path: Path, width: int, image: int, captions: Sequence[int]) -> Iterator[Caption | WrongRow]:
    """Read the captions of a table with a header line, given the position of each column."""
    for line, cells in islice(cell_rows(path, "tsv", "ordinary"), 1, None):
        if isinstance(cells, RowError):
            yield WrongRow(line, cells)
        elif len(cells) != width:
            message = f"the row has {counted(len(cells), 'cell')}; expected {width}"
            yield WrongRow(line, RowError(RejectCode.WRONG_COLUMNS, message))
        elif not cells[image].strip():
            message = "the cell of the image is empty; expected its name"
            yield WrongRow(line, RowError(RejectCode.WRONG_COLUMNS, message))
        else:
            for caption in captions:
                yield _caption(cells[image], cells[caption], line)


def _tokens(path: Path) -> Iterator[Caption | WrongRow]:
    for line, cells in cell_rows(path, "tsv", "ordinary"):
        if isinstance(cells, RowError):
            yield WrongRow(line, cells)
        elif len(cells) != 2 or not cells[0].rpartition("#")[0].strip():
            error = RowError(RejectCode.WRONG_COLUMNS, "the row is not image#number <tab> caption")
            yield WrongRow(line, error)
        else:
            yield _caption(cells[0].rpartition("#")[0], cells[1], line)


def _coco(path: Path) -> Iterator[Caption | WrongRow]:
    with open_text(path, in_lines=False) as text:
        try:
            content = json.load(text)
        except (ValueError, RecursionError) as error:  # also a number with too many digits
            raise UnknownForm(f"{str(path)!r} is not JSON ({error}): fetch the file again.") from error
    annotations = content.get("annotations")  # an object: it begins with a brace
    if not isinstance(annotations, list):
        raise UnknownForm(f"{str(path)!r} has no list 'annotations': give a COCO file captions_*.json.")
    for position, entry in enumerate(annotations, start=1):
        match entry:
            case {"image_id": image, "caption": str(caption)} if image is not None:
                yield _caption(str(image), caption, position)
            case _:
                message = f"annotation {position} lacks 'image_id' or 'caption'"
                yield WrongRow(position, RowError(RejectCode.WRONG_COLUMNS, message))


def _caption(image: str, text: str, line: int) -> Caption | WrongRow:
    if wrong := encoding_fault(f"{image}{text}"):
        return WrongRow(line, wrong)
    if text.strip():
        return Caption(image, text, line)
    return WrongRow(line, RowError(RejectCode.EMPTY_SENTENCE, f"a caption of image {image!r} is empty"))


def pair_captions(
    captions: Iterator[Caption | WrongRow], wanted: Literal["all"] | int, name: str
) -> Iterator[tuple[Caption, Caption] | Caption | WrongRow]:
    """Yield the wanted number of pairs of captions of each image, which may stand anywhere in the file `name`.

    What was wrong comes as it comes; then the pairs, image by image in the order of the file. A caption that is alone
    with its image comes as itself.
    """
    of_image: dict[str, list[Caption]] = {}
    for caption in captions:
        if isinstance(caption, Caption):
            of_image.setdefault(caption.image, []).append(caption)
        else:
            yield caption
    for image, group in of_image.items():
        if len(group) == 1:
            yield group[0]
        if len(group) > _MOST:
            raise UnknownForm(f"{name!r} has {len(group):,} captions of one image, {image!r}: check its columns.")
        pairs = list(combinations(group, 2))
        if wanted != "all" and wanted < len(pairs):
            pairs = random.Random(seed_of(image)).sample(pairs, wanted)  # noqa: S311 - a reproducible draw, no secret
        yield from pairs
