"""Settings of the parsers: the sections [amr], [dependencies], [srl], [embeddings], [label_vectors]."""

from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from features.core.closed import Closed
from features.core.faults import Conflict

Device = Annotated[str, Field(pattern=r"^(auto|cpu|cuda(:\d+)?)$")]
"""Where a model computes: `auto` is a GPU if there is one."""
Threads = Annotated[int, Field(ge=1, le=1024)]
"""CPU threads; the limit is there since torch ends with a traceback where a machine cannot have so many."""
Precision = Literal["auto", "float32", "bfloat16"]
"""Number format of a model's computations: `auto` is bfloat16 where the hardware is faster in it, else float32."""
PredicatesBy = Literal["tagger", "spacy"]
"""What finds the predicates: the tagger itself if it was trained to, or spaCy's parts of speech."""


class _ParserSettings(Closed):
    """Settings common to all parsers.

    Args:
        threads: CPU threads per process; by default the library's choice, 1 in Dask's workers.
        max_words: longer sentences, in words between white space, are rejected (`sentence_too_long`).
        enabled: True parses all sentences, False none; by default those that an encoder reads.
    """

    threads: Threads | None = None
    max_words: int = Field(default=512, ge=1)
    enabled: bool | None = None


class AmrSettings(_ParserSettings):
    """Where AMR graphs come from.

    Args:
        backend: `embedded`: the parser in the package; `amrlib`: a large model; `penman`: your own graphs, found by
            `::snt`. By default `penman` if there are `graphs` or a corpus of the dataset `penman`.
        graphs: your PENMAN files (`penman`).
        bank: index of these files, made by a build.
        model: `embedded`, or the folder of a parser like it; for `amrlib` a name or folder, by default
            `parse_xfm_bart_large`.
        tokenizer: folder or Hub name of its tokenizer (`amrlib`), if not the model's own.
        batch_size: sentences per batch.
        beams: width of the beam search (`amrlib`).
        device: `auto`, `cpu`, `cuda` or `cuda:N`.
        precision: `auto` is bfloat16 on a CPU that is faster in it, else float32 (`embedded`). In bfloat16 one graph in
            ten, of sentences of 22 words, depends on the batch.
    """

    backend: Literal["embedded", "amrlib", "penman"] = "embedded"
    graphs: tuple[Path, ...] = ()
    bank: Path | None = None
    model: str = "embedded"
    tokenizer: str | None = None
    batch_size: int = Field(default=32, ge=1)
    beams: int = Field(default=4, ge=1)
    device: Device = "auto"
    precision: Precision = "auto"

    @model_validator(mode="before")
    @classmethod
    def _what_follows_from_the_rest(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        if "backend" not in given and (given.get("graphs") or given.get("bank")):
            return {"backend": "penman", **given}
        if given.get("backend") == "amrlib":
            return {"model": "parse_xfm_bart_large", **given}
        return given

    @model_validator(mode="after")
    def _graphs_belong_to_the_bank(self) -> Self:
        if self.backend != "penman" and (self.graphs or self.bank):
            raise Conflict(
                f'graphs are read only by the backend "penman"; remove them, or the backend "{self.backend}"'
            )
        return self


class DependencySettings(_ParserSettings):
    """The dependency parser.

    Args:
        model: name or folder of a spaCy pipeline with a parser.
        batch_size: sentences per batch.
    """

    model: str = "en_core_web_md"
    batch_size: int = Field(default=256, ge=1)


class EmbeddingSettings(_ParserSettings):
    """The teacher: a frozen sentence encoder whose similarities an encoder preserves in training.

    Args:
        enabled: True embeds all sentences, False none: training then encodes with its start model; by default those
            that an encoder reads.
        model: known name, Hub name or folder of a sentence-transformers model.
        batch_size: sentences per batch.
        device: `auto`, `cpu`, `cuda` or `cuda:N`.
        precision: `bfloat16` changes similarities by about 0.0004, and is faster only on CPUs made for it.
    """

    model: str = "all-MiniLM-L6-v2"
    batch_size: int = Field(default=64, ge=1)
    device: Device = "auto"
    precision: Literal["float32", "bfloat16"] = "float32"


class SrlSettings(_ParserSettings):
    """The semantic role tagger.

    Args:
        model: `embedded`, a known name, or the folder or `.tar.gz` of an AllenNLP `srl_bert` tagger.
        predicates: what finds predicates: the tagger, if it was trained to, or spaCy: verbs and auxiliaries.
        tags: name or folder of a spaCy pipeline for parts of speech (`spacy`).
        batch_pieces: word pieces per batch, with padding.
        device: `auto`, `cpu`, `cuda` or `cuda:N`.
        precision: `auto` is bfloat16 where the hardware is faster in it, else float32.
    """

    model: str = "embedded"
    predicates: PredicatesBy = "tagger"
    tags: str = "en_core_web_md"
    batch_pieces: int = Field(default=1024, ge=8)
    device: Device = "auto"
    precision: Precision = "auto"


class LabelVectorSettings(Closed):
    """Where the vectors of words in labels come from.

    Args:
        backend: `encoder` encodes each word by a sentence encoder; `glove` reads a text file.
        model: the sentence encoder (`encoder`).
        file: text file (`.gz` too) with a word and its numbers on each line (`glove`).
        device: `auto`, `cpu`, `cuda` or `cuda:N`.
        threads: CPU threads per process; by default the library's choice, 1 in Dask's workers.
    """

    backend: Literal["encoder", "glove"] = "encoder"
    model: str = "all-MiniLM-L6-v2"
    file: Path | None = None
    device: Device = "auto"
    threads: Threads | None = None

    @model_validator(mode="after")
    def _glove_needs_a_file(self) -> Self:
        if (self.backend == "glove") != (self.file is not None):
            raise Conflict('backend "glove" needs `file`, a text file of word vectors, and only this backend reads one')
        return self
