"""What trees tell about the files of the parser that made them."""

from features.stages.stage import Recipe
from training.data.parses import Parses

ROW = {"sentence_id": "s1", "parser": "spacy/en_toy-1.0", "tokens": ["Men"], "lemmas": [], "tags": [], "starts": [0]}
ROW |= {"heads": [0], "relations": ["ROOT"]}


def test_the_digest_of_the_parser_is_that_of_the_recipe_and_empty_where_nobody_says_it(make_parsed_store, tmp_path):
    for number, (weights, said) in enumerate((("ab12", "ab12"), (None, ""))):
        recipe = Recipe("dependencies", {"max_words": 77}, "1", weights)
        store = make_parsed_store(tmp_path / str(number), recipe, [ROW])
        parses = Parses.from_store(store.location, None)
        assert parses.weights == Parses.from_store(store.location, None, release=1).weights == said
        parses.export(tmp_path / "parses.parquet")
        assert Parses.from_file(tmp_path / "parses.parquet", None).weights == ""
