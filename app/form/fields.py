"""The inputs a settings form is made of; each gives and takes the setting's own type."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtCore import QLocale, Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QSizePolicy,
    QWidget,
)

from app import words
from app.look.boxes import ElidedBox
from app.look.files import ask_file, ask_folder
from app.look.inputs import DoubleSpinBox, LineEdit, SpinBox
from app.look.layout import row
from app.look.widgets import icon_button, tidy_spin
from engine.settings.setting import Setting

RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
SHARE_ENDINGS = ("_share", "_ratio", "dropout", "mask_rate")


class IntField(SpinBox):
    """A whole number; what 0 (or the least) means can be said in words."""

    edited = Signal()

    def __init__(self, about: Setting) -> None:
        super().__init__()
        self.setAlignment(RIGHT)
        self.setRange(int(about.minimum or 0), int(min(about.maximum or 2**31 - 1, 2**31 - 1)))
        tidy_spin(self)
        if about.unit:
            self.setSuffix(" " + words.tr_engine(about.unit))
        self.set_auto(words.tr_engine(about.auto))
        self.valueChanged.connect(self.edited)

    def get(self) -> int:
        return self.value()

    def put(self, value: Any) -> None:
        self.setValue(int(value or 0))

    def set_auto(self, text: str) -> None:
        self.setSpecialValueText(text)


class ShareField(DoubleSpinBox):
    """A share of 0 to 1, shown as per cent."""

    edited = Signal()

    def __init__(self, about: Setting) -> None:
        super().__init__()
        self.setDecimals(3)
        self.setRange((about.minimum or 0) * 100, (1 if about.maximum is None else about.maximum) * 100)
        self.setSuffix(words.per_cent(""))
        tidy_spin(self)
        self.valueChanged.connect(self.edited)

    def get(self) -> float:
        return round(self.value() / 100, 8)

    def put(self, value: Any) -> None:
        self.setValue(float(value or 0) * 100)

    def set_auto(self, text: str) -> None:
        self.setSpecialValueText(text)

    def textFromValue(self, value: float) -> str:
        text = super().textFromValue(value)
        point = self.locale().decimalPoint()
        return text.rstrip("0").rstrip(point) if point in text else text


class TextField(LineEdit):
    """Text; empty means what the placeholder says."""

    edited = Signal()

    def __init__(self, about: Setting) -> None:
        super().__init__()
        self.set_auto(words.tr_engine(about.auto))
        self.textChanged.connect(self.edited)

    def get(self) -> Any:
        return self.text().strip()

    def put(self, value: Any) -> None:
        self.setText("" if value is None else str(value))

    def set_auto(self, text: str) -> None:
        self.setPlaceholderText(text)


class FloatField(TextField):
    """A number of any size, such as 3e-5; None when it is empty and may be, or a 0 that has a meaning."""

    def __init__(self, about: Setting, optional: bool) -> None:
        super().__init__(about)
        self._empty: Any = None if optional else 0.0 if about.auto else ""
        self.setAlignment(RIGHT)

    def get(self) -> Any:
        """Return the number; the text itself when it is none, so that it is refused by name."""
        text = self.text().strip()
        if not text:
            return self._empty
        if QLocale().decimalPoint() == "," and text.count(",") == 1:
            text = text.replace(".", "").replace(",", ".")
        try:
            return float(text)
        except ValueError:
            return text

    def put(self, value: Any) -> None:
        value = None if value == self._empty else value
        super().put(float_text(value) if isinstance(value, int | float) else value)


class BoolField(QCheckBox):
    """Yes or no."""

    edited = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.toggled.connect(self.edited)

    def get(self) -> bool:
        return self.isChecked()

    def put(self, value: Any) -> None:
        self.setChecked(bool(value))

    def set_auto(self, text: str) -> None:
        """Say nothing: a box that is not ticked means no."""


class ChoiceField(ElidedBox):
    """One of some words; the value stays the engine's. `auto`: what an empty one means."""

    edited = Signal()

    def __init__(self, name: str, choices: tuple[str, ...], auto: str = "") -> None:
        super().__init__()
        self._name, self._auto = name, auto
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.set_choices(choices)
        self.currentIndexChanged.connect(self.edited)

    def set_choices(self, choices: tuple[str, ...]) -> None:
        """Offer other values; the chosen one stays where it is still offered."""
        before = self.currentData()
        self.blockSignals(True)
        self.clear()
        for choice in choices:
            self.addItem(words.choice_word(self._name, choice, self._auto), choice)
        self.choose(before, or_first=True)
        self.blockSignals(False)

    def get(self) -> Any:
        return self.currentData() if self.count() else ""

    def put(self, value: Any) -> None:
        index = self.findData(value)
        if (
            index < 0
        ):  # such as a column of a table that is not open: keep it, so that it can be refused by name
            self.addItem(str(value), value)
            index = self.count() - 1
        self.setCurrentIndex(index)

    def set_auto(self, text: str) -> None:
        index = self.findData("")
        if index < 0:
            index = self.findData("auto")
        if index >= 0:
            self.setItemText(index, text)


class PathField(QWidget):
    """A file or a folder, typed or browsed for."""

    edited = Signal()

    def __init__(self, about: Setting, name: str) -> None:
        super().__init__()
        self._folder = name == "model"
        self.line = TextField(about)
        self.line.edited.connect(self.edited)
        self.browse = icon_button("folder", self.tr("Browse…"), role="", call=self._browse)
        self.browse.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        row((self.line, 1), self.browse, gap=4, parent=self)
        self.setFocusProxy(self.line)

    def get(self) -> Any:
        return self.line.get()

    def put(self, value: Any) -> None:
        self.line.put(value)

    def set_auto(self, text: str) -> None:
        self.line.set_auto(text)

    def _browse(self) -> None:
        start = Path(self.line.text()).parent if self.line.text() else ""
        ask = ask_folder if self._folder else ask_file
        ask(self, self.browse.toolTip(), self.line.put, name="path_dialog", start=start)


Field = IntField | ShareField | BoolField | TextField | ChoiceField | PathField


def field_for(name: str, about: Setting, kind: type, optional: bool) -> Field:
    """Return the input that suits a setting of a type; `optional` when None is a value too."""
    if about.choices or about.kind in ("column", "sheet"):
        return ChoiceField(name, about.choices or ("",), about.auto)
    if about.kind == "path":
        return PathField(about, name)
    if kind is bool:
        return BoolField()
    if kind is int:
        field = IntField(about)
        field.setGroupSeparatorShown("seed" not in name)  # a seed is a name, not a count
        return field
    if kind is float and name.endswith(SHARE_ENDINGS):
        return ShareField(about)
    if kind is float:
        return FloatField(about, optional)
    return TextField(about)


def float_text(value: float) -> str:
    """Return the shortest text that reads back as the same number: 3e-5, 0.01."""
    for digits in range(3, 18):
        text = words.scientific(value, digits)
        if float(text) == value:
            return text
    return repr(value)
