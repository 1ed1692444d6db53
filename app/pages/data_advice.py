"""What to say about a data set: remarks of one or two short sentences, the worst first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from PySide6.QtCore import QCoreApplication

from app import words
from app.study import Study
from engine.text.examples import Roles
from engine.text.table import BadLine, Table

translate = QCoreApplication.translate

Remark = tuple[str, str]  # level, text

MOST_LINES = 5  # line numbers named in a remark
UNBALANCED = 10  # the largest label has this many times the rows of the smallest
MUCH_CUT = 0.05
MUCH_UNKNOWN = 0.01


def remarks(table: Table, roles: Roles, study: Study | None, max_length: int) -> list[Remark]:
    """Return what a person should know before training with this table."""
    found = [*_lines(table), *_roles(roles)]
    if study is not None:
        found += [*_rows(study), *_labels(study), *_duplicates(study), *_lengths(study, max_length)]
    found += [("note", words.say(sentence)) for sentence in table.notes]
    order = {"wrong": 0, "look": 1, "note": 2, "fine": 3}
    return sorted(found, key=lambda remark: order.get(remark[0], 2))


def line_list(reported: Sequence[BadLine]) -> str:
    """Return "4, 9, 12 and 30 more"."""
    named = ", ".join(words.number(bad.line) for bad in reported[:MOST_LINES])
    more = len(reported) - MOST_LINES
    if more <= 0:
        return named
    return translate("advice", "{lines} and {count} more").format(lines=named, count=words.number(more))


def _lines(table: Table) -> Iterator[Remark]:
    if not table.reported:
        yield "fine", translate("advice", "Every line could be read.")
    elif len(table.reported) == 1:
        text = translate("advice", "Line {line} could not be read and is left out.")
        yield "look", text.format(line=line_list(table.reported))
    else:
        text = translate("advice", "{count} lines could not be read and are left out: lines {lines}.")
        yield "look", text.format(count=words.number(len(table.reported)), lines=line_list(table.reported))
    if not table.num_rows:
        yield "wrong", translate("advice", "There is not a single row in this table.")


def _roles(roles: Roles) -> Iterator[Remark]:
    if not roles.text:
        yield "wrong", translate("advice", "Say which column holds the text.")
    if not roles.label:
        yield (
            "look",
            translate("advice", "No label column is chosen. Training needs one; predicting does not."),
        )


def _rows(study: Study) -> Iterator[Remark]:
    if not study.reported:
        yield "fine", translate("advice", "No row lacks its text or label.")
    elif len(study.reported) == 1:
        text = translate("advice", "The row in line {line} lacks a text or a label and is left out.")
        yield "look", text.format(line=line_list(study.reported))
    else:
        text = translate("advice", "{count} rows lack a text or a label and are left out: lines {lines}.")
        yield "look", text.format(count=words.number(len(study.reported)), lines=line_list(study.reported))


def _labels(study: Study) -> Iterator[Remark]:
    if study.refusal is not None:
        yield "wrong", words.say(study.refusal)
    yield from (("look", words.say(note)) for note in study.notes)
    if study.refusal is not None or not study.labels:
        return
    alike = _alike(study.labels)
    if alike:
        text = translate("advice", "Labels that differ only in case count as different: {labels}.")
        yield "look", text.format(labels=words.shorten(alike, 80))
    rarest = int(study.counts.argmin())
    values = {
        "label": words.shorten(study.labels[rarest], 40),
        "rows": words.number(int(study.counts[rarest])),
    }
    if study.counts.max() > UNBALANCED * study.counts.min():
        text = translate(
            "advice", "Labels are far from balanced: “{label}” has {rows} rows. Look at F1, not accuracy."
        )
        yield "look", text.format(**values)
    else:
        yield (
            "fine",
            translate("advice", "Labels are balanced. Rarest: “{label}”, {rows} rows.").format(**values),
        )


def _alike(labels: Sequence[str]) -> str:
    """Return labels that differ only in upper and lower case, or in blanks: "sport = SPORT, tech = Tech"."""
    groups: dict[str, list[str]] = {}
    for label in labels:
        groups.setdefault("".join(label.casefold().split()), []).append(label)
    return ", ".join(" = ".join(group) for group in groups.values() if len(group) > 1)


def _duplicates(study: Study) -> Iterator[Remark]:
    if study.num_contradicting:
        text = translate("advice", "{count} texts carry more than one label.")
        if study.num_contradicting == 1:
            text = translate("advice", "One text carries more than one label.")
        yield "look", text.format(count=words.number(study.num_contradicting))
    if not study.num_duplicates:
        yield "fine", translate("advice", "No text appears twice.")
    elif not study.num_leaking:
        text = translate("advice", "{count} rows repeat an earlier text.")
        yield "look", text.format(count=words.number(study.num_duplicates))
    else:
        text = translate(
            "advice",
            "{count} rows repeat an earlier text. After a random split {leaking} validation rows are in "
            "training too, so results look better than they are.",
        )
        yield (
            "look",
            text.format(count=words.number(study.num_duplicates), leaking=words.number(study.num_leaking)),
        )


def _lengths(study: Study, max_length: int) -> Iterator[Remark]:
    if study.unit != "pieces":
        yield (
            "note",
            translate("advice", "Lengths are in words until a model is chosen: its vocabulary counts."),
        )
        return
    cut = study.cut_share(max_length)
    if cut > MUCH_CUT:
        text = translate(
            "advice", "{share} of texts are cut at {length} pieces. A larger maximum keeps more, slower."
        )
        yield "look", text.format(share=words.share(cut, 0), length=words.number(max_length))
    elif cut:
        text = translate("advice", "{share} of texts are cut at {length} pieces.")
        yield "fine", text.format(share=words.share(cut, 1), length=words.number(max_length))
    else:
        yield (
            "fine",
            translate("advice", "No text is cut at {length} pieces.").format(length=words.number(max_length)),
        )
    unknown = study.unknown_share or 0.0
    if unknown > MUCH_UNKNOWN:
        text = translate(
            "advice", "{share} of pieces are [UNK]: the model's vocabulary does not suit these texts."
        )
        yield "look", text.format(share=words.share(unknown, 1))
    elif unknown:
        text = translate("advice", "The vocabulary suits these texts: {share} of pieces are [UNK].")
        yield "fine", text.format(share=words.share(unknown, 2) if unknown >= 5e-5 else "< 0.01 %")
    else:
        yield "fine", translate("advice", "The vocabulary suits these texts: no piece is [UNK].")
