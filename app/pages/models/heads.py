"""Why the number of attention heads does not matter to the count: a slider that cuts the same weights."""

from __future__ import annotations

from dataclasses import replace
from operator import itemgetter

from PySide6.QtCore import QModelIndex, Qt, QTimer, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QHeaderView, QSizePolicy, QWidget

from app import words
from app.look.columns import RIGHT
from app.look.inputs import Slider
from app.look.labels import label
from app.look.layout import column, row
from app.look.rows_model import RowsModel, TableColumn
from app.look.table_view import TableView
from app.look.widgets import GAP, Card, named
from app.pages.models.weights import CheckLine, caption_lines
from app.plots.buttons import save_icon
from app.plots.head_slices import HeadSlicesPlot
from engine.model.arithmetic import Arithmetic, HeadsConfig, arithmetic, divisors
from engine.model.config import BertConfig

SETTLE_MS = 150  # after the last move, before the weights are counted in a model


class CutsModel(RowsModel):
    """A row for each number of heads that the width can be shared out to."""

    def set_arithmetic(self, found: Arithmetic) -> None:
        """Count the weights of a model anew for each number of heads."""
        said = self.tr("Weights of queries, keys and values in one layer, biases included")
        columns = (
            (self.tr("Heads"), ""),
            (self.tr("Width each"), ""),
            (self.tr("Q, K, V"), said),
            (self.tr("All weights"), ""),
        )
        self.put(
            [
                TableColumn(head, itemgetter(place), words.number, help=said_of, side=RIGHT)
                for place, (head, said_of) in enumerate(columns)
            ],
            [self._row(found, heads) for heads in divisors(found.config.hidden_size)],
        )

    def _row(self, found: Arithmetic, num_heads: int) -> tuple[int, int, int, int]:
        again = arithmetic(replace(found.config, num_attention_heads=num_heads), found.heads)
        qkv = next(part.count for part in again.parts if part.key == "qkv") // again.config.num_blocks
        return num_heads, again.sizes["H"] // num_heads, qkv, again.total


class HeadsView(QWidget):
    """Slider, picture, and the sum worked out anew for each number of heads."""

    count_wanted = Signal(object, object)  # BertConfig, Heads: to be counted in a model that is built

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.found: Arithmetic | None = None
        self._name = ""
        self._choices: tuple[int, ...] = (1,)
        self._is_quiet = False
        self.slider = named(
            Slider(Qt.Orientation.Horizontal), "models_heads_slider", self.tr("Attention heads in each layer")
        )
        self.slider.setPageStep(1)
        self.said = label("", "strong", name="models_heads_said")
        self.plot = named(HeadSlicesPlot(self.tr("Attention heads as slices")), "models_slices")
        self.plot.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Expanding)
        self.cuts = CutsModel(self)
        self.table = named(TableView(), "models_cuts", self.tr("The same weights in any number of heads"))
        self.sum = label("", wrap=True, name="models_heads_sum")
        self.all = label("", wrap=True, name="models_heads_all")
        self.check = CheckLine("models_heads_check")
        self.changes = label("", "muted", wrap=True)
        self._rest = QTimer(self, singleShot=True, interval=SETTLE_MS)
        self._lay_out()
        self._rest.timeout.connect(self._count)
        self.slider.valueChanged.connect(self._show_cut)

    def _lay_out(self) -> None:
        self.table.setModel(self.cuts)
        self.table.choose_rows(27)
        self.table.setMinimumHeight(64)
        header = self.table.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        self.table.selectionModel().currentRowChanged.connect(self._walked)
        caption = label(self.tr("Attention heads in each layer"), buddy=self.slider)
        self.card = Card(self.tr("Heads are slices"))
        self.card.add_corner(save_icon(self.plot))
        self.card.body.addLayout(row(caption, (self.slider, 1), self.said, gap=12))
        self.card.add(self.plot, 1)
        for line in (self.sum, self.all, self.check):
            self.card.add(line)
        self.card.add(self.table, 1)
        self.card.add(self.changes)
        column((self.card, 1), gap=GAP, parent=self)

    # ---- for the page

    def show_arithmetic(self, found: Arithmetic, name: str) -> None:
        """Show a model, cut into as many heads as it has."""
        self.found, self._name = found, name
        self._choices = divisors(found.config.hidden_size)
        self.slider.blockSignals(True)
        self.slider.setRange(0, len(self._choices) - 1)
        self.slider.setValue(self._choices.index(found.config.num_attention_heads))
        self.slider.blockSignals(False)
        self.cuts.set_arithmetic(found)
        self._show_cut()

    @property
    def num_heads(self) -> int:
        """The number of heads that the slider stands at."""
        return self._choices[self.slider.value()]

    def cut(self) -> tuple[BertConfig, HeadsConfig] | None:
        """Return the model with the slider's number of heads; None while there is no model."""
        if self.found is None:
            return None
        return replace(self.found.config, num_attention_heads=self.num_heads), self.found.heads

    def show_count(self, config: BertConfig, counted: int) -> None:
        """Say what was counted in a model with so many heads."""
        cut = self.cut()
        if self.found is None or cut is None or cut[0] != config:
            return
        is_same = counted == self.found.total
        text = self.tr("Counted in a model built with {heads}: {count} weights.")
        said = text.format(heads=self._heads_words(), count=words.number(counted))
        self.check.show_text("fine" if is_same else "look", said)

    def _show_cut(self) -> None:
        cut = self.cut()
        if cut is None or self.found is None:
            return
        again = arithmetic(*cut)
        width, layers = again.sizes["H"], again.config.num_blocks
        number, each = words.number, width // self.num_heads
        self.said.setText(f"{number(self.num_heads)} × {number(each)}")
        self.said.setToolTip(self.tr("Heads, and the width of each"))
        self.card.set_hint(f"{self._name} · {number(again.total)}")
        qkv = next(part.count for part in again.parts if part.key == "qkv") // layers
        text = self.tr(
            "Queries, keys and values of one layer: {heads} × 3 × ({width} × {each} + {each}) = "
            "3 × ({width}² + {width}) = {count} weights."
        )
        values = {"heads": number(self.num_heads), "width": number(width), "each": number(each)}
        self.sum.setText(text.format(**values, count=number(qkv)))
        everywhere = self.tr("The whole model has {total} weights, with {heads} or any other number.")
        self.all.setText(everywhere.format(total=number(again.total), heads=self._heads_words()))
        self.changes.setText(self._change_words())
        self.plot.set_heads(again, self.num_heads)
        self.plot.set_caption(
            [*caption_lines(again, self._name), (self.tr("attention heads"), number(self.num_heads))]
        )
        self.check.clear()
        self._is_quiet = True
        self.table.selectRow(self.slider.value())
        self.table.scrollTo(self.cuts.index(self.slider.value(), 0))
        self._is_quiet = False
        self._rest.start()

    def _walked(self, current: QModelIndex, _before: QModelIndex) -> None:
        if current.isValid() and not self._is_quiet:
            self.slider.setValue(current.row())

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._rest.start()

    def _heads_words(self) -> str:
        if self.num_heads == 1:
            return self.tr("1 head")
        return self.tr("{count} heads").format(count=words.number(self.num_heads))

    def _change_words(self) -> str:
        """Return what does change with the heads."""
        text = self.tr(
            "What changes is the attention maps. Each head makes its own, so a text of "
            "{length} pieces has {maps} of {length} × {length} in all layers. More heads "
            "look at more places at once, each with fewer numbers."
        )
        assert self.found is not None
        maps = self.num_heads * self.found.sizes["L"]
        length = min(128, self.found.sizes["P"])
        return text.format(length=words.number(length), maps=words.number(maps))

    def _count(self) -> None:
        cut = self.cut()
        if cut is not None and self.isVisible():
            self.count_wanted.emit(*cut)
