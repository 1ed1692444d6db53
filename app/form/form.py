"""A form made from settings dataclasses: labels, help, limits and units are read from the engine's metadata.

A form never writes anywhere: `values()` is asked for when a person presses Run.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any, get_args

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QScrollArea, QWidget

from app import words
from app.form.fields import ChoiceField, Field, IntField, PathField, ShareField, field_for
from app.look.labels import label, set_or_hide, tip
from app.look.layout import STRETCH, column, form_rows, row
from app.look.widgets import LevelMark, button, holder
from engine.errors import ConfigError
from engine.settings.setting import Setting, settings_of, types_of

MOST_CAPTION = 132  # px; a longer caption is written in two lines


@dataclasses.dataclass(slots=True)
class _Row:
    """One setting: what is known of it and the widgets that show it."""

    about: Setting
    default: Any
    caption: QLabel
    field: Field
    hint: QLabel
    refusal: QWidget
    sentence: QLabel


class SettingsForm(QWidget):
    """Labelled inputs under each other; the advanced ones fold behind "More settings…"."""

    changed = Signal()

    def __init__(
        self, config: Any, names: Sequence[str] | None = None, *, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._quiet = False
        self._rows = self._make_rows(config, names)
        self._lay_out()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._rows)

    def values(self) -> dict[str, Any]:
        """Return name -> value as it stands; text that is no number stays text, to be refused by name."""
        return {name: row.field.get() for name, row in self._rows.items()}

    def said(self) -> list[tuple[str, str]]:
        """Return the settings in view as they are read: captions and values; of a path its last name."""
        shown = [row for row in self._rows.values() if row.field.isVisible()]
        return [(row.caption.text(), _said(row.field.get())) for row in shown]

    def set_values(self, values: dict[str, Any]) -> None:
        """Show these values; names that the form does not have are left alone."""
        self._quiet = True
        for name, value in values.items():
            if name in self._rows:
                self._rows[name].field.put(value)
        self._quiet = False
        self._edited()

    def changed_values(self) -> dict[str, Any]:
        """Return those values that are others than the form was made with."""
        return {name: row.field.get() for name, row in self._rows.items() if row.field.get() != row.default}

    def widget(self, name: str) -> Field:
        """Return the input of a setting."""
        return self._rows[name].field

    def add_first(self, widget: QWidget) -> None:
        """Put a widget above all settings, where it scrolls with them."""
        self._column.insertWidget(0, widget)

    def add_last(self, widget: QWidget) -> None:
        """Put a widget below all settings, where it scrolls with them."""
        self._column.insertWidget(self._column.count() - 1, widget)

    def set_width(self, width: int) -> None:
        """Have all inputs be of one width, px, where what scrolls with them is wider."""
        for part in (self._basic, self._advanced):
            grid = part.layout()
            assert isinstance(grid, QGridLayout)
            grid.setColumnMinimumWidth(1, width)
            grid.setColumnStretch(1, 0)
            grid.setColumnStretch(2, 1)

    def set_auto(self, name: str, text: str) -> None:
        """Say what an empty input means now, such as "auto: 2e-4"."""
        self._rows[name].field.set_auto(text)

    def set_hint(self, name: str, sentence: str, more: str = "") -> None:
        """Say something of a setting under its input; "" for nothing. Args: more: said under the pointer."""
        set_or_hide(self._rows[name].hint, sentence)
        self._rows[name].hint.setToolTip(tip(more))

    def set_shown(self, name: str, shown: bool) -> None:
        """Show or hide a setting that means something to some data only."""
        one = self._rows[name]
        for part in (one.caption, one.field):
            part.setVisible(shown)
        one.hint.setVisible(shown and bool(one.hint.text()))

    def set_choices(self, name: str, choices: Sequence[str]) -> None:
        """Offer these values, such as a table's columns."""
        field = self._rows[name].field
        assert isinstance(field, ChoiceField), name
        field.set_choices(tuple(choices))

    def set_limits(self, name: str, minimum: float | None = None, maximum: float | None = None) -> None:
        """Narrow a number's limits, such as the maximum length to what the model has positions for."""
        field, scale = self._rows[name].field, 1
        assert isinstance(field, IntField | ShareField), name
        scale = 100 if isinstance(field, ShareField) else 1
        if minimum is not None:
            field.setMinimum(int(minimum * scale))
        if maximum is not None:
            field.setMaximum(int(maximum * scale))

    def show_refusal(self, name: str, sentence: str) -> None:
        """Show why a value is refused, under its input, and bring it into view."""
        row = self._rows[name]
        if row.about.advanced:
            self.show_more(True)
        row.sentence.setText(sentence)
        row.refusal.show()
        self._mark(row, True)
        self._column.activate()
        self._scroll.ensureWidgetVisible(row.field)
        row.field.setFocus(Qt.FocusReason.OtherFocusReason)

    def show_error(self, error: ConfigError) -> bool:
        """Show a refusal beside the field it names; False when that is not in this form."""
        if error.field not in self._rows:
            return False
        self.show_refusal(error.field, words.say_error(error))
        return True

    def clear_refusals(self) -> None:
        """Take all refusals away."""
        for each in self._rows.values():
            if not each.refusal.isHidden():
                each.refusal.hide()
                self._mark(each, False)

    def set_locked(self, locked: bool) -> None:
        """Show the values without letting them be changed, while they are in use."""
        for each in self._rows.values():
            each.field.setEnabled(not locked)

    def show_more(self, shown: bool) -> None:
        """Fold or unfold the advanced settings."""
        self._advanced.setVisible(shown)
        self._more.setAccessibleDescription(self.tr("shown") if shown else self.tr("hidden"))
        self._name_more()

    def _name_more(self) -> None:
        """Say on the link how many of the settings behind it are not as usual: nobody would look there."""
        count = sum(self._rows[name].about.advanced for name in self.changed_values())
        said = self.tr("More settings…")
        if not self._advanced.isHidden():
            said = self.tr("Fewer settings")
        elif count:
            said = self.tr("More settings, {count} changed…").format(count=words.number(count))
        self._more.setText(said)

    def _make_rows(self, config: Any, names: Sequence[str] | None) -> dict[str, _Row]:
        found: dict[str, _Row] = {}
        for group in _groups(config):
            hints = types_of(type(group))
            for name, about in settings_of(group).items():
                if name in names if names is not None else about.kind != "hidden":
                    found[name] = self._make_row(name, about, hints[name], getattr(group, name))
        missing = [name for name in names or () if name not in found]
        assert not missing, missing
        return {name: found[name] for name in (names if names is not None else found)}

    def _make_row(self, name: str, about: Setting, hint: Any, value: Any) -> _Row:
        kinds = get_args(hint) or (hint,)
        optional = type(None) in kinds
        field = field_for(name, about, next(kind for kind in kinds if kind is not type(None)), optional)
        said, help_text = words.tr_engine(about.label), words.tr_engine(about.help)
        field.put(value)
        caption = label(said)
        caption.setTextInteractionFlags(Qt.TextInteractionFlag.NoTextInteraction)
        caption.setBuddy(field)
        caption.setObjectName(f"label_{name}")
        caption.setToolTip(tip(help_text))
        for widget in (field, field.line) if isinstance(field, PathField) else (field,):
            widget.setToolTip(tip(help_text))
            widget.setAccessibleName(said)
            widget.setAccessibleDescription(help_text)
        field.setObjectName(f"setting_{name}")
        field.edited.connect(self._edited)
        refusal, sentence = _refusal(name)
        hint = label("", "muted", wrap=True, name=f"hint_{name}")
        hint.hide()
        return _Row(about, value, caption, field, hint, refusal, sentence)

    def _lay_out(self) -> None:
        first = [row for row in self._rows.values() if not row.about.advanced]
        rest = [row for row in self._rows.values() if row.about.advanced]
        self._basic = _grid(first, _width(first))
        self._more = button(self.tr("More settings…"), "link", name="more_settings")
        self._more.clicked.connect(self._toggle_more)
        if not rest:
            self._more.hide()
        self._advanced = _grid(rest, max(_width(first), _width(rest)))
        self._column = column(self._basic, self._more, self._advanced, STRETCH)
        self.show_more(False)
        self._scroll = QScrollArea(self, widgetResizable=True)
        self._scroll.setFrameShape(QFrame.Shape.NoFrame)
        self._scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._scroll.setWidget(holder(self._column))
        column(self._scroll, parent=self)

    def _mark(self, row: _Row, refused: bool) -> None:
        field = row.field.line if isinstance(row.field, PathField) else row.field
        field.setProperty("refused", refused)
        field.style().unpolish(field)
        field.style().polish(field)

    def _edited(self) -> None:
        if not self._quiet:
            self._name_more()
            self.changed.emit()

    def _toggle_more(self) -> None:
        self.show_more(self._advanced.isHidden())


def _refusal(name: str) -> tuple[QWidget, QLabel]:
    box = QWidget()
    sentence = label("", "refusal", wrap=True, name=f"refusal_{name}")
    row((LevelMark("wrong"), Qt.AlignmentFlag.AlignTop), (sentence, 1), gap=6, parent=box)
    box.hide()
    return box, sentence


def _grid(rows: Sequence[_Row], captions: int) -> QWidget:
    pairs = (((one.caption, one.field), (None, one.hint), (None, one.refusal)) for one in rows)
    grid = form_rows(*chain.from_iterable(pairs))
    grid.setColumnMinimumWidth(0, captions)
    return holder(grid)


def _width(rows: Sequence[_Row]) -> int:
    """Return the width of the longest caption; very long ones are written in two lines."""
    for one in rows:
        one.caption.setWordWrap(one.caption.sizeHint().width() > MOST_CAPTION)
    plain = (one.caption.sizeHint().width() for one in rows if not one.caption.wordWrap())
    return max(plain, default=0)


def _groups(config: Any) -> list[Any]:
    if isinstance(config, list | tuple):
        return list(config)
    members = [getattr(config, field.name) for field in dataclasses.fields(config)]
    return members if members and all(dataclasses.is_dataclass(member) for member in members) else [config]


def _said(value: Any) -> str:
    text = "" if value is None else str(value)
    return Path(text).name if ("/" in text or "\\" in text) and "\n" not in text else text
