"""The words of a sentence as explanations compare them: as written, by stem, and by what they do.

Dogs  stem dog      ran  stem run      n't  stem not, a negation      three  stem 3, a quantity
"""

import re
import unicodedata
from collections.abc import Collection, Sequence
from decimal import Decimal
from fractions import Fraction
from os.path import commonprefix
from typing import Literal, NamedTuple

from features.core.wording import spelt_number
from features.metrics.overlap import QUANTIFIERS, normalise_quantity

Kind = Literal["word", "name", "pronoun", "negation", "quantity", "modal", "link", "grammar"]
"""What a token does; "link": prepositions and conjunctions; "grammar": what graphs leave out, articles for instance."""

_SHARE = r"\b(an?|one|two|three|four)[\s-](third|quarter|fifth|sixth|eighth|tenth)s?"
_SMALL = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
_TENS = "twent|thirt|fort|fift|sixt|sevent|eight|ninet"
_ODDS = rf"\b(?<!number\s)({_SMALL}|1)\sin\s(?:a\s|one\s)?({_SMALL}|\w+teen|(?:{_TENS})y(?:-\w+)?|hundred|\d\d?|100)\b"
_CLOCK = rf"(?:\ba\s)?\b(half(?=\spast)|quarter)\s(past|to)\s({_SMALL}|\d\d?)\b"
MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
NAMED = rf"(?:{MONTHS}|Jan|Feb|Apr|Aug|Sept?|Oct|Nov|Dec)\.?"
_DATE = rf"(?:{NAMED}\s\d\d?(?:st|nd|rd|th)?|\d\d?(?:st|nd|rd|th)?(?:\sof)?\s{NAMED})\s?,?\s(?:1\d|20)\d\d\b"
_TOKEN = re.compile(
    rf"\b{_DATE}|{_CLOCK}(?!\s?%|\sper|[.,:]\d) |\b(?:{_SMALL}|\w+ty[\w-]*?)(?=-(?:hundred|thousand|[mb]illion)\b(?!-))"
    rf" | {_ODDS}(?![.,]\d|\s+(?:dozen|hundred|thousand|[mb]illion|minute|hour|day|week|month|year))"
    rf" | (?:up\s+to|as\s+(?:many|much)\s+as)(?=\s+(?:[$€£]?\d|half\b|(?:{_SMALL})\b)) | {_SHARE}"
    r"""(?=\s+(?:of|more|less|fewer)\b)                                       # a third of
      | https?://\S*[\w/] | [\w.+-]+@[\w-]+(?:\.[\w-]+)+ | (?<=,\s)[a-z]+n['’]t\s(?:\w\w?|she|you|they|there)(?=\s*\?)
      | (?:[A-Za-z]\.){2,}                                                  # U.S.
      | (?:\bUS(?=\$))?[$€£]\d+(?:[.,]\d+)*\s?(?:k|m|mn|b|bn)\b             # $17m
      | (?:(?<!\S)[-−+])?(?:\bUS(?=\$))?[$€£]?(?:(?<![\w.])\.)?\d+(?:[.,:/⁄^–-]\d+)*
        (?:st|nd|rd|th|e[+-]?\d\d?\b|(?<=\d{3}0)['’]?s|(?-i:[A-F]\b(?!\.M)))?        # .5, 1990s, 6e23, 12B
        (?:\s?(?:%|[ap]m\b|[ap]\.m\.))?                                     # 5 pm
      | at\s+(?:least|most)\b | not?\s+(?:more|fewer|less|later|earlier)\s+than\b | a\s+few\b
      | no(?:t\s+(?:only|just(?=\s\w)|merely|without)|\s+one|\s+longer(?!\s+than))\b | oh,?\s+no\b(?!\s\w)
      | (?:a\s+(?:couple|pair|lot)|lots)\s+of\b | how\s+(?:much|many)\b | per\s+cent\b | no\.(?=\s*\d)
      | (?<=\w\s)and\s+a\s+(?:half|quarter)\b | a\s+(?:hundred|thousand|[mb]illion)\b(?!-) | (?:half\s+)?a\s+dozen\b
      | (?:(?:not|never|n['’]t)\s+)?fail(?:s|ed)?\s+to\b | (?:have|has|had)\s+to\b | would\s+rather\b | can(?=not\b)
      | [^\W\d_]+(?:-[^\W\d_]+)?(?=-(?:year|month|week|day|hour|minute)s?\b) | (?:year|month|week|day)s?[\s-]olds?\b
      | [^\W\d_]+(?=n['’]t\b) | n['’]t\b | (?<=\s)&(?=\s)                    # do|n't
      | (?:ai|ca|wo|do|does|did|is|are|was|were|ha(?:ve|s|d)|(?:c|w|sh)ould)(?=nt\b) | (?<=\w)nt\b   # do|nt
      | [a-z](?:\+\+|\#)(?!\w)                                               # C++
      | (?<=\s)(?:[<>!=]=|[<>=≠≤≥+])(?=[\s\d]) | (?<=\w)(?:[<>!=]=|[<>≠≤≥])(?=\w)             # x != y
      | ['’](?:s|re|ve|ll|d|m)\b | o['’]clock\b
      | [^\W_]+(?:-[^\W_]+)*
      | [\u2190-\u2bff\U0001f000-\U0001faff] | [:;]-?[()D](?!\w)             # emoji""",
    re.VERBOSE | re.IGNORECASE,
)
_CONTRACTED = {"n't": "not", "nt": "not", "ai": "be", "ca": "can", "sha": "shall", "wo": "will"}
"""Part of a contraction with "not" → the stem of its word; "AI", "CA" and "NT" are words of their own."""
_SIGNS = str.maketrans("⁄’−–", "/'--")
_NOT = re.compile(r"n['’]?t\b", re.IGNORECASE)
_LETTER = re.compile(r"(?<=\w\s)A(?=\s+[a-z]|,|\W*$)|A(?=\s(?:is|was|and|or)\b)")  # "Plan A failed", not "Susan A. Lee"
_VERBS = """
go went gone goes; eat ate eaten; buy bought; sell sold; see saw seen; say said; tell told; take took taken; give gave
given; come came; get got gotten; make made; find found; think thought; know knew known; leave left; bring
brought; begin began begun; keep kept; hold held; write wrote written; stand stood; hear heard; meet met; run
ran run; pay paid; sit sat; speak spoke spoken; lead led; grow grew grown; lose lost; fall fell fallen; send
sent; build built; draw drew drawn; break broke broken; spend spent; drive drove driven; rise rose risen; win
won; teach taught; catch caught; choose chose chosen; sleep slept; fly flew flown; swim swam swum; sing sang
sung; drink drank drunk; wear wore worn; throw threw thrown; bite bit bitten; steal stole stolen; hide hid hidden;
forget forgot forgotten; ride rode ridden; wake woke woken; fight fought; shoot shot; hang hung; become became;
sink sank sunk; ring rang rung; shake shook shaken; strike struck; blow blew blown; tear tore torn; swear swore sworn;
seek sought; lend lent; bend bent; dig dug; stick stuck; sweep swept; weep wept; deal dealt; burn burnt; learn learnt;
dream dreamt; shine shone; shrink shrank shrunk; spin spun; swing swung; bind bound; flee fled; forgive forgave
forgiven; forbid forbade forbidden; arise arose arisen; beat beaten; bleed bled; creep crept; kneel knelt; show shown;
slide slid; undergo underwent; withdraw withdrew withdrawn; mistake mistook mistaken; overcome overcame overcome;
use uses used using; lay laid; lie lied lay lain lying; tie tied tying; die died dying; feed fed; freeze froze frozen;
feel felt; mean meant; understand understood; sue sued suing; owe owed owing; uphold upheld; withhold withheld;
undertake undertook undertaken; overtake overtook overtaken; overthrow overthrew overthrown; oversee oversaw overseen;
rebuild rebuilt; rewrite rewrote rewritten; repay repaid; mislead misled; spring sprang sprung; fling flung; sting
stung; light lit; sew sewn; slay slew slain; weave wove woven; agree agreed; disagree disagreed; free freed; guarantee
guaranteed; control controlled controlling; bet bet; burst burst; cast cast; cost cost; cut cut; hit hit; hurt hurt;
let let; put put; read read; set set; shed shed; shut shut; split split; spread spread; upset upset"""
_FORMS = f"""{_VERBS}; who whom; evening evenings; inning innings; news; shorts; goose geese; thief thieves; wolf
wolves; half halves; shelf shelves; kilogram kg kilo kilos; kilometer km; meter m; gram g; milligram mg; liter l;
milliliter ml; millimeter mm; centimeter cm; gigabyte gb; megabyte mb; pound lb lbs; ounce oz; tablespoon tbsp; teaspoon
tsp; hour hr hrs; minute min mins; second sec secs; man men; woman women; child children; foot feet; tooth teeth; mouse
mice; wife wives; knife knives; he him his himself; she her hers herself; it its itself; i me my mine myself; we us our
ours ourselves; you your yours yourself yourselves; they them their theirs themselves; be am is are was were been being
's 're 'm; have has had having 've; do does did done doing; not n't; will 'll; would 'd; nobody no-one; somebody
someone; everybody everyone; and &; doctor dr; mister mr; professor prof; gray grey; program programme programmes; this
these; that those; != ≠; <= ≤; >= ≥; = ==; https; january jan; february feb; april apr; august aug; september sept sep;
october oct; november nov; december dec; monday mon; tuesday tues; wednesday weds; thursday thurs; friday fri; saint st;
mount mt; governor gov; senator sen; general gen; colonel col; lieutenant lt; captain capt; sergeant sgt; corporation
corp; 12:00 noon; 0:00 midnight
"""
"""Stems with forms that the rules of `stem_of` do not lead to; "news" and "https" are not of "new" and "http"."""
_PAST = frozenset(form for group in _VERBS.split(";") for form in group.split()[1:] if not form.endswith(("s", "ing")))
_STEM = {form: group.split()[0] for group in _FORMS.split(";") for form in group.split()}
_WORDS: dict[Kind, str] = {
    "negation": "not no never nobody none nothing nowhere neither nor without hardly scarcely barely",
    "quantity": "more fewer fewest less half twice once double least enough plenty nearly exactly hundreds",
    "modal": "can could may might must should shall ought able would-rather",
    "pronoun": "he she it i we you they",
    "link": "in on at under over above below behind between into onto from with within after before during since until "
    "through across against near beside around for about up down off out if unless because although though while when "
    "where why how what who which whose or but and than as like so inside outside toward towards along per "
    "despite via among upon amid beyond also too < > <= >= != = +",
    "grammar": "o'clock a an the be do have to of that this there by will would let whether",
}
_KIND = {stem: kind for kind, words in reversed(_WORDS.items()) for stem in words.split()}
_KIND |= dict.fromkeys(QUANTIFIERS - _KIND.keys(), "quantity")
UNITS = {  # stem of a unit → how much it is of another
    "kilometer": (10**6, "millimeter"), "meter": (1000, "millimeter"), "centimeter": (10, "millimeter"),
    "kilogram": (10**6, "milligram"), "gram": (1000, "milligram"), "liter": (1000, "milliliter"),
    "minute": (60, "second"), "hour": (3600, "second"), "day": (86400, "second"), "week": (604800, "second"),
    "year": (12, "month"), "decad": (120, "month"), "century": (1200, "month"), "foot": (12, "inch"),
    "gigabyte": (1000, "megabyte"), "dollar": (100, "cent"), "yearold": (12, "monthold"), "weekold": (7, "dayold"),
}  # fmt: skip
UNITS |= {unit: (1, unit) for _, unit in UNITS.values()} | {"twic": (2, "tim")}  # "times" is none, nor is Tim
ARTICLES = frozenset({"a", "an"})
_BETWEEN = frozenset({"than", "to", "or", "a"})  # two numbers of one quantity
_STAMP = re.compile(r":|-.*-")  # of a time or a date: "8 a.m. every day"
_POWERS = ("hundred", "thousand")
_DAY = re.compile(r"(\d+)(?:st|nd|rd|th)")
_THOUSANDS = {"k": 10**3, "m": 10**6, "b": 10**9, "t": 10**12}
ORDINALS = {
    "1st": "first", "2nd": "second", "3rd": "third", "4th": "fourth", "5th": "fifth", "6th": "sixth", "7th": "seventh",
    "8th": "eighth", "9th": "ninth", "10th": "tenth",
}  # fmt: skip
_NTH = {word: digits for digits, word in ORDINALS.items()}
_BRITISH = {
    "our": "or", "ogu": "og", "enc": "ens", "isation": "ization", "is": "iz", "ys": "yz", "tr": "ter", "br": "ber",
}  # fmt: skip
"""Ends of stems: colour, favourite, catalogue, defence, organisation, organise, analyse, centre, fibre."""
_NEGATING_PREFIX = re.compile(  # "incapable", but not "invested"
    r"(?:un|non-?|mis|dis(?!close|count|cover|miss|place|play|pose)|i[lmnr](?!diff|flam|formation|migr|stance|valu)(?=.+"
    r"(?:al|id|l[ey]|t(?:y|ies)|[ae]r|ere|ic|ane?|[ae]n(?:t|ced?|cy)|[aeiu]te|i[sv]e|ect|xact|ous|ure|tice|[st]ion)s?$))(.+)"
)


class Token(NamedTuple):
    """A word of a sentence."""

    text: str  # as written
    start: int  # position of its first character
    stem: str  # equal for forms of one word, and for spellings of one number
    kind: Kind  # what it does

    @property
    def end(self) -> int:
        """Position after its last character."""
        return self.start + len(self.text)

    @property
    def lower(self) -> str:
        """Its text without regard to capitals and contraction."""
        lower = _straight(self.text)
        return self.stem if _CONTRACTED.get(lower) == self.stem else lower

    @property
    def shown(self) -> str:
        """Its text in quotes, of "can't" without the negation, which "couldn't" has as well."""
        word = {"ai": f"{self.text}n't", "ca": "can", "sha": "shall", "wo": "will"}.get(self.text.lower(), "")
        return f'"{word}"' if word and self.lower != self.text.lower() else f'"{self.text}"'

    @property
    def may_be_participle(self) -> bool:
        """Whether it has the form of a past participle: eaten, filled; not yellow, minimally."""
        return self.lower in _PAST or self.lower.endswith("ed")

    @property
    def has_content(self) -> bool:
        """Whether a graph should have a node or a constant for it."""
        return self.kind in {"word", "name", "pronoun", "quantity"} and (self.stem != "1" or self.lower not in ARTICLES)

    def negates(self, other: "Token") -> bool:
        """Return whether it is another word with a prefix or suffix that negates it.

        >>> [one.negates(other) for one, other in map(tokens_of, ("impossible possible", "useless useful", "in out"))]
        [True, True, False]
        """
        long, short = self.lower, other.lower
        bare = _NEGATING_PREFIX.fullmatch(long) if len(short) > 3 else None
        return (
            stem_of(bare[1]) == other.stem if bare else long[-4:] == "less" and short.removesuffix("ful") == long[:-4]
        )


NO_TOKEN = Token("", 0, "", "grammar")
"""In place of a word where there is none."""
_PHRASES: dict[str, tuple[str, Kind]] = {
    "no one": ("nobody", "negation"),
    "no longer": ("no-longer", "negation"),
    **{each: (each.replace(" ", "-"), "link") for each in ("how much", "how many", "no later than", "no earlier than")},
    "per cent": ("percent", "word"),
    "no.": ("number", "link"),  # No. 2
    **dict.fromkeys(("no only", "no just", "no merely"), ("not-only", "link")),
    "no without": ("not-without", "link"),
    **dict.fromkeys(("oh no", "oh, no"), ("oh-no", "link")),
    **dict.fromkeys(("have to", "has to", "had to"), ("must", "modal")),
    "would rather": ("would-rather", "modal"),
    **dict.fromkeys(("no more than", "up to", "as many as", "as much as"), ("at-most", "quantity")),
    "half a dozen": ("6", "quantity"),
    "and a half": ("1/2", "quantity"),
    "and a quarter": ("1/4", "quantity"),
    **dict.fromkeys(("no fewer than", "no less than"), ("at-least", "quantity")),
    **{f"{tens}ies": (f"19{at}0s", "quantity") for at, tens in enumerate(_TENS.split("|"), 2)},
    "a couple of": ("coupl", "quantity"),
    "a pair of": ("pair", "quantity"),
    **dict.fromkeys(("a lot of", "lots of"), ("many", "quantity")),
    **dict.fromkeys(("fail to", "fails to", "failed to"), ("fail-to", "negation")),
    **dict.fromkeys(("no fail to", "no fails to", "no failed to"), ("not-fail-to", "word")),
    **{phrase: (phrase.replace(" ", "-"), "quantity") for phrase in ("at least", "at most", "a few")},
}


def tokens_of(text: str, names: Collection[str] = ()) -> list[Token]:
    """Return the words of a sentence, of which the first is a name only if it is one of the given names.

    >>> [(token.stem, token.kind) for token in tokens_of("He didn't see three dogs in Oslo")][2:]
    [('not', 'negation'), ('see', 'word'), ('3', 'quantity'), ('dog', 'word'), ('in', 'link'), ('oslo', 'name')]
    """
    tokens = [
        _token(
            match[0],
            match.start(),
            is_first=number == 0 and match[0].lower() not in names,
            is_letter=bool(_LETTER.match(text, match.start())),
            is_part=bool(_NOT.match(text, match.end())) or text[match.start() - 1 : match.start()].isalpha(),
        )
        for number, match in enumerate(_TOKEN.finditer(text))
    ]
    days = {t: day[1] for t in tokens if (day := _DAY.fullmatch(t.lower) or _DAY.fullmatch(t.stem))}
    has_date = bool(re.search(rf"\b(?:{MONTHS})\b", text))  # "the 4th of July" is "July 4"
    return [t._replace(stem=days[t], kind="quantity") if has_date and t in days else t for t in tokens]


def stem_of(word: str) -> str:
    """Return what the forms of a word have in common.

    >>> stem_of("studies") == stem_of("study"), *map(stem_of, ("Running", "adding", "gas", "went"))
    (True, 'run', 'add', 'gas', 'go')
    """
    lower = re.sub(r"s?[ -]olds?$", "-old", _straight(word))  # years old, year-olds
    if lower in _STEM:
        return _STEM[lower]
    if number := _spelt(lower) or _time(lower):
        return number
    if re.fullmatch(r"(?:[a-z]\.){2,}", lower):  # U.S.
        return lower.replace(".", "")
    if lower not in ORDINALS and (digits := lower.replace("'", "").strip("$€£% ")).lstrip(".")[:1].isdigit():
        return normalise_quantity(_in_full(digits) if lower[0] in "$€£" else digits)
    bare = ORDINALS.get(lower) or _bare(re.sub(r"(?<!\bre)\b-\b", "", lower))  # e-mail, but not re-signed
    return _LEMMAS.get(bare, bare)


def _in_full(amount: str) -> str:
    """Return an amount of money without a letter for thousand, million or billion: 2.1m."""
    short = re.fullmatch(r"(\d[\d,]*(?:\.\d+)?)\s?(k|mn?|bn?)", amount)
    return str(Decimal(short[1].replace(",", "")) * _THOUSANDS[short[2][0]]) if short else amount


def _bare(lower: str) -> str:
    """Return a word without the endings of regular forms."""
    bare = lower = re.sub(r"(?<=\w\w\wing)s$", "", lower)  # buildings, but not things
    if lower.isalpha():
        bare = re.sub(r"(?<=\w\w)(?:ing|(?<![ie])ed)$|(?<=[sxzh])es$|(?<=\w\wi)ed$|(?<=\w\w)(?<![su])s$", "", lower)
    if len(bare) < 3:
        return lower
    if len(bare) > 3 and not lower.endswith((bare, "s")) and bare[-1] == bare[-2] and bare[-1] not in "elsz":
        bare = bare[:-1]  # running, but not egg and adding
    bare = re.sub(r"(?:ie|i|y)$", "y", bare.removesuffix("e")) if len(bare) > 3 or lower.endswith("ied") else bare
    if bare != lower and re.search(r"[aeiou][^aeiou]+ell$", bare):
        return bare[:-1]  # travelled and travel
    return re.sub(rf"(?<=..)(?<!sc)(?:our|(?:{'|'.join(_BRITISH)})$)", lambda end: _BRITISH[end[0]], bare)  # not scour


_LEMMAS = {_bare(stem): stem for form, stem in _STEM.items() if form not in {stem, f"{stem}s"}}  # not "even", "http"


def _time(word: str) -> str | None:
    """Return a time of day or a date in digits: "half past six", "6 p.m.", "4 March 2024"."""
    if re.fullmatch(_DATE, word, re.IGNORECASE):
        day, year = re.findall(r"\d+", word)
        return next(f"{year}-{n:02}-{day:>02}" for n, m in enumerate(MONTHS.lower().split("|"), 1) if m[:3] in word)
    if words := re.fullmatch(_CLOCK, word):
        minutes = 15 if words[1] == "quarter" else 30
        total = 60 * int(spelt_number(words[3]) or words[3]) + (minutes if words[2] == "past" else -minutes)
        return f"{total // 60 or 12}:{total % 60:02}"
    hour = re.fullmatch(r"(\d\d?)(:\d\d)?\s?([ap])\.?m\.?", word)
    return hour and f"{int(hour[1]) % 12 + 12 * (hour[3] == 'p')}{hour[2] or ':00'}"


def _spelt(word: str) -> str | None:
    """Return the digits of a number in words: "five", "ninety-five", "nineteenth", "two thirds"."""
    if share := _share(word):
        return share
    tens, hyphen, ones = word.removeprefix("a ").partition("-")
    if word.endswith("th") and not {word, ones} & _NTH.keys():
        return (number := _spelt(word.replace("lfth", "lveth").replace("ieth", "yth")[:-2])) and f"{number}th"
    first, second = "12" if tens == "dozen" else spelt_number(tens), spelt_number(ones)
    if not hyphen:
        return first
    if first and ones in _NTH and tens.endswith("ty"):
        return f"{first[:-1]}{_NTH[ones]}"  # not "one-third"
    return str(int(first) + int(second)) if first and second and tens.endswith("ty") and int(second) < 10 else None


def _share(word: str) -> str | None:
    """Return a share in digits: "two thirds", "two in three"."""
    if odds := re.fullmatch(_ODDS, word):
        return "/".join(_spelt(each) or each for each in odds.groups())
    share = re.fullmatch(_SHARE, word)  # a quarter is a fourth
    return share and f"{spelt_number(share[1]) or 1}/{_NTH.get(share[2], '4th')[:-2]}"


def value_of(tokens: Sequence[Token]) -> tuple[str, ...]:
    """Return the stems of the words of a quantity, a number in words as one.

    >>> [value_of(tokens_of(words)) for words in ("four thousand two hundred", "nearly half", "two dozen", "$2.1m")]
    [('4200',), ('nearly', 'half'), ('24',), ('2100000',)]
    """
    words = " ".join(token.stem for token in tokens if token.stem != "and")  # one hundred and five
    mixed = rf"\b(\d{{1,99}}) (?:({'|'.join(UNITS)}) )?(\d{{1,99}}/[1-9]\d{{0,98}})"  # 2 1/2, an hour and a half
    words = re.sub(mixed, lambda n: f"{float(int(n[1]) + Fraction(n[3]))} {n[2] or ''}", words)
    words = words.replace("half 1000", "0.5 1000")  # half a million
    stems = tuple(re.sub(r"(?<=\d)-(?=\d)", " to ", words).split())  # 3-4 as "3 to 4"
    start = next((at for at, stem in enumerate(stems) if stem[0].isdigit()), 0)  # nearly two hundred
    if len(stems) < start + 2 or not all(re.fullmatch(r"\d+(?:\.\d+)?", stem) for stem in stems[start:]):
        return stems
    total = part = Decimal(0)
    for number in map(Decimal, stems[start:]):
        if number in _THOUSANDS.values():
            kept = total if total > number else 0  # two million in "two million three hundred thousand"
            total, part = kept + (total - kept + part or 1) * number, Decimal(0)
        else:
            is_unit = number >= 100 or (number == 12 and part < 100)  # two dozen, not a hundred and twelve
            part = (part or 1) * number if is_unit else part + number
    return (*stems[:start], normalise_quantity(str(total + part)))


def runs_of(tokens: Sequence[Token]) -> list[tuple[int, int]]:
    """Return first and last position of each run of quantities; one of `_BETWEEN` may be in between."""
    runs: list[tuple[int, int]] = []
    for at, token in enumerate(tokens):
        if token.kind == "quantity":
            before = tokens[max(at - 1, 0)]
            apart = token.start > before.end + 1 or bool(_STAMP.search(before.stem))  # in 1827, fifty thousand
            apart |= all(each.stem.isdigit() and each.text[0].isdigit() for each in (before, token))  # in 2020 50 left
            step = at - runs[-1][1] if runs else 0
            comma = step == 2 and before.start > tokens[at - 2].end + 1  # 28 points, or 0.3 percent
            rises = step == 2 and tokens[at - 2].text[-1] == "%" != token.text[-1]  # rose 3 % to 40
            rises |= step == 2 and before.lower == "to" and tokens[at - 3].lower in {"by", "from"}  # rose by 3 to 40
            links = before.stem in _BETWEEN or (before.stem == "and" and tokens[at - 2].lower.endswith(_POWERS))
            links |= before.stem in UNITS and token.lower.startswith("and ")  # an hour and a half
            joins = (step == 1 and not apart) or (step == 2 and links and not rises and not comma)
            units = [UNITS[t.stem] for t in tokens[at - step + 1 : at + 2] if t.stem in UNITS]
            joins |= len(set(units)) == 2 and step == 2 + (before.stem == "and") and units[0][1] == units[1][1]
            runs[-1:] = [(runs[-1][0], at)] if joins else [*runs[-1:], (at, at)]
    return runs


def misspells(one: Token, other: Token) -> bool:
    """Return whether two long words may be one with a typo: a letter more, other vowels, letters in another order."""
    left, right = (token.lower.replace("-", "") for token in (one, other))
    bare = [re.sub(r"(.)\1", r"\1", word) for word in (left, right)]
    left, right = bare if bare[0] == bare[1] else (left, right)  # tommorow; not "winner" and "winter"
    first = len(commonprefix([left, right]))  # noqa: RUF071 - no paths
    last = len(commonprefix([left[first:][::-1], right[first:][::-1]]))  # noqa: RUF071
    ours, theirs = left[first : len(left) - last], right[first : len(right) - last]
    alike = len(ours + theirs) < 2 or sorted(ours) == sorted(theirs) or set(ours + theirs) <= set("aeiou")
    long = min(map(len, bare)) > (4 if len(ours + theirs) < 2 else 6)
    ends = (left[0], left[-1]) == (right[0], right[-1])  # not "walking" and "talking"
    return alike and long and ends and not re.search(r"[\d@/]", left + right)  # RTX3070 and RTX3080


def abbreviates(one: Sequence[Token], other: Sequence[Token]) -> bool:
    """Return whether one word has the initials of others: "UN", "ASAP"."""
    if not (len(one) == 1 < len(other) and one[0].text.isupper()):  # not "go" and "good options"
        return False
    return "".join(token.text[0] for token in other).upper() in {one[0].text.replace(".", ""), one[0].stem.upper()}


def _straight(text: str) -> str:
    fraction = unicodedata.normalize("NFKC", text) if len(text) == 1 else text  # ½
    return " ".join((fraction if "⁄" in fraction else text).casefold().replace("us$", "$").translate(_SIGNS).split())


def _token(text: str, start: int, *, is_first: bool, is_letter: bool, is_part: bool) -> Token:
    lower = _straight(text)
    if is_part and (word := _CONTRACTED.get(lower)):
        return Token(text, start, word, _KIND[word])
    if phrase := _PHRASES.get(re.sub("^(?:not|n't|never) ", "no ", lower)):
        return Token(text, start, *phrase)
    if text.replace(".", "") in {"US", "USA"}:
        return Token(text, start, "us", "name")
    stem = text if is_letter else stem_of(lower)
    full = (text == "May" and not is_first) or is_letter or lower in {"doing", "done"}  # not auxiliary verbs
    kind: Kind | None = "grammar" if "n't " in lower else None if full else _KIND.get(_STEM.get(lower, lower))
    if kind is None:
        counts = _spelt(lower) or _time(lower) or (lower not in ORDINALS and lower.lstrip("-−+$€£.")[:1].isdigit())
        kind = "quantity" if counts else "name" if text[0].isupper() and not is_first else "word"
    return Token(text, start, stem, kind)
