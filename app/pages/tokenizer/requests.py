"""What the worker finds out for the Tokenizer page: plain Python that touches no Qt object."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import platformdirs

from app.plots.piece_flow import FlowPiece
from app.plots.pieces_layout import PieceChip, WordColumn
from app.shipped import sample_passages
from engine.errors import ConfigError, Sentence, marked
from engine.events import Progress, Steps
from engine.inspect.token_rows import TokenRow, padding_row, token_rows
from engine.inspect.tokenizing import TableTokens, measure_table
from engine.inspect.treatment import Treatment, treatment
from engine.model.config import BertConfig
from engine.model.weights import read_config
from engine.text.corpus.other_kinds import three_kinds
from engine.text.read_tokenizer import read_tokenizer
from engine.text.roles import Roles
from engine.text.table import Table
from engine.text.tokenizer import Tokenizer
from engine.text.trace import Trace, TracedWord, trace
from engine.text.wordpiece import WordPiece

MOST_CHARACTERS = 100_000  # of a text; a longer one belongs into a table
MOST_COLUMNS = 1_000  # words that are drawn; the table below has every piece
USUAL_LENGTH = 512  # of a vocabulary without a model
MULTIPLE = 8
MOST_COMPARED = 10_000  # characters of a text in several vocabularies
MOST_FLOWING = 2_000  # pieces that are drawn of a text that is compared
SAMPLE_SIZE = 8_192  # pieces of a vocabulary that is trained to be compared
_SIGNS = {"\n": "↵", "\r": "↵", "\t": "→"}


@dataclass(frozen=True, slots=True, eq=False)
class OpenVocabulary:
    """A vocabulary that was read, and where from. max_length: of its model."""

    path: Path
    wordpiece: Tokenizer
    max_length: int
    notes: tuple[Sentence, ...]


@dataclass(frozen=True, slots=True, eq=False)
class TextToCut:
    """What is to be looked at. text_pair: None without one. padding: "", "multiple" or "maximum"."""

    text: str
    text_pair: str | None
    first: OpenVocabulary
    second: OpenVocabulary | None
    max_length: int
    truncation: str
    padding: str


@dataclass(frozen=True, slots=True, eq=False)
class Tokenization:
    """A text or pair, every step of it. traces: of A, or of A and B; beside: by the second vocabulary."""

    asked: TextToCut
    traces: tuple[Trace, ...]
    beside: tuple[Trace, ...]
    rows: tuple[TokenRow, ...]
    columns: tuple[WordColumn, ...]
    num_left_out: int  # words that are not drawn
    num_real: int  # rows that are no padding and not cut
    num_cut: int

    @property
    def num_padding(self) -> int:
        return len(self.rows) - self.num_real - self.num_cut

    def word_of(self, row: TokenRow) -> TracedWord | None:
        """Return the word that a row's piece is of; None for marks and padding."""
        return self.traces[row.segment].words[row.word] if row.word >= 0 else None


def read_vocabulary(path: Path) -> OpenVocabulary:
    """Return the vocabulary of a model folder or of a vocab.txt. Raises: ModelError, DataError."""
    wordpiece = read_tokenizer(path) if path.is_dir() else WordPiece.from_vocab(path)
    longest = USUAL_LENGTH
    if is_model(path):
        config: BertConfig = read_config(path)
        longest = config.max_position_embeddings
    return OpenVocabulary(path, wordpiece, longest, wordpiece.notes)


def is_model(path: Path) -> bool:
    """Whether a vocabulary is that of a model, which other pages can look into."""
    return (path / "config.json").is_file()


def look(asked: TextToCut) -> Steps[Tokenization]:
    """Return every step from a text or pair to its rows. Raises: ConfigError."""
    texts = [asked.text] if asked.text_pair is None else [asked.text, asked.text_pair]
    traces, beside = list[Trace](), list[Trace]()
    for vocabulary, found in ((asked.first, traces), (asked.second, beside)):
        for text in texts if vocabulary is not None else ():
            assert vocabulary is not None
            yield Progress(stage=marked("engine", "Tokenizing"), done=0, total=0)
            tokenizer = vocabulary.wordpiece
            found.append(_trace(tokenizer, tokenizer.with_masks(text)))
    rows = _rows(asked, traces)
    yield Progress(stage=marked("engine", "Tokenizing"), done=0, total=0)
    columns, left_out = columns_of(rows, traces, beside)
    kinds = Counter(row.kind for row in rows)
    real = kinds["piece"] + kinds["special"]
    return Tokenization(asked, tuple(traces), tuple(beside), rows, columns, left_out, real, kinds["cut"])


@lru_cache(maxsize=4)
def _trace(wordpiece: Tokenizer, text: str) -> Trace:
    """Return a trace, kept: another length or padding asks for the same again."""
    return trace(wordpiece, text)


def _rows(asked: TextToCut, traces: Sequence[Trace]) -> tuple[TokenRow, ...]:
    pad_to = 0
    if asked.padding == "maximum":
        pad_to = asked.max_length
    second = traces[1] if len(traces) > 1 else None
    cutter = asked.first.wordpiece
    rows = token_rows(
        cutter,
        traces[0],
        second,
        max_length=asked.max_length,
        truncation=asked.truncation,
        pad_to=pad_to,
    )
    if asked.padding == "multiple":
        real = sum(row.position is not None for row in rows)
        missing = -real % MULTIPLE
        padding = padding_row(cutter)
        rows = (*rows, *(replace(padding, position=real + i) for i in range(missing)))
    return rows


def measure(
    table: Table, roles: Roles, vocabularies: Sequence[OpenVocabulary]
) -> Steps[tuple[TableTokens, ...]]:
    """Return what each vocabulary makes of a table. Raises: ConfigError, DataError."""
    if not roles.text:
        raise ConfigError(
            marked("engine", "No column of the table is the text. Choose one on the Data page."), field="text"
        )
    found: list[TableTokens] = []
    for vocabulary in vocabularies:
        found.append((yield from measure_table(vocabulary.wordpiece, table, roles)))
    return tuple(found)


@dataclass(frozen=True, slots=True, eq=False)
class ComparedText:
    """What one of several vocabularies makes of a text. pieces: as they are drawn."""

    vocabulary: OpenVocabulary
    treatment: Treatment
    pieces: tuple[FlowPiece, ...]


def compare(text: str, vocabularies: Sequence[OpenVocabulary]) -> Steps[tuple[ComparedText, ...]]:
    """Return what each vocabulary makes of a text."""
    found = list[ComparedText]()
    for done, one in enumerate(vocabularies):
        yield Progress(stage=marked("engine", "Tokenizing"), done=done, total=len(vocabularies))
        tokenizer = one.wordpiece
        traced = _trace(tokenizer, tokenizer.with_masks(text))
        found.append(ComparedText(one, treatment(tokenizer, traced), tuple(_flow_of(traced))))
    return tuple(found)


def open_three_kinds() -> Steps[tuple[OpenVocabulary, ...]]:
    """Return three vocabularies of the sample passages, a kind each; trained at the first call.

    Raises: UserError of the disk.
    """
    texts = [text for some in sample_passages() for text in some]
    folders = yield from three_kinds(texts, SAMPLE_SIZE, kinds_root())
    return tuple(map(read_vocabulary, folders))


def kinds_root() -> Path:
    """Return the folder of the vocabularies that can be trained again."""
    return Path(platformdirs.user_cache_dir("cloze", appauthor=False)) / "vocabularies"


# ---- what is drawn


def _flow_of(found: Trace) -> Iterator[FlowPiece]:
    """Yield a text's pieces, the first MOST_FLOWING of them."""
    before = 0
    for place, (text, number, (start, stop)) in enumerate(
        zip(found.pieces[:MOST_FLOWING], found.ids, found.offsets, strict=False)
    ):
        word = found.word_of(place)
        yield FlowPiece(
            text,
            joined=start == before and place > 0,
            span=found.text[start:stop],
            id=number,
            shade=word % 2,
            is_unknown=number == found.unk_id,
        )
        before = stop


def columns_of(
    rows: Sequence[TokenRow], traces: Sequence[Trace], beside: Sequence[Trace]
) -> tuple[tuple[WordColumn, ...], int]:
    """Return the columns of the picture, and how many words have no room in it."""
    columns: list[WordColumn] = []
    left_out = 0
    place = 0
    for segment, found in enumerate(traces):
        if segment == 0:
            columns.append(_mark(rows[0], 0))
            place = 1
        room = max(0, MOST_COLUMNS - len(columns))
        texts, rest = _text_columns(rows, place, found, beside[segment] if beside else None, room)
        columns += texts
        left_out += rest
        place += len(found.ids)
        while place < len(rows) and rows[place].kind == "special":
            columns.append(_mark(rows[place], place))
            place += 1
    padding = rows[place:]
    if padding:
        text = padding[0].piece if len(padding) == 1 else f"{padding[0].piece} ×{len(padding)}"
        chip = PieceChip(text, padding[0].id, place, "padding")
        columns.append(WordColumn("", len(traces) - 1, 0, (chip,)))
    return tuple(columns), left_out


def _mark(row: TokenRow, place: int) -> WordColumn:
    chip = PieceChip(row.piece, row.id, place, "special", segment=row.segment)
    return WordColumn("", row.segment, 0, (chip,))


def _text_columns(
    rows: Sequence[TokenRow], place: int, found: Trace, beside: Trace | None, room: int
) -> tuple[list[WordColumn], int]:
    """Return a column for each word, or for the words that two vocabularies split differently.

    Args: place: the row of the text's first piece. room: columns there may be; the words left are counted.
    """
    shown, columns = _shown(found), list[WordColumn]()
    before = used = 0
    segment = rows[place + len(found.ids)].segment  # of the [SEP] that ends the text
    for own, other in _groups(found.words, beside.words if beside else ()):
        if len(columns) >= room:
            break
        every = [*own, *other]
        start, stop = min(word.start for word in every), max(word.stop for word in every)
        pieces = [place + piece for word in own for piece in range(word.first, word.last)]
        chips = tuple(_chip(rows[piece], piece, start, found.unk_id) for piece in pieces)
        second = tuple(
            _second(beside, piece, start, segment) for word in other for piece in range(word.first, word.last)
        )
        joined = start == before and bool(columns)
        columns.append(WordColumn(shown[start:stop], segment, (len(columns) + 1) % 2, chips, second, joined))
        before = stop
        used += len(own)
    return columns, len(found.words) - used


def _chip(row: TokenRow, place: int, start: int, unknown: int) -> PieceChip:
    kind = "unknown" if row.kind == "piece" and row.id == unknown else row.kind
    return PieceChip(row.piece, row.id, place, kind, row.start - start, row.stop - start, row.segment)


def _second(found: Trace | None, piece: int, start: int, segment: int) -> PieceChip:
    assert found is not None
    (first, last), text = found.offsets[piece], found.pieces[piece]
    kind = "unknown" if found.ids[piece] == found.unk_id else "piece"
    return PieceChip(text, found.ids[piece], -1, kind, first - start, last - start, segment)


def _groups(
    own: Sequence[TracedWord], other: Sequence[TracedWord]
) -> Iterator[tuple[list[TracedWord], list[TracedWord]]]:
    """Yield the words of two splits of one text that share characters, as small groups as can be."""
    at, at_other = 0, 0
    while at < len(own) or at_other < len(other):
        group: tuple[list[TracedWord], list[TracedWord]] = ([], [])
        stop = (
            min(words[place].start for words, place in ((own, at), (other, at_other)) if place < len(words))
            + 1
        )
        grows = True
        while grows:
            grows = False
            while at < len(own) and own[at].start < stop:
                group[0].append(own[at])
                stop, at, grows = max(stop, own[at].stop), at + 1, True
            while at_other < len(other) and other[at_other].start < stop:
                group[1].append(other[at_other])
                stop, at_other, grows = max(stop, other[at_other].stop), at_other + 1, True
        yield group


def _shown(found: Trace) -> str:
    """Return a text as it is drawn, character for character: a dot for what is removed, arrows for breaks."""
    text = list(found.text)
    for change in found.changes:
        if "removed" in change.kinds:
            text[change.start : change.stop] = "·" * (change.stop - change.start)
    return "".join(_SIGNS.get(letter, letter) for letter in text)
