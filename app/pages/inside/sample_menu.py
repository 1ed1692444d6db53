"""The menu of sentences to look at: under headings, each with a line on what it shows."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtWidgets import QMenu

from app import words
from app.stories.known import story

INDENT = "     "


def fill(menu: QMenu, take: Callable[[str, str], None], *, with_pair: bool = True) -> None:
    """Offer the sentences that ship. Args: take: is given text and pair. with_pair: pairs are offered too."""
    for group in story().sentences:
        chosen = [one for one in group.texts if with_pair or not one.pair]
        if not chosen:
            continue
        under = menu.addMenu(words.tr_engine(group.title)) if group.title else menu
        under.setToolTipsVisible(True)
        for one in chosen:
            shown = words.tr_engine(one.words)
            said = f"{one.text}  ·  {one.pair}" if one.pair else one.text
            action = under.addAction(said.replace("&", "&&"))
            action.setToolTip(shown)
            action.triggered.connect(partial(_take, take, one.text, one.pair))
            under.addAction(INDENT + shown.replace("&", "&&")).setEnabled(False)


def _take(take: Callable[[str, str], None], text: str, pair: str, _checked: bool = False) -> None:
    take(text, pair)
