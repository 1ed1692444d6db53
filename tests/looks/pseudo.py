"""A language that nobody speaks: every text with accents and 40 % longer, so that what is not translated, or
has no room, is seen at once.

    python -m tests.looks.pseudo FOLDER          writes xx.ts, and rtl.ts, which is read from right to left
    CLOZE_TRANSLATIONS=FOLDER CLOZE_LANG=xx cloze
"""

from __future__ import annotations

import math
import re
import sys
from pathlib import Path

from app.translations import collected, document

_KEPT = re.compile(r"(\{[^}]*\}|<[^>]*>|&\w+;|%\([a-z]+\)s|\n)")  # placeholders, tags
_ACCENTS = str.maketrans("aceinosuyzACEINOSUYZ", "àçéîñöšüýžÀÇÉÎÑÖŠÜÝŽ")
LONGER, ROUNDING = 0.4, 1e-9
LANGUAGES = {"xx": "eo", "rtl": "ar"}  # a file's name -> the locale whose numbers and direction it has


def pseudo(text: str) -> str:
    """Return a text with accents, each of its words longer and all of it by 40 %; what is filled in stays."""
    return "".join(part if place % 2 else _longer(part) for place, part in enumerate(_KEPT.split(text)))


def _longer(text: str) -> str:
    parts, owed = re.split(r"([\w’]+)", text), 0.0
    for place, part in enumerate(parts):
        owed += LONGER * len(part)
        if place % 2:
            parts[place] = part.translate(_ACCENTS) + "~" * (num := math.ceil(owed - ROUNDING))
            owed -= num
    return "".join(parts)


def write(folder: Path) -> None:
    """Write the files of both languages."""
    folder.mkdir(parents=True, exist_ok=True)
    texts = {key: pseudo(key[1]) for key in collected()}
    for language, locale in LANGUAGES.items():
        (folder / f"{language}.ts").write_text(document(locale, texts), encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
