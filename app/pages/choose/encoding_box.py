"""The box for how the bytes of a file become letters: what was found, some to choose, any other to type."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QComboBox, QSizePolicy, QWidget

from app import words
from app.look.boxes import ElidedBox

ENCODINGS = ("utf-8", "utf-16", "gb18030", "big5", "shift_jis", "euc_kr", "cp1252", "latin-1", "cp1251")


class EncodingBox(ElidedBox):
    """`chosen`: another encoding, or "" for the one that is found."""

    chosen = Signal(str)

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent, minimumContentsLength=4)
        self.setObjectName(name)
        self.setAccessibleName(words.label_of("encoding"))
        self.setToolTip(words.tr_engine(words.settings()["encoding"].help))
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setEditable(True)
        self.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.value = ""  # that a person has chosen
        self.activated.connect(self._choose)
        typed = self.lineEdit()
        assert typed is not None  # it is editable
        typed.editingFinished.connect(self._choose)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown):
            self.showPopup()  # walking through would read the file again and again
        else:
            super().keyPressEvent(event)

    def show_read(self, chosen: str, found: str) -> None:
        """Show how a file was read. Args: chosen: by a person, "" where it was found. found: what was."""
        self.value = chosen
        self.clear()
        said = self.tr("auto: {value}").format(value=found)
        self.addItem(said if found and not chosen else self.tr("auto"), "")
        for name in ENCODINGS if chosen in ("", *ENCODINGS) else (*ENCODINGS, chosen):
            self.addItem(name, name)
        self.setCurrentIndex(self.findData(chosen))
        typed = self.lineEdit()
        assert typed is not None
        typed.setCursorPosition(0)  # the beginning is in sight

    def _choose(self) -> None:
        typed = self.currentText().strip()
        wanted = str(self.currentData() or "") if typed == self.itemText(self.currentIndex()) else typed
        if wanted != self.value:
            self.value = wanted
            self.chosen.emit(wanted)
