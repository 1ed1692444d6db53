"""The scores of a template's sentences: how probable each word is in each, and how much the alternatives do.

The prior of a score is asked with the alternatives masked too ("[MASK] works as a [MASK]", a [MASK] for each
piece): what the gap prefers whichever alternative stands there. The corrected score is the difference of the
logs.
Source: Kurita et al. 2019, Measuring Bias in Contextualized Word Representations, section 3.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from engine.errors import DataError, UserError, marked
from engine.events import Event, Progress
from engine.inspect.loaded_model import LoadedModel, looking
from engine.inspect.masked.row_scores import SCORING, score_rows
from engine.inspect.masked.score import PieceScore, WordScore, check_count, must_spell
from engine.inspect.masked.template import Template, TemplateCell
from engine.inspect.passes import InputRow, check_row, parts, word_logs

MOST_SCORES = 50_000  # of all templates together; one takes about a kilobyte
MOST_COLUMNS = 50  # of a grid whose words are the model's own guesses


@dataclass(frozen=True, slots=True)
class TemplateSettings:
    """What is asked of a template.

    targets: words to score in the gap; none for the model's own guesses. line: of the file that it is from,
    for sentences; 0 where it was typed.
    """

    template: Template
    targets: tuple[str, ...] = ()
    line: int = 0


@dataclass(frozen=True, slots=True)
class TargetScore:
    """One word in one sentence. prior: with the alternatives masked; None if there is none."""

    score: WordScore
    prior: WordScore | None

    @property
    def corrected(self) -> float | None:
        """log p(word | sentence) - log p(word | alternatives masked): above 0 they make it likelier."""
        return None if self.prior is None else self.score.log_probability - self.prior.log_probability


@dataclass(frozen=True, slots=True)
class TemplateTable:
    """A template's answers: scores[row][column].

    cells: the sentences, the rows. targets: the words, the columns: those given, else the likeliest guesses
    of any sentence, best first.
    """

    template: Template
    cells: tuple[TemplateCell, ...]
    targets: tuple[str, ...]
    are_given: bool
    scores: tuple[tuple[TargetScore, ...], ...]


def score_templates(
    subject: LoadedModel, requests: Sequence[TemplateSettings], *, top_k: int = 10
) -> Generator[Event, None, tuple[TemplateTable, ...]]:
    """Score all sentences of some templates, many at once. A task: yields Progress; returns a grid for each.

    Args:   top_k: guesses of each sentence, where a template comes without targets.
    Raises: UserError: a target that the vocabulary cannot spell, a sentence that is too long, or more than
            `MOST_SCORES` scores in all; a DataError that names the line, for templates of a file. ModelError.
    """
    subject.require("masked_words")
    check_count(top_k)
    _check_size(requests, top_k)
    asked: list[_Asked] = []
    for request in requests:
        with _of_line(request.line):
            asked.append(_ask(subject, request))
        yield Progress(stage=SCORING, done=0, total=0)
    asked = yield from _with_guesses(subject, asked, top_k)
    wanted: dict[InputRow, dict[tuple[int, ...], None]] = {}  # sentences with one prior ask for it once
    for one in asked:
        with _of_line(one.request.line):
            for row, ids in one.questions(subject):
                wanted.setdefault(row, {})[ids] = None
    found = yield from score_rows(subject, list(wanted), [list(ids) for ids in wanted.values()])
    scores = {
        row: dict(zip(ids, own, strict=True)) for (row, ids), own in zip(wanted.items(), found, strict=True)
    }
    return tuple(one.grid(scores) for one in asked)


Scores = Mapping[InputRow, Mapping[tuple[int, ...], tuple[PieceScore, ...]]]


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A cell as ids. row: with its one [MASK] wanted. prior: with the alternatives masked too."""

    cell: TemplateCell
    row: InputRow
    prior: InputRow | None

    def rows(self, count: int) -> list[InputRow]:
        """Return the sentence, and its prior if there is one, with `count` [MASK]s in the gap."""
        return [_widened(row, count) for row in (self.row, self.prior) if row is not None]


@dataclass(frozen=True, slots=True)
class _Asked:
    """A request, its sentences, and its targets with their pieces."""

    request: TemplateSettings
    sentences: tuple[_Sentence, ...]
    targets: tuple[tuple[str, tuple[int, ...]], ...]

    def questions(self, subject: LoadedModel) -> Iterator[tuple[InputRow, tuple[int, ...]]]:
        """Yield which pieces are to be scored in which text."""
        for sentence in self.sentences:
            for count, rows in self._rows(sentence).items():
                for row in rows:
                    check_row(subject, row)
                    yield from ((row, ids) for _, ids in self.targets if len(ids) == count)

    def _rows(self, sentence: _Sentence) -> dict[int, list[InputRow]]:
        """Return what is read of a sentence for each number of pieces that a target has."""
        return {count: sentence.rows(count) for count in {len(ids) for _, ids in self.targets}}

    def grid(self, scores: Scores) -> TemplateTable:
        """Return the answers."""

        def scored(sentence: _Sentence) -> Iterator[TargetScore]:
            rows = self._rows(sentence)
            for word, ids in self.targets:
                own, *prior = (WordScore(word, scores[row][ids], num_masks=1) for row in rows[len(ids)])
                yield TargetScore(own, prior[0] if prior else None)

        return TemplateTable(
            template=self.request.template,
            cells=tuple(sentence.cell for sentence in self.sentences),
            targets=tuple(word for word, _ in self.targets),
            are_given=bool(self.request.targets),
            scores=tuple(tuple(scored(sentence)) for sentence in self.sentences),
        )


def _ask(subject: LoadedModel, request: TemplateSettings) -> _Asked:
    targets = tuple(dict.fromkeys(word.strip() for word in request.targets))
    spelled = tuple((word, must_spell(subject.wordpiece, word)) for word in targets)
    sentences = tuple(_sentence(subject, cell) for cell in request.template.cells())
    return _Asked(request, sentences, spelled)


def _sentence(subject: LoadedModel, cell: TemplateCell) -> _Sentence:
    encoding = subject.encode(cell.text)
    mask_id = subject.wordpiece.mask_id
    assert mask_id is not None
    row = InputRow(
        tuple(encoding.input_ids), tuple(encoding.token_type_ids), (encoding.input_ids.index(mask_id),)
    )
    options = [
        place
        for place, (start, stop) in enumerate(encoding.offsets)
        if any(start < end and begin < stop for begin, end in cell.spans)
    ]
    prior = row.filled(dict.fromkeys(options, mask_id), row.wanted) if options else None
    return _Sentence(cell, row, prior)


def _with_guesses(
    subject: LoadedModel, asked: Sequence[_Asked], top_k: int
) -> Generator[Event, None, list[_Asked]]:
    """Give the model's likeliest words as targets to those that have none."""
    open_ones = [one for one in asked if not one.targets]
    rows = list(dict.fromkeys(sentence.row for one in open_ones for sentence in one.sentences))
    best: dict[InputRow, list[tuple[float, int]]] = {}
    done = 0
    for part in parts(subject, rows):
        with looking(subject):
            logs = word_logs(subject, [rows[place] for place in part])
            found = logs.topk(min(top_k, logs.shape[-1]), -1)
            values, numbers = found.values.tolist(), found.indices.tolist()
        for place, own, ids in zip(part, values, numbers, strict=True):
            best[rows[place]] = list(zip(own, ids, strict=True))
        done += len(part)
        yield Progress(stage=SCORING, done=done, total=len(rows))
    return [one if one.targets else _guessed(subject, one, best, top_k) for one in asked]


def _guessed(
    subject: LoadedModel, one: _Asked, best: Mapping[InputRow, list[tuple[float, int]]], top_k: int
) -> _Asked:
    found = sorted((pair for sentence in one.sentences for pair in best[sentence.row]), reverse=True)
    numbers = list(dict.fromkeys(number for _, number in found))[: max(top_k, MOST_COLUMNS)]
    targets = tuple((subject.wordpiece.as_word((number,)), (number,)) for number in numbers)
    return _Asked(one.request, one.sentences, targets)


def _widened(row: InputRow, count: int) -> InputRow:
    """Return a row with `count` [MASK]s, all of them wanted, where it has one."""
    place = row.wanted[0]
    ids = (*row.ids[:place], *(row.ids[place],) * count, *row.ids[place + 1 :])
    types = (*row.types[:place], *(row.types[place],) * count, *row.types[place + 1 :])
    return InputRow(ids, types, tuple(range(place, place + count)))


def _check_size(requests: Sequence[TemplateSettings], top_k: int) -> None:
    count = 0
    for request in requests:
        cells = request.template.num_cells
        count += cells * (len(request.targets) or min(cells * top_k, max(top_k, MOST_COLUMNS)))
    if count > MOST_SCORES:
        raise UserError(
            marked(
                "engine",
                "These templates ask for up to {count} scores, and at most {most} are given at "
                "once. Remove some alternatives or words.",
            ),
            count=count,
            most=MOST_SCORES,
        )


@contextmanager
def _of_line(line: int) -> Iterator[None]:
    """Let a refusal name the line of the file that it is about."""
    try:
        yield
    except UserError as error:
        if not line:
            raise
        template = marked("engine", "Line {line}: {sentence}")
        raise DataError(template, line=line, sentence=error.sentence) from error
