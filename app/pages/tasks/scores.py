"""What the cards of all tasks' scores have in common: of which rows they are, and which of their views is
open.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QToolButton, QWidget

from app import words
from app.look.labels import label
from app.look.layout import STRETCH, row
from app.look.segmented_buttons import FoldingButtons
from app.look.widgets import Card, holder, set_role
from app.pages.tasks.tile import ScoreTile
from app.plots.buttons import save_icon, yield_to_layout
from app.plots.figure import Figure
from app.work.text_filter import Filter
from engine.events import Evaluated

ROOM = 28  # px around a word on a button
LEAST_PICTURE = 110  # px
WIDE = 720  # px; with more room a picture and a table stand side by side
TABLE_SHARE, PICTURE_SHARE = 5, 4  # of that room


class TaskScores(Card):
    """The scores of one evaluation, or of the two of a run. A child class makes a picture and other views in
    its `__init__`, which ends with `clear()`, and shows an evaluation in them.

    name: what its choices' object names begin with. picture: the figure that says most of them, which is
    saved with a run's other figures. texts_wanted: of a split, "validation" or "test", those that a `Filter`
    says.
    """

    name: ClassVar[str] = "scores"
    turns_to_test: ClassVar[bool] = False  # shows the test rows as soon as they are there
    least_picture: ClassVar[int] = LEAST_PICTURE
    texts_wanted = Signal(str, object)
    picture: Figure
    view_choice: FoldingButtons
    split_choice: FoldingButtons

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self._evaluations: dict[str, Evaluated] = {}
        self._moments: dict[str, str] = {}
        self._is_door = False
        self._told: list[QWidget] = []
        self._links: QWidget | None = None

    def show_evaluation(self, shown: Evaluated | None) -> None:
        """Show one evaluation, or none."""
        raise NotImplementedError

    def show_view(self, key: str) -> None:
        """Show one of the views; without an evaluation the picture, which says what will appear in it."""
        raise NotImplementedError

    def split_words(self) -> tuple[str, str, str]:
        """Return what is measured, and in a sentence each which of that is validation and which test."""
        return (
            self.tr("Rows"),
            self.tr("Validation rows, also used to pick the checkpoint"),
            self.tr("Test rows, measured once at the end"),
        )

    def add_choices(self, picture: Figure, views: Sequence[tuple[str, str, str]]) -> None:
        """Have the views chosen at the top, and whether rows of validation or of test are shown.

        Args: views: key, word, and what it shows in a sentence; the first is open.
        """
        self.picture = picture
        yield_to_layout(picture, self.least_picture)
        what, validation, test = self.split_words()
        splits = (("validation", self.tr("Validation"), validation), ("test", self.tr("Test"), test))
        self.view_choice = FoldingButtons(f"{self.name}_view", self.tr("View"), views, room=ROOM)
        self.split_choice = FoldingButtons(f"{self.name}_split", what, splits, room=ROOM)
        self.save_button: QToolButton = save_icon(picture)
        for widget in (self.view_choice, self.split_choice, self.save_button):
            self.add_corner(widget)
        self.view_choice.chosen.connect(self._view_chosen)
        self.split_choice.chosen.connect(self._show)

    def add_tiles(self, *tiles: ScoreTile, gap: int, longest: ScoreTile | None = None) -> None:
        """Add numbers beside each other, and room for a remark on them.

        Args: longest: that which takes the room there is.
        """
        self.tiles = row(*((tile, int(tile is longest)) for tile in tiles), gap=gap)
        if longest is None:
            self.tiles.addStretch(1)
        self.remark = label("", "muted", wrap=True, name="scores_remark")
        self.add_told(holder(self.tiles), self.remark)

    def add_told(self, *parts: QWidget) -> None:
        """Add what says something of an evaluation, and is not there without one."""
        for part in parts:
            self._told.append(part)
            self.add(part)

    def add_links(self, *links: QWidget) -> None:
        """Add buttons that lead to texts, which stand there where there are any behind the scores."""
        self._links = holder(row(*links, STRETCH, gap=16))
        self.add(self._links)

    def set_door(self, is_door: bool) -> None:
        """Let clicks lead to texts, where there are any behind the scores."""
        self._is_door = is_door
        self._show_links()

    def want_texts(self, kind: str, *values: float | str) -> None:
        """Ask for the texts of the evaluation that is shown which a `Filter` says."""
        if self.current is not None:
            self.texts_wanted.emit(self.current.split, Filter(kind, values))

    def stand_beside_texts(self) -> None:
        """Show numbers first, for a list of the texts stands beside."""

    def be_part(self) -> None:
        """Stand inside another card: without a border."""
        set_role(self, "clear")
        layout = self.layout()
        assert layout is not None
        layout.setContentsMargins(0, 0, 0, 0)

    @property
    def current(self) -> Evaluated | None:
        """The evaluation that is shown."""
        if len(self._evaluations) > 1:
            return self._evaluations[self.split_choice.current]
        return next(iter(self._evaluations.values()), None)

    @property
    def moment(self) -> str:
        """Of which weights the evaluation is that is shown, "after step 12"; "" where that is not said."""
        return self._moments.get(self.current.split, "") if self.current is not None else ""

    def clear(self) -> None:
        """Show nothing."""
        self.set_evaluations({}, {})

    def set_evaluations(self, evaluations: Mapping[str, Evaluated], moments: Mapping[str, str]) -> None:
        """Show evaluations by split, "validation" and "test". Args: moments: of which weights each is, "after
        step 12".
        """
        had_test = "test" in self._evaluations
        self._evaluations, self._moments = dict(evaluations), dict(moments)
        has_both, has_test = len(self._evaluations) > 1, "test" in self._evaluations
        if not has_both or (self.turns_to_test and has_test and not had_test):
            self.split_choice.set_current("test" if self.turns_to_test and has_test else "validation")
        self.split_choice.setVisible(has_both)
        self._show()

    def open_view(self, key: str) -> None:
        """Open one of the views."""
        self.view_choice.set_current(key)
        self._view_chosen()

    def _show(self) -> None:
        shown = self.current
        for part in (self.view_choice, *self._told):
            part.setVisible(shown is not None)
        self._show_links()
        self.show_evaluation(shown)
        self._view_chosen()

    def _view_chosen(self) -> None:
        self.show_view(self.view_choice.current)

    def _show_links(self) -> None:
        if self._links is not None:
            self._links.setVisible(self._is_door and self.current is not None)

    def with_moment(self, name: str, name_at: str) -> str:
        """Return what a number is called. Args: name_at: with {moment}, where that is known."""
        return name_at.format(moment=self.moment) if self.moment else name

    def measured_words(self, rows: int) -> str:
        """Return on how many rows."""
        return words.counted(rows, self.tr("Measured on 1 row."), self.tr("Measured on {count} rows."))


class LabelledScores(TaskScores):
    """Scores of labels: a table of them beside a picture, or one of both where there is little room."""

    table_view: ClassVar[str] = "labels"  # the key of the table among the views

    def add_views(self, left: QWidget, right: QWidget) -> None:
        """Add the picture and the table."""
        self._views = QGridLayout()
        self._views.setSpacing(16)
        self._beside = (left, right)
        for place, widget in enumerate(self._beside):
            self._views.addWidget(widget, 0, place)
        self.body.addLayout(self._views, 1)

    @property
    def is_wide(self) -> bool:
        """Whether both stand side by side."""
        return self.width() >= WIDE

    def show_view(self, key: str) -> None:
        is_shown = self.current is not None
        is_table = is_shown and key == self.table_view
        self.view_choice.setVisible(is_shown and not self.is_wide)
        for place, widget in enumerate(self._beside):
            is_picture = widget is self.picture
            is_both = self.is_wide and is_shown
            is_alone = is_table != is_picture
            widget.setVisible(is_both or is_alone)
            share = PICTURE_SHARE if is_picture else TABLE_SHARE
            self._views.setColumnStretch(place, share if is_both else int(is_alone))

    def width_changed(self) -> None:
        """Show what there is room for now."""
        self._view_chosen()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if (event.oldSize().width() >= WIDE) != (event.size().width() >= WIDE):
            self.width_changed()
