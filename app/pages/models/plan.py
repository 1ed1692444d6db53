"""The sizes of the model whose weights are counted: a listed one's, a preset's, or any that are typed."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from app import words
from app.look.boxes import ChoiceBox
from app.look.inputs import SpinBox
from app.look.labels import label, tip
from app.look.widgets import CARD_X, SETTINGS_WIDTH, Card, named, tidy_spin
from app.pages.models.state import FIELDS
from engine.errors import ModelError
from engine.model.arithmetic import POSITIONS, VOCABULARY, HeadsConfig, preset_of, sizes_of
from engine.model.config import PRESETS, BertConfig

SETTLE_MS = 200  # after the last key
NONE, PRETRAINING, CLASSIFIER, OWN = "none", "pretraining", "classifier", "own"
USUAL_LABELS = 2
LEAST_NUMBER, SPACE = 64, 8  # px


class PlanCard(Card):
    """Six numbers and what stands on the encoder. A change plans another model; `planned` tells of it."""

    planned = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.setObjectName("models_plan")
        self.set_title(self.tr("Plan a model"))
        self.config = BertConfig.preset("base")
        self.heads = HeadsConfig(masked_words=True, next_sentence=True)
        self._own: HeadsConfig | None = None  # of a model of the list, where no choice here says the same
        entries = [(f"{name} · {layers}×{width}", name) for name, (layers, width, _heads) in PRESETS.items()]
        entries.append((self.tr("other"), ""))
        self.preset_box = ChoiceBox("models_preset", self.tr("Size"), entries=entries)
        self.heads_box = ChoiceBox("models_heads", self.tr("Heads on top"))
        self.heads_box.setToolTip(
            self.tr(
                "What is on top of the encoder: the heads for masked words and next sentences, "
                "or a classifier"
            )
        )
        self.fields = {letter: self._field(letter) for letter in FIELDS}
        self.refusal = label("", "refusal", wrap=True, name="models_refusal")
        self.refusal.hide()
        self._rest = QTimer(self, singleShot=True, interval=SETTLE_MS)
        self._lay_out()
        self._rest.timeout.connect(self.recount)
        self.preset_box.activated.connect(self._preset_chosen)
        self.heads_box.activated.connect(self._take)
        self.put(self.config, self.heads)

    # ---- for the page

    def put(self, config: BertConfig, heads: HeadsConfig) -> None:
        """Show a model's sizes, without a signal."""
        self._rest.stop()
        self.config, self.heads = config, heads
        self._own = heads if self._choice_of(heads) == OWN else None
        sizes = sizes_of(config, heads)
        sizes["C"] = sizes["C"] or USUAL_LABELS
        for letter, spin in self.fields.items():
            spin.blockSignals(True)
            spin.setMaximum(max(FIELDS[letter][0], sizes[letter]))
            spin.setValue(sizes[letter])
            spin.blockSignals(False)
        self._fill_heads()
        self._show_state()

    def plan(self, name: str) -> None:
        """Plan a preset with the published vocabulary, as choosing it in the box does."""
        heads = self.heads if self._own is None else HeadsConfig(masked_words=True, next_sentence=True)
        self.put(BertConfig.preset(name, VOCABULARY, max_position_embeddings=POSITIONS), heads)
        self.planned.emit()

    # ---- the fields

    def _field(self, letter: str) -> SpinBox:
        most, step = FIELDS[letter]
        spin = SpinBox(minimum=1, maximum=most, singleStep=step)
        spin.setGroupSeparatorShown(True)
        spin.valueChanged.connect(self._typed)
        return tidy_spin(named(spin, f"models_{letter}", f"{self._captions()[letter]}, {letter}"))

    def _captions(self) -> dict[str, str]:
        return {
            "L": self.tr("Layers"),
            "H": self.tr("Width"),
            "A": self.tr("Heads"),
            "V": self.tr("Pieces"),
            "P": self.tr("Positions"),
            "C": self.tr("Labels"),
        }

    def _helps(self) -> dict[str, str]:
        return {
            "L": self.tr("Blocks of attention and feed-forward, one after the other"),
            "H": self.tr("Numbers for each token. The feed-forward width F is four times as many"),
            "A": self.tr("Attention heads of a layer: equal slices of the width"),
            "V": self.tr("Pieces of the vocabulary"),
            "P": self.tr("The most pieces that a text may have"),
            "C": self.tr("What the classifier distinguishes"),
        }

    def _lay_out(self) -> None:
        grid = QGridLayout()
        grid.setHorizontalSpacing(SPACE)
        grid.setVerticalSpacing(6)
        grid.setColumnStretch(1, 1)
        grid.setColumnStretch(3, 1)
        grid.addWidget(label(self.tr("Size"), buddy=self.preset_box), 0, 0)
        grid.addWidget(self.preset_box, 0, 1, 1, 3)
        captions = {letter: label(f"{said} {letter}") for letter, said in self._captions().items()}
        widths = [caption.sizeHint().width() for caption in captions.values()]
        needed = sum(max(widths[column::2]) + LEAST_NUMBER for column in (0, 1)) + 3 * SPACE
        abreast = 2 if needed <= SETTINGS_WIDTH - 2 * CARD_X else 1
        for place, letter in enumerate(captions):
            self._add_field(grid, letter, captions[letter], 1 + place // abreast, 2 * (place % abreast))
        grid.addWidget(label(self.tr("On top"), buddy=self.heads_box), 7, 0)
        grid.addWidget(self.heads_box, 7, 1, 1, 3)
        self.body.addLayout(grid)
        self.add(self.refusal)

    def _add_field(self, grid: QGridLayout, letter: str, caption: QLabel, row: int, column: int) -> None:
        spin = self.fields[letter]
        spin.setMinimumWidth(LEAST_NUMBER)
        caption.setBuddy(spin)
        for widget in (caption, spin):
            widget.setToolTip(tip(self._helps()[letter]))
        grid.addWidget(caption, row, column)
        grid.addWidget(spin, row, column + 1)

    def _fill_heads(self) -> None:
        self.heads_box.clear()
        self.heads_box.addItem(self.tr("Nothing"), NONE)
        self.heads_box.addItem(self.tr("Pretraining: two heads"), PRETRAINING)
        self.heads_box.addItem(self.tr("A classifier"), CLASSIFIER)
        if self._own is not None:
            self.heads_box.addItem(self.tr("As in its folder"), OWN)
        self.heads_box.choose(self._choice_of(self.heads))

    def _choice_of(self, heads: HeadsConfig) -> str:
        """Return the choice that says what stands on the encoder."""
        if heads == HeadsConfig():
            return NONE
        if heads == HeadsConfig(masked_words=True, next_sentence=True):
            return PRETRAINING
        return CLASSIFIER if heads == HeadsConfig(num_labels=heads.num_labels) else OWN

    # ---- hearing

    def _preset_chosen(self, index: int) -> None:
        name = self.preset_box.itemData(index)
        if name:
            self.plan(name)
        else:
            self._show_state()

    def _typed(self) -> None:
        self._rest.start()

    def recount(self) -> None:
        """Count what stands in the fields now."""
        self._rest.stop()
        self._take()

    def _take(self) -> None:
        """Plan the model that the fields describe; refuse one that cannot be."""
        values = {letter: spin.value() for letter, spin in self.fields.items()}
        choice = self.heads_box.currentData()
        heads = {
            NONE: HeadsConfig(),
            PRETRAINING: HeadsConfig(masked_words=True, next_sentence=True),
            CLASSIFIER: HeadsConfig(num_labels=values["C"]),
            OWN: self._own or HeadsConfig(),
        }[choice]
        is_same_width = values["H"] == self.config.hidden_size
        try:
            config = replace(
                self.config,
                num_hidden_layers=values["L"],
                hidden_size=values["H"],
                num_attention_heads=values["A"],
                intermediate_size=self.config.intermediate_size if is_same_width else 4 * values["H"],
                vocab_size=values["V"],
                max_position_embeddings=values["P"],
                pad_token_id=min(self.config.pad_token_id, values["V"] - 1),
                id2label=(),
            )
        except ModelError as error:
            self._refuse(words.say_error(error))
            return
        self.config, self.heads = config, heads
        self._show_state()
        self.planned.emit()

    def _refuse(self, text: str) -> None:
        self.refusal.setText(text)
        self.refusal.setVisible(bool(text))

    def _show_state(self) -> None:
        self._refuse("")
        self.preset_box.choose(preset_of(self.config))
        self.fields["C"].setEnabled(self.heads_box.currentData() == CLASSIFIER)
