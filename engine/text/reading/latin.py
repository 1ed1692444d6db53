"""Which of the older Latin encodings a text is in, by the letters that a language has beside a to z.

Read in the wrong encoding, a text has letters that no one language has together, or lacks that language's
commonest: Latvian in cp1257, read as cp1252, has the letters of French, but no é. The commonest encoding wins
a draw.
"""

from __future__ import annotations

from collections import Counter

_WESTERN = (  # the commonest letters, then the others
    ("éèàê", "âæçëîïôœùûüÿ"),  # French
    ("äöü", "ßéà"),  # German
    ("áéíóñ", "úüªº"),  # Spanish
    ("ãç", "áâàéêíóôõúüªº"),  # Portuguese
    ("èàù", "éìíîòóú"),  # Italian
    ("ëé", "áíóúàèïöüçê"),  # Dutch
    ("æøå", "éèóôòâä"),  # Danish, Norwegian
    ("äå", "öéàüšž"),  # Swedish, Finnish
    ("áíðþ", "éóúýæö"),  # Icelandic
    ("àèç", "éíïòóúü"),  # Catalan
    ("ë", "ç"),  # Albanian
    ("õä", "öüšž"),  # Estonian
)
_CENTRAL = (
    ("łąęż", "ćńóśź"),  # Polish
    ("íáěč", "ďéňóřšťúůýžäôĺľŕ"),  # Czech, Slovak
    ("áéőö", "íóúüű"),  # Hungarian
    ("čšž", "ćđ"),  # Croatian, Slovene
    ("ăţş", "âî"),  # Romanian
)
_LANGUAGES = {  # the commonest first
    "cp1252": _WESTERN,
    "cp1250": _CENTRAL,
    "iso8859_2": _CENTRAL,
    "cp1254": (("ışğ", "çöüâîûİ"),),
    "cp1257": (("āīē", "čģķļņšūž"), ("ėųš", "ąčęįūž")),
}
_ANYWHERE = frozenset("‘’‚“”„«»‹›–—…•·°§´€£©®½¡¿\u00a0")
_ENOUGH = 0.9  # of the characters beyond ASCII
_COMMONEST = 0.2  # what the share of the commonest letters counts beside that


def latin_encoding(data: bytes) -> str:
    """Return the encoding in which hardly a letter of `data` is foreign to its language, or ""."""
    best, best_score = "", 0.0
    for name, languages in _LANGUAGES.items():
        try:
            found = Counter(letter for letter in data.decode(name) if letter > "\x7f")
        except UnicodeDecodeError:
            continue
        for common, others in languages:
            known = _share(found, _ANYWHERE.union(common, others, (common + others).upper()))
            score = known + _COMMONEST * _share(found, frozenset(common + common.upper()))
            if known >= _ENOUGH and score > best_score:
                best, best_score = name, score
    return best


def _share(found: Counter[str], letters: frozenset[str]) -> float:
    return sum(count for letter, count in found.items() if letter in letters) / max(1, found.total())
