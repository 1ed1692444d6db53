"""What happens in a step, below its picture: a sentence, the formula with this text's numbers, the way on."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QLabel, QSizePolicy, QWidget

from app.look.inputs import LineEdit, SpinBox
from app.look.labels import ElidedLabel, WholeLabel, set_or_hide
from app.look.layout import STRETCH, column, row, stacked
from app.look.widgets import Card, button, icon_button, named, set_role, tidy_spin
from app.pages.anatomy.keys import KeysCard
from app.pages.anatomy.sums import StepSum
from app.pages.anatomy.what_if import Effect, Switches
from app.plots.worked_sum import WorkedSum
from app.settings import AppSettings

NUMBER_WIDTH, LEAST_NUMBER = 124, 64  # px
NARROW = 860  # px of the card
HEIGHT, LEAST_HEIGHT = 146, 122  # px of what stands in the card, whatever the step; in a low window
FORMULA_SIZE, SMALL_FORMULA = 15, 13  # px
SHOWS_NUMBERS = "anatomy/shows_numbers"


class HappensCard(Card):
    """From the left: what happens, and the steps beside it; the sum, or what can be changed; its effect."""

    _of = _formula = ""
    _can_turn = _can_copy = False
    _is_narrow, _is_low = True, False
    stepped = Signal(int)  # -1: the step before, 1: the one after
    number_chosen = Signal(int)
    term_chosen = Signal(int)
    target_typed = Signal(str)
    hide_wanted = Signal()
    weight_wanted = Signal()
    copy_wanted = Signal()

    def __init__(self, settings: AppSettings, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.setObjectName("anatomy_happens")
        self._settings = settings
        self.sentence = named(WholeLabel(""), "anatomy_sentence")
        self._make_ways()
        self._make_formula()
        self._make_target_row()
        self._make_sum()
        self.switches, self.effect = Switches(), Effect()
        self._lay_out()
        self.effect.opened.connect(self.show_switches)
        self.effect.taken_back.connect(self.switches.take_back)
        self.shows_numbers = bool(settings.value(SHOWS_NUMBERS, True))
        self._show_numbers()

    def _make_ways(self) -> None:
        self.before = button("", name="anatomy_before")
        self.after = button("", "primary", name="anatomy_after")
        for each, by in ((self.before, -1), (self.after, 1)):
            each.clicked.connect(lambda _checked=False, by=by: self.stepped.emit(by))
        said = self.tr("Keys of this page")
        self.keys = icon_button("help", said, name="anatomy_keys", call=self.show_keys)
        self._ways = row(self.before, self.after, self.keys, STRETCH)

    def _make_formula(self) -> None:
        self.formula = QLabel(textFormat=Qt.TextFormat.RichText)
        self.formula.setObjectName("anatomy_formula")
        self.of = named(ElidedLabel("", "muted"), "anatomy_of")
        self.of.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.number = named(
            SpinBox(minimum=1, maximum=1),
            "anatomy_number",
            self.tr("Number"),
            tool_tip=self.tr(
                "Which number of the vector is worked out. A click on a stripe chooses one too."
            ),
        )
        tidy_spin(self.number, LEAST_NUMBER)
        self.number.valueChanged.connect(lambda number: self.number_chosen.emit(number - 1))
        said = self.tr("Copy the framed vector")
        self.copy_vector = icon_button("copy", said, name="anatomy_copy_vector", call=self.copy_wanted)
        self._formula_row = QWidget()
        parts = (self.formula, (self.of, 1), self.number, self.copy_vector)
        row(*parts, gap=10, parent=self._formula_row)
        self.hide_link = button("", "link", name="anatomy_hide_numbers", call=self._turn_numbers)

    def _make_target_row(self) -> None:
        self.target = named(
            LineEdit(placeholderText=self.tr("The original word")),
            "anatomy_target",
            self.tr("The original word"),
        )
        self.target.editingFinished.connect(lambda: self.target_typed.emit(self.target.text()))
        self.hide_piece = button(self.tr("Hide this piece"), "link", name="anatomy_hide")
        self.hide_piece.clicked.connect(self.hide_wanted)
        self.weight_link = button(self.tr("Pick a weight…"), "link", name="anatomy_weight")
        self.weight_link.clicked.connect(self.weight_wanted)
        self._target_row = QWidget()
        row((self.target, 1), self.hide_piece, self.weight_link, parent=self._target_row)

    def _make_sum(self) -> None:
        self.sum = named(WorkedSum(self.tr("One number worked out")), "anatomy_sum")
        self.sum.most_columns = 2
        self.sum.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)
        self.sum.term_chosen.connect(self.term_chosen)

    def _lay_out(self) -> None:
        self._middle = stacked(QWidget(), self.switches)
        numbers = self._middle.widget(0)
        link = row(self.hide_link, STRETCH)
        column(self._formula_row, self._target_row, (self.sum, 20), STRETCH, link, gap=2, parent=numbers)
        self._middle.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)
        left = column(self.sentence, STRETCH, self._ways, gap=8)
        self._lines = [QFrame(), QFrame()]
        for line in self._lines:
            set_role(line, "upright")
        self._whole = whole = QWidget()
        whole.setFixedHeight(HEIGHT)
        parts = ((left, 5), self._lines[0], (self._middle, 9), self._lines[1], (self.effect, 5))
        row(*parts, gap=18, parent=whole)
        self.add(whole)

    def set_low(self, is_low: bool) -> None:
        """Leave more room to the picture where there is little for both; the sum has that of its link."""
        if self._is_low != is_low:
            self._is_low = is_low
            self._whole.setFixedHeight(LEAST_HEIGHT if is_low else HEIGHT)
            self._show_numbers()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._is_narrow != (event.size().width() < NARROW):
            self._is_narrow = not self._is_narrow
            self.number.setPrefix("" if self._is_narrow else self.tr("number "))
            self.number.setFixedWidth(LEAST_NUMBER if self._is_narrow else NUMBER_WIDTH)
            self._show_formula()
            self._show_numbers()

    # ---- what is shown

    def show_told(self, told: StepSum) -> None:
        """Show what is told of a step."""
        self.sentence.setText(told.sentence)
        self._formula = told.formula
        self._show_formula()
        self.formula.setAccessibleName(told.line)
        self.formula.setToolTip(told.line)
        self._formula_row.setVisible(bool(told.formula))
        if told.spot is not None and told.size > 1:
            with QSignalBlocker(self.number):
                self.number.setRange(1, told.size)
                self.number.setValue(told.spot.number + 1)
        self._of, self._can_turn, self._can_copy = told.of, told.size > 1, told.spot is not None
        self.sum.set_title(told.of or self.tr("One number worked out"))
        self.sum.set_sum(told.sum)
        self._show_numbers()

    def _show_formula(self) -> None:
        size = SMALL_FORMULA if self._is_narrow else FORMULA_SIZE
        self.formula.setText(f"<qt><span style='font-size:{size}px'>{self._formula}</span>")

    def show_ways(self, before: str, after: str) -> None:
        """Name the steps before and after; "" where there is none."""
        for each, name, said in ((self.before, before, f"‹ {before}"), (self.after, after, f"{after} ›")):
            each.setText(said if name else "")
            each.setAccessibleName(name)
            each.setVisible(bool(name))

    def show_target(self, target: str, guess: str, *, is_asked: bool, is_hidden: bool) -> None:
        """Show the box for the hidden word. Args: is_asked: at this step. is_hidden: by a [MASK]."""
        self._target_row.setVisible(is_asked)
        self.target.setVisible(is_hidden)
        self.target.setPlaceholderText(self.tr("Word, such as “{word}”").format(word=guess))
        if self.target.text() != target:
            self.target.setText(target)
        self.hide_piece.setVisible(not is_hidden)
        self.weight_link.setVisible(is_hidden)

    def show_changeable(self, can_change: bool) -> None:
        """Show what can be changed, and its effect, where anything can."""
        self.effect.setVisible(can_change)
        if not can_change:
            self.show_switches(False)
        self._show_middle()

    def show_switches(self, are_shown: bool) -> None:
        """Show what can be changed in the place of the sum, or the sum again."""
        self.effect.button.setChecked(are_shown)
        self._middle.setCurrentIndex(int(are_shown))
        self._show_middle()

    def show_keys(self) -> None:
        """Show the keys of the page, over the card."""
        card = KeysCard(self)
        corner = self.keys.mapToGlobal(self.keys.rect().topLeft())
        card.adjustSize()
        card.move(corner.x(), corner.y() - card.height() - 6)
        card.show()

    def _turn_numbers(self) -> None:
        self.shows_numbers = not self.shows_numbers
        self._settings.set_value(SHOWS_NUMBERS, self.shows_numbers)
        self._show_numbers()

    def _show_numbers(self) -> None:
        has_sum = not self.sum.is_empty
        self.sum.setVisible(has_sum and self.shows_numbers)
        set_or_hide(self.of, self._of if self.shows_numbers and not self._can_turn else "")
        self.number.setVisible(has_sum and self.shows_numbers and self._can_turn)
        self.copy_vector.setVisible(self._can_copy and not self._is_narrow)
        self.hide_link.setVisible(has_sum and not (self._is_low and self.shows_numbers))
        self.hide_link.setText(
            self.tr("Hide the numbers") if self.shows_numbers else self.tr("Show the numbers")
        )
        self._show_middle()

    def _show_middle(self) -> None:
        """Leave the room to the sentence where nothing is calculated, and nothing can be changed."""
        is_empty = self._formula_row.isHidden() and self._target_row.isHidden()
        is_shown = not is_empty or self._middle.currentIndex() == 1
        self._middle.setVisible(is_shown)
        self._lines[0].setVisible(is_shown)
        self._lines[1].setVisible(self.effect.isVisibleTo(self))
