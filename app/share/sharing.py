"""Asks where the page to send goes, reads the page, and has the file written by a worker."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import shiboken6
from PySide6.QtCore import QObject, QTimer

from app import words
from app.look.error_dialog import show_error
from app.look.files import ask_save, beside
from app.look.page import Page
from app.plots.figure_files import file_stem
from app.session import Session
from app.share.gather import reading
from app.work.worker import Channel
from engine.durable import write_text
from engine.events import Event, result_of
from engine.report.about import model_facts
from engine.report.blocks import Document
from engine.report.html import html_of


class Sharing(QObject):
    """Shares the pages of a session."""

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._writing = Channel(self, session.workers.files)
        self._slices = QTimer(self, interval=0)
        self._slices.timeout.connect(self._read_on)
        self._reading: Iterator[Event] = iter(())

    @property
    def is_writing(self) -> bool:
        """Whether a file is still being written."""
        return self._slices.isActive() or self._writing.is_asking

    def ask(self, page: Page) -> None:
        """Ask where to, and share what the page shows."""
        stem = file_stem(page.header.title_label.text())
        ask_save(
            page,
            self.tr("One page to send"),
            partial(self.share, page),
            name="share_dialog",
            suggested=beside(self._session.settings.recent_files) / f"{stem}.html",
            filters=[self.tr("Web pages (*.html)")],
            suffix="html",
        )

    def share(self, page: Page, path: str) -> None:
        """Write what the page shows now as one HTML file."""
        if self.is_writing:
            return
        button = page.header.share
        button.setEnabled(False)
        made = page.own_document(button.has_texts)
        if made is not None:
            self._write(page, path, made)
            return
        self._reading = reading(page, has_texts=button.has_texts)
        self._about = page, path
        self._slices.start()

    def _read_on(self) -> None:
        """Paint one more figure; at the end, have the file written."""
        page, path = self._about
        if not shiboken6.isValid(page):
            self._end()
            return
        try:
            next(self._reading)
        except StopIteration as done:
            self._end()
            self._write(page, path, partial(with_model, done.value, page.model_shared()))
        except Exception:
            self._end()
            page.header.share.setEnabled(True)
            raise

    def _end(self) -> None:
        self._slices.stop()
        self._reading = iter(())

    def _write(self, page: Page, path: str, made: Callable[[], Document]) -> None:
        self._writing.ask(
            object(),
            partial(write_page, Path(path), made),
            heard=partial(self._hear, page),
            refused=partial(self._refuse, page),
            ended=partial(page.header.share.setEnabled, True),
        )

    def _hear(self, page: Page, size: int) -> None:
        page.header.share.say(self.tr("Saved, {size}").format(size=words.file_size(size)))

    def _refuse(self, page: Page, error: BaseException) -> None:
        show_error(error, page)


def write_page(path: Path, made: Callable[[], Document]) -> int:
    """Write a page to send; return how many bytes it has. Raises: UserError: it cannot be written."""
    text = html_of(made())
    write_text(path, text)
    return len(text.encode())


def with_model(document: Document, folder: Path | None) -> Document:
    """Return a page with the name, hash and data of the model that it shows. Raises: ModelError."""
    if folder is None:
        return document
    facts = result_of(model_facts(folder))
    told = {name.lower() for name, _value in facts}
    return replace(document, facts=(*facts, *(one for one in document.facts if one[0].lower() not in told)))
