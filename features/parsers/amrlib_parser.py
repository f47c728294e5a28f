"""Any installed amrlib parser (parse_xfm, parse_t5, ...), in batches, with an error for sentences it cannot parse.

amrlib reads generated text very tolerantly and returns None if even that fails; some inputs make it raise, and then the
whole batch is lost. So: sort by length, parse a batch, and after an exception parse its sentences one by one.
"""

import json
import logging
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from features.core.errors import RowError
from features.core.faults import GpuFailed, LibraryMissing, ModelDamaged, ModelNotLoaded, NotThisModel
from features.core.file_errors import first_line
from features.core.types import OnRows, RejectCode, ignore_rows
from features.graphs.graph import decode
from features.models import locate
from features.parsers.devices import hide_progress_bars, in_batches, is_gpu_lost, resolve_device, use_threads
from features.parsers.settings import AmrSettings

_LOG = logging.getLogger(__name__)
_OWN_TOKENIZER = "tokenizer_config.json"


class AmrlibParser:
    """An amrlib parser (a `STOGInferenceBase`), as `amrlib.load_stog_model` returns it, as an `AmrParser`."""

    def __init__(self, inference: Any, settings: AmrSettings) -> None:
        self._inference, self._settings = inference, settings
        self.name, self.max_words = parser_name(settings), settings.max_words

    def parse(self, texts: Sequence[str], on_rows: OnRows = ignore_rows) -> list[str | RowError]:
        """Return for each sentence its graph, or why it has none.

        A sentence that the model would have to truncate is rejected as `sentence_too_long`: half a sentence has another
        graph. One that yields no well-formed graph is rejected as `parser_failed`.
        """
        errors = self._errors(texts)
        whole = [text for text, error in zip(texts, errors, strict=True) if error is None]
        cut, size = len(texts) - len(whole), self._settings.batch_size
        on_rows(cut, len(texts))

        def tell(done: int) -> None:
            on_rows(cut + done, len(texts))

        graphs = iter(in_batches(self._parse_batch, whole, size=len, batch_size=size, on_items=tell))
        return [error or _checked(text, next(graphs)) for text, error in zip(texts, errors, strict=True)]

    def _errors(self, texts: Sequence[str]) -> list[RowError | None]:
        """Return an error for each sentence that is too long for the model; amrlib truncates it and logs it."""
        tokenizer = getattr(self._inference, "tokenizer", None)
        longest = getattr(self._inference, "max_sent_len", None)
        if tokenizer is None or longest is None or not texts:
            return [None] * len(texts)
        return [
            RowError(RejectCode.SENTENCE_TOO_LONG, f"the parser {self.name!r} would cut {text[:60]!r}...")
            if len(ids) > longest
            else None
            for text, ids in zip(texts, tokenizer(list(texts))["input_ids"], strict=True)
        ]

    def _parse_batch(self, texts: Sequence[str]) -> list[str | Exception | None]:
        """Parse a batch; after an exception, its sentences one by one, so that only the culprit is lost."""
        try:
            graphs = self._inference.parse_sents(texts, add_metadata=False)
            # A wrong number of graphs is a failure like any other.
            return [graph for _, graph in zip(texts, graphs, strict=True)]
        except Exception as error:  # amrlib raises whatever its tokenizer, model or reader raises
            if is_gpu_lost(error):
                raise GpuFailed(
                    f"The GPU failed while the parser {self.name!r} ran ({first_line(error)}); run the command again."
                ) from error
            if len(texts) == 1:
                return [error.with_traceback(None)]
            _LOG.info("a batch of %d sentences failed (%s), parsing them one by one", len(texts), first_line(error))
        # Only now, and without tracebacks: an error keeps what its frames hold, on a GPU that is full all its memory.
        return [graph for text in texts for graph in self._parse_batch([text])]


def parser_name(settings: AmrSettings) -> str:
    """Return the value of the column `parser` for graphs of a model."""
    return f"amrlib/{Path(settings.model).name}"


def load_amrlib(settings: AmrSettings) -> AmrlibParser:
    """Load an amrlib parser."""
    folder = locate(settings.model)
    _require_parser(folder)
    device = resolve_device(settings.device, "parsers")
    use_threads(settings.threads)
    hide_progress_bars()
    options: dict[str, Any] = {"device": device, "batch_size": settings.batch_size, "num_beams": settings.beams}
    tokenizer = tokenizer_folder(folder, settings)
    if tokenizer is not None:
        options["tok_name_or_path"] = str(tokenizer)
    try:
        with warnings.catch_warnings():  # importing some modules of amrlib switches all warnings off
            import amrlib
            from torch.nn import Module

            from features.parsers.onednn import use_onednn

            inference = amrlib.load_stog_model(model_dir=str(folder), **options)
    except ImportError as error:
        raise LibraryMissing(
            f"The parser {settings.model!r} needs a library that is not installed ({error});"
            f" install the parsers with `pip install 'facetflow[parsers]'`."
        ) from error
    except Exception as error:
        raise ModelNotLoaded(
            f"amrlib cannot load the parser {settings.model!r} from {str(folder)!r} ({first_line(error)});"
            f" check the folder, and that its tokenizer is on this machine (`tokenizer` under [amr] takes a folder)."
        ) from error
    _forget_generation_defaults(inference)
    if isinstance(network := getattr(inference, "model", None), Module):
        use_onednn(network)
    # It logs a line for each graph of a beam that it cannot read; the rejects report it once per sentence.
    logging.getLogger("amrlib.models.parse_xfm.penman_serializer").setLevel(logging.CRITICAL)
    return AmrlibParser(inference, settings)


def _require_parser(folder: Path) -> None:
    """Check that a folder holds a parser of amrlib."""
    path = folder / "amrlib_meta.json"
    if not path.is_file():
        raise NotThisModel(f"The folder {str(folder)!r} is not an amrlib parser: it has no file 'amrlib_meta.json'.")
    try:
        meta = json.loads(path.read_text(encoding="utf-8"))
        kind, module = meta.get("model_type", "stog"), str(meta.get("inference_module", "."))
    except (ValueError, AttributeError) as error:
        raise ModelDamaged(f"The file {str(path)!r} cannot be read ({error}); pull the model again.") from error
    if kind != "stog":
        raise NotThisModel(f"The model in {str(folder)!r} is of type {kind!r}, not a parser ('stog'); give a parser.")
    if not module.startswith("."):  # torch.hub would run code from the folder
        raise NotThisModel(
            f"The parser in {str(folder)!r} names {module!r}, which is no module of amrlib; give another."
        )


def tokenizer_folder(folder: Path, settings: AmrSettings) -> Path | None:
    """Return the folder of the tokenizer: as set, or the model's own; None for the name in its configuration."""
    if settings.tokenizer is not None:
        return locate(settings.tokenizer)
    return next((path for path in (folder / "tokenizer", folder) if (path / _OWN_TOKENIZER).is_file()), None)


def _forget_generation_defaults(inference: object) -> None:
    """Switch off the ban on repeated trigrams in BART's configuration.

    It is meant for summaries: an AMR repeats `) :ARG1 (` freely, and the ban silently makes graphs wrong. amrlib 0.8.1
    switches it off where transformers 4 kept it (`model.config`), transformers 5 reads `model.generation_config`.
    """
    defaults = getattr(getattr(inference, "model", None), "generation_config", None)
    if defaults is not None:
        defaults.no_repeat_ngram_size = 0


def _checked(text: str, graph: str | Exception | None) -> str | RowError:
    """Return the graph if it is well formed, else an error that says what was returned instead."""
    if isinstance(graph, Exception):
        why = f"the parser failed with {type(graph).__name__}: {first_line(graph)}"
    elif graph is None:
        why = "the parser found no well-formed graph"
    else:
        try:
            decode(graph)
        except RowError as error:
            if error.code is RejectCode.TOO_MANY_NODES:
                return error
            why = f"the parser's graph is not well formed: {error.message}"
        else:
            return graph
    return RowError(RejectCode.PARSER_FAILED, f"{why}; sentence: {text[:60]!r}")
