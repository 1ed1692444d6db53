"""In which language a text is written, as far as its letters and its commonest words tell: no model is asked.

Scripts that one language has for the most part are told by their letters alone. Of those that many share, the
small words decide, and where they do not, the script is all that is said.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable
from functools import lru_cache
from itertools import islice

from engine.errors import marked

LOOKED_AT = 2000  # characters of a text
FIRST_TEXTS = 40  # of a table whose script is looked at, and characters of each
LEAST_WORDS, CLEARLY = 2, 1.5  # small words that have to stand there; times as many as of the next language
SHORT = 3  # words of a text in which one of them is enough
NO_LETTERS, _OTHERS = marked("engine", "no letters"), marked("engine", "other letters")
CHINESE, _JAPANESE = marked("engine", "Chinese"), marked("engine", "Japanese")
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
    (0x3400, 0xA000, CHINESE),
    (0xF900, 0xFB00, CHINESE),
)
_SMALL_WORDS = {  # of scripts that many languages share; no bare Latin letter, which too many of them share
    _LATIN: {
        marked("engine", "English"): (
            "the of and to in is was it that for with on as are this not you but an be by at from his her "
            "its have has had or if all more than about who what which so one there they their we my me "
            "he she your can will would just very good great bad best like no out up too into when how "
            "don't it's isn't doesn't i'm never does did do some most much only even been were them then"
        ),
        marked("engine", "German"): (
            "der die und das ist nicht ein eine zu den mit von sich auf für im ich es er sie wir aber "
            "auch dem des war sehr gut wie nur noch wird hat nach bei einer einen oder aus kann mich mein "
            "kein schon über alles immer wenn dass schlecht"
        ),
        marked("engine", "French"): (
            "le la les des et est un une du que qui dans pour pas sur au ce il je en ne se vous nous mais "
            "avec plus son sa par cette très bien tout elle sont ont c'est qu'il été fait comme aussi ça "
            "mon bon"
        ),
        marked("engine", "Spanish"): (
            "el la los las de que en un una es por con no para se del lo al su más pero muy como me mi "
            "está este esta son todo ya le bien sin hay fue ser también porque cuando bueno"
        ),
        marked("engine", "Italian"): (
            "il di che è la un una non per sono con del della le gli si da in lo ma molto più come mi al "
            "dei questo questa anche ho ha nel alla ci bene tutto sua suo era essere"
        ),
        marked("engine", "Portuguese"): (
            "os as de que em um uma não para com do da no na por se é mais mas muito como eu ele ela foi "
            "são ao dos das tem seu sua meu está este isso bom você também quando"
        ),
        marked("engine", "Dutch"): (
            "de het een en van is niet dat op te zijn met voor ik maar ook je er aan was deze heel goed "
            "wat nog naar bij door dit kan heeft uit geen wordt zeer mijn slecht"
        ),
        marked("engine", "Swedish"): (
            "och att det som en på är av för med den till inte om ett han men var jag har de så kan "
            "mycket bra från vi du min sig eller när här dålig väldigt"
        ),
        marked("engine", "Polish"): (
            "nie na się do to że jest jak po co za ale tak od przez dla są bardzo ja już czy jego było "
            "tylko dobry dobre go być film który ze mnie był"
        ),
        marked("engine", "Turkish"): (
            "ve bir bu da de için çok ne ile ama gibi daha mi var ben değil en kadar sonra olan iyi yok "
            "şey her olarak kötü güzel hiç"
        ),
        marked("engine", "Indonesian"): (
            "yang dan di ini itu dengan untuk tidak dari dalam saya ada akan pada juga ke karena bisa "
            "sudah lebih sangat oleh kami anda mereka atau bagus banget seperti"
        ),
        marked("engine", "Vietnamese"): (
            "và của là có không được cho một trong với này đã các những khi rất tôi người thì như để "
            "nhưng cũng tốt"
        ),
    },
    _CYRILLIC: {
        marked("engine", "Russian"): ("и в не на я что он с как это по но они мы из у за от так все еще"),
        marked("engine", "Ukrainian"): ("і в не на що я з як це по але він у та до є від за так ми"),
        marked("engine", "Bulgarian"): ("и на да се не в за от е с са че като по си което това към ще"),
    },
}
_WORDS: dict[str, dict[str, frozenset[str]]] = {
    script: {language: frozenset(words.split()) for language, words in known.items()}
    for script, known in _SMALL_WORDS.items()
}
_SCRIPT_OF = {language: script for script, known in _SMALL_WORDS.items() for language in known}
_LETTERS = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")


def usual_languages(found: Iterable[str]) -> tuple[str, ...]:
    """Return the language of most texts of a file, one for each script in which small words tell.

    Args: found: of each text, as `language_of` has it without knowing of the others.
    """
    counts: dict[str, Counter[str]] = {}
    for language in found:
        if language in _SCRIPT_OF:
            counts.setdefault(_SCRIPT_OF[language], Counter())[language] += 1
    most = ((each.most_common(1)[0], each.total()) for each in counts.values())
    return tuple(language for (language, count), total in most if 2 * count > total)


def language_of(text: str, usual: Collection[str] = ()) -> str:
    """Return the language of a text, else its script: a marked template. A mixture is what most of it is.

    Args: usual: `usual_languages` of the file that it stands in. A text is of one of them unless its own
        words plainly say otherwise.
    """
    words = _LETTERS.findall(text[:LOOKED_AT].casefold().replace("’", "'"))
    script = _script_of_words(words)
    known = _WORDS.get(script)
    if known is None:
        return script
    expected = next((language for language in usual if language in known), "")
    return _by_words(words, known, expected) or expected or script


def script_of(text: str) -> str:
    """Return the script that most letters of a text are in: a marked template."""
    some = text[:LOOKED_AT]
    if some.isascii():
        return _LATIN if any(map(str.isalpha, some)) else NO_LETTERS
    scripts = Counter[str]()
    for char, count in Counter(some).items():  # not by words: Chinese has Latin letters among its own
        if char.isalpha():
            scripts[_script_of(char)] += count if char < "\u3040" else 2 * count
    return _most(scripts)


def script_of_texts(texts: Iterable[str]) -> str:
    """Return the script that most letters of the first texts are in: a marked template."""
    return script_of("\n".join(text[:FIRST_TEXTS] for text in islice(texts, FIRST_TEXTS)))


def _script_of_words(words: list[str]) -> str:
    scripts = Counter[str]()
    for word in words:
        scripts[_script_of(word[0])] += len(word) if word[0] < "\u3040" else 2 * len(word)
    return _most(scripts)


def _most(scripts: Counter[str]) -> str:
    if not scripts:
        return NO_LETTERS
    if scripts[_JAPANESE] and scripts[_JAPANESE] * 10 >= scripts[CHINESE]:
        scripts[_JAPANESE] += scripts.pop(CHINESE, 0)  # both stand in one Japanese text
    return scripts.most_common(1)[0][0]


def _by_words(words: list[str], known: dict[str, frozenset[str]], expected: str) -> str:
    """Return the language that most of the small words are of; "" where they do not tell.

    Two languages are told apart by the words that one of them has alone.
    """
    counts = {language: sum(word in own for word in words) for language, own in known.items()}
    best = max(counts, key=lambda language: (counts[language], language == expected))
    least = LEAST_WORDS if expected or len(words) > SHORT else 1
    for other, own in known.items():
        if other != best:
            mine = sum(word in known[best] and word not in own for word in words)
            theirs = sum(word in own and word not in known[best] for word in words)
            if mine < max(least if other == expected or not expected else 1, CLEARLY * theirs):
                return ""
    return best if counts[best] >= least else ""


@lru_cache(maxsize=1 << 14)
def _script_of(letter: str) -> str:
    code = ord(letter)
    return next((name for start, stop, name in _SCRIPTS if start <= code < stop), _OTHERS)
