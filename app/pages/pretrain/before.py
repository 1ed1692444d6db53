"""The right side of the Pretrain page before a run: the text, what the run will take, examples, pins."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QApplication, QFrame, QGridLayout, QWidget

from app import words
from app.look import theme
from app.look.inputs import ToolButton
from app.look.labels import label
from app.look.widgets import GAP, Card, keep_private, set_role
from app.pages.pretrain.advice import TextFacts
from app.pages.pretrain.findings import Findings
from app.pages.pretrain.pins import PinsCard
from app.pages.pretrain.report import CorpusReportCard
from app.pages.run.charts import CardArea
from app.plots.buttons import save_icon, yield_to_layout
from app.plots.tokens import MaskedExample, TokensLegend, TokensPlot
from engine.model.config import BertConfig, count_parameters
from engine.train.pretraining.forecast import Forecast
from engine.train.pretraining.preview import Preview, PreviewExample

translate = QCoreApplication.translate

NARROW = 600  # px; below, the cards stand in one column
LEAST_TEXT, LEAST_PREVIEW, LEAST_PINS = 224, 176, 122
LOW_PLOT = 116


class BeforePretraining(CardArea):
    """Four cards: two columns where there is room, one where there is not."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.text, self.forecast = CorpusReportCard(), ForecastCard()
        self.examples, self.pins = PreviewCard(), PinsCard()
        self.text.setMinimumHeight(LEAST_TEXT)
        self.examples.setMinimumHeight(LEAST_PREVIEW)
        self.pins.setMinimumHeight(LEAST_PINS)
        self._grid = QGridLayout(self.inner)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(GAP)
        self._narrow: bool | None = None
        self.arrange(NARROW)

    def show_findings(
        self, findings: Findings, facts: TextFacts | None, *, mended: bool, host: str = ""
    ) -> None:
        """Show what is known now.

        Args: facts: of the text; None: none is chosen. mended: none is refused. host: that is to train.
        """
        has_text = facts is not None
        if facts is not None:
            self.text.show_findings(findings, facts)
            self.examples.show_findings(findings)
        else:
            self.text.show_nothing()
            self.examples.show_nothing()
        self.forecast.show_findings(findings, has_text=has_text, mended=mended, host=host)

    def arrange(self, width: int) -> None:
        beside = self.text.minimumSizeHint().width() + GAP + self.forecast.minimumSizeHint().width()
        narrow = width < max(NARROW, beside)
        if narrow == self._narrow:
            return
        self._narrow = narrow
        cards = (self.text, self.forecast, self.examples, self.pins)
        places = ((0, 0, 1, 1), (0, 1, 1, 1), (1, 0, 1, 2), (2, 0, 1, 2))
        if narrow:
            places = ((0, 0, 1, 1), (2, 0, 1, 1), (1, 0, 1, 1), (3, 0, 1, 1))
        for card, place in zip(cards, places, strict=True):
            self._grid.removeWidget(card)
            self._grid.addWidget(card, *place)
        self._grid.setRowStretch(1, 1)  # the examples take what is left
        for column, stretch in enumerate((1, 0) if narrow else (1, 1)):
            self._grid.setColumnStretch(column, stretch)


class ForecastCard(Card):
    """A small table of the parts, and below it what was measured."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.setObjectName("outlook_card")
        self.set_title(self.tr("Size and time"))
        self.parts: dict[str, int] = {}
        self.table = QWidget()
        self._grid = QGridLayout(self.table)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(12)
        self._grid.setVerticalSpacing(0)
        self._grid.setColumnStretch(1, 1)
        self._line = QFrame()
        set_role(self._line, "line")
        self._measured = QGridLayout()
        self._measured.setHorizontalSpacing(12)
        self._measured.setVerticalSpacing(0)
        self._values = {}
        for place, (key, caption) in enumerate(self._captions()):
            value = label("–", "strong")
            value.setObjectName(f"outlook_{key}")
            self._measured.addWidget(label(caption, "caption"), 2 * (place // 3), place % 3)
            self._measured.addWidget(value, 2 * (place // 3) + 1, place % 3)
            self._measured.setColumnStretch(place % 3, 1)
            self._values[key] = value
        self.note = label("", "muted", wrap=True)
        self.note.setObjectName("outlook_note")
        self._add_copy()
        self.add(self.table)
        self.body.addStretch(1)
        self.add(self._line)
        self.body.addLayout(self._measured)
        self.add(self.note)

    def _captions(self) -> tuple[tuple[str, str], ...]:
        return (
            ("speed", self.tr("Tokens/s")),
            ("time", self.tr("Time")),
            ("steps", self.tr("Steps")),
            ("memory", self.tr("Memory")),
            ("disk", self.tr("Disk")),
            ("epochs", self.tr("Text read")),
        )

    def _add_copy(self) -> None:
        self._copy = ToolButton()
        self._copy.setObjectName("copy_parts")
        self._copy.setToolTip(self.tr("Copy these numbers"))
        self._copy.setAccessibleName(self.tr("Copy these numbers"))
        set_role(self._copy, "corner")
        self._copy.clicked.connect(self.copy_numbers)
        theme.on_theme_change(self._copy, self._draw_copy)
        self.add_corner(self._copy)

    def _draw_copy(self) -> None:
        self._copy.setIcon(theme.icon("copy", "muted"))

    def show_shape(self, shape: BertConfig | None) -> None:
        """Show the weights of each part; nothing while the model's shape is not known."""
        parts = count_parameters(shape, pretraining=True) if shape is not None else {}
        if parts == self.parts:
            return
        self.parts = parts
        while item := self._grid.takeAt(0):
            old = item.widget()
            if old is not None:
                old.hide()
                old.deleteLater()
        for row, (name, formula, count) in enumerate(part_rows(shape, parts) if shape is not None else ()):
            caption = label(name)
            if name == _names()["masked-word head"]:
                caption.setToolTip(self.tr("The masked-word head. Its scores use the pieces’ own vectors."))
            self._grid.addWidget(caption, row, 0, 1, 1 if formula else 2)
            if formula:
                self._grid.addWidget(label(formula, "muted"), row, 1)
            value = label(words.number(count))
            self._grid.addWidget(value, row, 2)
            value.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        total = sum(parts.values())
        hint = self.tr("{count} M weights").format(count=words.decimal(total / 1e6, 1)) if parts else ""
        self.set_hint(hint)

    def show_findings(self, findings: Findings, *, has_text: bool, mended: bool, host: str = "") -> None:
        """Show what was measured, that it is being measured, or why it cannot be."""
        found, asked = findings.forecast, findings.outlook
        for value, text in zip(self._values.values(), _measured_words(found), strict=True):
            value.setText(text)
        note = ""
        if not has_text:
            note = self.tr("Speed and time are measured once text is chosen.")
        elif not mended:
            note = self.tr("Speed and time are measured once all settings are accepted.")
        elif asked.error is not None:
            note = words.say_error(asked.error)
        elif asked.is_busy or findings.text.is_busy or findings.examples.is_busy:
            note = self.tr("Measuring on this computer…") if asked.is_busy else self.tr("Waiting to measure…")
        elif found is None:
            note = self.tr("Nothing is measured while a model is in training.")
        elif host:
            note = self.tr("Measured on this computer, not on {host}.").format(host=host)
        elif found.epochs and found.shown < 1.0:
            note = self.tr("Pairs show about {share} of it in each pass.")
            note = note.format(share=words.share(found.shown, 0))
        self.note.setText(note)
        self.note.setVisible(bool(note))

    def copy_numbers(self) -> None:
        """Put parts and measurements on the clipboard, tab-separated."""
        lines = [f"{name}\t{count}" for name, count in self.parts.items()]
        lines.append(f"total\t{sum(self.parts.values())}")
        captions = dict(self._captions())
        lines += [f"{captions[key]}\t{value.text()}" for key, value in self._values.items()]
        QApplication.clipboard().setText("\n".join(lines))


def part_rows(shape: BertConfig, parts: dict[str, int]) -> list[tuple[str, str, int]]:
    """Return name, arithmetic and what it comes to for each part; all that is added to them in one row."""
    width, pieces = words.number(shape.hidden_size), words.number(shape.vocab_size)
    narrow = words.number(shape.embedding_width)
    inner, layers = words.number(shape.intermediate_size), shape.num_blocks
    usual = shape.intermediate_size == 4 * shape.hidden_size
    arithmetic = {
        "token embeddings": f"{pieces} × {narrow}",
        "position embeddings": f"{words.number(shape.max_position_embeddings)} × {narrow}",
        "projection": f"{narrow} × {width}",
        "attention": f"{layers} × 4 × {width}²",
        "feed-forward": f"{layers} × 8 × {width}²" if usual else f"{layers} × 2 × {width} × {inner}",
        "pooler": f"{width}²",
        "masked-word head": f"{width}² + {pieces}" if narrow == width else f"{width} × {narrow} + {pieces}",
        "next-sentence head": f"2 × {width}",
    }
    names = _names()
    products = {
        "attention": layers * 4 * shape.hidden_size**2,
        "feed-forward": layers * 2 * shape.hidden_size * shape.intermediate_size,
        "pooler": shape.hidden_size**2,
        "projection": shape.embedding_width * shape.hidden_size,
        "masked-word head": shape.embedding_width * shape.hidden_size + shape.vocab_size,
        "next-sentence head": 2 * shape.hidden_size,
    }
    rows = [
        (names[part], arithmetic[part], products.get(part, count))
        for part, count in parts.items()
        if part in names
    ]
    rest = sum(parts.values()) - sum(count for _name, _formula, count in rows)
    return [*rows, (translate("Forecast", "Biases, norms, segments"), "", rest)]


def _names() -> dict[str, str]:
    return {
        "token embeddings": translate("Forecast", "Pieces"),
        "position embeddings": translate("Forecast", "Positions"),
        "projection": translate("Forecast", "Projection"),
        "attention": translate("Forecast", "Attention"),
        "feed-forward": translate("Forecast", "Feed-forward"),
        "pooler": translate("Forecast", "Pooler"),
        "masked-word head": translate("Forecast", "Masked words"),
        "next-sentence head": translate("Forecast", "Next sentence"),
    }


def _measured_words(found: Forecast | None) -> list[str]:
    """Return speed, time, steps, memory, disk and how often the text is read."""
    if found is None:
        return ["–"] * 6
    times = translate("Forecast", "{times} times")
    epochs = times.format(times=words.decimal(found.epochs, 1 if found.epochs < 10 else 0))
    return [
        words.number(found.tokens_per_s),
        words.duration(found.seconds),
        words.number(found.steps),
        words.file_size(found.memory_bytes),
        words.file_size(found.disk_bytes),
        epochs if found.epochs else "–",
    ]


class PreviewCard(Card):
    """Masked examples and sentence pairs under each other, with a legend."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.setObjectName("preview_card")
        keep_private(self)
        self.set_title(self.tr("What it will see"))
        self.plot = TokensPlot(self.tr("Examples"))
        self.plot.setObjectName("preview_plot")
        yield_to_layout(self.plot, LOW_PLOT)
        self.legend = TokensLegend()
        self._shown: Preview | None = None
        self.add_corner(save_icon(self.plot))
        self.add(self.legend)
        self.add(self.plot, 1)
        self.show_nothing()

    def show_nothing(self) -> None:
        """Before any text is chosen."""
        self._shown = None
        self.plot.clear()
        self.legend.hide()
        self.set_hint("")
        self.plot.set_empty_text(
            self.tr("Examples from your text appear here, with the words masked that the model has to guess.")
        )

    def show_findings(self, findings: Findings) -> None:
        """Show the examples as they are now, or why there are none."""
        examples, preview = findings.examples, findings.preview
        if examples.error is not None:
            self.show_nothing()
            if findings.text.error is None:
                self.plot.set_empty_text(words.say_error(examples.error))
            return
        if examples.is_busy:
            self.set_hint(self.tr("making examples…"))
        if preview is None:
            if not examples.is_busy:
                self.show_nothing()
            return
        if not examples.is_busy:
            notes = words.sentences(words.say(note) for note in preview.notes)
            self.set_hint(notes or self.tr("point at a token"))
        if preview is not self._shown:
            self._shown = preview
            self.plot.set_strips(
                [_strip(number, one) for number, one in enumerate(preview.examples, start=1)]
            )
            self.legend.set_counts(self.plot.counts())
            self.legend.show()


def _strip(number: int, example: PreviewExample) -> MaskedExample:
    follows = None if example.is_random is None else not example.is_random
    note = words.translate("Preview", "B follows A") if follows else ""
    if follows is False:
        note = words.translate("Preview", "B comes from another document")
    return MaskedExample(
        title=words.translate("Preview", "Example {number}").format(number=words.number(number)),
        note=note,
        is_yes=follows,
        tokens=example.tokens,
        shown=example.shown,
        actions=example.actions,
        segments=example.segments,
    )
