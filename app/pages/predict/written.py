"""The way on from a file that was written: open it, or show where it lies."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QDir, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QWidget

from app.look.labels import label
from app.look.layout import STRETCH, column, row
from app.look.widgets import button


def open_place(place: Path) -> bool:
    """Open a file or folder with the computer's own program; False where there is none."""
    return QDesktopServices.openUrl(QUrl.fromLocalFile(str(place)))


class FileLinks(QWidget):
    """Two links; where no program of this computer takes the file, its place is written out."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.path: Path | None = None
        self.open_button = button(self.tr("Open it"), "link", name="open_written")
        self.folder_button = button(self.tr("Show folder"), "link", name="show_written")
        self.place = label("", "muted", wrap=True)
        self.place.setObjectName("written_place")
        column(row(self.open_button, self.folder_button, STRETCH, gap=12), self.place, gap=4, parent=self)
        self.open_button.clicked.connect(self._open)
        self.folder_button.clicked.connect(self._show_folder)
        self.show_file(None)

    def show_file(self, path: Path | None) -> None:
        """Lead to a file, or to none."""
        self.path = path
        self.place.hide()
        self.setVisible(path is not None)

    def _open(self) -> None:
        if self.path is not None:
            self._go(self.path)

    def _show_folder(self) -> None:
        if self.path is not None:
            self._go(self.path.parent)

    def _go(self, place: Path) -> None:
        if not open_place(place):
            text = self.tr("No program on this computer opens it. It is at {path}")
            self.place.setText(text.format(path=QDir.toNativeSeparators(str(self.path))))
            self.place.show()
