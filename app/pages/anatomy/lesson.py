"""One weight: its row and its column, where its number came from, and what one hidden word would teach it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QDialog, QSizePolicy, QWidget

from app import words
from app.look.inputs import DoubleSpinBox, LineEdit
from app.look.labels import label
from app.look.layout import STRETCH, column, row
from app.look.widgets import CARD_X, GAP, PAGE_MARGIN, Card, ScrollView, button, named, tidy_spin
from app.pages.anatomy import requests, vectors
from app.pages.anatomy.requests import AnatomyRequest, ChangedAnatomy, TaughtWeight
from app.pages.anatomy.state import Walk
from app.pages.anatomy.sums import written
from app.plots.vector_rows import VectorColumn, VectorPicture, VectorRowHeader, VectorRows
from app.plots.worked_sum import WorkedSum, WorkedTerms
from app.session import Session
from app.work.worker import Channel
from engine.inspect.anatomy.effect import MASKED, heads_of, masks
from engine.inspect.anatomy.learning import LEARNING_RATE, Lesson
from engine.inspect.anatomy.vectors import Anatomy, Product, products
from engine.inspect.anatomy.working import Spot, vector_of

WIDTH, HEIGHT, TITLE_BAR = 680, 800, 40  # px
LEAST_DIGITS, MOST_DIGITS = 7, 12  # behind the point, of what one step changes little
STRIP = 92  # px of a row or column with its title
HEADS = ("pooler.dense.weight", "cls.seq_relationship.weight", "classifier.weight")  # which read [CLS] alone


class WeightDialog(QDialog):
    """A weight of a model; `went_to` tells the step where the number that it multiplies was made."""

    went_to = Signal(object)  # Walk

    def __init__(
        self,
        session: Session,
        found: ChangedAnatomy,
        walk: Walk,
        name: str,
        row_: int,
        column_: int,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("anatomy_weight_dialog")
        self.setWindowTitle(self.tr("One weight"))
        self.setMinimumWidth(WIDTH)
        self._found, self._walk = found, walk
        self._name, self._row, self._column = name, row_, column_
        self._models = session.inspector.open_models
        self._asked = Channel(self, session.workers.models)
        self.matrix = found.now.weights[name]
        self._taken = product_of(found.now, name, walk.layer).taken
        self._make_strips()
        self._make_lesson()
        self._lay_out()
        self._ask()

    def _make_strips(self) -> None:
        across, down = self.matrix[self._row], self.matrix[:, self._column]
        top = float(np.quantile(np.abs(np.concatenate([across, down])), 0.995))
        letter = vectors.symbol(self._taken)
        self.across = self._strip(
            self.tr("Row"),
            self.tr("{count} weights make this number, one for each number of {letter}").format(
                count=words.number(len(across)), letter=letter
            ),
            across,
            self._column,
            top,
        )
        self.down = self._strip(
            self.tr("Column"),
            self.tr("{count} weights read number {number} of {letter}").format(
                count=words.number(len(down)), number=words.number(self._column + 1), letter=letter
            ),
            down,
            self._row,
            top,
        )
        self.across.setObjectName("anatomy_weight_row")
        self.down.setObjectName("anatomy_weight_column")
        self.across.number_chosen.connect(lambda _column, number: self._choose(self._row, number))
        self.down.number_chosen.connect(lambda _column, number: self._choose(number, self._column))

    def _strip(self, title: str, hint: str, values: np.ndarray, number: int, top: float) -> VectorRows:
        strip = VectorRows(title)
        strip.set_picture(_strip_picture(title, hint, values, number, top))
        strip.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        strip.setFixedHeight(STRIP)
        return strip

    def _make_lesson(self) -> None:
        self.target = named(
            LineEdit(self._walk.target, placeholderText=self.tr("The original word")),
            "anatomy_lesson_target",
            self.tr("The original word"),
        )
        self.rate = named(
            DoubleSpinBox(minimum=0.0001, maximum=10.0, value=LEARNING_RATE, decimals=4, singleStep=0.05),
            "anatomy_lesson_rate",
            self.tr("Learning rate"),
        )
        tidy_spin(self.rate, 86)
        self.sum = named(WorkedSum(self.tr("Gradient of the loss by this weight")), "anatomy_lesson_sum")
        self.sum.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.said = label("", wrap=True, name="anatomy_lesson_said")
        self.target.editingFinished.connect(self._ask)
        self.rate.valueChanged.connect(self._ask)

    def _lay_out(self) -> None:
        self.title = label("", "card-title", name="anatomy_weight_title")
        self.where = label("", "muted", wrap=True, name="anatomy_weight_where")
        self.go = button("", "link", name="anatomy_weight_go", call=self._go)
        weight = Card()
        for widget in (self.title, self.where, self.go, self.across, self.down):
            weight.add(widget)
        self.lesson_card = Card(self.tr("What a hidden word teaches this weight"))
        asked = row(
            label(self.tr("Original word"), "muted"),
            (self.target, 1),
            label(self.tr("learning rate"), "muted"),
            self.rate,
        )
        self.lesson_card.add_layout(asked)
        self.lesson_card.add(self.sum)
        self.lesson_card.add(self.said)
        close = button(self.tr("Close"), name="anatomy_weight_close")
        close.clicked.connect(self.reject)
        inner = QWidget()
        column(weight, self.lesson_card, STRETCH, gap=GAP, parent=inner)
        margins = (PAGE_MARGIN, CARD_X, PAGE_MARGIN, CARD_X)
        column((ScrollView(inner), 1), row(STRETCH, close), gap=GAP, margins=margins, parent=self)
        room = self.screen().availableGeometry().height() - TITLE_BAR
        self.resize(WIDTH, min(HEIGHT, room))
        self._say_weight()

    def _say_weight(self) -> None:
        now, value = self._found.now, float(self.matrix[self._row, self._column])
        self.title.setText(f"{self._name}[{self._row}, {self._column}] = {written(value)}")
        place = self._place()
        x = float(vector_of(now, Spot(self._taken, place))[self._column])
        letter, number = vectors.symbol(self._taken), words.number(self._column + 1)
        said = self.tr(
            "This weight multiplies number {number} of {letter} and adds to {made}. For "
            "{piece}: {x} × {weight} = {product}."
        )
        self.where.setText(
            said.format(
                number=number,
                letter=letter,
                made=self._made(),
                piece=vectors.quoted(now, place),
                x=written(x),
                weight=written(value),
                product=written(x * value),
            )
        )
        self.go.setText(
            self.tr("Where number {number} of {letter} comes from").format(number=number, letter=letter)
        )

    def _made(self) -> str:
        """Return the number that the weight adds to, in words."""
        now = self._found.now
        made = product_of(now, self._name, self._walk.layer).made
        if made.endswith(".logits"):
            head = made.partition(".")[0]
            return self.tr("the score of “{word}”").format(word=vectors.answer_words(now, head, self._row))
        letter = vectors.symbol(made)
        if vectors.width_of(made) != "head":
            return self.tr("number {number} of {letter}").format(
                number=words.number(self._row + 1), letter=letter
            )
        head, place = divmod(self._row, now[made].shape[-1])
        return self.tr("number {number} of {letter} in head {head}").format(
            number=words.number(place + 1), letter=letter, head=head + 1
        )

    def _place(self) -> int:
        """Return the piece whose number the weight multiplies."""
        if self._name == vectors.WORDS:
            return vectors.answer_place(self._found.now, self._walk)
        return 0 if self._name in HEADS else self._walk.piece

    def _choose(self, row_: int, column_: int) -> None:
        """Show another weight of the same row or column."""
        self._row, self._column = row_, column_
        across, down = self.matrix[row_], self.matrix[:, column_]
        for strip, values, number in ((self.across, across, column_), (self.down, down, row_)):
            shown = strip.picture.columns[0]
            strip.set_picture(_strip_picture(shown.title, shown.hint, values, number, shown.top))
        self._say_weight()
        self._ask()

    # ---- the lesson

    def _ask(self) -> None:
        if self._name in HEADS:
            self._say_nothing(self.tr("The loss of a hidden word does not pass through this weight."))
            return
        now = self._found.before  # what a change does to learning is another question
        if MASKED not in heads_of(now) or not masks(now):
            why = self.tr("Replace a word with [MASK]: its loss then leads back to this weight.")
            self._say_nothing(why if MASKED in heads_of(now) else self.tr("This model does not guess words."))
            return
        walk = self._walk.changed(target=self.target.text(), step="loss")
        place = vectors.answer_place(now, walk)
        place = place if place in masks(now) else masks(now)[0]
        target = vectors.target_id(now, walk)
        answer = now.about.wordpiece.as_word((target,)) if target >= 0 else self.target.text()
        taught = TaughtWeight(answer, self._name, self._row, self._column, place, self.rate.value())
        asked = AnatomyRequest(now.about.folder, now.text, now.text_pair)
        work = partial(requests.teach, self._models, asked, taught)
        about = (now.about.fingerprint, asked, taught)
        self._asked.ask(about, work, heard=partial(self._show_lesson, answer), refused=self._refuse)

    def _refuse(self, error: BaseException) -> None:
        self._say_nothing(words.say_error(error))

    def _say_nothing(self, why: str) -> None:
        self.sum.clear()
        self.sum.hide()
        self.said.setText(why)

    def _show_lesson(self, answer: str, lesson: Lesson) -> None:
        terms = lesson.taken * lesson.made
        names = _in_layers(vectors.piece_names(self._found.now), len(terms))
        letter = vectors.symbol(self._taken)
        starts = ((self.tr("as output weight"), lesson.direct),) if lesson.direct else ()
        self.sum.set_sum(
            WorkedTerms(
                names,
                terms.tolist(),
                lesson.taken.tolist(),
                lesson.made.tolist(),
                heads=(f"{letter} {self._column + 1}", self.tr("backward slope"), self.tr("product")),
                total=lesson.gradient,
                total_words=self.tr("gradient"),
                starts=starts,
            )
        )
        self.sum.setFixedHeight(self.sum.sizeHint().height())
        self.sum.show()
        self.sum.setAccessibleName(self.tr("Gradient of the loss by this weight"))
        said = self.tr(
            "Loss −ln {share} = {loss}. One plain step: {before} − {rate} × {gradient} = "
            "{after}. By its slope, the loss would fall by {rate} × gradient² = {fall}. "
            "After the step it is {later}: {moved}. No other weight moves, and “What if…?” "
            "has no effect here."
        )
        fallen = lesson.loss - lesson.loss_after
        moved = self.tr("it fell by {change}") if fallen >= 0 else self.tr("it rose by {change}")
        digits = digits_to_see(fallen)
        self.said.setText(
            said.format(
                share=f"{lesson.probability:.{digits + 1}g}",
                loss=words.decimal(lesson.loss, digits),
                before=words.decimal(lesson.before, digits_to_see(lesson.rate * lesson.gradient)),
                rate=f"{lesson.rate:g}",
                gradient=_short(lesson.gradient, 4),
                after=words.decimal(lesson.after, digits_to_see(lesson.rate * lesson.gradient)),
                fall=_short(lesson.slope, 3),
                later=words.decimal(lesson.loss_after, digits),
                moved=moved.format(change=_short(abs(fallen), 3)),
            )
        )
        self.lesson_card.set_hint(self.tr("“{word}” at the [MASK]").format(word=answer))

    def _go(self) -> None:
        """Go to the step where the number that the weight multiplies was made."""
        step, layer = self._walk.plan.step_making(self._taken, self._walk.layer)
        walk = self._walk.changed(step=step, layer=layer, vector=self._taken, piece=self._place())
        self.went_to.emit(walk.with_number(vectors.width_of(self._taken), self._column))
        self.reject()


def _in_layers(pieces: Sequence[str], count: int) -> list[str]:
    """Return what so many terms are called: the pieces, and the layer where one weight is in every layer."""
    if count == len(pieces):
        return list(pieces)
    said = words.translate("anatomy", "{piece}, layer {layer}")
    layers = range(1, count // len(pieces) + 1)
    return [said.format(piece=piece, layer=layer) for layer in layers for piece in pieces]


def digits_to_see(change: float) -> int:
    """Return how many digits behind the point show two of a change; float64 knows no more than so many."""
    if not change or not math.isfinite(change):
        return LEAST_DIGITS
    return min(MOST_DIGITS, max(LEAST_DIGITS, 1 - math.floor(math.log10(abs(change)))))


def _short(x: float, digits: int) -> str:
    return words.scientific(x, digits).replace("-", "−")


def _strip_picture(title: str, hint: str, values: np.ndarray, number: int, top: float) -> VectorPicture:
    strip = VectorColumn(title, hint=hint, name="weights", values=values[None, :], top=top)
    count = words.translate("anatomy", "number {number} of {count}").format(
        number=words.number(number + 1), count=words.number(len(values))
    )
    return VectorPicture((VectorRowHeader("", -1),), (strip,), {0: number}, count=count)


def product_of(anatomy: Anatomy, weight: str, layer: int) -> Product:
    """Return what a matrix reads and makes; in this layer where one matrix is in every layer."""
    known = [*vectors.ON_TOP.values(), *products(anatomy.config).values()]
    found = [one for one in known if one.weight == weight]
    own = [one for one in found if one.made.startswith(f"layer.{layer}.")]
    return (own or found)[0]
