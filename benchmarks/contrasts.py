"""Whether an encoder tells roles and negation: 400 triples by templates, none of whose sentences is in a corpus.

    python benchmarks/contrasts.py [ENCODER]        folder of an S3BERT; by default the one that comes with facetflow

    The lawyer sued the doctor.    The doctor was sued by the lawyer.    The doctor sued the lawyer.
    sentence                       the same in the passive               the arguments exchanged, or negated

A triple is right if the facet in question (srl, or negations) is higher for the passive than for the changed sentence;
"passives" begins with the passive, beside the sentence and beside the passive with exchanged arguments.
Beside the predictions stand the same facets measured on parsed graphs, from which they were learnt, and the cosine of
the whole embedding. Two minutes.
"""

import argparse
import itertools
import random

import numpy as np

import facetflow

PEOPLE = ("lawyer", "doctor", "teacher", "farmer", "soldier", "nurse", "painter", "judge", "student", "cook", "pilot")
VERBS = (  # infinitive, past, participle
    ("sue", "sued", "sued"),
    ("visit", "visited", "visited"),
    ("see", "saw", "seen"),
    ("help", "helped", "helped"),
    ("beat", "beat", "beaten"),
    ("choose", "chose", "chosen"),
    ("photograph", "photographed", "photographed"),
    ("call", "called", "called"),
    ("hire", "hired", "hired"),
    ("teach", "taught", "taught"),
)
WHERE = ("", " in the market", " after the war", " on Monday", " near the station")
CHANGES = ("swap", "passives", "not", "no")
FACETS = {"swap": "srl", "passives": "srl", "not": "negations", "no": "negations"}


def triples(change: str, count: int) -> list[tuple[str, str, str]]:
    """Return sentences, the same in the other voice, and what a change makes of them."""
    made = []
    for (agent, patient), (verb, past, participle), where in itertools.product(
        itertools.permutations(PEOPLE, 2), VERBS, WHERE
    ):
        changed = {
            "swap": f"The {patient} {past} the {agent}{where}.",
            "passives": f"The {agent} was {participle} by the {patient}{where}.",
            "not": f"The {agent} did not {verb} the {patient}{where}.",
            "no": f"No {agent} {past} the {patient}{where}.",
        }[change]
        sentence = f"The {agent} {past} the {patient}{where}."
        passive = f"The {patient} was {participle} by the {agent}{where}."
        made.append((passive, sentence, changed) if change == "passives" else (sentence, passive, changed))
    return random.Random(0).sample(made, count)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("encoder", nargs="?", help="folder of an S3BERT")
    parser.add_argument("--each", default=100, type=int, help="triples of each change")
    arguments = parser.parse_args()
    encoder = facetflow.load_encoder(arguments.encoder)
    print("change,facet,triples,encoder,graphs,whole embedding")
    for change in CHANGES:
        asked = triples(change, arguments.each)
        firsts = [first for first, _, _ in asked]
        pairs = [*zip(firsts, (same for _, same, _ in asked), strict=True)]
        pairs += zip(firsts, (other for _, _, other in asked), strict=True)
        facet = FACETS[change]
        explained = encoder.explain(pairs)
        predicted = encoder.similarity([a for a, _ in pairs], [b for _, b in pairs], facet)
        whole = encoder.similarity([a for a, _ in pairs], [b for _, b in pairs])
        measured = [each.facet(facet).measured for each in explained]
        shares = []
        for values in (predicted, measured, whole):
            same, other = np.split(np.asarray(values, dtype=np.float64), 2)
            shares.append(f"{np.mean(same > other):.0%}")
        print(f"{change},{facet},{arguments.each}," + ",".join(shares))


if __name__ == "__main__":
    main()
