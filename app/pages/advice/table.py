"""What to say of a table before anything learns from it: sentences for whichever page shows one.

`CHECKS` holds them in the order in which they are made: a new sentence is a new entry. Each check yields
remarks of one or two short sentences, and says nothing of what it cannot know yet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QCoreApplication

from app import words
from app.pages.advice.remark import AdviceLine, in_order
from app.work.tables import TableSummary
from app.work.task_files import FileSummary, TaskFile
from engine.text.examples import TOO_MANY
from engine.text.label_kinds import is_of_another_task
from engine.text.labels import MOST_SPELLINGS, spelling_words
from engine.text.roles import Roles
from engine.text.table import BadLine, Table
from engine.text.unknown import MUCH
from engine.train.data_notes import MUCH_IS_CUT

translate = QCoreApplication.translate

MOST_LINES = 5  # line numbers named in a remark
EVEN = 1.25  # called balanced while the largest label has at most this many times the rows of the smallest
UNBALANCED = 10  # from here on accuracy hides the smallest
FEW_UNKNOWN = 0.01


@dataclass(frozen=True, slots=True)
class CountedTable:
    """A table in its roles, and what was counted in it. max_length: pieces that are kept of a text."""

    table: Table
    summary: TableSummary
    max_length: int


Check = Callable[[CountedTable], Iterator[AdviceLine]]


def on_table(table: Table, roles: Roles, summary: TableSummary | None, max_length: int) -> list[AdviceLine]:
    """Return what a person should know before training with this table. Args: summary: once it is counted."""
    found = [*_lines(table), *_roles(roles if summary is None else summary.roles)]
    if summary is not None:
        found += on_counted(CountedTable(table, summary, max_length), CHECKS)
    found += [AdviceLine("note", words.say(sentence)) for sentence in table.notes]
    return in_order(found)


def on_counted(counted: CountedTable, checks: Sequence[Check]) -> list[AdviceLine]:
    """Return what these checks say, in their order."""
    return [remark for check in checks for remark in check(counted)]


def line_list(reported: Sequence[BadLine]) -> str:
    """Return "4, 9, 12 and 30 more"."""
    named = words.listed(words.number(bad.line) for bad in reported[:MOST_LINES])
    more = len(reported) - MOST_LINES
    if more <= 0:
        return named
    return translate("advice", "{lines} and {count} more").format(lines=named, count=words.number(more))


def _lines(table: Table) -> Iterator[AdviceLine]:
    if not table.reported:
        yield AdviceLine("fine", translate("advice", "Every line could be read."))
    else:
        text = words.counted(
            len(table.reported),
            translate("advice", "Line {lines} could not be read and is skipped."),
            translate("advice", "{count} lines could not be read and are skipped: lines {lines}."),
        )
        yield AdviceLine("look", text.format(lines=line_list(table.reported)), lines=True)
    if not table.num_rows:
        yield AdviceLine("wrong", translate("advice", "This table has no rows."))


def _roles(roles: Roles) -> Iterator[AdviceLine]:
    if not roles.text:
        yield AdviceLine("wrong", translate("advice", "Choose the text column."))
    if not roles.label:
        text = translate("advice", "No label column is chosen. Training needs one; predicting does not.")
        yield AdviceLine("look", text)


def unusable_rows(counted: CountedTable) -> Iterator[AdviceLine]:
    """Say which rows lack what is to be read or learned."""
    table, summary = counted.table, counted.summary
    has_label = bool(summary.roles.label) and summary.refusal is None
    if not summary.reported:
        text = translate("advice", "No missing text or label.")
        yield AdviceLine("fine", text if has_label else translate("advice", "No missing text."))
        return
    text = words.counted(
        len(summary.reported),
        translate("advice", "The row in line {lines} has no text or no label and is excluded."),
        translate("advice", "{count} rows have no text or no label and are excluded: lines {lines}."),
    )
    if not has_label:
        text = words.counted(
            len(summary.reported),
            translate("advice", "The row in line {lines} has no text and is excluded."),
            translate("advice", "{count} rows have no text and are excluded: lines {lines}."),
        )
    rows = np.searchsorted(table.lines, [bad.line for bad in summary.reported])
    what = translate("advice", "a text or a label is missing")
    yield AdviceLine("look", text.format(lines=line_list(summary.reported)), rows, what)


def _refused_labels(counted: CountedTable) -> Iterator[AdviceLine]:
    """Say why nothing can be learned from the labels as they are, or that they were taken nevertheless."""
    summary = counted.summary
    if summary.refusal is not None:
        mend: tuple[str, int] | None = ("whole_labels", True) if is_of_another_task(summary.refusal) else None
        if summary.refusal.template == TOO_MANY:
            mend = ("max_labels", int(summary.refusal.values["count"]))
        yield AdviceLine("wrong", words.say(summary.refusal), mend=mend)
    if summary.is_whole:
        text = translate("advice", "Labels are used as written, even those that look like several in one.")
        yield AdviceLine("note", text, mend=("whole_labels", False))


def _task(counted: CountedTable) -> Iterator[AdviceLine]:
    """Say what the table is taken for, and how its labels are read."""
    if counted.summary.doubt is not None:
        yield AdviceLine("look", words.say(counted.summary.doubt))
    for sentence in (counted.summary.reason, counted.summary.form):
        if sentence is not None:
            yield AdviceLine("note", words.say(sentence))


def lone_labels(counted: CountedTable) -> Iterator[AdviceLine]:
    """Say which labels stand in one row only."""
    for note in counted.summary.notes:
        what = translate("advice", "no other row has the label")
        yield AdviceLine("look", words.say(note), counted.summary.doubtful.lone, what)


def _spellings(counted: CountedTable) -> Iterator[AdviceLine]:
    """Say which labels are nearly equal, or have been made one, with the way there or back."""
    table, summary = counted.table, counted.summary
    if not summary.spellings:
        if summary.is_merged:
            text = translate("advice", "Nearly equal labels count as one.")
            yield AdviceLine("note", text, mend=("merge_labels", False))
        return
    named = words.clauses(
        words.say(spelling_words(table, each)) for each in summary.spellings[:MOST_SPELLINGS]
    )
    if more := len(summary.spellings[MOST_SPELLINGS:]):
        more_words = translate("advice", "{spellings}; and {count} more")
        named = more_words.format(spellings=named, count=words.number(more))
    rows = np.concatenate([each.rows for each in summary.spellings])
    what = translate("advice", "the label is nearly equal to a more frequent one")
    if summary.is_merged:
        text = words.counted(
            len(rows),
            translate("advice", "Nearly equal labels count as one. One row changed: {spellings}."),
            translate("advice", "Nearly equal labels count as one. {count} rows changed: {spellings}."),
        )
        yield AdviceLine("note", text.format(spellings=named), rows, what, mend=("merge_labels", False))
        return
    text = words.counted(
        len(rows),
        translate("advice", "One row has a label that is nearly equal to a more frequent one: {spellings}."),
        translate(
            "advice", "{count} rows have a label that is nearly equal to a more frequent one: {spellings}."
        ),
    )
    leaves_some = len(summary.labels) - len(summary.spellings) > 1
    merge = ("merge_labels", True) if leaves_some else None
    yield AdviceLine("look", text.format(spellings=named), rows, what, mend=merge)


def _balance(counted: CountedTable) -> Iterator[AdviceLine]:
    """Say how evenly the labels are spread: a judgement where it is clear, the shares where it is not."""
    summary = counted.summary
    if summary.refusal is not None or not summary.labels:
        return
    if summary.is_side_by_side:
        yield from _shares(summary)
        return
    most, least = int(summary.counts.argmax()), int(summary.counts.argmin())
    largest, smallest = int(summary.counts[most]), int(summary.counts[least])
    total = int(summary.counts.sum())
    values = {
        "most": words.shorten(summary.shown_labels[most], 40),
        "least": words.shorten(summary.shown_labels[least], 40),
        "largest": words.share(largest / total),
        "smallest": words.share(smallest / total),
    }
    if largest > UNBALANCED * smallest:
        text = words.counted(
            smallest,
            translate(
                "advice",
                "Labels are far from balanced: “{least}” has one row, “{most}” {largest} of all rows.",
            ),
            translate(
                "advice",
                "Labels are far from balanced: “{least}” has {count} rows, “{most}” {largest} of all rows.",
            ),
        )
        text = words.sentences([text, translate("advice", "Look at F1, not accuracy.")])
        yield AdviceLine("look", text.format(**values))
    elif largest > EVEN * smallest:
        text = translate(
            "advice",
            "“{most}” has {largest} of the rows, “{least}” {smallest}. Always predicting "
            "“{most}” would be right as often.",
        )
        yield AdviceLine("note", text.format(**values))
    else:
        text = translate("advice", "Labels are balanced: each has {smallest} to {largest} of the rows.")
        if largest == smallest:
            text = translate("advice", "Labels are balanced: each has {largest} of the rows.")
        yield AdviceLine("fine", text.format(**values))


def _shares(summary: TableSummary) -> Iterator[AdviceLine]:
    """Say how many rows have the commonest and the rarest of labels that stand side by side."""
    most, least = int(summary.counts.argmax()), int(summary.counts.argmin())
    text = translate(
        "advice",
        "“{most}” is in {largest} of the rows, “{least}” in {smallest}. Each label is learned by itself.",
    )
    total = max(1, summary.num_examples)
    shown = [words.shorten(summary.shown_labels[place], 40) for place in (most, least)]
    largest, smallest = (words.share(int(summary.counts[place]) / total) for place in (most, least))
    values = {"most": shown[0], "least": shown[1], "largest": largest, "smallest": smallest}
    yield AdviceLine("note", text.format(**values))


def contradictions(counted: CountedTable) -> Iterator[AdviceLine]:
    """Say how many texts carry more than one label."""
    doubtful = counted.summary.doubtful
    if doubtful.num_contradicting and not counted.summary.chooses_one:
        text = words.counted(
            doubtful.num_contradicting,
            translate("advice", "One text is in several rows with different labels."),
            translate("advice", "{count} texts are in several rows with different labels."),
        )
        what = translate("advice", "next to each other")
        yield AdviceLine("look", text, doubtful.contradicting, what, kind="contradicting_labels")
    elif doubtful.num_contradicting:
        text = words.counted(
            doubtful.num_contradicting,
            translate("advice", "One text has more than one label."),
            translate("advice", "{count} texts have more than one label."),
        )
        what = translate("advice", "a text with more than one label, next to each other")
        yield AdviceLine("look", text, doubtful.contradicting, what, kind="contradicting_labels")


def _repeats(counted: CountedTable) -> Iterator[AdviceLine]:
    """Say how many rows repeat a text, and how many of these a random split would tear apart."""
    summary, doubtful = counted.summary, counted.summary.doubtful
    text = translate("advice", "No text occurs twice.")
    if doubtful.num_repeats:
        text = words.counted(
            doubtful.num_repeats,
            translate("advice", "One row repeats an earlier text."),
            translate("advice", "{count} rows repeat an earlier text."),
        )
    elif summary.num_leaking:
        text = translate("advice", "Some pairs occur twice, with their two texts swapped.")
    if summary.num_leaking:
        leaking = words.counted(
            summary.num_leaking,
            translate(
                "advice",
                "After a random split, one validation row is in training too, so results look "
                "better than they are.",
            ),
            translate(
                "advice",
                "After a random split, {count} validation rows are in training too, so results "
                "look better than they are.",
            ),
        )
        text = words.sentences([text, leaking])
    what = translate("advice", "a text that is in several rows, next to each other")
    level = "look" if doubtful.num_repeats or summary.num_leaking else "fine"
    yield AdviceLine(level, text, doubtful.repeating, what, kind="exact_duplicates")


def cut_texts(counted: CountedTable) -> Iterator[AdviceLine]:
    """Say how many texts are longer than what is read of them."""
    summary = counted.summary
    if summary.unit != "pieces":
        text = translate("advice", "Choose a model to count pieces instead of words.")
        yield AdviceLine("note", text)
        return
    if summary.reads_windows:
        return
    cut, length = summary.cut_share(counted.max_length), words.number(counted.max_length)
    rows = summary.rows[summary.lengths > counted.max_length]
    what = translate("advice", "longer than {length} pieces").format(length=length)
    if cut >= MUCH_IS_CUT:
        text = translate(
            "advice",
            "{share} of texts are truncated at {length} pieces. A larger maximum keeps more, but is slower.",
        )
        yield AdviceLine("look", text.format(share=words.share(cut, 0), length=length), rows, what)
    elif cut:
        text = translate("advice", "{share} of texts are truncated at {length} pieces.")
        yield AdviceLine("fine", text.format(share=words.share(cut, 1), length=length), rows, what)
    else:
        text = translate("advice", "No text is truncated at {length} pieces.")
        yield AdviceLine("fine", text.format(length=length))


def _unknown_pieces(counted: CountedTable) -> Iterator[AdviceLine]:
    """Say how well the model's vocabulary suits the texts; where it does not, a banner tells."""
    if counted.summary.unit != "pieces":
        return
    unknown = counted.summary.unknown_share or 0.0
    if unknown >= MUCH:
        return
    if unknown > FEW_UNKNOWN:
        text = translate("advice", "{share} of pieces are [UNK].")
        yield AdviceLine("note", text.format(share=words.share(unknown, 1)))
    elif unknown:
        text = translate("advice", "The vocabulary suits these texts: {share} of pieces are [UNK].")
        share = words.share(unknown, 2) if unknown >= 5e-5 else "< 0.01 %"
        yield AdviceLine("fine", text.format(share=share))
    else:
        text = translate("advice", "The vocabulary suits these texts: no piece is [UNK].")
        yield AdviceLine("fine", text)


CHECKS: tuple[Check, ...] = (
    _task,
    unusable_rows,
    _refused_labels,
    _spellings,
    lone_labels,
    _balance,
    contradictions,
    _repeats,
    cut_texts,
    _unknown_pieces,
)


def on_file(file: TaskFile, summary: FileSummary | None) -> list[AdviceLine]:
    """Return what to know of a task's own file: why it is taken for one, how it was read, what was not, and
    what stands there more than once. Args: summary: once it is counted.
    """
    found = [AdviceLine("note", words.say(file.reason))] if file.reason is not None else []
    found += [AdviceLine("look", words.say(note)) for note in file.content.notes]
    lost = file.content.reported
    found += [AdviceLine("look", words.say(bad.sentence)) for bad in lost[:MOST_LINES]]
    if len(lost) > MOST_LINES:
        more = translate("advice", "and {count} more lines that cannot be used")
        found.append(AdviceLine("look", more.format(count=words.number(len(lost) - MOST_LINES))))
    if not lost:
        all_used = translate("advice", "All {count} examples can be used.")
        found.append(AdviceLine("fine", all_used.format(count=words.number(file.content.num_examples))))
    if summary is not None and summary.num_duplicates:
        text = words.counted(
            summary.num_duplicates,
            translate("advice", "One example repeats an earlier one word for word."),
            translate("advice", "{count} examples repeat an earlier one word for word."),
        )
        stays = translate("advice", "They stay in one split, so none is in both training and validation.")
        found.append(AdviceLine("look", words.sentences([text, stays])))
    return in_order(found)
