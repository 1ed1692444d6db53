"""From a table's columns to examples, labels and splits.

Rows in = examples + rows reported: nothing is dropped in silence. The same seed always draws the same rows.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.errors import ConfigError, DataError, Sentence, marked, some_of
from engine.events import Beat, Steps, result_of
from engine.settings.finetune import ALL_LABELS, USUAL_LABELS, DataConfig
from engine.text.example_rows import ExampleRows, Indices
from engine.text.label_kinds import check_label_kind
from engine.text.labels import LabelColumn, Spelling, shown_pair, spellings_in, spellings_of
from engine.text.roles import Roles
from engine.text.table import BadLine, Table, check_distinct

_LOOKED_AT = (
    2000  # rows that a guess is made from, spread over the table, for classes may lie one after another
)
_LABELS_LOOKED_AT = 20_000  # for a column called a label, of which few rows would seem to differ all
_LEAST_CELLS = 8  # from which on a column's cells are believed more than its name
_COMPARED = 500  # rows whose words are counted, and compared between two columns
_AT_ONCE = 4096  # rows between two steps
BETWEEN = "\x1f"  # the cells of several columns that are read as one
_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")
_DECIMAL = re.compile(r"[+-]?\d*[.,]\d+")  # a measurement rather than a class
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|[^\W\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+")

# Names of columns as people write them, lower-cased, _ for all but letters and digits; the best first.
_PAIRS = (
    ("sentence1", "sentence2"),
    ("sentence_1", "sentence_2"),
    ("sentence_a", "sentence_b"),
    ("text_a", "text_b"),
    ("text1", "text2"),
    ("text_1", "text_2"),
    ("question1", "question2"),
    ("question_1", "question_2"),
    ("1_string", "2_string"),
    ("premise", "hypothesis"),
    ("question", "sentence"),
    ("question", "passage"),
    ("question", "context"),
    ("question", "answer"),
    ("query", "passage"),
    ("query", "document"),
    ("query", "title"),
    ("s1", "s2"),
    ("q1", "q2"),
    ("text", "hypothesis"),
    ("query", "text"),
    ("claim", "evidence"),
    ("anchor", "other"),
    ("source", "candidate"),
    ("t", "h"),
)
_TEXTS = tuple(
    str.split(
        "text texts sentence sentences text_a sentence1 review reviews review_text content contents comment "
        "comments comment_text tweet message body document utterance sms post article abstract description "
        "question query headline title sentence_a premise 文本 内容 正文 评论 评价 句子 问题 标题",
    )
)
_LABELS = tuple(
    str.split(
        "label labels gold_label category categories class classes sentiment target quality polarity topic "
        "intent emotion is_duplicate judgement judgment stance tag label_text class_name class_label rating "
        "stars score spam y 标签 类别 分类 情感 类",
    )
)
_REMARKS = re.compile(  # in the names of texts about a text, or made from it
    r"explanation|reason|rationale|note|remark|summary|answer|response|reply|translat|clean|process|token"
    r"|lemma|stem|lower|normal|original|raw|author|user|name|url|link|path|keyword"
)


@dataclass(frozen=True, slots=True)
class ExampleTable:
    """Rows that can be used, in order; the labels; rows that cannot be used; what a person should know.

    spellings: nearly equal labels; is_merged: whether their rows carry the kept one now, or each its own.
    values: (K, ...) what each `label` of an example stands for, where it is no place in the labels.
    form: how the cells of the labels were read, where that had to be found out.
    """

    examples: ExampleRows
    labels: tuple[str, ...]
    reported: tuple[BadLine, ...]
    notes: tuple[Sentence, ...] = ()
    spellings: tuple[Spelling, ...] = ()
    is_merged: bool = False
    values: npt.NDArray[Any] | None = None
    form: Sentence | None = None

    def targets(self, examples: ExampleRows) -> npt.NDArray[Any]:
        """Return (E, ...), what is right for some of the examples; -1 where nothing is known."""
        return examples.labels.astype(np.int64) if self.values is None else self.values[examples.labels]


@dataclass(frozen=True, slots=True)
class LabelSettings:
    """What labels rows may have.

    known: those of a trained model, or None to collect them: stripped, sorted, as numbers if all are
    integers. merge: a label that is nearly equal to a commoner one, or to a known one, is read as that one.
    whole: labels that look like several in one, or like tags of words, are classes all the same. most: how
    many are collected at most.
    """

    known: Sequence[str] | None = None
    merge: bool = False
    whole: bool = False
    most: int = USUAL_LABELS

    @classmethod
    def of(cls, data: DataConfig) -> LabelSettings:
        """Return how the settings say that labels are collected."""
        return cls(None, data.merge_labels, data.whole_labels, data.max_labels)


COLLECTED = LabelSettings()


@dataclass(frozen=True, slots=True)
class LabelTable:
    """What the different cells of a label column stand for.

    values: (K, ...), for each of `LabelColumn.names`. refused: its place -> why rows with it cannot be used.
    """

    labels: tuple[str, ...]
    values: npt.NDArray[Any]
    refused: Mapping[int, Sentence] = field(default_factory=dict)
    notes: tuple[Sentence, ...] = ()
    spellings: tuple[Spelling, ...] = ()
    form: Sentence | None = None


@dataclass(frozen=True, slots=True)
class _Look:
    """What a column looks like in a sample of its cells."""

    num_values: int
    num_cells: int  # not empty
    mean_length: float
    num_words: float  # in the mean; a Chinese character is one
    is_prose: bool  # letters, not numbers, dates or links

    @property
    def all_differ(self) -> bool:
        """Whether hardly a value comes back, whatever the column is called."""
        return self.num_cells > 20 and self.is_distinct

    @property
    def is_distinct(self) -> bool:
        return self.num_values > 0.9 * self.num_cells

    @property
    def is_sentences(self) -> bool:
        """Whether these are texts of several words, hardly one of which comes back."""
        return self.is_prose and self.is_distinct and self.num_cells >= _LEAST_CELLS and self.num_words >= 3

    @property
    def few_valued(self) -> bool:
        return 2 <= self.num_values <= min(USUAL_LABELS, self.num_cells // 2) and self.mean_length <= 60


def guess_roles(table: Table) -> Roles:
    """Return the roles that columns most likely have: by their names, else by what stands in them.

    By content, the label is the column with the fewest values of those that repeat, the text the one with
    the longest cells, and the second text one of like length. Where a column that is called a label holds
    sentences, and another the values that repeat, no name is believed. A guess for a person to look at:
    `label` is "" if no column looks like one, `text_pair` if there is no second text.
    """
    names = {_plain(name): name for name in reversed(table.columns)}
    looks = {name: _look(table, name) for name in table.columns}
    for name in (names[name] for name in _LABELS if name in names):
        if looks[name].all_differ:
            looks[name] = _look(table, name, _LABELS_LOOKED_AT)
    if _contradicts_itself(names, looks):
        names = {}
    pair = next(((names[a], names[b]) for a, b in _PAIRS if a in names and b in names), None)
    named = (names[name] for name in _LABELS if name in names and names[name] not in (pair or ()))
    label = next((name for name in named if not looks[name].all_differ), "")
    prose = [name for name in table.columns if name != label and looks[name].is_prose]
    text = next((names[name] for name in _TEXTS if names.get(name) in prose), "")
    if not label:
        label = _label_by_content(looks, {text, *(pair or ())})
    if pair:
        return Roles(*pair, label)
    texts = [name for name in prose if name != label and not looks[name].few_valued]
    if text:
        others = [name for name in texts if name != text and _may_be_second(table, looks, text, name)]
        return Roles(text, others[0] if len(others) == 1 else "", label)
    others = sorted(
        (name for name in table.columns if name != label), key=lambda name: -looks[name].mean_length
    )
    texts = [name for name in others if name in texts]
    if len(texts) == 2 and _are_alike_long(looks, *texts):
        first, second = sorted(texts, key=table.columns.index)
        return Roles(first, second, label)
    best = (texts or others or [table.columns[0]])[0]
    return Roles(best, "", label if label != best else "")


def doubt_about_header(table: Table, roles: Roles) -> Sentence | None:
    """Return what to say where the roles go against the header: a column called a label is read as a text,
    and what repeats stands in another; None where names and cells agree.
    """
    called = next((name for name in table.columns if name in roles.read and _plain(name) in _LABELS), "")
    if not called or roles.label not in table.columns:
        return None
    look, of_label = _look(table, called), _look(table, roles.label)
    if not (look.is_sentences and of_label.few_valued):
        return None
    template = marked(
        "engine",
        "The header does not fit the cells: column {called} holds sentences, and column "
        "{label} the {count:,} values that repeat. The cells decide. If that is wrong, "
        "choose other columns.",
    )
    return Sentence(template, {"called": called, "label": roles.label, "count": of_label.num_values})


def examples_from(table: Table, roles: Roles, rules: LabelSettings = COLLECTED) -> ExampleTable:
    """Return the rows that can be used, at once: see `finding_examples`."""
    return result_of(finding_examples(table, roles, rules))


def finding_examples(table: Table, roles: Roles, rules: LabelSettings = COLLECTED) -> Steps[ExampleTable]:
    """Return the rows that can be used, step by step.

    Args:   roles: columns by name or 1-based number; without a label column every label is None. rules: what
        labels they may have.
    Returns: rows with an empty text or label, or an unknown label, are reported by their line.
    Raises: DataError for a missing column, one column in two roles, no usable row; when labels are collected,
        for one class only, or labels that look like free text or numbers.
    """
    texts, label_columns = _resolve(table, roles, roles.get("label", ()))
    problems, answers = yield from _look_through(table, texts, label_columns)
    labels, spellings = rules.known, tuple[Spelling, ...]()
    if label_columns:
        if labels is None or rules.merge:
            spellings = spellings_in(answers, labels)
        if rules.merge:
            answers = answers.merged(spellings)
        if labels is not None:
            answers = _find_unknown(problems, answers, labels)
    yield Beat()
    rows, reported = _usable(table, problems, answers)
    notes: tuple[Sentence, ...] = ()
    if labels is None and label_columns:
        found, (column,) = answers.counts(), label_columns
        if not rules.whole:
            check_label_kind(column, found)
        _check_labels(table, texts, column, found, len(rows), rules.most)
        notes = notes_on_rare(found, {} if rules.merge else {each.label: each.seen[0] for each in spellings})
        labels = in_order(found)
    labels = labels or ()
    places = {label: place for place, label in enumerate(labels)} if label_columns else {}
    place_of = np.array([places.get(name, -1) for name in answers.names], np.int32)
    made = _rows_of(table, texts, rows, place_of[answers.codes[rows]])
    return ExampleTable(made, tuple(labels), reported, notes, spellings, rules.merge)


def finding_values(
    table: Table,
    roles: Roles,
    label_columns: Sequence[str],
    read: Callable[[LabelColumn], LabelTable],
    *,
    is_merged: bool = False,
) -> Steps[ExampleTable]:
    """Return the rows that can be used where a row's label is more than a place in a list, step by step.

    Args:   label_columns: their names; the cells of several are one, with BETWEEN between them. Without any,
        rows have no label. read: says what the different cells stand for, and raises what is wrong with all.
    Returns: rows with an empty text or label, or a label that `read` refuses, are reported by their line.
    Raises: DataError as `finding_examples`.
    """
    texts, label_columns = _resolve(table, roles, label_columns)
    problems, answers = yield from _look_through(table, texts, label_columns)
    if not label_columns:
        rows, reported = _usable(table, problems, answers)
        made = _rows_of(table, texts, rows, np.full(len(rows), -1, np.int32))
        return ExampleTable(made, (), reported)
    _usable(table, problems, answers)  # there is something to read
    cells = read(answers)
    answers = _without(problems, answers, cells.refused)
    yield Beat()
    rows, reported = _usable(table, problems, answers)
    values, places = np.unique(cells.values, axis=0, return_inverse=True)  # "a|b" is "b|a"
    made = _rows_of(table, texts, rows, places.reshape(-1)[answers.codes[rows]].astype(np.int32))
    spellings, form = cells.spellings, cells.form
    return ExampleTable(made, cells.labels, reported, cells.notes, spellings, is_merged, values, form)


def stratified_split(labels: Indices, shares: Sequence[float], seed: int) -> list[Indices]:
    """Draw rows label by label, so that every part holds every label in its proportion.

    The size of a part is its share of all rows, rounded; what proportions leave open goes to the largest
    remainders. Each label keeps at least one row to train on, so a label that appears once is never held out.

    Args:   labels: (E,) int64. shares: of each part beside training, 0 to 1, together below 1.
    Returns: rows to train on, then those of each share, each in ascending order; every row once.
    Raises: ConfigError if the shares leave nothing to train on.
    """
    labels = np.asarray(labels)
    if any(not 0 <= share < 1 for share in shares) or sum(shares) >= 1:
        raise ConfigError(
            marked(
                "engine",
                "Validation and test together take {percent:.0f} % of the rows. Leave some to train on.",
            ),
            field="validation_share",
            percent=100 * sum(shares),
        )
    # PCG64's raw stream is promised to stay the same in every numpy; Generator.permutation's is not (NEP 19).
    keys = np.random.PCG64(seed).random_raw(len(labels))
    classes, sizes = np.unique(labels, return_counts=True)
    free = sizes - 1
    part_of = np.zeros(len(labels), dtype=np.int64)
    drawn = {label: np.flatnonzero(labels == label) for label in classes.tolist()}
    drawn = {label: rows[np.argsort(keys[rows], kind="stable")] for label, rows in drawn.items()}
    taken = np.zeros_like(sizes)
    for part, share in enumerate(shares, start=1):
        counts = _largest_remainders(sizes * share, free, int(len(labels) * share + 0.5))
        for place, label in enumerate(classes.tolist()):
            part_of[drawn[label][taken[place] : taken[place] + counts[place]]] = part
        taken, free = taken + counts, free - counts
    return [np.flatnonzero(part_of == part) for part in range(len(shares) + 1)]


def _plain(name: str) -> str:
    return re.sub(r"\W+|_+", "_", name.strip().lower()).strip("_")


def is_name_of_column(text: str) -> bool:
    """Whether a text is what people call a column of texts or labels."""
    name = _plain(text)
    return name in _TEXTS or name in _LABELS or any(name in pair for pair in _PAIRS)


def _look(table: Table, name: str, most: int = _LOOKED_AT) -> _Look:
    step = -(-len(table.lines) // most) or 1
    cells = [cell.strip() for cell in table.frame[name].array[::step].tolist()]
    cells = [cell for cell in cells if cell]
    num_chars = sum(map(len, cells))
    sample = "".join(cell[:200] for cell in cells)
    letters = sum(map(str.isalpha, sample)) / max(len(sample), 1)
    links = sum(cell.startswith(("http://", "https://")) and " " not in cell for cell in cells)
    mean = num_chars / max(len(cells), 1)
    some = cells[:: -(-len(cells) // _COMPARED) or 1]
    words = sum(len(_WORD.findall(cell[:200])) for cell in some) / max(len(some), 1)
    return _Look(len(set(cells)), len(cells), mean, words, letters >= 0.4 and links * 2 < len(cells))


def _contradicts_itself(names: Mapping[str, str], looks: Mapping[str, _Look]) -> bool:
    """Whether the only columns that are called labels hold sentences, and another the values that repeat."""
    called = [names[name] for name in _LABELS if name in names]
    repeats = any(look.few_valued for name, look in looks.items() if name not in called)
    return bool(called) and repeats and all(looks[name].is_sentences for name in called)


def _are_alike_long(looks: Mapping[str, _Look], a: str, b: str) -> bool:
    shorter, longer = sorted((looks[a].mean_length, looks[b].mean_length))
    return shorter >= 0.5 * longer


def _may_be_second(table: Table, looks: Mapping[str, _Look], text: str, other: str) -> bool:
    """Whether a column is the second text beside one with a telling name: of like length, no text of another
    kind by its name, and in its words of the same row rather than of any, but no rewriting of it.
    """
    name = _plain(other)
    if name in _TEXTS or _REMARKS.search(name) or not _are_alike_long(looks, text, other):
        return False
    step = -(-len(table.lines) // _COMPARED) or 1
    columns = (table.frame[each].array[::step].tolist() for each in (text, other))
    a, b = ([set(_WORD.findall(cell.casefold())) for cell in cells] for cells in columns)
    own = [_shared(one, two) for one, two in zip(a, b, strict=True)]
    strange = [_shared(one, two) for one, two in zip(a, b[1:] + b[:1], strict=True)]
    is_rewritten = sum(share == 1 for share in own) > 0.5 * len(own)
    return not is_rewritten and sum(own) >= sum(strange) + 0.1 * len(own)


def _shared(a: set[str], b: set[str]) -> float:
    """Return the share of the words of the one with fewer of them that stand in the other too."""
    return len(a & b) / max(1, min(len(a), len(b)))


def _label_by_content(looks: dict[str, _Look], taken: set[str]) -> str:
    """Return the column with the fewest values of those that repeat; the last of equals."""
    best = ""
    for name, look in looks.items():
        if name not in taken and look.few_valued and (not best or look.num_values <= looks[best].num_values):
            best = name
    return best


def _resolve(table: Table, roles: Roles, labels: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of the columns of texts, and of those of labels."""
    if not roles.text:
        raise DataError(
            marked("engine", "No text column is chosen. The columns are: {names}."),
            names=list(table.columns[:20]),
        )
    columns = tuple(map(table.column, (*roles.read, *labels)))
    check_distinct(columns)
    return columns[: len(roles.read)], columns[len(roles.read) :]


def _look_through(
    table: Table, texts: Sequence[str], labels: Sequence[str]
) -> Steps[tuple[dict[int, Sentence], LabelColumn]]:
    """Return what rows lack, by row, the line in the sentence still 0; and the label of each row."""
    no_text = marked("engine", "Line {line} has no text in column {column}.")
    no_label = marked("engine", "Line {line} has no label in column {column}.")
    lacks = [
        (table.frame[name].array, Sentence(template, {"line": 0, "column": name}))
        for names, template in ((texts, no_text), (labels, no_label))
        for name in names
    ]
    problems: dict[int, Sentence] = dict(table.left_out)
    codes = np.zeros(table.num_rows, np.int32)
    code_of: dict[str, int] = {} if labels else {"": 0}
    for start in range(0, table.num_rows, _AT_ONCE):
        several: list[list[str]] = []
        for column, sentence in lacks:
            cells = list(map(str.strip, column[start : start + _AT_ONCE].tolist()))
            if not all(cells):
                for row, cell in enumerate(cells, start):
                    if not cell:
                        problems.setdefault(row, sentence)
            several.append(cells)
        if labels:
            cells = several[-1] if len(labels) == 1 else joined_cells(several[-len(labels) :])
            codes[start : start + _AT_ONCE] = [code_of.setdefault(cell, len(code_of)) for cell in cells]
        yield Beat()
    usable = np.ones(table.num_rows, bool)
    usable[list(problems)] = False
    return problems, LabelColumn(tuple(code_of), codes, usable)


def joined_cells(columns: Sequence[Sequence[str]]) -> list[str]:
    """Return the cells of each row of several columns as one."""
    return list(map(BETWEEN.join, zip(*columns, strict=True)))


def unknown_labels(strange: Iterable[str], labels: Sequence[str]) -> dict[str, Sentence]:
    """Return what to say of labels that a model has not learned, the line in the sentence still 0."""
    strange = set(strange)
    meant = spellings_of(strange, labels)
    sentences = {}
    for answer in strange:
        values = {"label": answer[:80]}
        note = marked("engine", "Line {line} has the label {label}, which the model does not know.")
        if answer in meant:
            label, kept = shown_pair(answer, meant[answer])
            values = {"label": label, "known": kept}
            note = marked(
                "engine",
                "Line {line} has the label {label}, which the model does not know. It is nearly "
                "equal to {known}.",
            )
        sentences[answer] = Sentence(note, values)
    return sentences


def _find_unknown(problems: dict[int, Sentence], answers: LabelColumn, labels: Sequence[str]) -> LabelColumn:
    """Put a problem at each row whose label a model has not learned, and say which it may stand for.

    Returns: the answers without those rows.
    """
    said = unknown_labels(answers.counts().keys() - set(labels), labels)
    refused = {code: said[answer] for code, answer in enumerate(answers.names) if answer in said}
    return _without(problems, answers, refused)


def _without(
    problems: dict[int, Sentence], answers: LabelColumn, refused: Mapping[int, Sentence]
) -> LabelColumn:
    """Put a problem at each row whose cell is refused, by its place; return the answers without those."""
    lost = answers.usable & np.isin(answers.codes, list(refused))
    for row in np.flatnonzero(lost).tolist():
        problems[row] = refused[int(answers.codes[row])]
    return replace(answers, usable=answers.usable & ~lost)


def _usable(
    table: Table, problems: Mapping[int, Sentence], answers: LabelColumn
) -> tuple[Indices, tuple[BadLine, ...]]:
    """Return the rows that can be used, and the lines that cannot. Raises: DataError if no row can."""
    rows = np.flatnonzero(answers.usable)
    reported = reported_lines(table, problems)
    if not len(rows):
        raise DataError(
            marked("engine", "None of the {num_rows:,} rows can be used. {first}"),
            num_rows=len(table.lines),
            first=str(reported[0].sentence) if reported else "",
        )
    return rows, reported


def _rows_of(table: Table, texts: Sequence[str], rows: Indices, labels: npt.NDArray[np.int32]) -> ExampleRows:
    return ExampleRows([table.frame[name].array for name in texts], rows, labels)


def reported_lines(table: Table, problems: Mapping[int, Sentence]) -> tuple[BadLine, ...]:
    """Return the lines of a table that cannot be used. Args: problems: by row."""
    return tuple(
        BadLine(line, Sentence(problem.template, {**problem.values, "line": line}))
        for row, problem in sorted(problems.items())
        for line in (int(table.lines[row]),)
    )


def _check_labels(
    table: Table, texts: Sequence[str], column: str, found: Counter[str], num_rows: int, most: int
) -> None:
    """Refuse a column whose values are no labels to learn. Raises: DataError."""
    if len(found) == 1:
        raise DataError(
            marked(
                "engine",
                "Every row has the same label, {label}, in column {column}, so there is nothing "
                "to learn. Choose another column or other data.",
            ),
            label=next(iter(found))[:80],
            column=column,
        )
    numbers = sum(map(bool, map(_DECIMAL.fullmatch, found)))
    looks_wrong = len(found) == num_rows > 2 or numbers > max(20, len(found) // 2)
    if len(found) > most and not looks_wrong:
        raise too_many_labels(column, len(found), num_rows, most)
    if looks_wrong:
        template = marked(
            "engine",
            "Column {column} has {num_labels:,} different values in {num_rows:,} rows. It "
            "looks like free text or a number, not a label. Choose another column.",
        )
        fitting = _label_by_content({name: _look(table, name) for name in table.columns}, {*texts, column})
        if fitting:
            template = marked(
                "engine",
                "Column {column} has {num_labels:,} different values in {num_rows:,} rows. It "
                "looks like free text or a number, not a label. Choose another column, such as "
                "{fitting}.",
            )
        raise DataError(
            template, column=column, num_labels=len(found), num_rows=num_rows, fitting=fitting[:40]
        )


TOO_MANY = marked(
    "engine",
    "Column {column} has {count:,} different labels in {num_rows:,} rows, more than "
    "the {most:,} that max_labels allows. If they are labels, set max_labels to "
    "{count}. If not, choose another column.",
)


def too_many_labels(column: str, count: int, num_rows: int, most: int) -> DataError:
    """Return the refusal of a column with more labels than are learned."""
    template = TOO_MANY
    if count > ALL_LABELS:
        template = marked(
            "engine",
            "Column {column} has {count:,} different labels in {num_rows:,} rows, and at "
            "most {most:,} can be learned. It looks like free text. Choose another column.",
        )
        most = ALL_LABELS
    return DataError(template, column=column, count=count, num_rows=num_rows, most=most)


def notes_on_rare(found: Counter[str], seen: Mapping[str, str]) -> tuple[Sentence, ...]:
    """Return what to say of labels in one row only. Args: seen: how to write those that look like others."""
    once = in_order({label for label, count in found.items() if count == 1})
    if not once:
        return ()
    note = marked(
        "engine",
        "{num_labels} labels occur in one row only, so they are trained on but never measured: {labels}.",
    )
    if len(once) == 1:
        note = marked(
            "engine", "One label occurs in one row only, so it is trained on but never measured: {labels}."
        )
    names = some_of([seen.get(label, label) for label in once], 5)
    return (Sentence(note, {"num_labels": len(once), "labels": names}),)


def in_order(labels: Iterable[str]) -> list[str]:
    """Return labels sorted, as numbers if all are integers."""
    found = sorted(labels)
    return sorted(found, key=int) if all(map(_INTEGER.fullmatch, found)) else found


def _largest_remainders(wanted: npt.NDArray[np.floating[Any]], most: Indices, total: int) -> Indices:
    """Return whole numbers near `wanted`, none above `most`, that sum to `total` where `most` lets them."""
    wanted = np.round(wanted, 9)  # 0.2 * 15 is 3, not a little more
    counts: Indices = np.minimum(np.floor(wanted).astype(np.int64), most)
    while (missing := min(total, int(most.sum())) - int(counts.sum())) > 0:
        order = np.argsort(-np.where(counts < most, wanted - counts, -np.inf), kind="stable")
        counts[order[: min(missing, int((counts < most).sum()))]] += 1
    return counts
