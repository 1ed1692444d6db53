"""How the open table's file is read, for a person to change."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QComboBox, QGridLayout, QLabel, QSizePolicy, QWidget

from app import words
from app.look.labels import label
from app.pages.choose.encoding_box import EncodingBox
from app.pages.data.roles import ListBox
from app.session import Session
from engine.text.reading.kinds import WITH_SHEETS

HEADER_LINES = 12  # that may be chosen; any line can by a click on its number


class ReadingStrip(QWidget):
    """How the file is read, each part open to change; a change reads it again at once."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 4)
        self._grid.setHorizontalSpacing(8)
        self._grid.setVerticalSpacing(4)
        self._boxes: dict[str, ListBox] = {}
        self._titles: dict[str, QLabel] = {}
        self.first = EncodingBox("reading_encoding")
        self.first.chosen.connect(self._choose)
        self._place("encoding", self.first)
        for name in ("separator", "quoting", "sheet", "header"):
            self._add(name)
        session.data.opened.connect(self._show)
        session.data.refused.connect(self._show)
        self._show()

    def _add(self, name: str) -> None:
        box = ListBox(minimumContentsLength=4)
        box.setObjectName(f"reading_{name}")
        box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        box.setToolTip(words.tr_engine(words.settings()[name].help))
        box.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        box.setAccessibleName(words.label_of(name))
        box.activated.connect(self._choose)
        self._boxes[name] = box
        self._place(name, box)

    def _place(self, name: str, box: QWidget) -> None:
        title = label(words.label_of(name), "muted")
        title.setBuddy(box)
        self._titles[name] = title
        place = len(self._boxes)  # the encoding, which is none of them, comes first
        self._grid.addWidget(title, 0, place)
        self._grid.addWidget(box, 1, place)

    def _show(self) -> None:
        table = self._session.data.table
        if table is None:
            return
        overrides = self._session.data.overrides
        self.first.show_read(overrides["encoding"], table.format.encoding)
        is_text = table.format.kind not in WITH_SHEETS
        asked = {"sheet": bool(table.sheets), "header": is_text or table.may_choose_header}
        for name, title in self._titles.items():
            is_asked = asked.get(name, is_text)
            title.setVisible(is_asked)
            (self._boxes.get(name) or self.first).setVisible(is_asked)
        detected = {
            "separator": words.choice_word("separator", table.format.separator)
            if table.format.separator
            else "",
            "quoting": words.choice_word("quoting", table.format.quoting),
            "header": words.choice_word("header", str(table.format.header_line or "no")),
            "sheet": table.format.sheet,
        }
        for name, box in self._boxes.items():
            chosen = overrides[name]
            box.clear()
            found = self.tr("auto: {value}").format(value=detected[name]) if not chosen else self.tr("auto")
            box.addItem(found, "")
            for value in self._choices(name):
                box.addItem(value if name == "sheet" else words.choice_word(name, value), value)
            if chosen and box.findData(chosen) < 0:
                box.addItem(words.choice_word(name, chosen), chosen)
            box.setCurrentIndex(box.findData(chosen))
            box.setEnabled(table.format.kind == "csv" or name == "sheet" or table.may_choose_header)

    def _choices(self, name: str) -> Sequence[str]:
        """Return what a box offers beside what is detected: for the header no line, or one of the first."""
        table = self._session.data.table
        if name == "sheet":
            return table.sheets if table is not None else ()
        if name == "header":
            return ("no", *(str(number) for number in range(1, HEADER_LINES + 1)))
        return words.settings()[name].choices[1:]

    def _choose(self) -> None:
        if self._session.data.table is None:
            return
        chosen = {name: str(box.currentData() or "") for name, box in self._boxes.items()}
        chosen["encoding"] = self.first.value
        if chosen != self._session.data.overrides:
            self._session.data.reread(**chosen)
