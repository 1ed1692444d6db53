"""Pretraining as a game: a person guesses ten hidden words before the model does, in shipped sentences."""

from __future__ import annotations

import random
from functools import partial

from PySide6.QtWidgets import QWidget

from app import words
from app.look.inputs import LineEdit
from app.look.labels import label
from app.look.layout import STRETCH, column, row
from app.look.widgets import GAP, Card, button, named
from app.pages.probe.draft import ProbeDraft
from app.pages.probe.requests import deal_rounds, play_round
from app.plots.buttons import save_icon
from app.plots.guesses import GuessesPlot, GuessRow
from app.plots.tally import PlayedRound, TallyPlot
from app.work.inspector import Inspector
from app.work.worker import Channel
from engine.inspect.masked.game import Round, Verdict

BLANK = " ▁▁▁▁ "


class GameView(QWidget):
    """A sentence with a blank; after the person's guess the model's; below, what each side knew."""

    def __init__(self, inspector: Inspector, draft: ProbeDraft, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._inspector, self._draft = inspector, draft
        self._dealing = Channel(self, inspector.workers.models)
        self._playing = Channel(self, inspector.workers.models)
        self._of: object = None  # the model that the rounds were dealt for
        self._seed = random.randrange(2**31)
        self.rounds: tuple[Round, ...] = ()
        self.verdicts: list[Verdict] = []
        self._is_open = False  # the round in hand has been answered
        self._make()
        self._lay_out()

    @property
    def round(self) -> Round | None:
        """The round in hand; None before there are any, and after the last."""
        place = len(self.verdicts) - int(self._is_open)
        return self.rounds[place] if place < len(self.rounds) else None

    def _make(self) -> None:
        self.sentence = label("", "big", wrap=True, name="game_sentence")
        self.guess = named(
            LineEdit(placeholderText=self.tr("Your word")), "game_guess", self.tr("Your word for the blank")
        )
        self.guess.setMaximumWidth(280)
        self.say = button(self.tr("That is my guess"), "primary", name="game_say", call=self._say)
        self.skip = button(self.tr("I don’t know"), name="game_skip", call=partial(self._answer, ""))
        self.next = button(self.tr("Next sentence"), "primary", name="game_next", call=self._go_on)
        self.again = button(self.tr("Ten others"), name="game_again", call=self._deal_others)
        self.verdict = label("", wrap=True, name="game_verdict")
        self.guesses = named(GuessesPlot(self.tr("The model’s guesses")), "game_guesses")
        self.tally = named(TallyPlot(self.tr("Confidence in the right word")), "game_tally")
        self.tally.set_empty_text(
            self.tr(
                "Guess first, then see the model’s guesses. You both see the same sentence, on both sides."
            )
        )
        self.guess.returnPressed.connect(self._say)

    def _lay_out(self) -> None:
        self.card = named(Card(self.tr("Beat BERT")), "probe_game")
        self.card.add(self.sentence)
        self.card.add_layout(row((self.guess, 1), self.say, self.skip, self.next, self.again, STRETCH))
        self.card.add(self.verdict)
        self.guesses.setFixedHeight(5 * 24 + 12)
        self.card.add(self.guesses)
        below = Card(self.tr("Confidence in the right word"))
        below.add_corner(save_icon(self.tally))
        below.add(self.tally, 1)
        column(self.card, (below, 1), gap=GAP, parent=self)
        self._show()

    def refresh(self) -> None:
        """Deal for the model that is open, if its rounds are not there yet."""
        about = self._draft.about
        if about is None:
            return
        if self._of != about.fingerprint:
            self._of = about.fingerprint
            self.rounds, self.verdicts, self._is_open = (), [], False
            self._playing.drop()
            self._show()
        work = partial(deal_rounds, self._inspector.open_models, about.folder, self._seed)
        asked = (about.fingerprint, self._seed)
        self._dealing.ask(asked, work, heard=self._take_rounds, refused=self._refuse)

    def _take_rounds(self, rounds: tuple[Round, ...]) -> None:
        self.rounds, self.verdicts, self._is_open = rounds, [], False
        self._show()
        self.guess.setFocus()

    def _refuse(self, error: BaseException) -> None:
        self.verdict.setText(words.say_error(error))

    def _say(self) -> None:
        if self.guess.text().strip():
            self._answer(self.guess.text())

    def _answer(self, said: str, _checked: bool = False) -> None:
        one, about = self.round, self._draft.about
        if one is None or about is None or self._is_open:
            return
        work = partial(play_round, self._inspector.open_models, about.folder, one, said)
        self.verdict.setText(self.tr("Asking the model…"))
        self._playing.ask(
            (about.fingerprint, one, said), work, heard=self._take_verdict, refused=self._refuse
        )

    def _take_verdict(self, verdict: Verdict) -> None:
        self.verdicts.append(verdict)
        self._is_open = True
        self._show()
        (self.next if len(self.verdicts) < len(self.rounds) else self.again).setFocus()

    def _go_on(self) -> None:
        self._is_open = False
        self.guess.clear()
        self._show()
        self.guess.setFocus()

    def _deal_others(self) -> None:
        self._seed = random.randrange(2**31)
        self.guess.clear()
        self.refresh()

    # ---- showing

    def _show(self) -> None:
        one, last = self.round, self.verdicts[-1] if self._is_open else None
        is_done = len(self.verdicts) == len(self.rounds) > 0
        self.sentence.setText(self._written(one, last))
        for widget in (self.guess, self.say, self.skip):
            widget.setVisible(one is not None and last is None)
        self.next.setVisible(last is not None and not is_done)
        self.again.setVisible(is_done)
        self.verdict.setText(self._verdict_words(last) if last is not None else "")
        self.guesses.setVisible(last is not None)
        self.guesses.set_guesses(*self._bars(last)) if last is not None else self.guesses.clear()
        self.card.set_hint(self._score())
        self.tally.show_rows(_played(*one) for one in enumerate(self.verdicts, start=1))
        self.tally.set_caption(self._draft.caption() if self._draft.about is not None else ())

    def _written(self, one: Round | None, last: Verdict | None) -> str:
        if one is None:
            return "" if self.rounds else self.tr("Drawing ten sentences…")
        middle = f"“{one.answer}”" if last is not None else BLANK
        return f"{one.text[: one.start]}{middle}{one.text[one.stop :]}".replace("  ", " ")

    def _score(self) -> str:
        if not self.rounds:
            return ""
        mine = sum(verdict.is_right for verdict in self.verdicts)
        its = sum(verdict.model_is_right for verdict in self.verdicts)
        played = len(self.verdicts)
        place = min(len(self.rounds), played + 1 - int(self._is_open))
        said = self.tr("sentence {place} of {count} · right so far: you {mine}, the model {its} of {played}")
        return said.format(place=place, count=len(self.rounds), mine=mine, its=its, played=played)

    def _verdict_words(self, verdict: Verdict) -> str:
        original, yours = verdict.model.original, verdict.yours
        parts = []
        if verdict.is_right:
            parts.append(self.tr("Right, it was “{word}”.").format(word=verdict.round.answer))
        else:
            parts.append(self.tr("It was “{word}”.").format(word=verdict.round.answer))
        model = verdict.model
        if original is not None:
            rank, share = model.rank_of(original), words.probability(model.probability_of(original))
            said = self.tr("The model gave it {share}, as its guess number {rank}.")
            said = said if rank else self.tr("The model gave it {share}.")
            parts.append(said.format(share=share, rank=words.number(rank)))
        if yours is not None and not verdict.is_right:
            rank, share = model.rank_of(yours), words.probability(model.probability_of(yours))
            said = self.tr("It gave your “{word}” {share}, as number {rank}.")
            said = said if rank else self.tr("It gave your “{word}” {share}.")
            parts.append(said.format(word=verdict.said, share=share, rank=words.number(rank)))
        elif verdict.said and yours is None:
            parts.append(self.tr("Its vocabulary cannot spell your “{word}”.").format(word=verdict.said))
        return words.sentences(parts)

    def _bars(self, verdict: Verdict) -> tuple[list[GuessRow], list[GuessRow]]:
        original = verdict.model.original
        bars = []
        for rank, one in enumerate(verdict.model.guesses, start=1):
            is_original = original is not None and verdict.model.rank_of(original) == rank
            mark = "original" if is_original else ""
            mark = mark or ("yours" if one.word == verdict.said.casefold() else "")
            bars.append(GuessRow(one.word, one.probability, rank, mark))
        return bars, []


def _played(number: int, verdict: Verdict) -> PlayedRound:
    best, original = verdict.model.guesses[0], verdict.model.original
    one = verdict.round
    return PlayedRound(
        number,
        sentence=f"{one.text[: one.start]}{BLANK.strip()}{one.text[one.stop :]}",
        hidden=one.answer,
        yours=verdict.said,
        is_yours_right=verdict.is_right,
        model=best.word,
        is_model_right=verdict.model_is_right,
        shares=(best.probability, 0.0 if original is None else verdict.model.probability_of(original)),
    )
