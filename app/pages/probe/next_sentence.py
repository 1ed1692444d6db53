"""The next-sentence bench: does B follow A, the other way round, and which words say so?"""

from __future__ import annotations

from functools import partial

from PySide6.QtWidgets import QWidget

from app import words
from app.look import theme
from app.look.labels import label
from app.look.layout import STRETCH, row
from app.look.widgets import GAP, Card, button, named, set_role
from app.pages.inside.texts import TextPair
from app.pages.probe.draft import ProbeDraft
from app.pages.probe.parts import Scroller
from app.pages.probe.requests import NextAnswer, ask_next
from app.plots.buttons import save_icon
from app.plots.guesses import GuessesPlot, GuessRow
from app.plots.word_strip import RatedWord, WordStrip
from app.session import Session
from app.work.worker import Channel
from engine.errors import UserError
from engine.inspect.masked.follows import Follows, Influence
from engine.train.run.kept import name_of


class NextView(Scroller):
    """A and B, the answer in words and per cent, and each word's part in it."""

    def __init__(self, session: Session, draft: ProbeDraft, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._inspector = session.inspector
        self._draft = draft
        self._answers = Channel(self, session.workers.models)
        self.column.addWidget(self._make_bench(session))
        self.column.addWidget(self._make_influence())
        self.column.addStretch(1)

    def _make_bench(self, session: Session) -> Card:
        card = named(Card(self.tr("Is B the next sentence of A?")), "probe_next")
        self.texts = TextPair(session, name="probe_next")
        card.add(self.texts)
        self.answer = label("")
        self.answer.setFont(theme.ui_font(20, bold=True))
        self.answer.setObjectName("probe_next_answer")
        self.swap = button(self.tr("Swap A and B"), name="probe_next_swap", call=self._swap)
        card.body.addLayout(row(self.answer, STRETCH, self.swap, gap=GAP))
        self.beside = label("", "strong", name="probe_next_beside")
        card.add(self.beside)
        self.says = label("", "muted", wrap=True, name="probe_next_says")
        card.add(self.says)
        self.bars = named(GuessesPlot(self.tr("Is B the next sentence of A?")), "probe_next_bars")
        card.add(self.bars)
        card.add_corner(save_icon(self.bars))
        self.card = card
        return card

    def _make_influence(self) -> Card:
        card = named(Card(self.tr("Which words decide it")), "probe_next_influence")
        card.set_hint(
            self.tr("+ supports “B follows A”, − opposes it"),
            self.tr(
                "Each word is masked in turn. The number shows how much the log-odds of “B "
                "follows A” fall without it. 1 makes the odds about 2.7 times as good."
            ),
        )
        self.strip = named(
            WordStrip(
                self.tr("Words for and against"),
                what="change of log-odds",
                least=0.5,
                most_lines=6,
            ),
            "probe_next_strip",
        )
        self.strip.set_empty_text(self.tr("The contribution of each word appears here."))
        card.add_corner(save_icon(self.strip))
        card.add(self.strip)
        self.sum = label("", "muted", wrap=True, name="probe_next_sum")
        card.add(self.sum)
        self.influence_card = card
        return card

    # ---- asking

    def refresh(self) -> None:
        """Ask whether B follows A, if both are there and that has not been asked."""
        draft, about = self._draft, self._draft.about
        question = draft.question
        if about is None or draft.refusal or question.pair is None:
            self._answers.drop()
            self._show_nothing(
                draft.refusal
                or self.tr("Type a second sentence in B. The model then says whether it follows A.")
            )
            return
        asked = (about.fingerprint, about.folder, question.text, question.text_pair, draft.beside)
        work = partial(
            ask_next,
            self._inspector.open_models,
            folder=about.folder,
            beside=draft.beside,
            a=question.text,
            b=question.text_pair,
        )
        if self._answers.ask(asked, work, heard=self._hear, refused=self._refuse):
            self.strip.set_dim(True)
            self.bars.set_dim(True)

    def _swap(self) -> None:
        self.texts.commit()
        inspector = self._inspector
        inspector.set_text(inspector.text_pair, inspector.text)

    # ---- answers

    def _hear(self, answer: NextAnswer | Influence) -> None:
        if isinstance(answer, NextAnswer):
            self._show(answer)
        else:
            self._show_influence(answer)

    def _refuse(self, error: BaseException) -> None:
        self._show_nothing(words.say_error(error))

    def _show_nothing(self, why: str) -> None:
        self.answer.hide()
        self.beside.hide()
        self.bars.hide()
        self.bars.clear()
        self.says.setText(why)
        self.swap.setEnabled(bool(self._inspector.text_pair.strip()))
        self.strip.clear()
        self.influence_card.hide()

    def _show(self, answer: NextAnswer) -> None:
        found = answer.found
        yes = found.probability >= 0.5
        self.answer.setText(verdict(found))
        set_role(self.answer, "fine" if yes else "")
        self.answer.show()
        self.says.setText(
            self.tr(
                "The model says that B follows A. Compare both orders, and other sentences in place of B:"
            )
            if yes
            else self.tr(
                "The model says that B does not follow A. Compare both orders, and other "
                "sentences in place of B:"
            )
        )
        self.swap.setEnabled(True)
        rows = [
            GuessRow(self.tr("B after A"), found.probability, mark="yours"),
            GuessRow(self.tr("swapped: A after B"), found.swapped),
        ]
        rows += [GuessRow(words.shorten(text, 60), value) for text, value in found.others]
        self.bars.set_guesses(rows)
        self.bars.setFixedHeight(self.bars.content_height + 8)
        self.bars.show()
        self.bars.set_caption(self._draft.caption())
        self._show_beside(answer.beside)

    def _show_beside(self, beside: Follows | UserError | None) -> None:
        self.beside.setVisible(beside is not None)
        if isinstance(beside, Follows):
            folder = self._draft.beside
            name = name_of(folder) if folder is not None else ""
            self.beside.setText(
                self.tr("{model}: {answer} · swapped {swapped}").format(
                    model=name, answer=verdict(beside), swapped=words.probability(beside.swapped)
                )
            )
        elif isinstance(beside, UserError):
            self.beside.setText(words.say_error(beside))

    def _show_influence(self, found: Influence) -> None:
        rated = []
        for one in found.words:
            change = one.log_odds_change
            sign = "+" if change >= 0.005 else "−" if change <= -0.005 else ""
            said = f"{sign}{words.decimal(abs(change), 2)}"
            note = self.tr("without it: {share}").format(share=words.probability(one.without))
            rated.append(RatedWord(one.word.text, one.word.segment, change, said, note=note))
        self.strip.set_words(rated)
        self.strip.set_caption(self._draft.caption())
        self.sum.setText(sum_words(found))
        self.influence_card.show()


def sum_words(found: Influence) -> str:
    """Return how the scores of the words add up, and what they leave unexplained."""
    template = words.translate(
        "probe",
        "In log-odds: this text {value} ({share}) = every word masked {baseline} "
        "({baseline_share}) + sum of the words {total} + residual {residual}. Words "
        "masked one at a time need not add up. The residual is what they leave "
        "unexplained.",
    )
    return template.format(
        value=_log_odds(found.log_odds),
        share=words.probability(found.probability),
        baseline=_log_odds(found.baseline_log_odds),
        baseline_share=words.probability(found.baseline_probability),
        total=_log_odds(found.total),
        residual=_log_odds(found.residual),
    )


def _log_odds(x: float) -> str:
    return words.decimal(x, 2)


def verdict(found: Follows) -> str:
    """Return "Yes, 97 %" or "No, 88 %": how sure the model is of its answer."""
    if found.probability >= 0.5:
        template, value = words.translate("probe", "Yes, {share}"), found.probability
    else:
        template, value = words.translate("probe", "No, {share}"), 1 - found.probability
    return template.format(share=words.probability(value))
