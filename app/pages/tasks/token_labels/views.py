"""Labels of words in the window."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from app import words
from app.pages.advice.remark import AdviceLine
from app.pages.tasks.token_labels.answers import TokenAnswers
from app.pages.tasks.token_labels.preview import TokenPreview
from app.pages.tasks.token_labels.scores import TokenScores, kind_words
from app.pages.tasks.views import FileViews
from engine.events import Evaluated
from engine.train.scored import ERROR, TYPE
from engine.train.tasks.token_labels.details import NONE_FOUND

if TYPE_CHECKING:
    from app.pages.tasks.views import Summary
    from app.session import Session


class TokenViews(FileViews):
    """A tag for each word of a text."""

    name, main_metric, useless = "token-labels", "entity_f1", NONE_FOUND

    def title(self) -> str:
        return self.tr("Labels of words")

    def words(self, summary: Summary) -> str:
        text = self.tr("Each word of a text → {count} types")
        return text.format(count=words.number(len(summary.labels)))

    def metrics(self) -> dict[str, str]:
        return {
            "entity_f1": self.tr("entity F1"),
            "entity_f1_strict": self.tr("strict entity F1"),
            "entity_precision": self.tr("precision of entities"),
            "entity_recall": self.tr("recall of entities"),
            "token_accuracy": self.tr("share of right words"),
            "macro_f1": self.tr("macro F1"),
        }

    def score_words(self, event: Evaluated) -> str:
        value = event.metrics.get(self.main_metric, event.metrics.get("token_accuracy"))
        return "" if value is None else words.score(value)

    def remarks(self, event: Evaluated, *, is_over: bool) -> Iterator[AdviceLine]:
        occur = [kind for kind, figures in event.per_label.items() if figures[3]]
        never = [kind for kind in occur if not event.per_label[kind][1]]
        if not never or "entity_f1" not in event.metrics:
            return
        if never == occur:
            text = self.tr("No entity is found yet. Most words are none, and the model learns that first.")
            if is_over:
                text = self.tr("No entity is found. Train longer, or at a higher rate.")
            yield AdviceLine("wrong" if is_over else "look", text)
            return
        text = self.tr("Types that occur but are never found: {types}.")
        shown = [words.shorten(kind, 40) for kind in never[:5]] + ["…"] * bool(never[5:])
        yield AdviceLine("look", text.format(types=words.listed(shown)))

    def mark_words(self, mark: tuple[str, ...]) -> str:
        kind, *names = mark
        if kind == ERROR:
            return kind_words(names[0])
        shown = [words.shorten(name, 30) or self.tr("none") for name in names]
        if kind == TYPE:
            return self.tr("with {type}").format(type=shown[0])
        return self.tr("{true} predicted as {found}").format(true=shown[0], found=shown[-1])

    def scores(self) -> TokenScores:
        return TokenScores()

    def preview(self, session: Session) -> TokenPreview:
        return TokenPreview(session)

    def answers(self, session: Session) -> TokenAnswers:
        return TokenAnswers(session)
