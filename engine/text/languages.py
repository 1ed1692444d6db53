"""In which language a text is written, as far as its letters and its commonest words tell: no model is asked.

Scripts that one language has for the most part are told by their letters alone. Of those that many share, the
small words decide, and where they do not, the script is all that is said.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache

from engine.errors import marked

LOOKED_AT = 2000  # characters of a text
LEAST_WORDS, CLEARLY = 2, 1.5  # small words that have to stand there; times as many as of the next language
NO_LETTERS, _OTHERS = marked("engine", "no letters"), marked("engine", "other letters")
_CHINESE, _JAPANESE = marked("engine", "Chinese"), marked("engine", "Japanese")
_LATIN, _CYRILLIC = marked("engine", "Latin letters"), marked("engine", "Cyrillic letters")
_SCRIPTS = (  # letters from, to (end open), and the language or script that they tell
    (0x0041, 0x0250, _LATIN),
    (0x1E00, 0x1F00, _LATIN),
    (0x0370, 0x0400, marked("engine", "Greek")),
    (0x0400, 0x0530, _CYRILLIC),
    (0x0530, 0x0590, marked("engine", "Armenian")),
    (0x0590, 0x0600, marked("engine", "Hebrew")),
    (0x0600, 0x0780, marked("engine", "Arabic letters")),
    (0x0900, 0x0980, marked("engine", "Devanagari letters")),
    (0x0980, 0x0A00, marked("engine", "Bengali")),
    (0x0B80, 0x0C00, marked("engine", "Tamil")),
    (0x0E00, 0x0E80, marked("engine", "Thai")),
    (0x10A0, 0x1100, marked("engine", "Georgian")),
    (0x1100, 0x1200, marked("engine", "Korean")),
    (0xAC00, 0xD7B0, marked("engine", "Korean")),
    (0x3040, 0x3100, _JAPANESE),
    (0x3400, 0xA000, _CHINESE),
    (0xF900, 0xFB00, _CHINESE),
)
_SMALL_WORDS = {  # of scripts that many languages share
    _LATIN: {
        marked("engine", "English"): "the of and to in is was it that for with on as are this not you but",
        marked("engine", "German"): "der die und das ist nicht ein eine zu den mit von sich auf für im ich",
        marked("engine", "French"): "le la les des et est un une du que qui dans pour pas sur au ce il je en",
        marked("engine", "Spanish"): "el la los las de que y en un una es por con no para se del lo al su",
        marked("engine", "Italian"): "il di che è la un una non per sono con del della le gli si da in lo ma",
        marked("engine", "Portuguese"): "o a os as de que e em um uma não para com do da no na por se é",
        marked("engine", "Dutch"): "de het een en van is niet dat op te zijn met voor ik maar ook je",
        marked("engine", "Polish"): "i w nie na się z do to że jest jak o po co za ale tak od przez dla",
        marked("engine", "Turkish"): "ve bir bu da de için çok ne ile o ama gibi daha mi var ben değil",
        marked("engine", "Vietnamese"): "và của là có không được cho một trong với này đã các những khi",
    },
    _CYRILLIC: {
        marked("engine", "Russian"): "и в не на я что он с как это по но они мы из у за от так все еще",
        marked("engine", "Ukrainian"): "і в не на що я з як це по але він у та до є від за так ми",
        marked("engine", "Bulgarian"): "и на да се не в за от е с са че като по си което това към ще",
    },
}
_WORDS = {
    script: {language: frozenset(words.split()) for language, words in known.items()}
    for script, known in _SMALL_WORDS.items()
}
_LETTERS = re.compile(r"[^\W\d_]+")


def language_of(text: str) -> str:
    """Return the language of a text, else its script: a marked template. A mixture is what most of it is."""
    words = _LETTERS.findall(text[:LOOKED_AT].casefold())
    scripts = Counter[str]()
    for word in words:
        scripts[_script_of(word[0])] += len(word) if word[0] < "\u3040" else 2 * len(word)
    if not scripts:
        return NO_LETTERS
    if scripts[_JAPANESE] and scripts[_JAPANESE] * 10 >= scripts[_CHINESE]:
        scripts[_JAPANESE] += scripts.pop(_CHINESE, 0)  # both stand in one Japanese text
    script = scripts.most_common(1)[0][0]
    known = _WORDS.get(script)
    return _by_words(words, known) or script if known else script


def _by_words(words: list[str], known: dict[str, frozenset[str]]) -> str:
    """Return the language that most of the small words are of; "" where they do not tell."""
    counts = [(sum(word in own for word in words), language) for language, own in known.items()]
    (most, language), (next_most, _) = sorted(counts, reverse=True)[:2]
    return language if most >= LEAST_WORDS and most >= CLEARLY * next_most else ""


@lru_cache(maxsize=1 << 14)
def _script_of(letter: str) -> str:
    code = ord(letter)
    return next((name for start, stop, name in _SCRIPTS if start <= code < stop), _OTHERS)
