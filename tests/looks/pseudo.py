"""Languages that nobody speaks: every text with accents, or in Arabic letters, and 40 % longer, so that what
is not translated, has no room, or runs the wrong way is seen at once.

    python -m tests.looks.pseudo FOLDER          writes xx.ts, and rtl.ts, which is read from right to left
    CLOZE_TRANSLATIONS=FOLDER CLOZE_LANG=xx cloze
"""

from __future__ import annotations

import math
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from app.translations import collected, document

_KEPT = re.compile(r"(\{[^}]*\}|<[^>]*>|&\w+;|%\([a-z]+\)s|\n)")  # placeholders, tags
LONGER, ROUNDING = 0.4, 1e-9


@dataclass(frozen=True, slots=True)
class Look:
    """What a language looks like. locale: whose numbers and direction it has. filler: makes words longer."""

    locale: str
    letters: dict[int, str]
    filler: str


LATIN, ARABIC = "abcdefghijklmnopqrstuvwxyz", "ابثدىفغهيجكلمنوضقرسطعخحزشص"
LANGUAGES = {  # a file's name -> how it looks
    "xx": Look("eo", str.maketrans("aceinosuyzACEINOSUYZ", "àçéîñöšüýžÀÇÉÎÑÖŠÜÝŽ"), "~"),
    "rtl": Look("ar", str.maketrans(LATIN + LATIN.upper(), ARABIC * 2), "ـ"),
}


def pseudo(text: str, look: Look = LANGUAGES["xx"]) -> str:
    """Return a text in other letters, each word longer and all of it by 40 %; what is filled in stays."""
    parts = enumerate(_KEPT.split(text))
    return "".join(part if place % 2 else _longer(part, look) for place, part in parts)


def _longer(text: str, look: Look) -> str:
    parts, owed = re.split(r"([\w’]+)", text), 0.0
    for place, part in enumerate(parts):
        owed += LONGER * len(part)
        if place % 2:
            parts[place] = part.translate(look.letters) + look.filler * (num := math.ceil(owed - ROUNDING))
            owed -= num
    return "".join(parts)


def write(folder: Path) -> None:
    """Write the files of both languages."""
    folder.mkdir(parents=True, exist_ok=True)
    for language, look in LANGUAGES.items():
        texts = {key: pseudo(key[1], look) for key in collected()}
        (folder / f"{language}.ts").write_text(document(look.locale, texts), encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
