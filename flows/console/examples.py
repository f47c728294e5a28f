"""Examples at the end of a command's help: command → lines to type, quoted for a shell."""

import click

EXAMPLES: dict[str, tuple[str, ...]] = {
    "new": ("facetflow new my-project --kind aspect", "facetflow new example --example"),
    "refresh": ("facetflow refresh",),
    "build": ("facetflow build", "facetflow build --dask-address tls://scheduler:8786"),
    "plan": ("facetflow plan --explain",),
    "diff": ("facetflow diff", "facetflow diff 3 7 --json"),
    "retry": ("facetflow retry --failed",),
    "train": ("facetflow train", "facetflow train s3bert --release 2 --seeds 5"),
    "evaluate": ("facetflow evaluate", "facetflow evaluate s3bert --suite ratings"),
    "runs": ("facetflow runs", "facetflow runs s3bert --json"),
    "compare": (
        "facetflow compare syntax twin",
        "facetflow compare twin syntax --html differences.html",
        "facetflow compare s3bert/00001-4f1c9a s3bert/00002-4f1c9a",
    ),
    "explore": ("facetflow explore", "facetflow explore --texts notes.txt"),
    "explain": (
        'facetflow explain "two cats look" "a cat looks"',
        "facetflow explain --pairs pairs.tsv --html pairs.html",
    ),
    "predict": (
        "facetflow predict pairs.tsv -o labels.tsv",
        "facetflow predict questions.csv --columns question1 question2 --encoder duplicates -o labels.parquet",
    ),
    "search": (
        'facetflow search "stochastic gradient methods" --aspect task',
        'facetflow search "a bank in Paris" --among companies.tsv --text name --text description -k 5',
    ),
    "neighbours": ("facetflow neighbours companies.tsv --aspect country -o neighbours.tsv",),
    "encode": (
        "facetflow encode reviews.tsv -o vectors.parquet",
        "facetflow encode reviews.tsv -o facets.parquet --facets --precision float16",
    ),
    "facets": ("facetflow facets vectors.parquet -o facets.parquet",),
    "measure": ("facetflow measure first.amr second.amr -o scores.tsv",),
    "align": ("facetflow align first.amr second.amr -o pairs.html",),
    "score amr": ("facetflow score gold.amr parsed.amr", "facetflow score gold.amr parsed.amr --metrics smatch,srl"),
    "score srl": ("facetflow score srl gold.conll",),
    "contrast": ("facetflow contrast -o contrasts.tsv", "facetflow contrast sentences.txt -o contrasts.tsv"),
    "parse amr": ("facetflow parse amr sentences.txt -o graphs.amr",),
    "parse dependencies": ("facetflow parse dependencies sentences.txt -o trees.conllu",),
    "parse srl": ("facetflow parse srl sentences.txt -o roles.jsonl",),
    "publish": (
        "facetflow publish -o published",
        "facetflow publish --encoder s3bert --name me/my-encoder -o published --push",
    ),
    "models pull": ("facetflow models pull", "facetflow models pull all-MiniLM-L12-v2"),
    "up": ('facetflow up --cron "0 3 * * *"', 'facetflow up --cron "0 3 * * *" --systemd'),
    "deploy": ('facetflow deploy --cron "0 3 * * *"',),
    "gc": ("facetflow gc --dry-run", "facetflow gc --older-than 12h", "facetflow gc --runs --older-than 30d"),
}


def with_examples(command: click.Command, path: str) -> click.Command:
    """Add the examples to a command and its subcommands, and return it; `path` has the names of its groups too."""
    if path in EXAMPLES:
        title = "Example" if len(EXAMPLES[path]) == 1 else "Examples"
        # A line with only \b keeps click from refilling the paragraph.
        command.epilog = "\n".join(("\b", f"{title}:", *(f"  {line}" for line in EXAMPLES[path])))
    if isinstance(command, click.Group):
        for name, below in command.commands.items():
            with_examples(below, f"{path} {name}")
    return command
