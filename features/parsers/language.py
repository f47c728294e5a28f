"""Which language a sentence is in, as far as its commonest words show: enough to say that a parser of English errs.

    Der Hund schläft auf dem Sofa.     German: der, auf, dem, and no common word of English

A sentence of names, or in a language in Latin script that is not listed here, counts as English.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping

_WORD = re.compile(r"[^\W\d_]+")
_COMMON: Mapping[str, frozenset[str]] = {
    language: frozenset(words.split())
    for language, words in {
        "English": "the a an and of to in is are was were be been it he she they we you i this that these those for "
        "with on at by from as not no do does did has have had will would can could may what who how why when where "
        "which his her their its my your our there if or but about into than then some any all out up "
        "over s t m re ve ll",
        "German": "der die das dem den des ein eine einen einem einer und ist sind war nicht auf mit für von zu im ich "
        "du er sie es wir ihr sich auch aber oder wenn dass wird wurde haben hat nach bei über aus kein keine wie",
        "French": "le la les un une des du de et est sont dans pour pas ne que qui il elle ils elles nous vous je tu "
        "ce cette ces son sa ses avec sur par au aux mais ou où être a été qu",
        "Spanish": "el la los las un una unos unas de del y es son en por para no que se su sus con al lo como más "
        "pero muy está están fue ha han hay mi tu yo él ella nosotros esta este",
        "Italian": "il lo la i gli le un uno una di del della dei delle e è sono in per non che si con al alla da nel "
        "nella ma più ha hanno questo questa sul suo sua",
        "Portuguese": "o a os as uma de do da dos das e é são em no na nos nas por para não que se com ao mas como "
        "mais foi está seu sua ele ela eu você",
        "Dutch": "de het een en van is zijn in op te dat die niet met voor aan er ook als maar om bij hij zij ze ik je "
        "we naar uit wordt werd heeft hebben geen deze",
        "Swedish": "en ett och är att det den som på i av för inte med till han hon de vi jag du har var om från "
        "sig kan ska",
        "Danish": "en et og er at det den som på i af for ikke med til han hun de vi jeg du har var om fra sig kan "
        "skal",
        "Norwegian": "en et ei og er å det den som på i av for ikke med til han hun de vi jeg du har var om fra seg "
        "kan skal",
        "Polish": "w i na z się nie do jest to że o jak po co ale za od są ten ta przez dla czy już tylko był była",
        "Czech": "a v se na je že s z do i o k ve pro ale jsou to jako za by si jeho byl byla není jsem",
        "Finnish": "ja on ei että se hän oli ovat mutta kun niin myös joka ole minä sinä tämä",
        "Hungarian": "a az és hogy nem is egy van volt meg ez de csak ha már mint én te ő",
        "Romanian": "și în de la cu pe nu este un o să care din pentru că mai sunt a al ale lui",
        "Turkish": "ve bir bu da de için ile çok ne o ben sen değil var daha gibi ama",
        "Indonesian": "yang dan di ini itu dengan untuk dari tidak dalam adalah saya dia ke pada akan ada",
    }.items()
}
_ENGLISH_TOO = frozenset({
    "al", "also", "as", "at", "ben", "care", "com", "con", "dan", "del", "den", "die", "do", "e", "em", "for", "ha",
    "hat", "he", "in", "is", "me", "met", "mint", "no", "non", "on", "over", "par", "per", "pour", "pro", "son", "sue",
    "ten", "till", "to", "v", "van", "w", "war",
})  # fmt: skip
"""Common words of other languages that are words or names in English, too: alone they prove nothing."""


def other_language(text: str) -> str | None:
    """Return the language of a sentence if it is clearly not English ("another script" if not in Latin), else None.

    Where two are as likely, both are named; where more are, it is "another language".

    >>> other_language("Der Hund schläft auf dem Sofa."), other_language("El Greco died in Toledo.")
    ('German', None)
    """
    spelt = _WORD.findall(text)
    if spelt and not any(unicodedata.name(letter, "").startswith("LATIN") for letter in "".join(spelt)):
        return "another script"
    # A capital within a sentence marks a name: "Simone de Beauvoir"; and "EU", "Los Angeles", though not "Der Hund".
    words = {word.lower() for n, word in enumerate(spelt) if word[0].islower() or (n == 0 and not word[1:2].isupper())}
    if spelt[1:] and spelt[1][0].isupper():
        words -= {spelt[0].lower()} - _COMMON["German"] - _COMMON["English"]
    english = len(words & _COMMON["English"])
    shared = {name: words & common for name, common in _COMMON.items()}
    most = max(map(len, shared.values()))
    names = [name for name, common in shared.items() if len(common) == most]
    strange = any(not word.isascii() for word in words)
    telling = {word for name in names for word in shared[name]} - _ENGLISH_TOO
    sure = most > max(2, 2 * english)
    if sure or (most and not english and (strange or (telling and len(spelt) > 2))):
        return " or ".join(names) if len(names) < 3 else "another language"
    return None


def tell_languages(texts: Iterable[str]) -> str | None:
    """Return one sentence that names the distinct sentences that are not English; None if there are none."""
    distinct = dict.fromkeys(filter(None, texts))
    others = [(text, language) for text in distinct if (language := other_language(text))]
    if not others:
        return None
    languages = dict.fromkeys(language for _, language in others)
    count = f"{len(others):,} of {len(distinct):,} sentences seem" if len(others) > 1 else "One sentence seems"
    return (
        f"{count} not to be English ({', '.join(languages)}: {others[0][0][:60]!r}); parsers and encoders read "
        "English unless they were trained otherwise, so do not rely on what they make of it."
    )
