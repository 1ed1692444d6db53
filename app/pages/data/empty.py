"""What the Data page shows before there is any: what can be opened, what was, and something to try."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from app import words
from app.look.labels import label, tip
from app.look.layout import column
from app.look.widgets import Card, button
from app.session import Session
from app.shipped import home_table
from app.stories.known import story
from engine.text.reading.kinds import TABLE_KINDS

MOST_RECENT = 5


class DataEmpty(Card):
    """Open, drop, a recent file or the sample sentences."""

    open_wanted = Signal()

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self._session = session
        self.setObjectName("data_empty")
        self.body.addStretch(2)
        self._add_centred(label(self.tr("Open a table of texts"), "title"))
        said = self.tr("{kinds}: drop a file anywhere on this window, or choose one.")
        hint = said.format(kinds=words.tr_engine(TABLE_KINDS))
        self.hint = label(hint, "muted", wrap=True)
        self.hint.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.add(self.hint)
        self.body.addSpacing(8)
        choose = button(self.tr("Open…"), "primary", name="empty_open")
        said = self.tr("Open a table: {kinds} (Ctrl+O)")
        choose.setToolTip(said.format(kinds=words.tr_engine(TABLE_KINDS)))
        choose.clicked.connect(self.open_wanted)
        self._add_centred(choose)
        table = home_table()
        said = self.tr("Try it with a sample: {name}, {size}")
        said = said.format(name=words.tr_engine(story().table.name), size=words.tr_engine(table.size))
        self.sample = button(said, "link", name="open_sample")
        self.sample.setToolTip(tip(f"{words.tr_engine(table.words)} ({table.licence})"))
        self.sample.clicked.connect(self._open_sample)
        self._add_centred(self.sample)
        self.body.addSpacing(16)
        self._recent = QWidget()
        self._recent_layout = column(gap=2, parent=self._recent)
        self._add_centred(self._recent)
        self.body.addStretch(3)
        session.busy.changed.connect(self._show_busy)
        self._idle_hint = hint
        self._show_busy(session.busy.words)
        self.show_recent()

    def show_recent(self) -> None:
        """List the newest files that can be opened again."""
        while item := self._recent_layout.takeAt(0):
            entry = item.widget()
            if entry is not None:
                entry.deleteLater()
        paths = [path for path in self._session.settings.recent_files if path != str(home_table().path)]
        if paths:
            self._recent_layout.addWidget(
                label(self.tr("RECENT"), "caption"), 0, Qt.AlignmentFlag.AlignHCenter
            )
        for place, path in enumerate(paths[:MOST_RECENT]):
            entry = button(words.shorten(Path(path).name, 60), "link", name=f"recent_{place + 1}")
            entry.setToolTip(tip(path))
            entry.clicked.connect(lambda _checked=False, path=path: self._session.data.open(path))
            self._recent_layout.addWidget(entry, 0, Qt.AlignmentFlag.AlignHCenter)
        self._recent.setVisible(bool(paths))

    def _add_centred(self, widget: QWidget) -> None:
        self.body.addWidget(widget, 0, Qt.AlignmentFlag.AlignHCenter)

    def _show_busy(self, text: str) -> None:
        self.hint.setText(f"{text}…" if text else self._idle_hint)

    def _open_sample(self) -> None:
        self._session.data.open(home_table().path)
