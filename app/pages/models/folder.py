"""What a model folder is and holds: its training, its vocabulary, and what becomes of each part of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QDir, Qt
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QScrollArea, QWidget

from app import words
from app.look.labels import PART, ElidedLabel, label, tip
from app.look.layout import STRETCH, column
from app.look.widgets import GAP, Card, LevelMark, holder, set_role
from app.pages.models.requests import ModelDetail
from app.pages.tasks.known import is_metric, metric_words
from app.work.library import ModelEntry
from app.work.titles import answer_words, model_title
from engine.errors import Sentence
from engine.hub.kept import HUB
from engine.model.inventory import ENCODER, PARTS
from engine.train.run.runs import LAYERS

RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop
CAPTION_WIDTH = 112
LONGEST_TITLE = 44  # characters
Row = tuple[str, str, str, int]  # level, part, what becomes of it, weights


class FolderView(QScrollArea):
    """Two cards: what is known of the model, and what is in its files."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, widgetResizable=True)
        self.setObjectName("models_folder")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.facts_card = Card()
        self.parts_card = Card(self.tr("Contents"))
        self.parts_card.set_hint(self.tr("loaded as"))
        self.values: dict[str, QLabel] = {}
        self._facts = self._add_facts()
        self._rows = QWidget()
        self._grid = _grid(self._rows)
        self._grid.setColumnStretch(2, 1)
        self.parts_card.add(self._rows)
        self.setWidget(holder(column(self.facts_card, self.parts_card, STRETCH, gap=GAP)))

    def _add_facts(self) -> dict[str, QLabel]:
        grid = QGridLayout()
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(6)
        grid.setColumnMinimumWidth(0, CAPTION_WIDTH)
        grid.setColumnStretch(1, 1)
        captions = {}
        for row, (key, caption) in enumerate(self._captions()):
            value = ElidedLabel("") if key == "path" else label("", wrap=True)
            value.setObjectName(f"models_fact_{key}")
            if isinstance(value, ElidedLabel):
                value.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            captions[key] = label(caption, "muted")
            grid.addWidget(captions[key], row, 0, Qt.AlignmentFlag.AlignTop)
            grid.addWidget(value, row, 1)
            self.values[key] = value
        self.facts_card.body.addLayout(grid)
        return captions

    def _captions(self) -> tuple[tuple[str, str], ...]:
        return (
            ("problem", self.tr("Refused")),
            ("answers", self.tr("Answers")),
            ("source", self.tr("Downloaded as")),
            ("trained", self.tr("Trained on")),
            ("shape", self.tr("Shape")),
            ("vocabulary", self.tr("Vocabulary")),
            ("stored", self.tr("Stored as")),
            ("kept", self.tr("Kept weights")),
            ("fingerprint", self.tr("Fingerprint")),
            ("path", self.tr("Folder")),
            ("notes", self.tr("Notes")),
        )

    # ---- for the page

    def show_entry(self, entry: ModelEntry) -> None:
        """Show what the list knows of a model; the rest follows."""
        title = model_title(entry.path)
        self.facts_card.set_title(words.shorten(title, LONGEST_TITLE))
        self.facts_card.title_label.setToolTip(tip(title))
        self._show("path", QDir.toNativeSeparators(str(entry.path)))
        problem = words.say_error(entry.problem) if entry.problem is not None else ""
        self._show("problem", problem)
        for key, _ in self._captions():
            if key not in ("problem", "path"):
                self._show(key, "")
        self._show_parts(())
        self.parts_card.setVisible(not problem)
        self.verticalScrollBar().setValue(0)

    def show_detail(self, detail: ModelDetail) -> None:
        """Show what was read in a folder."""
        found = detail.inventory
        config = found.config
        shape = self.tr("{layers}, {width} wide, {heads} per layer, texts of up to {length} pieces")
        self._show("problem", words.say_error(detail.problem) if detail.problem is not None else "")
        self._show("answers", _with_labels(answer_words(detail.answers, len(found.labels)), found.labels))
        self._show("source", source_words(detail.info))
        self._show("trained", "\n".join(stage_words(stage) for stage in stages_of(detail.info)))
        self._show(
            "shape",
            shape.format(
                layers=words.counted(config.num_hidden_layers, self.tr("1 layer"), self.tr("{count} layers")),
                width=words.number(config.hidden_size),
                heads=words.counted(config.num_attention_heads, self.tr("1 head"), self.tr("{count} heads")),
                length=words.number(config.max_position_embeddings),
            ),
        )
        self._show("vocabulary", self._vocabulary_words(detail))
        stored = self.tr("{kinds}, {size} on disk")
        self._show(
            "stored", stored.format(kinds=words.listed(found.kinds), size=words.file_size(found.num_bytes))
        )
        kept = self.tr(
            "{count} copies of the weights from its run. A slider on Masked words and "
            "Attention goes through them"
        )
        self._show("kept", kept.format(count=words.number(detail.num_kept)) if detail.num_kept > 1 else "")
        self._show("notes", "\n".join(map(words.say, self._notes(detail))))
        self._show_parts(self._part_rows(detail))

    def show_fingerprint(self, text: str) -> None:
        """Show what tells these weights from others, or that it is being computed."""
        self._show("fingerprint", text)

    def show_refusal(self, text: str) -> None:
        """Say why the folder cannot be opened."""
        self._show("problem", text)
        self._show("fingerprint", "")
        self.parts_card.hide()

    # ---- words

    def _show(self, key: str, text: str) -> None:
        value = self.values[key]
        value.setText(text)
        for widget in (self._facts[key], value):
            widget.setVisible(bool(text))
        if key == "problem":
            set_role(value, "refusal")

    def _vocabulary_words(self, detail: ModelDetail) -> str:
        if detail.lowercase is None:
            return ""
        text = self.tr("{count} pieces, upper and lower case")
        if detail.lowercase:
            text = self.tr("{count} pieces, all lower case")
        return text.format(count=words.number(detail.num_pieces))

    def _notes(self, detail: ModelDetail) -> list[Sentence]:
        return list(detail.notes)

    def _part_rows(self, detail: ModelDetail) -> list[Row]:
        found = detail.inventory
        rows: list[Row] = []
        for part in PARTS:
            name, is_missing = self._part_words()[part]
            is_there = part == ENCODER or found.heads.has(part)
            count = found.count_of(part)
            if part in ("layer_mix", "answers") and not is_there:  # as good as no model has one
                continue
            if part in found.refused:
                rows.append(("look", name, words.say(found.refused[part]), 0))
            elif not is_there:
                rows.append(("note", name, is_missing, 0))
            elif part == "next_sentence" and not found.heads.pooler:
                rows.append(("look", name, self.tr("loaded, but it cannot answer without a pooler"), count))
            elif (
                part in ("masked_words", "next_sentence") and part not in detail.answers and not found.labels
            ):
                rows.append(("look", name, self.tr("loaded, but it was not trained for it"), count))
            else:
                rows.append(("fine", name, self.tr("loaded"), count))
        if found.encoder:
            said = self.tr("loaded for whole texts: the layers of {name}")
            said = said.format(name=words.shorten(found.encoder, 40))
            rows.append(("fine", self.tr("Second encoder"), said, found.num_encoder))
        for left in found.leftovers:
            text = self.tr("unexpected: not part of BERT here, ignored")
            rows.append(("look", words.shorten(words.tr_engine(left.what), 40), text, left.num_weights))
        return rows

    def _part_words(self) -> dict[str, tuple[str, str]]:
        """Return part -> its name, and what to know where it is missing."""
        return {
            ENCODER: (self.tr("Encoder"), ""),
            "pooler": (self.tr("Pooler"), self.tr("missing: fine-tuning starts a new one")),
            "masked_words": (self.tr("Masked words"), self.tr("missing: pretrain further to guess words")),
            "next_sentence": (
                self.tr("Next sentence"),
                self.tr("missing: pretrain further with next sentences"),
            ),
            "layer_mix": (self.tr("Mix of layers"), ""),
            "classifier": (self.tr("Classifier"), self.tr("missing: fine-tuning makes one")),
            "answers": (self.tr("Question answering"), ""),
        }

    def _show_parts(self, rows: Sequence[Row]) -> None:
        while item := self._grid.takeAt(0):
            old = item.widget()
            if old is not None:
                old.hide()
                old.deleteLater()
        for place, (level, name, said, count) in enumerate(rows):
            self._grid.addWidget(LevelMark(level), place, 0, Qt.AlignmentFlag.AlignTop)
            self._grid.addWidget(label(name), place, 1, Qt.AlignmentFlag.AlignTop)
            self._grid.addWidget(label(said, "muted", wrap=True), place, 2)
            value = label(words.number(count) if count else "–")
            value.setAlignment(RIGHT)
            self._grid.addWidget(value, place, 3)


def _grid(widget: QWidget) -> QGridLayout:
    grid = QGridLayout(widget)
    grid.setContentsMargins(0, 0, 0, 0)
    grid.setHorizontalSpacing(10)
    grid.setVerticalSpacing(7)
    return grid


def _with_labels(said: str, labels: Sequence[str]) -> str:
    """Return a number of labels with the first few of them."""
    if not labels:
        return said
    shown = [words.shorten(one, 24) for one in labels[:6]] + ["…"] * bool(labels[6:])
    return words.captioned(said, words.listed(shown))


def source_words(info: dict[str, Any]) -> str:
    """Return by which name, at which commit and under which licence a model was fetched; "" if it was not."""
    said = info.get(HUB)
    if not isinstance(said, dict) or not said.get("name"):
        return ""
    parts = [str(said.get(key) or "") for key in ("name", "revision", "commit", "licence")]
    parts[2] = parts[2][:12]
    return PART.join(words.shorten(one, 80) for one in parts if one)


def stages_of(info: dict[str, Any]) -> list[dict[str, Any]]:
    chain = info.get("chain")
    return [one for one in chain if isinstance(one, dict)] if isinstance(chain, list) else []


def stage_words(stage: dict[str, Any]) -> str:
    """Return one stage of training in a line: on what, how long, how well."""
    texts = stage.get("text") if isinstance(stage.get("text"), list) else [stage.get("data")]
    names = [str(one.get("name", "")) for one in texts or () if isinstance(one, dict)]
    parts = [words.shorten(words.listed(filter(None, names)), 80)]
    for key, template in (
        ("tokens", words.translate("models", "{value} tokens")),
        ("steps", words.translate("models", "{value} steps")),
    ):
        value = stage.get(key)
        if isinstance(value, int):
            parts.append(template.format(value=words.number(value)))
            break
    seconds = stage.get("seconds")
    if isinstance(seconds, int | float):
        parts.append(words.duration(seconds))
    if isinstance(guessed := stage.get("mlm_accuracy"), int | float):
        template = words.translate("models", "masked words right {value}")
        parts.append(template.format(value=words.share(guessed)))
    if isinstance(layers := stage.get(LAYERS), str):
        template = words.translate("models", "from the layers of {name}")
        parts.append(template.format(name=words.shorten(layers, 80)))
    rows = stage.get("validation_rows")
    for key, value in stage.items():
        if is_metric(key) and isinstance(value, int | float):
            parts.append(metric_words(key, value, rows if isinstance(rows, int) else 0))
    return " · ".join(part for part in parts if part)
