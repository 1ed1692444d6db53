"""A text that is open in the list: what its answer rests on, whether its label is doubted, where it leads."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject, Signal

from app import words
from app.pages.attention.state import AttentionState
from app.pages.evaluate import requests
from app.pages.evaluate.opened_scores import OpenedScores
from app.pages.evaluate.texts import TextsCard
from app.pages.tasks.known import views_of
from app.session import Session
from app.work.worker import Channel
from engine.inspect.attribution.gradients import Attribution
from engine.text.recipe import DROP, RELABEL, SUSPECTED, RecipeStep


class TextFollower(QObject):
    """Follows what the list opens; `told` says what became of a text."""

    told = Signal(str)

    def __init__(self, session: Session, texts: TextsCard) -> None:
        super().__init__(texts)
        self._session, self._texts = session, texts
        self._opened: OpenedScores | None = None
        self._place = -1
        self._why_asked = Channel(self, session.workers.models)
        texts.opened.connect(self._open_text)
        texts.led.connect(self.lead)
        texts.doubted.connect(self.doubt)

    @property
    def is_asking(self) -> bool:
        """Whether it is still to be found what an answer rests on."""
        return self._why_asked.is_asking

    def take(self, opened: OpenedScores | None) -> None:
        """Be told which texts are listed from now on; none of them is open."""
        self._opened, self._place = opened, -1

    def take_again(self, opened: OpenedScores) -> None:
        """Be told of the same texts; what is open stays so."""
        self._opened = opened

    def _open_text(self, place: int) -> None:
        self._place = place
        self._why_asked.drop()
        opened, detail = self._opened, self._texts.detail
        if place < 0 or opened is None or detail is None:
            return
        listed, each = opened.scored.listed, opened.scored.each
        text = listed.texts[place] if len(listed.texts) else ""
        pair = None if listed.pairs is None else listed.pairs[place]
        is_of_labels = views_of(opened.scored.task).has_one_label
        detail.show_text(text, pair, self.tr("Finding out why…") if is_of_labels else "")
        detail.set_can_explain(is_of_labels)
        if is_of_labels:
            name = each.names[each.predicted[place]]
            models, folder = self._session.inspector.open_models, opened.model
            self._why_asked.ask(
                (folder, place, name),
                partial(requests.explain, models, folder, text, pair, name),
                heard=partial(self._hear_why, place, name),
                refused=self._refuse_why,
            )

    def _hear_why(self, place: int, name: str, found: Attribution) -> None:
        if place == self._place and self._texts.detail is not None:
            self._texts.detail.show_attribution(found, name)

    def _refuse_why(self, error: BaseException) -> None:
        if self._texts.detail is not None:
            self._texts.detail.show_problem(words.say_error(error))

    def doubt(self, place: int) -> None:
        """Say that a text's label is wrong, in the recipe of its table; said again, take that back."""
        opened, session = self._opened, self._session
        if opened is None or not views_of(opened.scored.task).has_one_label or place < 0:
            return
        listed, each, row = opened.scored.listed, opened.scored.each, int(opened.scored.listed.rows[place])
        name = opened.file.name if opened.file is not None else self.tr("the file")
        table, roles = session.data.table, session.data.roles
        if table is None or roles is None or not roles.label or table.path != opened.file:
            said = self.tr("Open {name} on the Data page first. Fixes are kept with the open table.")
            self._tell(said.format(name=name))
            return
        kept = listed.texts[place] if len(listed.texts) else None
        there = table.frame[roles.text].array[row] if row < table.num_rows else None
        if there is None or (kept is not None and there.strip() != kept.strip()):
            self._tell(self.tr("{name} has changed, so its rows are different ones.").format(name=name))
            return
        answered = each.names[each.predicted[place]]
        line, is_same = words.number(int(table.lines[row])), each.predicted[place] == each.true[place]
        recipe = session.data.mends.recipe
        if recipe is not None and row in recipe.decided():
            session.data.mends.decide(row, None)
            self._tell(self.tr("Line {line}: undone.").format(line=line))
        elif is_same:
            session.data.mends.decide(row, RecipeStep(DROP, reason=SUSPECTED))
            said = self.tr("Line {line} is excluded, because the model gives it the same label.")
            self._tell(said.format(line=line))
        else:
            step = RecipeStep(RELABEL, label=answered, column=roles.label, reason=SUSPECTED)
            session.data.mends.decide(row, step)
            said = self.tr("Line {line} is {label} from now on. The file stays unchanged.")
            self._tell(said.format(line=line, label=words.shorten(answered, 40)))

    def _tell(self, text: str) -> None:
        """Say what became of a text, where it is open; else above the list."""
        if self._texts.detail is not None:
            self._texts.detail.show_problem(text)
        self.told.emit(text)

    def lead(self, where: str) -> None:
        """Look at the text that is open on another page."""
        opened, place = self._opened, self._place
        if opened is None or place < 0:
            return
        listed = opened.scored.listed
        whole = listed.texts[place], "" if listed.pairs is None else listed.pairs[place]
        read = None if self._texts.detail is None else self._texts.detail.read
        if where == "attribution":
            self._session.show_page("attention", AttentionState.why(opened.model, *(read or whole)))
            return
        self._session.inspector.choose(opened.model)
        self._session.inspector.set_text(*(read or whole))
        self._session.show_page(where)
