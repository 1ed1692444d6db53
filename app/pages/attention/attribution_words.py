"""The line that checks the sum of an attribution, and what the card says of a result in words."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from app import words
from app.look.labels import label, tip
from app.pages.inside.model_bar import model_caption
from app.plots.attribution import ScoredWord, signed
from engine.inspect.attribution.gradients import INTEGRATED, METHODS, Attribution
from engine.inspect.attribution.path import BASELINES
from engine.inspect.attribution.target import LOG_ODDS, MEASURES
from engine.text.tokenizer import Encoding
from engine.text.words import Word


class SumCheck(QWidget):
    """ "4.98 = −2.24 + 7.22", what each of the three is written under it; ≈ where rounding or the residual
    keep them from adding up as they are shown.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("attribution_sum")
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(10)
        grid.setVerticalSpacing(0)
        self._numbers: list[QLabel] = []
        self._captions: list[QLabel] = []
        self._signs: list[QLabel] = []
        for place, sign in enumerate(("=", "+", "")):
            number, caption = label("", "strong"), label("", "muted", wrap=True)
            self._numbers.append(number)
            self._captions.append(caption)
            grid.addWidget(number, 0, 2 * place)
            grid.addWidget(caption, 1, 2 * place, Qt.AlignmentFlag.AlignTop)
            if sign:
                self._signs.append(label(sign, "muted"))
                grid.addWidget(self._signs[-1], 0, 2 * place + 1, Qt.AlignmentFlag.AlignHCenter)
        for column, share in ((0, 2), (2, 3), (4, 3)):
            grid.setColumnStretch(column, share)

    def show_result(self, result: Attribution) -> None:
        """Show the three numbers."""
        digits = digits_of(result)
        values = (result.value, result.baseline_value, result.total)
        for number, value in zip(self._numbers, values, strict=True):
            number.setText(plain(value, digits))
        value, baseline, total = (round(one, digits) for one in values)
        self._signs[0].setText("=" if abs(value - baseline - total) < 10.0**-digits / 2 else "≈")
        for caption, text in zip(self._captions, self._texts(result), strict=True):
            caption.setText(text)
        self.setAccessibleName(self.text())
        told = self.tr(
            "{steps} steps. With ever more steps, the words add up to the difference of the "
            "two answers. The residual is the missing share of it (of 0.1 if it is smaller)."
        )
        self.setToolTip(tip(told.format(steps=words.number(result.steps))))

    def text(self) -> str:
        """Return the line as it is read."""
        first, second, third = (number.text() for number in self._numbers)
        return f"{first} {self._signs[0].text()} {second} + {third}"

    def texts(self) -> list[str]:
        """Return what stands under the numbers."""
        return [caption.text() for caption in self._captions]

    def _texts(self, result: Attribution) -> tuple[str, str, str]:
        baseline = words.within(words.tr_engine(BASELINES[result.baseline]))
        ends = (self.tr("this text"), baseline)
        if result.measure == LOG_ODDS and not result.asked.against:
            shares = (result.probability, result.baseline_probability)
            ends = (
                words.bracketed(ends[0], chance(shares[0])),
                words.bracketed(ends[1], chance(shares[1])),
            )
        return *ends, self.tr("all words · residual {share}").format(share=residual_words(result))


def residual_words(result: Attribution) -> str:
    """Return what the sum misses, as per cent: "0.4 %", "0.03 %"."""
    if result.residual < 0.0001:
        return words.translate("attribution", "< {share}").format(share=words.share(0.0001, 2))
    return words.share(result.residual, 1 if result.residual >= 0.00095 else 2)


def plain(value: float, digits: int) -> str:
    """Return a number with a real minus sign, and no sign before a plus or a zero."""
    text = signed(value, digits)
    return text.removeprefix("+")


def chance(p: float) -> str:
    """Return a probability as per cent, with two digits that say something however small it is."""
    if 0 < p < 0.001:
        return words.translate("attribution", "{number} %").format(number=words.scientific(100 * p, 2))
    return words.probability(p) if p else words.share(p, 0)


def digits_of(result: Attribution) -> int:
    """Return how many decimals tell the numbers of a result apart."""
    return 2 if max(abs(result.value), abs(result.baseline_value), abs(result.total)) >= 0.1 else 4


def question_words(result: Attribution) -> str:
    """Return what was asked: "the label positive"."""
    return words.say(result.question)


def answer_words(result: Attribution) -> str:
    """Return what the model answers, above its words: "The label “positive”: 99 %"."""
    asked = question_words(result)
    asked = asked[:1].upper() + asked[1:]
    return asked if result.asked.against else words.captioned(asked, chance(result.probability))


def meaning_words(result: Attribution) -> str:
    """Return how the scores are to be read."""
    measure = words.within(words.tr_engine(MEASURES[result.measure]))
    if result.method != INTEGRATED:
        return words.translate(
            "attribution",
            "One step at the text itself. The sign shows which way a word pushes. The sizes "
            "are rough, and their sum has no meaning.",
        )
    if not result.is_complete:
        return words.translate(
            "attribution",
            "After {steps} steps the sum is off by {share}, more than 1 %. Treat the scores "
            "as rough, or choose another baseline.",
        ).format(steps=words.number(result.steps), share=words.share(result.residual))
    return words.translate(
        "attribution",
        "A score is what a word adds to the {measure} while all words come in together. "
        "Below zero it opposes the answer.",
    ).format(measure=measure)


def scored_words(result: Attribution) -> list[ScoredWord]:
    """Return the words as the pictures show them."""
    gaps = set(result.asked.places)
    scores = result.word_scores.tolist()
    return _scored(result.words, result.encoding, gaps, scores, result.text, result.text_pair)


def plain_words(
    found: tuple[Word, ...], encoding: Encoding, gaps: tuple[int, ...], text: str, pair: str | None
) -> list[ScoredWord]:
    """Return the words before any score is known."""
    return _scored(found, encoding, set(gaps), [None] * len(found), text, pair)


def _scored(
    found: tuple[Word, ...],
    encoding: Encoding,
    gaps: set[int],
    scores: list[float | None],
    text: str,
    pair: str | None,
) -> list[ScoredWord]:
    texts = (text, pair or "")
    return [
        ScoredWord(
            text=word.text,
            segment=word.segment,
            score=None if gaps.intersection(word.pieces) else score,
            joined=_is_joined(texts[word.segment], word.start),
            is_gap=bool(gaps.intersection(word.pieces)),
            note=_pieces_words(encoding, word),
        )
        for word, score in zip(found, scores, strict=True)
    ]


def scored_pieces(result: Attribution) -> list[ScoredWord]:
    """Return the pieces, [CLS] and [SEP] among them where they have a score."""
    encoding, texts = result.encoding, (result.text, result.text_pair or "")
    found = []
    for place, token in enumerate(encoding.shown):
        segment, (start, stop) = encoding.token_type_ids[place], encoding.offsets[place]
        is_special, is_gap = bool(encoding.special_tokens_mask[place]), place in result.asked.places
        found.append(
            ScoredWord(
                text=token if is_special else texts[segment][start:stop],
                segment=segment,
                score=None if is_gap else float(result.pieces[place]),
                joined=not is_special and _is_joined(texts[segment], start),
                is_gap=is_gap,
                note="" if is_special else token,
                is_shown=not is_special,
            )
        )
    return found


def _is_joined(text: str, start: int) -> bool:
    return start > 0 and not text[start - 1].isspace()


def _pieces_words(encoding: Encoding, word: Word) -> str:
    if len(word.pieces) == 1:
        return ""
    pieces = " ".join(encoding.shown[place] for place in word.pieces)
    return words.translate("attribution", "{count} pieces: {pieces}").format(
        count=len(word.pieces), pieces=words.shorten(pieces, 80)
    )


def caption(result: Attribution, unit: str) -> list[tuple[str, str]]:
    """Return the lines of a figure's caption file: name and value."""
    digits, has_sum = digits_of(result), result.method == INTEGRATED
    lines = [
        *model_caption(result.model_name, result.fingerprint),
        (words.translate("attribution", "text"), result.text),
        (words.translate("attribution", "second text"), result.text_pair or ""),
        (words.translate("attribution", "asked"), question_words(result)),
        (words.translate("attribution", "method"), words.tr_engine(METHODS[result.method])),
        (
            words.translate("attribution", "baseline"),
            words.tr_engine(BASELINES[result.baseline]) if has_sum else "",
        ),
        (words.translate("attribution", "measured in"), words.tr_engine(MEASURES[result.measure])),
        (
            words.translate("attribution", "unit"),
            words.translate("attribution", "words")
            if unit == "words"
            else words.translate("attribution", "pieces"),
        ),
        (words.translate("attribution", "value for the text"), plain(result.value, digits)),
        (
            words.translate("attribution", "value for the baseline"),
            plain(result.baseline_value, digits) if has_sum else "",
        ),
        (words.translate("attribution", "sum of the scores"), plain(result.total, digits)),
        (words.translate("attribution", "residual"), words.share(result.residual, 2) if has_sum else ""),
        (words.translate("attribution", "steps"), words.number(result.steps) if has_sum else ""),
    ]
    return [(name, value) for name, value in lines if value]
