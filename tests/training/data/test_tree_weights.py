"""What a source reports about the files of the parser that made its trees."""

from pathlib import Path

from features.stages.stage import Recipe
from training.jobs import Source

ROW = {"sentence_id": "s1", "parser": "spacy/en_toy-1.0", "tokens": ["Men"], "lemmas": [], "tags": [], "starts": [0]}
ROW |= {"heads": [0], "relations": ["ROOT"]}


def test_the_digest_of_the_parser_is_that_of_the_recipe_and_empty_where_nobody_says_it(make_parsed_store, tmp_path):
    for number, (weights, said) in enumerate((("ab12", "ab12"), (None, ""))):
        recipe = Recipe("dependencies", {"max_words": 77}, "1", weights)
        store = make_parsed_store(tmp_path / str(number), recipe, [ROW])
        assert (
            Source(store=Path(store.location)).tree_weights()
            == Source(store=Path(store.location), release=1).tree_weights()
            == said
        )
    without = make_parsed_store(tmp_path / "without", recipe)
    assert Source(store=Path(without.location)).tree_weights() == ""
    assert Source(judged=tmp_path / "judged.parquet", parses=tmp_path / "parses.parquet").tree_weights() == ""
