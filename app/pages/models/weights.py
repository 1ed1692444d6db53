"""The arithmetic of one model: its sum, memory, formula, picture and table, and that the sum is right."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from app import words
from app.look.labels import label
from app.look.layout import FlowRow, column, row
from app.look.widgets import GAP, Card, LevelMark, holder, named
from app.pages.models.model_list import millions
from app.pages.models.table import PartsView
from app.plots.buttons import save_icon
from app.plots.parameters import ParametersPlot
from engine.model.arithmetic import (
    FLOAT32,
    HALF,
    PUBLISHED,
    TRAINING,
    Arithmetic,
    preset_of,
    published_millions,
)
from engine.model.inventory import Inventory
from engine.model.parts import LETTERS

EMPTY = "–"


class ParametersView(QWidget):
    """Two cards: the formula with its picture, and the parts one by one."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.found: Arithmetic | None = None
        self._inventory: Inventory | None = None
        self.plot = named(ParametersPlot(self.tr("Weights of the model")), "models_plot")
        self.plot.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Expanding)
        self.table = PartsView()
        self.table.setMinimumHeight(64)
        self.formula = label("", wrap=True, name="models_formula")
        self.numbers = label("", "muted", wrap=True, name="models_numbers")
        self.check = CheckLine("models_check")
        self._values: dict[str, QLabel] = {}
        self._lay_out()
        self.plot.part_chosen.connect(self.table.go_to)
        self.table.walked.connect(self.plot.set_chosen)

    def _lay_out(self) -> None:
        figures = FlowRow(gap=28)
        for key, caption, help_text in self._captions():
            value = label(EMPTY, "strong", name=f"models_{key}")
            head = label(caption, "caption")
            for widget in (head, value):
                widget.setToolTip(help_text)
            figures.add(holder(column(head, value, gap=0)))
            self._values[key] = value
        self.sum_card = Card(self.tr("Where the weights are"))
        self.sum_card.add_corner(save_icon(self.plot))
        self.sum_card.add(figures)
        self.sum_card.add(self.plot, 1)
        for line in (self.formula, self.numbers):
            self.sum_card.add(line)
        self.sum_card.add(self.check)
        self.parts_card = Card()
        self.parts_card.add(self.table, 1)
        column((self.sum_card, 7), (self.parts_card, 5), gap=GAP, parent=self)

    def _captions(self) -> tuple[tuple[str, str, str], ...]:
        return (
            ("total", self.tr("Weights"), self.tr("Numbers that are learned, also called parameters")),
            ("float32", self.tr("In float32"), self.tr("4 bytes a weight, as models are opened and trained")),
            ("half", self.tr("In half precision"), self.tr("2 bytes a weight: float16 or bfloat16")),
            (
                "training",
                self.tr("To train it, at least"),
                self.tr("16 bytes a weight: the weight, its gradient and the two means that AdamW keeps"),
            ),
        )

    # ---- for the page

    def show_arithmetic(self, found: Arithmetic, name: str, inventory: Inventory | None) -> None:
        """Show a model. Args: inventory: of its folder; None for a planned one."""
        self.found, self._inventory = found, inventory
        for key, size in (("float32", FLOAT32), ("half", HALF), ("training", TRAINING)):
            self._values[key].setText(words.file_size(size * found.total))
        self._values["total"].setText(words.number(found.total))
        known = known_words(found)
        self.sum_card.set_hint(f"{name} · {known or millions(found.total)}")
        self.formula.setText(f"{found.spelled()}")
        self.formula.setToolTip(letters_words(found))
        self.numbers.setText(f"= {found.with_numbers(number=words.number)} = {words.number(found.total)}")
        self.plot.set_arithmetic(found)
        self.plot.set_caption(caption_lines(found, name))
        self.table.show_arithmetic(found)
        self.table.go_to(self.plot.chosen)
        self.check.clear()
        if inventory is not None:
            self.show_count(inventory.num_weights)

    def show_count(self, counted: int) -> None:
        """Say whether the sum is what was counted in the files, or in the model that was built."""
        found, inventory = self.found, self._inventory
        if found is None:
            return
        count, is_same = words.number(counted), counted == found.total
        if inventory is not None:
            text = self.tr("The files hold {count} weights: the same.")
            odd = self.tr("The files hold {count} weights: not the same. The formula misses something here.")
        else:
            text = self.tr("Counted in a model built like this: {count}, the same.")
            odd = self.tr("Counted in a model built like this: {count}, not the same.")
        said = [(text if is_same else odd).format(count=count)]
        if inventory is None and published_millions(found.config) == PUBLISHED["large"]:
            said.append(self.tr("The paper’s 340 M is rounded up."))
        left = sum(one.num_weights for one in inventory.leftovers) if inventory is not None else 0
        if left:
            more = self.tr("{count} more do not belong to it, and are ignored.")
            said.append(more.format(count=words.number(left)))
        self.check.show_text("fine" if is_same else "look", words.sentences(said))


class CheckLine(QWidget):
    """A mark and the sentence that says how the sum was checked."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.words = label("", wrap=True, name=name)
        self._marks = {level: LevelMark(level) for level in ("fine", "look")}
        marks = ((mark, Qt.AlignmentFlag.AlignTop) for mark in self._marks.values())
        row(*marks, (self.words, 1), parent=self)
        self.clear()

    def show_text(self, level: str, text: str) -> None:
        """Say something of a level, "fine" or "look"."""
        for name, mark in self._marks.items():
            mark.setVisible(name == level)
        self.words.setText(text)

    def clear(self) -> None:
        """Say nothing, and keep the room."""
        self.show_text("", "")


def letters_words(found: Arithmetic) -> str:
    """Return what the letters stand for: "V 30,522 WordPieces, ..."."""
    said = (
        f"{letter} {words.number(found.sizes[letter])} {words.tr_engine(name)}"
        for letter, name in LETTERS.items()
        if found.sizes[letter]
    )
    return "<br>".join(said)


def known_words(found: Arithmetic) -> str:
    """Return by which name and number a size is known, or whose shape it has; "" for any other."""
    preset, published = preset_of(found.config), published_millions(found.config)
    if not preset:
        return ""
    if published is None:
        return words.translate("models", "shape of BERT-{name}").format(name=preset)
    count = words.decimal(published, 0 if published >= 100 else 1)
    return words.translate("models", "BERT-{name}, {count} M").format(name=preset, count=count)


def caption_lines(found: Arithmetic, name: str) -> Sequence[tuple[str, str]]:
    """Return what a person must know of the picture where it stands alone."""
    sizes = words.listed(f"{letter} = {number}" for letter, number in found.sizes.items() if number)
    return (
        (words.translate("models", "model"), name),
        (words.translate("models", "sizes"), sizes),
        (words.translate("models", "formula"), found.spelled()),
        (words.translate("models", "weights"), words.number(found.total)),
    )
