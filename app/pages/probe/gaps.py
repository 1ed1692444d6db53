"""The cards of the gaps: the guesses for each, a word of the person's own, and all gaps filled together."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app import words
from app.look.inputs import LineEdit
from app.look.labels import ElidedLabel, label, tip
from app.look.layout import column, row
from app.look.widgets import Card, named
from app.pages.inside.model_bar import model_caption
from app.pages.probe.parts import rank_words
from app.pages.probe.requests import GapsAnswer
from app.plots.buttons import save_icon
from app.plots.guesses import ROW, GuessesPlot, GuessRow
from engine.errors import UserError
from engine.inspect.masked.joint import Filling, Joint
from engine.inspect.masked.masked import Gap
from engine.inspect.masked.probe import GapTable
from engine.inspect.masked.score import GapAnswer, WordScore
from engine.text.vocabulary import MASK

FIELD_WIDTH = 440
Caption = Sequence[tuple[str, str]]
JOIN = " · "


class GapCard(Card):
    """One gap: what was there and how probable it is, the best guesses, and a box for any other word."""

    word_asked = Signal(int, str)  # the gap, 0 the first; the word, "" for none any more
    guess_chosen = Signal(int, str)

    def __init__(self, number: int, parent: QWidget | None = None) -> None:
        """Args: number: of the gap, 1 the first."""
        super().__init__(parent=parent)
        self.number = number
        self.setObjectName(f"probe_gap_{number}")
        self.set_title(self.tr("Mask {number}").format(number=words.number(number)))
        self.plots = [self._make_plot(""), self._make_plot("_beside")]
        self.names = [ElidedLabel("", "caption"), ElidedLabel("", "caption")]
        self.save = save_icon(self.plots[0])
        self.add_corner(self.save)
        self.columns = [QWidget(), QWidget()]
        for side, name, plot in zip(self.columns, self.names, self.plots, strict=True):
            column(name, (plot, 1), gap=2, parent=side)
        self.body.addLayout(row(*((side, 1) for side in self.columns), gap=12), 1)
        self.beside_problem = label("", "look", wrap=True)
        self.add(self.beside_problem)
        self._make_field()
        self._show_beside(None)

    def _make_plot(self, ending: str) -> GuessesPlot:
        plot = named(
            GuessesPlot(self.tr("Mask {number}").format(number=words.number(self.number))),
            f"probe_guesses_{self.number}{ending}",
        )
        plot.hint = self.tr("click to put it into the text")
        plot.set_empty_text(self.tr("Asking the model…"))
        plot.guess_chosen.connect(self._choose)
        return plot

    def _make_field(self) -> None:
        self.field = named(LineEdit(), f"probe_yours_{self.number}")
        self.field.setPlaceholderText(self.tr("Check another word…"))
        self.field.setAccessibleName(
            self.tr("Another word for mask {number}").format(number=words.number(self.number))
        )
        self.field.setMaximumWidth(FIELD_WIDTH)
        self.field.returnPressed.connect(self._ask)
        self.field.textChanged.connect(self._typed)
        self.yours = label("", wrap=True, name=f"probe_yours_answer_{self.number}")
        self.yours.hide()
        self.add(self.field)
        self.add(self.yours)

    # ---- what is shown

    def show_answer(self, answer: GapsAnswer, captions: Caption) -> None:
        """Show what the model, or both, make of this gap."""
        place = self.number - 1
        gap, found = answer.probed.masked.gaps[place], answer.probed.answers[place]
        self.set_hint(self._was_words(gap, found), self._original_words(gap, found))
        yours = answer.yours.get(place)
        self._put(self.plots[0], gap, found, yours)
        self.plots[0].set_caption([*captions, (self.tr("gap"), str(self.number))])
        self.names[0].setText(answer.probed.model_name)
        if yours is not None:
            self.show_yours(self.field.text().strip(), yours, found)
        self._show_beside(answer.beside)

    def show_yours(self, word: str, score: WordScore | UserError, found: GapAnswer) -> None:
        """Say how probable the person's word is, and in which way that was reckoned."""
        if isinstance(score, UserError):
            self.yours.setText(words.say_error(score))
            self.yours.setToolTip("")
        else:
            parts = [rank_words(score, found)]
            if score.is_product:
                parts.append(self.tr("{count} pieces as a whole").format(count=len(score.pieces)))
            said = self.tr("{word}: {answer}").format(word=words.shorten(word, 40), answer=JOIN.join(parts))
            self.yours.setText(said)
            self.yours.setToolTip(tip(words.say(found.explanation_of(score))))
        self.yours.show()

    def set_dim(self, dim: bool) -> None:
        """Say that a newer answer is on its way."""
        for plot in self.plots:
            plot.set_dim(dim)

    def _show_beside(self, beside: GapTable | UserError | None) -> None:
        is_there = isinstance(beside, GapTable) and len(beside.answers) >= self.number
        self.names[0].setVisible(is_there)
        self.columns[1].setVisible(is_there)
        problem = words.say_error(beside) if isinstance(beside, UserError) else ""
        self.beside_problem.setText(problem)
        self.beside_problem.setVisible(bool(problem))
        if isinstance(beside, GapTable) and is_there:
            place = self.number - 1
            self.names[1].setText(beside.model_name)
            self._put(self.plots[1], beside.masked.gaps[place], beside.answers[place], None)
            self.plots[1].set_caption(model_caption(beside.model_name, beside.fingerprint))

    def _put(
        self, plot: GuessesPlot, gap: Gap, found: GapAnswer, yours: WordScore | UserError | None
    ) -> None:
        """Show guesses, and below them what is asked for and not among them."""
        top = []
        own = yours if isinstance(yours, WordScore) else None
        for rank, guess in enumerate(found.guesses, start=1):
            is_original = bool(gap.original) and guess.ids == gap.original
            is_own = own is not None and guess.ids == tuple(piece.id for piece in own.pieces)
            mark = "original" if is_original else "yours" if is_own else ""
            top.append(GuessRow(guess.word, guess.probability, rank, mark))
        others = []
        if found.original is not None and not any(guess.mark == "original" for guess in top):
            others.append(self._other(found, found.original, "original"))
        is_shown = any(guess.mark == "yours" for guess in top)
        is_original = own is not None and found.original is not None and own.pieces == found.original.pieces
        if own is not None and not (own.has_own_pass or is_shown or is_original):
            others.append(self._other(found, own, "yours"))
        plot.set_guesses(top, others)
        plot.setMinimumHeight(min(plot.content_height, 12 * ROW + 10) + 8)

    def _other(self, found: GapAnswer, score: WordScore, mark: str) -> GuessRow:
        said = words.say(found.explanation_of(score))
        return GuessRow(score.word, found.probability_of(score), found.rank_of(score), mark, said)

    def _was_words(self, gap: Gap, found: GapAnswer) -> str:
        if found.original is None and gap.text == MASK:
            return ""
        if found.original is None:
            return self.tr("original: {word} · not in the vocabulary").format(
                word=words.shorten(gap.text, 24)
            )
        word = words.shorten(gap.text, 24)
        if found.original.is_product:
            count = words.number(len(found.original.pieces))
            word = self.tr("{word}, {count} pieces").format(word=word, count=count)
        return self.tr("original: {word} · {answer}").format(
            word=word, answer=rank_words(found.original, found)
        )

    def _original_words(self, gap: Gap, found: GapAnswer) -> str:
        if found.original is None:
            return ""
        parts = [
            self.tr("{word} is the original.").format(word=gap.text),
            words.say(found.explanation_of(found.original)),
            self.tr("Entropy of the guesses: {bits} bits. 0 if the model is certain.").format(
                bits=words.decimal(found.entropy, 1)
            ),
        ]
        return words.sentences(parts)

    # ---- what a person does

    def _ask(self) -> None:
        self.word_asked.emit(self.number - 1, self.field.text().strip())

    def _typed(self, text: str) -> None:
        self.yours.hide()
        if not text.strip():
            self.word_asked.emit(self.number - 1, "")

    def _choose(self, word: str) -> None:
        self.guess_chosen.emit(self.number - 1, word)


class JointCard(Card):
    """All gaps filled together, beside what comes of filling each alone."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.setObjectName("probe_joint")
        self.plot = named(GuessesPlot(self.tr("All masks together")), "probe_joint_guesses")
        self.plot.set_empty_text(self.tr("Filling all masks together…"))
        self.alone = named(GuessesPlot(self.tr("Each mask alone")), "probe_joint_alone")
        self.note = label("", "muted", wrap=True, name="probe_joint_note")
        self.add_corner(save_icon(self.plot))
        self.set_title(self.tr("All at once"))
        caption = label(self.tr("Each mask alone, multiplied"), "caption")
        caption.setToolTip(
            tip(
                self.tr(
                    "The best guesses when each mask is guessed without seeing the others. The "
                    "probability is their product."
                )
            )
        )
        self.add(self.plot)
        self.add(caption)
        self.add(self.alone)
        self.add(self.note)
        self.body.addStretch(1)

    def show_answer(self, joint: Joint, captions: Caption) -> None:
        """Show the fillings, and where they differ from the single guesses."""
        self.set_hint(
            self.tr("beam of {beam}").format(beam=words.number(joint.beam)),
            self.tr(
                "The masks are filled one after the other, the most confident first, so one word "
                "can decide the next. The {beam} best fillings are kept at each step."
            ).format(beam=words.number(joint.beam)),
        )
        original = joint.original.ids if joint.original is not None else None
        top = [self._guess(one, rank, original) for rank, one in enumerate(joint.fillings, start=1)]
        others = []
        if joint.original is not None and not any(guess.mark for guess in top):
            others.append(self._guess(joint.original, joint.original_rank or 0, original))
        self.plot.set_guesses(top[:4], others)
        self.plot.set_caption([*captions, (self.tr("beam"), str(joint.beam))])
        alone = [
            GuessRow(JOIN.join(one.words), one.independent, rank, "original" if one.ids == original else "")
            for rank, one in enumerate(joint.independent[:2], start=1)
        ]
        self.alone.set_guesses(alone)
        self.alone.set_caption(captions)
        for plot in (self.plot, self.alone):
            plot.setFixedHeight(plot.content_height + 8)
        self.note.setText(self._difference(joint))

    def clear(self) -> None:
        """Show nothing until the next answer."""
        self.plot.clear()
        self.alone.clear()
        self.note.setText("")
        self.set_hint("")

    def set_dim(self, dim: bool) -> None:
        """Say that a newer answer is on its way."""
        for plot in (self.plot, self.alone):
            plot.set_dim(dim)

    def _guess(self, filling: Filling, rank: int, original: tuple[int, ...] | None) -> GuessRow:
        note = self.tr("each alone: {share}").format(share=words.share(filling.independent, 2))
        mark = "original" if filling.ids == original else ""
        return GuessRow(JOIN.join(filling.words), filling.probability, rank, mark, note)

    def _difference(self, joint: Joint) -> str:
        """Return where the best joint filling differs from the best single guesses."""
        if not joint.fillings or not joint.independent:
            return ""
        best, alone = joint.fillings[0], joint.independent[0]
        places = [
            n for n, pair in enumerate(zip(best.words, alone.words, strict=True), 1) if pair[0] != pair[1]
        ]
        if not places:
            return self.tr("Both methods give the same best filling here.")
        said = words.listed(words.number(n) for n in places)
        return self.tr(
            "They differ at mask {gaps}. There, the words at the other masks decide which word fits."
        ).format(gaps=said)
