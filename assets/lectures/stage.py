"""Keeps scenes from the pages of a real window that nobody sees: each is shown, answered, and asked for its
state.

A fact that a sentence names is checked while it is made (`told`): what is not so is not written.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import engine  # noqa: F401, I001  # before torch, which reads how its threads wait
from PySide6.QtWidgets import QApplication

from app.language import speak_in
from app.lectures.find import scene_of
from app.lectures.lecture import Scene
from app.main_window import MainWindow
from app.pages.stated_page import StatedPage
from app.session import Session
from app.settings import AppSettings
from app.work.page_state import MODEL, PageState, SceneValues
from engine.language import ENGLISH

REST_S = 0.3  # longer than any page lets typing or choosing rest
LONGEST_S = 300.0
TRIES = 3  # on a busy machine, a page made just now may show its own example first


class Stage:
    """A window in a language, and the scenes that were kept from it. Use it in `with`."""

    def __init__(self, language: str = ENGLISH) -> None:
        self._folder = tempfile.TemporaryDirectory()
        found = QApplication.instance()
        self._application = found if isinstance(found, QApplication) else QApplication(["cloze-lectures"])
        speak_in(self._application, language)
        settings = AppSettings(Path(self._folder.name) / "settings.ini")
        settings.runs_root = str(Path(self._folder.name) / "runs")
        self.window = MainWindow(Session(settings), warm_up=False)
        self.window.resize(1280, 800)
        self.window.show()
        self.scenes: list[Scene] = []

    def __enter__(self) -> Stage:
        return self

    def __exit__(self, *_error: object) -> None:
        self.rest()
        self.window.close()
        self.window.deleteLater()
        self._application.processEvents()
        speak_in(self._application, ENGLISH)
        self._folder.cleanup()

    def rest(self, page: StatedPage[Any] | None = None) -> None:
        """Wait until all that was asked is answered, and nothing more is asked a moment later.

        Args: page: that has shown by then what it was to show.
        """
        quiet, end = time.monotonic(), time.monotonic() + LONGEST_S
        while time.monotonic() - quiet < REST_S:
            self._application.processEvents()
            if not (self.window.session.workers.is_idle and (page is None or page.is_state_shown)):
                quiet = time.monotonic()
            if time.monotonic() > end:
                raise TimeoutError("the window does not come to rest")
            time.sleep(0.005)

    def keep(
        self,
        title: str,
        sentence: str,
        page: str,
        folder: Path,
        text: str = "",
        text_pair: str = "",
        /,
        **changes: Any,
    ) -> None:
        """Keep a scene: what a page shows of a text in a model, with some of its values changed."""
        self.window.show_page(page)
        if page not in ("family", "embeddings"):  # these hold their texts themselves
            self.window.session.inspector.choose(folder)
            self.window.session.inspector.set_text(text, text_pair)
        self.rest()
        shown: Any = self.window.page(page)
        role = {"family": "family", "tokenizer": "vocabulary"}.get(page, MODEL)
        values: Mapping[str, Any] = {} if page in ("family", "embeddings") else shown.as_scene().values
        for _ in range(TRIES):
            shown.show_scene(SceneValues({**values, **changes}, {role: folder}, text, text_pair))
            self.rest(shown)
            state = shown.as_scene()
            kept = {**_usual(shown.state_kind), **state.values}
            other = [name for name, value in changes.items() if kept[name] != value]
            if not other:
                break
        told(not other, f"{title}: {other}")
        self.scenes.append(scene_of(title, sentence, page, state))


def _usual(kind: type[PageState]) -> dict[str, Any]:
    """Return the usual values of a state, which a scene need not name."""
    settings = {one.name: one.metadata.get("setting") for one in fields(kind)}
    return {getattr(settings[one.name], "key", "") or one.name: one.default for one in fields(kind)}


def told(is_so: object, what: str) -> None:
    """Refuse to write what is not so. Raises: ValueError."""
    if not is_so:
        raise ValueError(f"no longer so: {what}")
