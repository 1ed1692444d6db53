"""How a table is learned: the choice in the form, preset where labels are few; what it means before Start."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication

from app import words
from app.form.form import SettingsForm
from app.pages.advice.remark import AdviceLine
from app.pages.tasks.known import CLASSIFICATION
from app.work.tables import NEW
from engine.settings.finetune import AdaptConfig
from engine.train.data_notes import FEW_A_LABEL, has_few, on_steps
from engine.train.plan import Plan
from engine.train.ways.choose import SETTLED
from engine.train.ways.names import AUTO, FINE_TUNED, LEAST_STEPS, REGRESSION, TFIDF

translate = QCoreApplication.translate
WAY = "way"


class WayChoice:
    """Puts the usual way of a table into the form, unless a person has chosen another for it."""

    def __init__(self, form: SettingsForm) -> None:
        self._form = form
        self._table = ""
        self._chosen: dict[str, str] = {}  # table -> way, by hand
        self._shown = FINE_TUNED  # what was put there last
        self._counts: Sequence[int] = ()  # examples of each label
        self._can_choose = False
        form.set_shown(WAY, False)

    @property
    def has_few(self) -> bool:
        """Whether the table has so few examples of a label that its way is better chosen."""
        return self._can_choose and has_few(self._counts)

    @property
    def by_hand(self) -> str:
        """What a person has chosen for the table; "" for what is usual."""
        return self._chosen.get(self._table, "")

    @property
    def can_be_auto(self) -> bool:
        """Whether the way can be chosen by cross-validation, and is not yet."""
        return self._can_choose and self._form.values()[WAY] == FINE_TUNED

    def choose(self, table: str, way: str) -> None:
        """Take what a person has chosen for a table."""
        self._chosen[table] = way

    def note(self) -> None:
        """See whether a person has just chosen another way."""
        way = self._form.values()[WAY]
        if way != self._shown:
            self._shown = self._chosen[self._table] = way

    def follow(self, table: str, task: str, model: str, counts: Sequence[int]) -> None:
        """Show the way for a table as it is known now. Args: counts: examples of each label."""
        self._table, self._counts = table, counts
        is_of_classes = task == CLASSIFICATION.name
        self._form.set_shown(WAY, is_of_classes)
        self._can_choose = is_of_classes and not model.startswith(NEW) and self._is_free()
        way = self.by_hand or (AUTO if self.has_few else FINE_TUNED)
        if not is_of_classes:
            way = FINE_TUNED
        if way != self._shown:
            self._shown = way
            self._form.set_values({WAY: way})
        said = self._hint(way)
        few = translate("WayChoice", "Few examples: methods are compared.") if said else ""
        self._form.set_hint(WAY, few, said)

    def _is_free(self) -> bool:
        """Whether no setting is changed that the other ways settle."""
        usual, values = AdaptConfig(), self._form.values()
        return all(values.get(name, getattr(usual, name)) == getattr(usual, name) for name in SETTLED)

    def _hint(self, way: str) -> str:
        """Say in a sentence why this way is preset, or what else there is."""
        if not self.has_few:
            return ""
        if way == AUTO:
            text = translate(
                "WayChoice",
                "{examples} Below {few}, cross-validation finds the best method, and says how good it is.",
            )
            return text.format(examples=self._examples_words(), few=FEW_A_LABEL)
        return ""

    def _examples_words(self) -> str:
        """Say how many examples a label has, of those that count for `has_few`."""
        mean = sum(self._counts) / len(self._counts)
        if mean < FEW_A_LABEL:
            text = translate("WayChoice", "A label has {count} examples on average.")
            return text.format(count=words.number(round(mean)))
        text = translate("WayChoice", "The rarest label has {count} examples.")
        return text.format(count=words.number(min(self._counts)))

    def remarks(self, plan: Plan) -> list[AdviceLine]:
        """Return what to know of the way before a run, each with what a click does about it."""
        if not plan.num_steps or self._form.values()[WAY] != FINE_TUNED:
            return []
        found = [self._remark(note.level, words.say(note.sentence)) for note in on_steps(plan.num_steps)]
        if not found and self.has_few:
            text = translate(
                "WayChoice",
                "{examples} Below {few}, a cheaper method is often better than fine-tuning. Cross-validation "
                "shows which is.",
            )
            said = text.format(examples=self._examples_words(), few=FEW_A_LABEL)
            found = [self._remark("look", said)]
        return found

    def _remark(self, level: str, text: str) -> AdviceLine:
        """Return a remark with what a click does about it."""
        if self._can_choose:
            offer = translate("WayChoice", "Let Cloze choose the method")
            return AdviceLine(level, text, mend=(WAY, AUTO), offer=offer)
        offer = translate("WayChoice", "Train for at least {count} steps").format(count=LEAST_STEPS)
        return AdviceLine(level, text, mend=("least_steps", LEAST_STEPS), offer=offer)


def plan_words(plan: Plan, way: str) -> list[str]:
    """Return what a run does that compares ways, or whose head is fitted; nothing of one that only steps."""
    if plan.ways:
        text = translate("WayChoice", "{count} methods are compared first, then one is trained on all rows")
        return [text.format(count=words.number(len(plan.ways)))]
    if plan.num_steps:
        return []
    if way == REGRESSION:
        return [translate("WayChoice", "The encoder stays frozen; a regression is fitted on its vectors.")]
    text = translate("WayChoice", "{steps} steps on pairs of rows; then a regression is fitted.")
    return [text.format(steps=LEAST_STEPS)]


def way_words(way: str) -> str:
    """Return what a way is called, as the form calls it."""
    return translate("WayChoice", "TF-IDF, without BERT") if way == TFIDF else words.choice_word(WAY, way)
