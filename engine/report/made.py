"""Who made a page to send, and when. Imports nothing that takes long."""

from __future__ import annotations

import time
from importlib import metadata
from pathlib import Path

from engine.errors import Sentence, marked

PACKAGE = "cloze-workbench"
SHORT = 12  # hex digits of a hash that are shown


def version() -> str:
    """Return Cloze's own version; "" where it was not installed."""
    try:
        return metadata.version(PACKAGE)
    except metadata.PackageNotFoundError:
        return ""


def today() -> str:
    """Return the date."""
    return time.strftime("%Y-%m-%d")


def made_by() -> str:
    """Return the line below a page: who made it, and what it loads."""
    template = marked(
        "engine", "Made with {cloze} (Apache-2.0) on {date}. This file loads nothing from anywhere."
    )
    return str(Sentence(template, {"cloze": f"Cloze {version()}".strip(), "date": today()}))


def short(digest: str) -> str:
    """Return the beginning of a hash."""
    return digest[:SHORT]


def bare(line: str) -> str:
    """Return a line or a path without the name of the person's own folder."""
    home = str(Path.home())
    return line if len(home) < 2 else line.replace(home, "~")
