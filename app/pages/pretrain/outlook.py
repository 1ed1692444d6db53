"""What a run will take before it starts: its weights part by part, memory, speed and time."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, Qt, Slot
from PySide6.QtWidgets import QApplication, QFrame, QGridLayout, QToolButton, QWidget

from app import words
from app.look import theme
from app.look.labels import label
from app.look.widgets import Card, set_role
from app.pages.pretrain.findings import Findings
from engine.model.config import BertConfig, count_parameters
from engine.train.pretraining.forecast import Forecast

translate = QCoreApplication.translate


class OutlookCard(Card):
    """A small table of the parts, and below it what was measured."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.setObjectName("outlook_card")
        self.set_title(self.tr("Size and time"))
        self.parts: dict[str, int] = {}
        self._table = QWidget()
        self._grid = QGridLayout(self._table)
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
        self.add(self._table)
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
        self._copy = QToolButton()
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
        for row, (name, formula, count) in enumerate(_rows(shape, parts) if shape is not None else ()):
            caption = label(name)
            if name == _names()["masked-word head"]:
                caption.setToolTip(
                    self.tr("The head that guesses hidden words; its scores use the WordPieces' own numbers.")
                )
            self._grid.addWidget(caption, row, 0)
            self._grid.addWidget(label(formula, "muted"), row, 1)
            value = label(words.number(count))
            self._grid.addWidget(value, row, 2)
            value.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        total = sum(parts.values())
        hint = self.tr("{count} M weights").format(count=words.decimal(total / 1e6, 1)) if parts else ""
        self.set_hint(hint)

    def show_findings(self, findings: Findings, *, has_text: bool, mended: bool) -> None:
        """Show what was measured, that it is being measured, or why it cannot be."""
        found, outlook = findings.forecast, findings.outlook
        for value, text in zip(self._values.values(), _measured_words(found), strict=True):
            value.setText(text)
        note = ""
        if not has_text:
            note = self.tr("Speed and time are measured once text is chosen.")
        elif not mended:
            note = self.tr("Speed and time are measured once no setting is refused.")
        elif outlook.error is not None:
            note = words.say_error(outlook.error)
        elif outlook.is_busy or findings.text.is_busy or findings.examples.is_busy:
            note = (
                self.tr("Measuring on this computer…") if outlook.is_busy else self.tr("Waiting to measure…")
            )
        elif found is None:
            note = self.tr("Nothing is measured while a model is in training.")
        elif found.epochs and found.shown < 1.0:
            note = self.tr("Pairs show some {share} of it each time.")
            note = note.format(share=words.share(found.shown, 0))
        self.note.setText(note)
        self.note.setVisible(bool(note))

    @Slot()
    def copy_numbers(self) -> None:
        """Put parts and measurements on the clipboard, tab-separated."""
        lines = [f"{name}\t{count}" for name, count in self.parts.items()]
        lines.append(f"total\t{sum(self.parts.values())}")
        captions = dict(self._captions())
        lines += [f"{captions[key]}\t{value.text()}" for key, value in self._values.items()]
        QApplication.clipboard().setText("\n".join(lines))


def _rows(shape: BertConfig, parts: dict[str, int]) -> list[tuple[str, str, int]]:
    """Return name, arithmetic and what it comes to for each part; all that is added to them in one row."""
    width, pieces = words.number(shape.hidden_size), words.number(shape.vocab_size)
    inner, layers = words.number(shape.intermediate_size), shape.num_hidden_layers
    usual = shape.intermediate_size == 4 * shape.hidden_size
    arithmetic = {
        "token embeddings": f"{pieces} × {width}",
        "position embeddings": f"{words.number(shape.max_position_embeddings)} × {width}",
        "attention": f"{layers} × 4 × {width}²",
        "feed-forward": f"{layers} × 8 × {width}²" if usual else f"{layers} × 2 × {width} × {inner}",
        "pooler": f"{width}²",
        "masked-word head": f"{width}² + {pieces}",
        "next-sentence head": f"2 × {width}",
    }
    names = _names()
    products = {
        "attention": layers * 4 * shape.hidden_size**2,
        "feed-forward": layers * 2 * shape.hidden_size * shape.intermediate_size,
        "pooler": shape.hidden_size**2,
        "masked-word head": shape.hidden_size**2 + shape.vocab_size,
        "next-sentence head": 2 * shape.hidden_size,
    }
    rows = [
        (names[part], arithmetic[part], products.get(part, count))
        for part, count in parts.items()
        if part in names
    ]
    rest = sum(parts.values()) - sum(count for _name, _formula, count in rows)
    return [*rows, (translate("Outlook", "Biases, norms, segments"), "", rest)]


def _names() -> dict[str, str]:
    return {
        "token embeddings": translate("Outlook", "WordPieces"),
        "position embeddings": translate("Outlook", "Positions"),
        "attention": translate("Outlook", "Attention"),
        "feed-forward": translate("Outlook", "Feed-forward"),
        "pooler": translate("Outlook", "Pooler"),
        "masked-word head": translate("Outlook", "Masked words"),
        "next-sentence head": translate("Outlook", "Next sentence"),
    }


def _measured_words(found: Forecast | None) -> list[str]:
    """Return speed, time, steps, memory, disk and how often the text is read."""
    if found is None:
        return ["–"] * 6
    times = translate("Outlook", "{times} times")
    epochs = times.format(times=words.decimal(found.epochs, 1 if found.epochs < 10 else 0))
    return [
        words.number(found.tokens_per_s),
        words.duration(found.seconds),
        words.number(found.steps),
        words.file_size(found.memory_bytes),
        words.file_size(found.disk_bytes),
        epochs if found.epochs else "–",
    ]
