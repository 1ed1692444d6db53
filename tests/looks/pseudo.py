"""A language that nobody speaks: every text with accents and 40 % longer, so that what is not translated, or
has no room, is seen at once.

    python -m tests.looks.pseudo FOLDER          writes xx.ts, and rtl.ts, which is read from right to left
    CLOZE_TRANSLATIONS=FOLDER CLOZE_LANG=xx cloze
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from app.translations import collected, document

_KEPT = re.compile(r"(\{[^}]*\}|<[^>]*>|&\w+;|%\([a-z]+\)s|\n)")  # placeholders, tags
_ACCENTS = str.maketrans("aceinosuyzACEINOSUYZ", "àçéîñöšüýžÀÇÉÎÑÖŠÜÝŽ")
LANGUAGES = {"xx": "eo", "rtl": "ar"}  # a file's name -> the locale whose numbers and direction it has


def pseudo(text: str) -> str:
    """Return a text with accents, 40 % longer; what is filled in stays as it is."""
    parts = [part if place % 2 else part.translate(_ACCENTS) for place, part in enumerate(_KEPT.split(text))]
    letters = len(_KEPT.sub("", text))
    return "".join(parts) + "~" * (-(-2 * letters // 5))


def write(folder: Path) -> None:
    """Write the files of both languages."""
    folder.mkdir(parents=True, exist_ok=True)
    texts = {key: pseudo(key[1]) for key in collected()}
    for language, locale in LANGUAGES.items():
        (folder / f"{language}.ts").write_text(document(locale, texts), encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
