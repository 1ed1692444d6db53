"""The card that says what the model in hand says of itself: what it answers, and how good it was."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QCheckBox, QWidget

from app import words
from app.look.labels import label, set_or_hide
from app.look.widgets import Card, set_role
from app.pages.predict.requests import ModelDescription
from app.pages.tasks.known import views_of
from app.session import Session
from app.work.library import FILES
from app.work.titles import model_title
from engine.model.info import temperature_in


class ModelCard(Card):
    """The model that the bar names, in a few lines."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.set_title(self.tr("Model"))
        self._library = session.library
        self.words = label("", "muted", wrap=True)
        self.words.setObjectName("model_words")
        self.doubt = label("", "look", wrap=True, name="model_doubt")
        self.refusal = label("", "refusal", wrap=True, name="refusal_predict_model")
        self.pairs = QCheckBox(self.tr("Reads pairs of texts"))
        self.pairs.setObjectName("model_reads_pairs")
        self.pairs.setToolTip(
            self.tr("The folder does not say whether it was trained on single texts or pairs.")
        )
        self.pairs.hide()
        self.add(self.words)
        self.add(self.doubt)
        self.add(self.pairs)
        self.add(self.refusal)
        self.show_words("")
        self.show_refusal("", None)

    @property
    def first(self) -> str:
        """Return the model to ask where none is in hand that can be: the last trained, or used; "": none."""
        return next((str(entry.path) for entry in self._library.own(FILES)), "")

    @property
    def offered(self) -> str:
        """Return the model to offer where the one in hand answers nothing: shipped ones, too; "": none."""
        return next((str(one.path) for one in self._library.offered(FILES) if one.problem is None), "")

    @property
    def is_refused(self) -> bool:
        return bool(self.refusal.text())

    def begin(self) -> None:
        """Say nothing yet: another model is asked from now on."""
        self.pairs.setChecked(False)
        self.pairs.hide()
        self.show_words("")
        self.show_refusal("", None)

    def show_words(self, text: str) -> None:
        """Say something of the model."""
        self.words.setText(text)
        self.words.setVisible(bool(text))
        self.doubt.hide()

    def show_refusal(self, text: str, folder: Path | None) -> None:
        """Say why a model cannot be asked. One that is whole and only has no labels is no fault."""
        known = (one for one in self._library.entries if one.path == folder and one.inventory is not None)
        is_pretrained = folder is not None and any(not one.fits(FILES) for one in known)
        if folder is not None and is_pretrained:
            text = self.tr("{name} is pretrained, not fine-tuned: it predicts no labels yet.").format(
                name=model_title(folder)
            )
        set_role(self.refusal, "muted" if is_pretrained else "refusal")
        set_or_hide(self.refusal, text)

    def show_description(self, described: ModelDescription) -> None:
        """Say what the model does and how good it was."""
        self.pairs.setVisible(described.may_want_pair)
        views = views_of(described.task)
        lines = [views.model_words(len(described.labels), is_pair=described.wants_pair)]
        if len(described.labels) > 1:
            lines[0] = words.captioned(lines[0], words.shorten(words.listed(described.labels), 60))
        if described.max_length:
            lines.append(
                self.tr("Max length {count} pieces").format(count=words.number(described.max_length))
            )
        if (temperature := temperature_in(described.info)) != 1:
            said = self.tr("Kept temperature {value}")
            lines.append(said.format(value=words.decimal(temperature, 2)))
        data, trained = described.info.get("data"), described.info.get("trained")
        if isinstance(data, dict) and data.get("name"):
            lines.append(self.tr("Trained on {name}").format(name=words.shorten(str(data["name"]), 40)))
        if isinstance(trained, dict) and isinstance(trained.get("value"), float):
            rows = trained.get("rows")
            metric = str(trained.get("metric"))
            value = views.value(metric, trained["value"], rows if isinstance(rows, int) else 0)
            said = self.tr("Validation {metric} {value}")
            if described.info.get("thresholds") and not trained.get("with_thresholds"):
                said = self.tr("Validation {metric} {value}, each label at 0.5")
            lines.append(said.format(metric=views.metric(metric), value=value))
        self.show_words("\n".join(lines))
        set_or_hide(self.doubt, doubt_words(described))


def doubt_words(described: ModelDescription) -> str:
    """Return that a model is no better than one answer for all; "" where that is not so, or not known."""
    unbeaten = described.unbeaten
    if unbeaten is None:
        return ""
    text = words.translate(
        "ModelCard", "On its validation rows this model is no better than always “{label}”."
    )
    if unbeaten.is_above:
        text = words.translate(
            "ModelCard", "On its validation rows this model may be no better than always “{label}”."
        )
    return text.format(label=words.shorten(unbeaten.label, 30))
