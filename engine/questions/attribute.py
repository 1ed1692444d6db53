"""What does each word add to an answer?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engine.errors import UserError, marked
from engine.events import Steps
from engine.language import said
from engine.questions.fields import pair_field, text_field
from engine.questions.flags import Flag
from engine.questions.question import Models, Question, asked, given, json_field

if TYPE_CHECKING:
    from engine.inspect.attribution.gradients import Attribution
    from engine.inspect.attribution.target import Target
    from engine.inspect.loaded_model import LoadedModel
else:
    Target = Any  # it brings torch

METHODS = ("integrated_gradients", "gradient_x_input")
TARGETS = {"mask": "masked_words", "next": "next_sentence"}


@dataclass(frozen=True)
class AttributionQuestion(
    Question["Attribution"], command="attribute", help="show what each word contributes to an answer"
):
    """What each word adds. whole: all that can be said of the target, in the place of `target`."""

    text: str = text_field()
    text_pair: str | None = pair_field()
    target: str = asked(
        "",
        "a label of the classifier; mask: the word at the first [MASK]; next: whether TEXT_PAIR follows",
        flag=Flag("LABEL|mask|next", is_needed=True),
        kw_only=True,
    )
    wanted: str = asked(
        "",
        "with mask: the word to explain; default: the most likely",
        flag=Flag("ANSWER", name="answer"),
        kw_only=True,
    )
    method: str = asked(METHODS[0], choices=METHODS, kw_only=True)
    baseline: str = asked(
        "", "what words are compared with", choices=("", "mask", "pad", "zero"), kw_only=True
    )
    measure: str = asked("log_odds", choices=("log_odds", "probability"), kw_only=True)
    json: bool = json_field("print scores of pieces and words, sum and residual as JSON")
    whole: Target | None = given()

    def answer(self, models: Models) -> Steps[Attribution]:
        from engine.inspect.attribution.gradients import attribute

        subject = models.subject(self.model)
        return attribute(
            subject,
            self.text,
            self.text_pair,
            target=self.whole or self._target(subject),
            method=self.method,
            baseline=self.baseline,
            measure=self.measure,
        )

    def _target(self, subject: LoadedModel) -> Target:
        from engine.inspect.attribution.target import Target

        question = TARGETS.get(self.target, "labels")
        if self.target in subject.labels:  # a label may be called mask
            question = "labels"
        if self.wanted and question != "masked_words":
            raise UserError(marked("engine", "--answer works only with --target mask. Omit it."))
        answer = self.wanted if question == "masked_words" else ""
        return Target(question=question, answer=self.target if question == "labels" else answer)

    def document(self, found: Attribution) -> Any:
        return found.report()

    def lines(self, found: Attribution) -> Iterator[str]:
        yield str(found.question)
        for word, score in zip(found.words, found.word_scores.tolist(), strict=True):
            yield f"  {score:+8.4f}  {word.text}"
        if found.method == METHODS[0]:
            yield said(
                marked(
                    "engine",
                    "sum {total:.4f} of {value:.4f} - {start:.4f}; residual {residual:.2%} in {steps} steps",
                ),
                total=found.total,
                value=found.value,
                start=found.baseline_value,
                residual=found.residual,
                steps=found.steps,
            )
