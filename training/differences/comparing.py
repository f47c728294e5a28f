"""From the evaluations of two encoders to the page that shows where they differ."""

from collections.abc import Sequence

from features.core.errors import FacetflowError
from features.core.rows import OnRows, ignore_rows
from features.metrics.bootstrap import Bootstrap
from features.parsers.settings import DependencySettings
from training.differences.analysis import Depths, analyse, choose
from training.differences.depths import depths_of
from training.differences.maps import draw_maps
from training.differences.page import Side, render_differences
from training.differences.shared import SharedSet, shared_sets
from training.differences.views import View, view
from training.evaluation.comparison import Comparison


def differences_page(
    sides: tuple[Side, Side],
    comparison: Comparison,
    dependencies: DependencySettings,
    *,
    project: str = "",
    bootstrap: Bootstrap | None = None,
    on_rows: OnRows = ignore_rows,
) -> str:
    """Return the page of two encoders as HTML.

    Args:
        sides: A and B, with their evaluated runs.
        comparison: of the same runs (`compare_runs`).
        dependencies: parser whose trees are measured where neither side sees trees.
        project: name of the project.
        bootstrap: how intervals are computed; by default as in an evaluation.
        on_rows: called with the number of sentences parsed.

    Raises:
        InputError: when an evaluation cannot be read.
    """
    first, second = sides
    sets = shared_sets(first.runs, second.runs)
    views = (View(), View())
    depths = Depths({})
    if sets:
        texts = _to_draw(sets)
        views = (view(first.runs[0], texts), view(second.runs[0], texts))
        named = next((each.parser for each in views if each.parser), None)
        depths = _depths(sets, dependencies.model_copy(update={"model": named}) if named else dependencies, on_rows)
    analyses = [analyse(each, depths, bootstrap or Bootstrap()) for each in sets]
    # Of several seeds the first is drawn, and named.
    drawn = [(side.name if len(side.runs) == 1 else side.ids[0], side.runs[0]) for side in sides]
    maps = draw_maps(*zip(*drawn, strict=True))
    return render_differences(sides, comparison, analyses, views, parser=depths.parser, maps=maps, project=project)


def _to_draw(sets: Sequence[SharedSet]) -> list[str]:
    """Return the sentences of the displayed pairs, each once."""
    shown = [shared.texts[row] for shared in sets for row in choose(shared).rows]
    return list(dict.fromkeys(text for pair in shown for text in pair))


def _depths(sets: Sequence[SharedSet], dependencies: DependencySettings, on_rows: OnRows) -> Depths:
    """Return the tree depth of every sentence, or why there is none."""
    from features.parsers.dependencies import load

    texts = list(dict.fromkeys(text for shared in sets for pair in shared.texts for text in pair))
    try:
        parser = load(dependencies)
        return Depths(depths_of(texts, parser, on_rows), parser.name)
    except FacetflowError as error:
        return Depths({}, problem=str(error))
