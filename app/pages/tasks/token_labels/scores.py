"""How good the labels of words are: entity F1, texts with what is wrong in them, types, which is taken for
which.

All of it is in an evaluation's details, so it is the same live, and from the files of a run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtWidgets import QWidget

from app import words
from app.look.inputs import ComboBox
from app.look.labels import label, tip
from app.look.layout import column, row, stacked
from app.look.segmented_buttons import FoldingButtons
from app.look.widgets import holder, named
from app.pages.tasks.listing import CellTable
from app.pages.tasks.scores import ROOM, TaskScores
from app.pages.tasks.token_labels.listing import TextList
from app.plots.confusion import ConfusionPlot
from app.plots.tagged_words import PREDICTED, TRUE, TaggedStretch, tagged_words
from app.work.text_filter import MARK
from engine.events import Evaluated
from engine.train.run.records import count_of
from engine.train.scored import ERROR, TAKEN, TYPE
from engine.train.tasks.token_labels.details import (
    WrongText,
    confusion_in,
    error_counts,
    pairs_in,
    texts_in,
)


class TypeConfusion(ConfusionPlot):
    """Which type was taken for which; O is no entity."""

    def cell_words(self, true: int, predicted: int) -> str:
        last = len(self._labels) - 1
        if predicted == last:
            text = self.tr("{count} of {total} entities of type {true} were missed ({share}).")
        elif true == last:
            text = self.tr("{count} entities of type {predicted} were found where there is none.")
        elif true == predicted:
            text = self.tr("{count} of {total} entities of type {true} got their type ({share}).")
        else:
            text = self.tr(
                "{count} of {total} entities of type {true} were predicted as {predicted} ({share})."
            )
        return text.format(**self.values_of(true, predicted))


def kind_words(kind: str) -> str:
    """Return a kind of error in words."""
    return {
        "boundary": words.translate("TokenScores", "Wrong bounds"),
        "type": words.translate("TokenScores", "Wrong type"),
        "boundary and type": words.translate("TokenScores", "Wrong bounds and type"),
        "missed": words.translate("TokenScores", "Missed"),
        "invented": words.translate("TokenScores", "Found where there is none"),
    }.get(kind, kind)


class TokenScores(TaskScores):
    """The scores of one evaluation, or of the two of a run: on validation and on test texts."""

    name, turns_to_test = "token_scores", True

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(self.name)
        self.set_title(self.tr("Scores"))
        self._rows: list[WrongText] = []
        self._error_rows: list[tuple[tuple[str, ...], str, int]] = []  # mark, words, how many
        self.confusion = named(TypeConfusion(self.tr("Confusion matrix of types")), "type_confusion")
        self.confusion.set_empty_text(self.tr("Confusion matrix after each evaluation."))
        self.add_choices(
            self.confusion,
            (
                ("texts", self.tr("Texts"), self.tr("Texts with their errors")),
                ("types", self.tr("By type"), self.tr("Precision, recall and F1 of each type")),
                ("errors", self.tr("Errors"), self.tr("How often each error occurs")),
                (
                    "confusion",
                    self.tr("Confusion"),
                    self.tr("Confusion matrix: true types against predicted ones"),
                ),
            ),
        )
        self.figures = label("", wrap=True, name="token_figures")
        rule = self.tr(
            "F1 as conlleval.pl counts it, and as papers report it. Strictly, an entity has to begin with B-."
        )
        self.figures.setToolTip(tip(rule))
        self.counts = label("", "muted", name="token_counts")
        self.add_told(self.figures, self.counts)
        self.types = CellTable("type_scores", self.tr("Scores of each type"), is_dense=True)
        self.errors = CellTable("error_scores", self.tr("Errors by kind"))
        self._views = {
            "texts": self._wrong_texts(),
            "types": self.types,
            "errors": self.errors,
            "confusion": self.confusion,
        }
        self._stack = stacked(*self._views.values())
        self.add(self._stack, 1)
        self.types.row_wanted.connect(self._type_wanted)
        self.errors.row_wanted.connect(self._error_wanted)
        self.confusion.chosen.connect(self._cell_wanted)
        self.clear()

    def _wrong_texts(self) -> QWidget:
        """Return what shows the texts that are wrong, and chooses among them."""
        self.kind_box = named(ComboBox(), "error_kind", self.tr("Kind of error"))
        self.lane_choice = FoldingButtons(
            "token_lanes",
            self.tr("Show"),
            (
                ("both", self.tr("Both"), self.tr("True tags above the words, predicted ones below")),
                (TRUE, self.tr("True"), self.tr("Only true")),
                (PREDICTED, self.tr("Predicted"), self.tr("Only predicted")),
            ),
            room=ROOM,
        )
        self.texts = TextList("wrong_texts", self.tr("Texts with errors"))
        self.lane_choice.chosen.connect(self._draw_words)
        self.kind_box.activated.connect(self._list_texts)
        self.texts.row_chosen.connect(self._draw_words)
        return holder(column(row((self.kind_box, 1), self.lane_choice), (self.texts, 1)))

    def split_words(self) -> tuple[str, str, str]:
        return (
            self.tr("Texts"),
            self.tr("Validation texts, also used to pick the checkpoint"),
            self.tr("Test texts, measured once at the end"),
        )

    def set_door(self, is_door: bool) -> None:
        self.types.set_door(is_door)
        self.errors.set_door(is_door)
        self.confusion.is_door = is_door

    def stand_beside_texts(self) -> None:
        self.open_view("types")

    def _type_wanted(self, row: int) -> None:
        if self.current is not None:
            self.want_texts(MARK, TYPE, list(self.current.per_label)[row])

    def _error_wanted(self, row: int) -> None:
        self.want_texts(MARK, *self._error_rows[row][0])

    def _cell_wanted(self, true: int, predicted: int) -> None:
        kept, event = confusion_in(self._details), self.current
        names = (*kept[0], "") if kept is not None else event.labels if event is not None else ()
        if names:
            self.want_texts(MARK, TAKEN, names[true], names[predicted])

    @property
    def _details(self) -> Mapping[str, Any]:
        return self.current.details if self.current is not None else {}

    def show_evaluation(self, shown: Evaluated | None) -> None:
        self.set_hint(self.moment)
        if shown is not None:
            self.figures.setText(self._figures_of(shown))
            self.counts.setText(self._counts())
        self._show_types()
        self._show_errors()
        self._show_confusion()
        chosen = self.kind_box.currentData()
        self.kind_box.clear()
        wrong = words.number(count_of(self._details, "num_wrong_texts"))
        self.kind_box.addItem(self.tr("All texts with errors ({count})").format(count=wrong), "")
        for kind, count in error_counts(self._details).items():
            self.kind_box.addItem(words.bracketed(kind_words(kind), words.number(count)), kind)
        self.kind_box.choose(chosen, or_first=True)
        self._list_texts()

    def show_view(self, key: str) -> None:
        view = self._views[key] if self.current is not None else self.confusion
        self._stack.setCurrentWidget(view)
        self.save_button.setVisible(view is self.confusion)

    def _figures_of(self, event: Evaluated) -> str:
        found = event.metrics
        if "entity_f1" not in found:
            text = self.tr("Right words {accuracy} · macro F1 {macro}")
            return text.format(
                accuracy=words.share(found.get("token_accuracy")), macro=words.share(found.get("macro_f1"))
            )
        text = self.tr(
            "Entity F1 {f1} (as conlleval), strictly {strict} · precision {precision} · recall {recall} · "
            "right words {accuracy}"
        )
        return text.format(
            f1=words.share(found["entity_f1"]),
            precision=words.share(found.get("entity_precision")),
            recall=words.share(found.get("entity_recall")),
            strict=words.share(found.get("entity_f1_strict")),
            accuracy=words.share(found.get("token_accuracy")),
        )

    def _counts(self) -> str:
        return self.tr("{texts} texts, {words} words").format(
            texts=words.number(count_of(self._details, "num_examples")),
            words=words.number(count_of(self._details, "num_words")),
        )

    def _show_types(self) -> None:
        event = self.current
        found = list(event.per_label.items()) if event is not None else []

        def cell(row: int, place: int) -> str:
            name, figures = found[row]
            if place == 0:
                return name
            return words.number(figures[3]) if place == 4 else words.score(figures[place - 1])

        is_plain = event is not None and "entity_f1" not in event.metrics
        last = self.tr("Words") if is_plain else self.tr("Entities")
        names = (self.tr("Type"), self.tr("Precision"), self.tr("Recall"), self.tr("F1"), last)
        self.types.set_rows(names, len(found), cell, numbers=(1, 2, 3, 4))

    def _show_errors(self) -> None:
        counts = error_counts(self._details)
        found: list[tuple[tuple[str, ...], str, int]] = []
        found += [((ERROR, kind), kind_words(kind), count) for kind, count in counts.items()]
        for true, predicted, count in pairs_in(self._details):
            found.append(((TAKEN, true, predicted), f"{true} → {predicted}", count))
        self._error_rows = found

        def cell(row: int, place: int) -> str:
            return words.number(found[row][2]) if place else found[row][1]

        self.errors.set_rows((self.tr("Error"), self.tr("How often")), len(found), cell, numbers=(1,))

    def _show_confusion(self) -> None:
        event, kept = self.current, confusion_in(self._details)
        if kept is not None:
            self.confusion.set_confusion([*kept[0], "O"], kept[1])
        elif event is not None and event.confusion is not None:
            self.confusion.set_confusion(event.labels, event.confusion)
        else:
            self.confusion.clear()

    def _list_texts(self) -> None:
        kind = self.kind_box.currentData()
        self._rows = [one for one in texts_in(self._details) if not kind or kind in one.kinds]
        names = (self.tr("Line"), self.tr("Text"), self.tr("Wrong"))
        self.texts.set_rows(names, len(self._rows), self._cell, wide=(1,), numbers=(0,), most_width=110)

    def _cell(self, row: int, place: int) -> str:
        one = self._rows[row]
        if place == 0:
            return words.number(one.line)
        if place == 1:
            return f"… {one.text} …" if one.is_part else one.text
        if not one.kinds:
            pairs = zip(one.true, one.predicted, strict=False)
            return words.listed(dict.fromkeys(f"{true[2]} → {found[2]}" for true, found in pairs))
        return words.listed(dict.fromkeys(kind_words(kind) for kind in one.kinds))

    def _draw_words(self) -> None:
        row = self.texts.view.currentIndex().row()
        if not 0 <= row < len(self._rows):
            return
        one, event = self._rows[row], self.current
        true, predicted = ([TaggedStretch(*span) for span in lane] for lane in (one.true, one.predicted))
        chosen = self.lane_choice.current
        lanes = (TRUE, PREDICTED) if chosen == "both" else (chosen,)
        types = event.labels if event is not None else ()
        self.texts.words.set_text(tagged_words(one.text, true, predicted), types, lanes)
        self.texts.words.show_first()
