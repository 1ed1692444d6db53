"""Brings the files of engine/translations up to date with what the code says.

    python -m app.translations            every file: new texts are unfinished, old ones go
    python -m app.translations de         a new language: all of its texts are unfinished

What the window and the engine say is collected by Qt's lupdate, what `--help` says from the parsers
themselves. A text that is in several places needs its translation once: the others take it over.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

import app
import engine
from app.__main__ import parser_of_window
from app.demo.command import parser_of_demo
from engine.commands.command_line import parser_of_commands
from engine.commands.spoken_help import texts_of
from engine.language import COMMANDS, FOLDER, catalog

Key = tuple[str, str]  # context, English

ROOTS = tuple(Path(package.__file__ or "").parent for package in (app, engine))


def main(arguments: Sequence[str] | None = None) -> int:
    """Bring files up to date; return 1 where something is unfinished."""
    named = list(sys.argv[1:] if arguments is None else arguments)
    keys = collected()
    unfinished = 0
    for language in named or [path.stem for path in sorted(FOLDER.glob("*.ts"))]:
        path = FOLDER / f"{language}.ts"
        known: Mapping[Key, str] = catalog(language).texts if path.is_file() else {}
        locale = catalog(language).locale if path.is_file() else language
        texts = completed(keys, known)
        path.write_text(document(locale, texts), encoding="utf-8")
        missing = sum(not text for text in texts.values())
        unfinished += missing
        print(f"{path.name}: {len(texts)} texts, {missing} unfinished")
    return int(unfinished > 0)


def collected() -> list[Key]:
    """Return all that is said, by context and English, in order."""
    of_code = set(_of_code())
    parsers = (parser_of_commands(), parser_of_window(), parser_of_demo())
    in_help = {text for parser in parsers for text, _put in texts_of(parser)}
    return sorted(of_code | {(COMMANDS, text) for text in in_help if ("engine", text) not in of_code})


def _of_code() -> Iterator[Key]:
    files = [str(file) for root in ROOTS for file in sorted(root.rglob("*.py"))]
    with tempfile.TemporaryDirectory() as folder:
        listed, found = Path(folder) / "files.lst", Path(folder) / "found.ts"
        listed.write_text("\n".join(files), encoding="utf-8")
        lupdate = Path(sys.executable).parent / "pyside6-lupdate"
        alias = ("-tr-function-alias", "QT_TRANSLATE_NOOP+=marked")
        subprocess.run(
            [lupdate, *alias, "-locations", "none", f"@{listed}", "-ts", found],
            check=True,
            capture_output=True,
        )
        for context in ElementTree.parse(found).getroot().iter("context"):
            for message in context.iter("message"):
                yield context.findtext("name", ""), message.findtext("source", "")


def completed(keys: Sequence[Key], known: Mapping[Key, str]) -> dict[Key, str]:
    """Return the translation of each text: its own, else that of the same text elsewhere, else ""."""
    elsewhere = {text: translation for (_context, text), translation in known.items()}
    return {key: known.get(key) or elsewhere.get(key[1], "") for key in keys}


def document(locale: str, texts: Mapping[Key, str]) -> str:
    """Return a .ts file, without places in the code, so that it differs only where other things are said."""
    lines = ['<?xml version="1.0" encoding="utf-8"?>', "<!DOCTYPE TS>"]
    lines.append(f'<TS version="2.1" language="{escape(locale)}" sourcelanguage="en">')
    context = None
    for (name, source), translation in sorted(texts.items()):
        if name != context:
            lines += [] if context is None else ["</context>"]
            lines += ["<context>", f"    <name>{escape(name)}</name>"]
            context = name
        state = "" if translation else ' type="unfinished"'
        lines += [
            "    <message>",
            f"        <source>{escape(source)}</source>",
            f"        <translation{state}>{escape(translation)}</translation>",
            "    </message>",
        ]
    return "\n".join([*lines, "</context>", "</TS>", ""])


if __name__ == "__main__":
    raise SystemExit(main())
