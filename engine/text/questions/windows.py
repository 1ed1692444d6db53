"""Questions and passages as overlapping windows of WordPieces, as arrays end to end.

A window is [CLS] question [SEP] some of the passage [SEP]. Each piece of a passage is decided in one window
alone, the one that shows most of the text on both its sides; an answer may begin only in pieces that its
window decides. Spans count characters of the passage as it was read: answers are cut out of it by them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from engine.errors import ConfigError, Sentence, marked
from engine.events import Progress, Steps
from engine.text.batch import EncodedRows
from engine.text.questions.question import PassageTable
from engine.text.tokenizer import Tokenizer

Numbers = npt.NDArray[np.int64]
Spans = npt.NDArray[np.int32]

# Q questions that are asked, W windows of all of them, P pieces of all their passages

UNKNOWN = -1  # a target where no answer is known
_AT_ONCE = 256  # texts between two steps
_LEAST_ROOM = 8  # pieces of the passage that a window shows


@dataclass(frozen=True, kw_only=True)
class Windows(EncodedRows):
    """The windows of some questions, in the order these are asked; all their tokens are answered for.

    num_a: (W,), tokens of [CLS] question [SEP]. targets: (W, 2) int64, the first and last token of the answer
    within the window; 0, which is [CLS], where it stands elsewhere or nowhere; UNKNOWN where it is not known
    or too long for any window. rows: (W,) int64, places in the questions of the file. window_bounds: (Q + 1,)
    int64, the windows of each question that is asked. first: (W,) int64, the piece of its passage that a
    window shows first. owned: (W, 2) int64, from which piece of its passage and up to which a window decides.
    passages: (Q,) int64. spans: (P, 2) int32, characters. span_bounds: int64, the pieces of each passage.
    """

    window_bounds: Numbers
    first: Numbers
    owned: Numbers
    passages: Numbers
    spans: Spans
    span_bounds: Numbers

    @property
    def num_questions(self) -> int:
        return len(self.passages)

    @property
    def num_rows(self) -> int:
        return self.num_questions

    @property
    def answer_bounds(self) -> Numbers:  # type: ignore[override]
        """(W + 1,): every token has an answer."""
        return self.bounds

    def fits(self, vocab_size: int) -> bool:
        """Whether the arrays belong together, as windows over the passages of questions."""
        if not super().fits(vocab_size) or not self._have_kinds():
            return False
        count, pieces = len(self), np.diff(self.span_bounds)
        is_asked = np.diff(self.window_bounds).min(initial=1) > 0 and _ends(self.window_bounds, count)
        if not is_asked or len(self.window_bounds) != self.num_questions + 1 or self.targets.shape[1] != 2:
            return False
        if not _ends(self.span_bounds, len(self.spans)) or pieces.min(initial=0) < 0:
            return False
        if self.passages.min() < 0 or self.passages.max() >= len(pieces):
            return False
        num_shown = self.lengths - self.num_a - 1
        of_passage = np.repeat(pieces[self.passages], np.diff(self.window_bounds))
        begin, stop = self.owned.T
        shows = (self.first >= 0) & (num_shown >= 0) & (self.first + num_shown <= of_passage)
        decides = (begin >= self.first) & (begin <= stop) & (stop <= self.first + num_shown)
        is_place = (self.targets >= UNKNOWN) & (self.targets < self.lengths[:, None])
        return bool(shows.all() and decides.all() and is_place.all())

    def _have_kinds(self) -> bool:
        flat = (self.window_bounds, self.first, self.passages, self.span_bounds)
        pairs = (self.targets, self.owned, self.spans)
        whole = all(one.dtype.kind in "iu" for one in (*flat, *pairs))
        shaped = all(one.ndim == 1 for one in flat) and all(one.ndim == 2 for one in pairs)
        return whole and shaped and len(self.first) == len(self.owned) == len(self) and len(self.passages) > 0

    def of(self, asked: int) -> range:
        """Return the windows of the question that is asked in this place."""
        return range(int(self.window_bounds[asked]), int(self.window_bounds[asked + 1]))

    def spans_of(self, asked: int) -> Spans:
        """Return (p, 2), the characters of each piece of a question's passage."""
        passage = self.passages[asked]
        return self.spans[self.span_bounds[passage] : self.span_bounds[passage + 1]]

    def shown(self, window: int) -> slice:
        """Return where the tokens of the passage stand among all `input_ids`, for one window."""
        return slice(int(self.bounds[window] + self.num_a[window]), int(self.bounds[window + 1]) - 1)


def cutting(
    questions: PassageTable,
    wordpiece: Tokenizer,
    *,
    asked: Sequence[int] | Numbers | None = None,
    max_length: int = 384,
    stride: int = 128,
    max_question: int = 64,
) -> Steps[tuple[Windows, tuple[Sentence, ...]]]:
    """Cut questions and passages into windows, step by step; return them and what a person should know.

    Args:   asked: places in the questions; None: all. max_length: pieces of a window. stride: how many
            pieces further each window begins, though never more than half of what it shows, so that they
            overlap. max_question: pieces of a question; the rest of a longer one is cut off.
    Raises: ConfigError if a window has no room for the passage.
    """
    check_room(max_length, stride, max_question, wordpiece)
    places = np.arange(len(questions.questions)) if asked is None else np.asarray(asked, np.int64)
    ids, spans, span_bounds = yield from _cut_passages(questions, wordpiece)
    made = _Cutter(questions, wordpiece, max_length, stride, ids, spans, span_bounds)
    num_cut = 0
    for start in range(0, len(places), _AT_ONCE):
        yield Progress(stage=marked("engine", "Tokenizing"), done=start, total=len(places))
        some = places[start : start + _AT_ONCE].tolist()
        for place, pieces in zip(
            some, wordpiece.encode_ids([questions.questions[one].text for one in some]), strict=True
        ):
            num_cut += len(pieces) > max_question
            made.add(place, pieces[:max_question])
    return made.windows(), _notes(made, num_cut, max_question)


def _ends(bounds: Numbers, count: int) -> bool:
    return bool(len(bounds) and bounds[0] == 0 and bounds[-1] == count)


def check_room(max_length: int, stride: int, max_question: int, wordpiece: Tokenizer) -> None:
    """Refuse windows that show too little of a passage. Raises: ConfigError naming the setting."""
    for field, value in (("stride", stride), ("max_question", max_question)):
        if value < 1:
            raise ConfigError(
                marked("engine", "{field} is {value}; it must be at least 1."), field=field, value=value
            )
    least = max_question + 2 + wordpiece.num_between + _LEAST_ROOM
    if max_length < least:
        template = marked(
            "engine",
            "{field} is {value}; for questions of up to {question} pieces it must be at least {least}.",
        )
        raise ConfigError(template, field="max_length", value=max_length, question=max_question, least=least)


def pieces_of(spans: Spans, start: int, stop: int) -> tuple[int, int] | None:
    """Return the first and last piece of which a character stands in start..stop; None if there is none."""
    first = int(np.searchsorted(spans[:, 1], start, side="right"))
    last = int(np.searchsorted(spans[:, 0], stop, side="left")) - 1
    return (first, last) if first <= last else None


def begins_of(num_pieces: int, room: int, stride: int) -> Numbers:
    """Return the piece with which each window of a passage begins; one window if all of it has room."""
    step = min(stride, max(1, room // 2))
    return np.arange(1 + max(0, -(-(num_pieces - room) // step)), dtype=np.int64) * step


def owned_by(begins: Numbers, num_pieces: int, room: int) -> Numbers:
    """Return (w, 2), from which piece and up to which each window decides: each piece by one of them.

    It is the window with most context: the most pieces on the side that has fewer; of equals the earlier, but
    a window cut short by the end of the passage gives way by a hundredth for each piece it lacks.
    Source: google-research/bert, run_squad.py.
    """
    owned = np.zeros((len(begins), 2), np.int64)
    if len(begins) == 1:
        owned[0, 1] = num_pieces
        return owned
    step = int(begins[1] - begins[0])
    pieces = np.arange(num_pieces)
    latest = np.minimum(pieces // step, len(begins) - 1)
    back = np.arange(-(-room // step), -1, -1)[:, None]  # the earlier windows first, so that they win
    windows = latest - back  # (k, p): all that can show a piece, and some that do not
    start = windows * step
    stop = np.minimum(start + room, num_pieces)
    context = np.minimum(pieces - start, stop - 1 - pieces) + 0.01 * (stop - start)
    context[(windows < 0) | (pieces >= stop)] = -np.inf
    owner = windows[context.argmax(0), pieces]
    owned[:, 0] = np.searchsorted(owner, np.arange(len(begins)), side="left")
    owned[:, 1] = np.searchsorted(owner, np.arange(len(begins)), side="right")
    return owned


class _Cutter:
    """Takes questions one by one and keeps their windows end to end."""

    def __init__(
        self,
        questions: PassageTable,
        wordpiece: Tokenizer,
        max_length: int,
        stride: int,
        ids: npt.NDArray[np.int32],
        spans: Spans,
        span_bounds: Numbers,
    ) -> None:
        self._questions, self._wordpiece = questions, wordpiece
        self._max_length, self._stride = max_length, stride
        self._ids, self._spans, self._span_bounds = ids, spans, span_bounds
        self._tokens = bytearray()  # of all windows end to end: as arrays of their own they take more
        self._lengths: list[int] = []
        self._num_a: list[int] = []
        self._rows: list[int] = []
        self._counts: list[int] = []
        self._passages: list[int] = []
        self._first: list[Numbers] = []
        self._owned: list[Numbers] = []
        self._targets: list[Numbers] = []
        self.num_lost = 0  # questions whose answers consist of characters that no piece stands for
        self.num_long = 0  # questions whose answers no window shows whole

    def add(self, place: int, pieces: npt.NDArray[np.int32]) -> None:
        """Take a question by its place in the file, and its pieces."""
        passage = self._questions.questions[place].passage
        text = slice(self._span_bounds[passage], self._span_bounds[passage + 1])
        num_between = self._wordpiece.num_between
        ids, room = self._ids[text], self._max_length - len(pieces) - 2 - num_between
        begins = begins_of(len(ids), room, self._stride)
        cls, sep = (np.array([one], np.int32) for one in (self._wordpiece.cls_id, self._wordpiece.sep_id))
        before = np.concatenate([cls, pieces, *[sep] * num_between])
        for begin in begins.tolist():
            shown = ids[begin : begin + room]
            self._tokens += before.tobytes() + shown.tobytes() + sep.tobytes()
            self._lengths.append(len(before) + len(shown) + 1)
        self._num_a += [len(before)] * len(begins)
        self._rows += [place] * len(begins)
        self._counts.append(len(begins))
        self._passages.append(passage)
        self._first.append(begins)
        self._owned.append(owned_by(begins, len(ids), room))
        self._targets.append(self._targets_in(place, self._spans[text], begins, room, len(before)))

    def _targets_in(self, place: int, spans: Spans, begins: Numbers, room: int, num_before: int) -> Numbers:
        """Return (w, 2), the first and last token in each window of the first answer that it shows whole."""
        targets = np.zeros((len(begins), 2), np.int64)
        answers = self._questions.questions[place].answers
        if answers == ():
            return targets
        placed = (pieces_of(spans, one.start, one.stop) for one in answers or () if one.is_placed)
        found = [one for one in placed if one is not None]
        if not found:
            self.num_lost += any(one.is_placed for one in answers or ())
            return np.full_like(targets, UNKNOWN)
        for first, last in reversed(found):
            shows = (begins <= first) & (last < begins + room)
            targets[shows] = np.stack([first - begins[shows], last - begins[shows]], 1) + num_before
        if not targets.any():  # else it would be taught that there is no answer
            self.num_long += 1
            targets[:] = UNKNOWN
        return targets

    def windows(self) -> Windows:
        """Return all windows."""

        def joined(parts: list[Numbers], *shape: int) -> Numbers:
            return np.concatenate(parts) if parts else np.zeros((0, *shape), np.int64)

        def bounds(counts: list[int]) -> Numbers:
            return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)

        return Windows(
            input_ids=np.frombuffer(self._tokens, np.int32),
            bounds=bounds(self._lengths),
            num_a=np.array(self._num_a, np.int32),
            targets=joined(self._targets, 2),
            rows=np.array(self._rows, np.int64),
            window_bounds=bounds(self._counts),
            first=joined(self._first),
            owned=joined(self._owned, 2),
            passages=np.array(self._passages, np.int64),
            spans=self._spans,
            span_bounds=self._span_bounds,
        )


def _cut_passages(
    questions: PassageTable, wordpiece: Tokenizer
) -> Steps[tuple[npt.NDArray[np.int32], Spans, Numbers]]:
    """Return the pieces of all passages end to end: ids (P,), spans (P, 2), and where each passage begins."""
    ids, spans, counts = bytearray(), bytearray(), [0]
    for start in range(0, len(questions.passages), _AT_ONCE):
        yield Progress(stage=marked("engine", "Tokenizing"), done=start, total=len(questions.passages))
        texts = [passage.text for passage in questions.passages[start : start + _AT_ONCE]]
        for one, stretches in wordpiece.encode_spans(texts):
            ids += one.tobytes()
            spans += stretches.tobytes()
            counts.append(len(one))
    bounds = np.cumsum(counts, dtype=np.int64)
    return np.frombuffer(ids, np.int32), np.frombuffer(spans, np.int32).reshape(-1, 2), bounds


def _notes(made: _Cutter, num_cut: int, max_question: int) -> tuple[Sentence, ...]:
    counts = ((_CUT, num_cut), (_LOST, made.num_lost), (_LONG, made.num_long))
    return tuple(Sentence(template, {"count": num, "most": max_question}) for template, num in counts if num)


_CUT = marked("engine", "{count:,} questions are longer than {most} pieces. The rest of them is not read.")
_LOST = marked(
    "engine",
    "{count:,} answers consist of characters without a piece. They are not learned.",
)
_LONG = marked(
    "engine",
    "{count:,} answers are longer than what a window shows of the passage. They are "
    "not learned. Raise max_length.",
)
