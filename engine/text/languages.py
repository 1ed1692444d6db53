"""In which language a text is written, as its letters tell, and where many languages share them, py3langid.

Of a text alone its language is told if it is likely, else its script. In a table the other texts tell too:
how much of it is in which language (`usual_languages`) is what a text is expected to be in, so that
"gripping" is English among English reviews, and a whole Spanish sentence there is still Spanish. Languages
without a name here are told as the nearest one that has, or as their script.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from engine.errors import marked

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

# R texts, L languages of a script

Shares = Mapping[
    str, Mapping[str, float]
]  # script -> language -> its share of the table's texts in that script
LOOKED_AT, GUESSED_FROM = 2000, 100  # characters of a text whose script is counted; whose language is guessed
FIRST_TEXTS = 40  # of a table whose script is looked at, and characters of each
LIKELY = 0.5  # from which on a language is told
SAMPLE, ROUNDS = 2000, 30  # texts of a table by which its languages are estimated, and how often
SELDOM = 1e-4  # share of a language that the sample lacks
NO_LETTERS, _OTHERS = marked("engine", "no letters"), marked("engine", "other letters")
SIMPLIFIED, TRADITIONAL = "simplified", "traditional"
_FORM_TELLS = 2  # characters of one form, from which on a text is in it: one may be a name
CHINESE, _JAPANESE = marked("engine", "Chinese"), marked("engine", "Japanese")
_LATIN, _CYRILLIC = marked("engine", "Latin letters"), marked("engine", "Cyrillic letters")
_ARABIC, _DEVANAGARI = marked("engine", "Arabic letters"), marked("engine", "Devanagari letters")
_SCRIPTS = (  # letters from, to (end open), and the language or script that they tell
    (0x0041, 0x0250, _LATIN),
    (0x1E00, 0x1F00, _LATIN),
    (0x0370, 0x0400, marked("engine", "Greek")),
    (0x0400, 0x0530, _CYRILLIC),
    (0x0530, 0x0590, marked("engine", "Armenian")),
    (0x0590, 0x0600, marked("engine", "Hebrew")),
    (0x0600, 0x0780, _ARABIC),
    (0x0900, 0x0980, _DEVANAGARI),
    (0x0980, 0x0A00, marked("engine", "Bengali")),
    (0x0B80, 0x0C00, marked("engine", "Tamil")),
    (0x0E00, 0x0E80, marked("engine", "Thai")),
    (0x10A0, 0x1100, marked("engine", "Georgian")),
    (0x1100, 0x1200, marked("engine", "Korean")),
    (0xAC00, 0xD7B0, marked("engine", "Korean")),
    (0x3040, 0x3100, _JAPANESE),
    (0x3400, 0xA000, CHINESE),
    (0xF900, 0xFB00, CHINESE),
)
_LANGUAGES = {  # of scripts that many languages share, by py3langid's codes
    _LATIN: {
        "af": marked("engine", "Afrikaans"),
        "az": marked("engine", "Azerbaijani"),
        "ca": marked("engine", "Catalan"),
        "cs": marked("engine", "Czech"),
        "cy": marked("engine", "Welsh"),
        "da": marked("engine", "Danish"),
        "de": marked("engine", "German"),
        "en": marked("engine", "English"),
        "es": marked("engine", "Spanish"),
        "et": marked("engine", "Estonian"),
        "eu": marked("engine", "Basque"),
        "fi": marked("engine", "Finnish"),
        "fr": marked("engine", "French"),
        "ga": marked("engine", "Irish"),
        "gl": marked("engine", "Galician"),
        "hr": marked("engine", "Croatian"),
        "hu": marked("engine", "Hungarian"),
        "id": marked("engine", "Indonesian"),
        "is": marked("engine", "Icelandic"),
        "it": marked("engine", "Italian"),
        "lt": marked("engine", "Lithuanian"),
        "lv": marked("engine", "Latvian"),
        "ms": marked("engine", "Malay"),
        "nl": marked("engine", "Dutch"),
        "nn": marked("engine", "Norwegian"),
        "no": marked("engine", "Norwegian"),
        "pl": marked("engine", "Polish"),
        "pt": marked("engine", "Portuguese"),
        "ro": marked("engine", "Romanian"),
        "sk": marked("engine", "Slovak"),
        "sl": marked("engine", "Slovenian"),
        "sq": marked("engine", "Albanian"),
        "sr": marked("engine", "Serbian"),
        "sv": marked("engine", "Swedish"),
        "sw": marked("engine", "Swahili"),
        "tl": marked("engine", "Filipino"),
        "tr": marked("engine", "Turkish"),
        "vi": marked("engine", "Vietnamese"),
    },
    _CYRILLIC: {
        "be": marked("engine", "Belarusian"),
        "bg": marked("engine", "Bulgarian"),
        "kk": marked("engine", "Kazakh"),
        "mk": marked("engine", "Macedonian"),
        "ru": marked("engine", "Russian"),
        "sr": marked("engine", "Serbian"),
        "uk": marked("engine", "Ukrainian"),
    },
    _ARABIC: {
        "ar": marked("engine", "Arabic"),
        "ary": marked("engine", "Arabic"),
        "arz": marked("engine", "Arabic"),
        "fa": marked("engine", "Persian"),
        "ps": marked("engine", "Pashto"),
        "ur": marked("engine", "Urdu"),
    },
    _DEVANAGARI: {
        "hi": marked("engine", "Hindi"),
        "mr": marked("engine", "Marathi"),
        "ne": marked("engine", "Nepali"),
    },
}
_NAMES = {script: tuple(dict.fromkeys(known.values())) for script, known in _LANGUAGES.items()}


def usual_languages(texts: Sequence[str]) -> Shares:
    """Return how much of a table is in which language, of each script that many languages share.

    Estimated by expectation and maximization over texts from all over the table: the shares say how likely
    each text is of a language, and the mean of that is the share of the language.
    Source: Dempster et al. 1977.
    """
    found: dict[str, list[np.ndarray]] = {}
    scripts = Counter[str]()
    for place in range(0, len(texts), -(-len(texts) // SAMPLE) or 1):
        text = texts[place]
        scripts[script := script_of(text)] += 1
        if script in _LANGUAGES:
            found.setdefault(script, []).append(_likelihoods(text, script))
    shares: dict[str, dict[str, float]] = {}
    if scripts[_JAPANESE] > scripts[CHINESE]:
        shares[CHINESE] = {_JAPANESE: 1.0}  # a few words of Japanese may have Chinese characters alone
    for script, likelihoods in found.items():
        likely = np.stack(likelihoods)  # (R, L)
        share = np.full(likely.shape[1], 1 / likely.shape[1])
        for _ in range(ROUNDS):
            weighed = likely * share
            share = (weighed / weighed.sum(1, keepdims=True)).mean(0)
        shares[script] = dict(zip(_NAMES[script], share.tolist(), strict=True))
    return shares


def language_of(text: str, usual: Shares | None = None) -> str:
    """Return the language of a text, else its script: a marked template. A mixture is what most of it is.

    Args: usual: `usual_languages` of the table that it is of.
    """
    script = script_of(text, usual)
    if script not in _LANGUAGES:
        return script
    shares = usual.get(script) if usual else None
    if shares:
        code, _ = _identifier().classify(text[:GUESSED_FROM])  # in two thirds of the time that ranking takes
        language = _LANGUAGES[script].get(code, "")
        if shares.get(language, 0.0) >= LIKELY:
            return language  # likeliest by itself, and in its table
    likely = _likelihoods(text, script)
    if shares:
        likely *= [max(share, SELDOM) for share in shares.values()]
    best = int(likely.argmax())
    return _NAMES[script][best] if likely[best] >= LIKELY * likely.sum() else script


def script_of(text: str, usual: Shares | None = None) -> str:
    """Return the script that most letters of a text are in: a marked template.

    Args: usual: `usual_languages` of the table that it is of.
    """
    some = text[:LOOKED_AT]
    if some.isascii():
        return _LATIN if any(map(str.isalpha, some)) else NO_LETTERS
    scripts = Counter[str]()
    for char, count in Counter(some).items():  # not by words: Chinese has Latin letters among its own
        if char.isalpha():
            scripts[_script_of(char)] += count if char < "\u3040" else 2 * count
    if not scripts:
        return NO_LETTERS
    if scripts[_JAPANESE] and scripts[_JAPANESE] * 10 >= scripts[CHINESE]:
        scripts[_JAPANESE] += scripts.pop(CHINESE, 0)  # both stand in one Japanese text
    script = scripts.most_common(1)[0][0]
    return _JAPANESE if script == CHINESE and usual and CHINESE in usual else script


def script_of_texts(texts: Iterable[str]) -> str:
    """Return the script that most letters of the first texts are in: a marked template."""
    return script_of("\n".join(text[:FIRST_TEXTS] for text in islice(texts, FIRST_TEXTS)))


def _likelihoods(text: str, script: str) -> np.ndarray:
    """Return (L,) how likely a text is if it is in each language of `_NAMES`, up to a factor.

    Of the ways to write one language it is the likeliest.
    """
    found = dict.fromkeys(_NAMES[script], 1e-12)  # not 0, of which no share could be made
    for code, probability in _identifier().rank(text[:GUESSED_FROM]):
        if (name := _LANGUAGES[script].get(code)) is not None:
            found[name] = max(found[name], probability)
    return np.array(list(found.values()))


def chinese_form(text: str) -> str:
    """Return in which form of characters a Chinese text is: SIMPLIFIED, TRADITIONAL, or "" if too few tell.

    One tells if only one of the sets that were made for the two forms has it: GB 2312-80 and Big5.
    """
    simplified, traditional = _one_form()
    counts = {
        SIMPLIFIED: sum(map(simplified.__contains__, text)),
        TRADITIONAL: sum(map(traditional.__contains__, text)),
    }
    form = max(counts, key=lambda one: counts[one])
    return form if counts[form] >= max(_FORM_TELLS, min(counts.values()) + 1) else ""


@lru_cache(maxsize=1)
def _one_form() -> tuple[frozenset[str], frozenset[str]]:
    """Return the characters that are simplified, and those that are traditional."""
    characters = [chr(code) for code in range(0x4E00, 0xA000)]
    gb2312, big5 = (
        {one for one in characters if one.encode(encoding, "ignore")} for encoding in ("gb2312", "big5")
    )
    return frozenset(gb2312 - big5), frozenset(big5 - gb2312)


@lru_cache(maxsize=1)
def _identifier() -> LanguageIdentifier:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier  # here: its tables take half a second

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    identifier.set_languages({code for known in _LANGUAGES.values() for code in known})
    return identifier


@lru_cache(maxsize=1 << 14)
def _script_of(letter: str) -> str:
    code = ord(letter)
    return next((name for start, stop, name in _SCRIPTS if start <= code < stop), _OTHERS)
