"""The card at the right: what happens in a step, its formula, one number worked out, and the way on."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from app.look.inputs import LineEdit, SpinBox
from app.look.labels import ElidedLabel, WholeLabel, label
from app.look.layout import STRETCH, column, row
from app.look.widgets import CARD_X, Card, button, named, set_role, tidy_spin
from app.pages.anatomy.sums import StepSum
from app.plots.worked_sum import WorkedSum

NUMBER_WIDTH = 72  # px
FORMULA = (15, 13)  # px: the first that fits


class HappensCard(Card):
    """A sentence, a formula, a sum, and the steps before and after."""

    stepped = Signal(int)  # -1: the step before, 1: the one after
    number_chosen = Signal(int)
    term_chosen = Signal(int)
    target_typed = Signal(str)
    hide_wanted = Signal()
    weight_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.setObjectName("anatomy_happens")
        self.set_title(self.tr("What happens"))
        self.sentence = named(WholeLabel(""), "anatomy_sentence")
        self._make_formula()
        self._make_number_row()
        self._make_target_row()
        self.sum = named(WorkedSum(self.tr("One number worked out")), "anatomy_sum")
        self.sum.set_empty_text(self.tr("Nothing is calculated in this step."))
        self.sum.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Expanding)
        self._make_ways()
        self.body.setSpacing(7)
        for widget in (self.sentence, self._formula_box, self._target_row, self._number_row):
            self.add(widget)
        self.add(self.sum, 1)
        self.add(self._ways)
        self.sum.term_chosen.connect(self.term_chosen)

    def _make_formula(self) -> None:
        self.formula = QLabel(textFormat=Qt.TextFormat.RichText, alignment=Qt.AlignmentFlag.AlignCenter)
        self.formula.setObjectName("anatomy_formula")
        self.line = named(ElidedLabel("", "muted"), "anatomy_line")
        self.line.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._formula_box = QWidget()
        set_role(self._formula_box, "formula")
        self._formula_box.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        column(self.formula, self.line, gap=0, margins=(10, 3, 10, 4), parent=self._formula_box)

    def _make_number_row(self) -> None:
        self.of = label("", "card-title", name="anatomy_of")
        self.number = named(
            SpinBox(minimum=1, maximum=1),
            "anatomy_number",
            self.tr("Number"),
            tool_tip=self.tr("Which number of the vector is worked out; a click on a stripe chooses one too"),
        )
        tidy_spin(self.number, NUMBER_WIDTH)
        self.number.valueChanged.connect(self._number_turned)
        self._number_row = QWidget()
        row(self.of, STRETCH, self.number, parent=self._number_row)

    def _make_target_row(self) -> None:
        self.target = named(
            LineEdit(placeholderText=self.tr("The word that stood there")),
            "anatomy_target",
            self.tr("The word that stood there"),
        )
        self.target.editingFinished.connect(self._target_done)
        self.hide_link = button(self.tr("Hide this piece"), "link", name="anatomy_hide")
        self.hide_link.clicked.connect(self.hide_wanted)
        self.weight_link = button(self.tr("To a weight…"), "link", name="anatomy_weight")
        self.weight_link.clicked.connect(self.weight_wanted)
        self._target_row = QWidget()
        row((self.target, 1), self.hide_link, self.weight_link, parent=self._target_row)

    def _make_ways(self) -> None:
        self.before = button("", icon="chevron-left", name="anatomy_before")
        self.after = button("", "primary", name="anatomy_after")
        self.keys = label("← →", "muted")
        for each, by in ((self.before, -1), (self.after, 1)):
            each.setMinimumWidth(96)
            each.clicked.connect(lambda _checked=False, by=by: self.stepped.emit(by))
        self._ways = QWidget()
        row(self.before, STRETCH, self.keys, STRETCH, self.after, gap=4, parent=self._ways)

    def show_told(self, told: StepSum, place: int, count: int) -> None:
        """Show what is told of a step."""
        self.set_hint(self.tr("step {step} of {count}").format(step=place + 1, count=count))
        self.sentence.setText(told.sentence)
        for size in FORMULA:
            text = f"<span style='font-size:{size}px'>{told.formula}</span>"
            self.formula.setText(text if told.formula else "")
            if self.formula.sizeHint().width() <= self.width() - 2 * CARD_X - 20:
                break
        self.formula.setAccessibleName(told.line)
        self.line.setText(told.line)
        self.line.setVisible(bool(told.line))
        self._formula_box.setVisible(bool(told.formula))
        self.of.setText(told.of)
        self._number_row.setVisible(bool(told.of))
        self.number.setVisible(told.size > 1)
        if told.spot is not None and told.size > 1:
            with QSignalBlocker(self.number):
                self.number.setRange(1, told.size)
                self.number.setValue(told.spot.number + 1)
        self.sum.set_title(told.of or self.tr("One number worked out"))
        self.sum.set_sum(told.sum)

    def show_ways(self, before: str, after: str) -> None:
        """Name the steps before and after; "" where there is none."""
        for each, name in ((self.before, before), (self.after, after)):
            each.setText(name)
            each.setEnabled(bool(name))
            each.setVisible(bool(name))

    def show_target(self, target: str, guess: str, *, is_asked: bool, is_hidden: bool) -> None:
        """Show the box for the hidden word. Args: is_asked: at this step. is_hidden: by a [MASK]."""
        self._target_row.setVisible(is_asked)
        self.target.setVisible(is_hidden)
        self.target.setPlaceholderText(self.tr("The word that stood there, say “{word}”").format(word=guess))
        if self.target.text() != target:
            self.target.setText(target)
        self.hide_link.setVisible(not is_hidden)
        self.weight_link.setVisible(is_hidden)

    def _number_turned(self, number: int) -> None:
        self.number_chosen.emit(number - 1)

    def _target_done(self) -> None:
        self.target_typed.emit(self.target.text())
