"""What a family answered, as columns: in words a student understands, and what each cannot in its place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from app import words
from app.pages.family.requests import (
    ANALOGY,
    FILL,
    FOLLOWS,
    NEAREST,
    RESULTS,
    SENSES,
    TASK,
    WRITE,
    Told,
)
from app.plots.member_column import (
    BLANK,
    OTHER_SIDE,
    SEEN_BAG,
    SEEN_FILL,
    UNSEEN,
    Cell,
    Column,
    Entry,
    Labels,
)
from app.plots.sense_planes import Dot
from app.words import tr_engine, translate
from engine.family.card import (
    ANALOGIES,
    NEXT_SENTENCE,
    ON_BLANKS,
    ONE_TRAINING,
    PERCENT,
    RANKS,
    Line,
    lines,
    p_words,
    starts,
)
from engine.family.exam import Row
from engine.family.members import (
    ABOUT,
    ALL,
    CAPTIONS,
    COUNTS,
    LEFT,
    LIKENESS,
    NEAR,
    PLACE_VECTORS,
    SIDES,
    About,
)
from engine.family.reached import share
from engine.family.verdicts import DOES_NOT, HOLDS, NO_VERDICT, OPEN, VERDICTS, judged_of

PENDING = "…"


def columns_of(told: Told) -> tuple[Column, ...]:
    """Return a column for each member of the family, the oldest first."""
    asked = _lines(told)
    return tuple(_column(told, ABOUT[name], asked) for name in told.names)


def labels_of(told: Told) -> Labels:
    """Return the words at the left for what was asked."""
    kind = told.question.kind
    cannot, unable = translate("family", "Cannot"), translate("family", "cannot")
    note = translate("family", "95 %; bold: best or tied")
    bars, legend = translate("family", "bars from 0 to 1"), ("", translate("family", "likeness"))
    if kind == FILL:
        rank = translate("family", "“{word}” is").format(word=told.question.answer)
        return Labels(
            seen=(translate("family", "May see"), translate("family", "of the sentence")),
            says=(translate("family", "Guesses"), bars),
            rank=rank if told.question.answer else "",
            cannot=cannot,
            shown=translate("family", "Shown here"),
            scores=tuple(map(_said, _lines(told))),
            unable=unable,
            note=note,
            legend=(translate("family", "probability"), translate("family", "likeness")),
        )
    if kind in (NEAREST, ANALOGY):
        title = translate("family", "Nearest") if kind == NEAREST else translate("family", "Then")
        return Labels(says=(title, bars), legend=legend, cannot=cannot, unable=unable)
    if kind == FOLLOWS:
        says = (translate("family", "Says"), bars)
        return Labels(says=says, cannot=cannot, scores=tuple(map(_said, _lines(told))), unable=unable)
    if kind == WRITE:
        return Labels(says=(translate("family", "Goes on"), ""), cannot=cannot, unable=unable)
    if kind == SENSES:
        return _sense_labels(told, cannot, unable)
    if kind == TASK:
        rows = [
            (
                translate("family", "Frozen vectors"),
                translate("family", "% of {count}").format(
                    count=words.number(next(iter(told.frozen.values())).count)
                ),
            )
        ]
        if told.fine_tuned is not None:
            rows.append((translate("family", "All fine-tuned"), "%"))
        if told.naive_bayes:
            rows.append((translate("family", "Naive Bayes over pairs of words"), "%"))
        return Labels(says=(translate("family", "How"), ""), scores=tuple(rows), unable=unable, note=note)
    facts: tuple[tuple[str, str], ...] = ()
    if kind == RESULTS:
        facts = (
            (translate("family", "Weights"), ""),
            (translate("family", "Words read"), ""),
            (translate("family", "Time"), ""),
        )
    return Labels(scores=(*facts, *map(_said, _lines(told))), unable=unable, note=note)


def _lines(told: Told) -> list[Line]:
    """Return the questions whose scores stand in rows."""
    kind = told.question.kind
    if kind == FILL:
        return [line for line in lines(told.report) if line.name in ON_BLANKS]
    if kind == RESULTS:
        return lines(told.report)
    if kind == FOLLOWS:
        return [line for line in lines(told.report) if line.name == NEXT_SENTENCE]
    return [_line(row) for row in told.rows]


def _line(row: Row) -> Line:
    scores = {name: asdict(one) for name, one in row.scores.items()}
    return Line(row.name, row.source, row.unit, scores, left_out=row.left_out)


def _said(line: Line) -> tuple[str, str]:
    """Return the words of a row: of a file its name, and over how many questions."""
    count = max((int(one["count"]) for one in line.scores.values()), default=0)
    if not line.source:
        name, _, rest = tr_engine(line.name).partition(", ")
        return name, line.unit or rest
    many = translate("family", "{unit} of {count}").format(unit=line.unit, count=words.number(count))
    if line.left_out:
        many = translate("family", "{many}, {left} left out").format(
            many=many, left=words.number(line.left_out)
        )
    name = line.source if line.unit == RANKS or line.name == ANALOGIES else tr_engine(line.name)
    return name, many


def _column(told: Told, about: About, asked: list[Line]) -> Column:
    kind, name = told.question.kind, about.name
    head: dict[str, Any] = {
        "name": about.said,
        "year": str(about.year),
        "caption": tr_engine(CAPTIONS[about.age]),
        "scores": tuple(_cell(line, name) for line in asked),
    }
    if kind == FILL:
        return _filled(told, about, head)
    if kind == RESULTS:
        one = told.report["reached"][name]
        facts = (
            words.number(one["weights"]),
            words.number(one["words_read"]),
            translate("family", "{number} s").format(number=words.number(round(one["seconds"]))),
        )
        return Column(**{**head, "scores": (*map(Cell, facts), *head["scores"])})
    if kind == TASK:
        frozen = Line("", "", PERCENT, {one: asdict(score) for one, score in told.frozen.items()})
        cells = [_cell(frozen, name)]
        if told.fine_tuned is not None:
            found = {one: asdict(score) for one, score in told.fine_tuned.items() if score is not None}
            done = _cell(Line("", "", PERCENT, found), name)
            cells.append(done if name in told.fine_tuned else Cell(PENDING))
        if told.naive_bayes:
            bayes = {one: asdict(score) for one, score in told.naive_bayes.items()}
            cells.append(_cell(Line("", "", PERCENT, bayes), name))
        return Column(**{**head, "scores": tuple(cells)}, text=_how(about))
    if kind in (NEAREST, ANALOGY):
        entries = tuple(Entry(one.word, one.value) for one in told.near.get(name, ()))
        cannot = translate("family", "Counts words and knows no vectors.") if about.age == COUNTS else ""
        return Column(**head, entries=entries, is_likeness=True, cannot=cannot)
    if kind == WRITE:
        text = told.written.get(name)
        if text is None:
            return Column(**head, cannot=translate("family", "Does not write from left to right."))
        return Column(**head, text=text or translate("family", "(ends the sentence)"))
    if kind == FOLLOWS:
        p = told.follows.get(name)
        if p is None:
            return Column(**head, cannot=translate("family", "Never learned which sentence follows another."))
        does, does_not = translate("family", "follows"), translate("family", "does not")
        return Column(**head, entries=(Entry(does, p), Entry(does_not, 1.0 - p)))
    return _senses(told, about, head) if kind == SENSES else Column(**head)


def _filled(told: Told, about: About, head: Mapping[str, Any]) -> Column:
    filled, answer = told.filled[about.name], told.question.answer.lower()
    shown = told.limits.get(about.name)
    return Column(
        **head,
        seen=tr_engine(about.seen),
        blocks=_blocks(about, told.words, told.place),
        entries=tuple(
            Entry(one.word, one.value, bool(answer) and one.word == answer) for one in filled.guesses
        ),
        is_likeness=about.says == LIKENESS,
        rank="" if filled.rank is None else _ordinal(filled.rank),
        is_first=filled.rank == 1,
        cannot=tr_engine(about.cannot),
        shown="" if shown is None else words.say(shown),
    )


def _how(about: About) -> str:
    """Return how a member answers a labelled text."""
    if about.age == COUNTS:
        return translate("family", "Has no vectors. Naive Bayes: pairs of words counted for each label.")
    if about.age == PLACE_VECTORS:
        return translate("family", "Mean of its places, frozen, under a logistic regression.")
    return translate("family", "Mean of its words’ vectors, frozen, under a logistic regression.")


def _sense_labels(told: Told, cannot: str, unable: str) -> Labels:
    layers = max((len(one.likeness) for one in told.senses.values()), default=0)
    is_told = any(one is not None for one in told.apart.values())
    rows = (
        (translate("family", "Alike, one sense"), ""),
        (translate("family", "Alike, two senses"), ""),
        (translate("family", "Nearest has its sense"), "%"),
    )
    groups = sorted(set(told.groups)) if is_told else []
    return Labels(
        says=(translate("family", "Likeness"), translate("family", "of two sentences")),
        planes=tuple(_layer(number) for number in range(layers)),
        groups=tuple(translate("family", "sense {number}").format(number=one + 1) for one in groups),
        cannot=cannot,
        scores=rows if is_told else (),
        unable=unable,
    )


def _layer(number: int) -> str:
    if not number:
        return translate("family", "input")
    return translate("family", "layer {number}").format(number=number)


def _senses(told: Told, about: About, head: Mapping[str, Any]) -> Column:
    found = told.senses.get(about.name)
    if found is None:
        return Column(**head, cannot=translate("family", "Counts words and knows no vectors."))
    planes = tuple(
        tuple(
            Dot(float(x), float(y), group, text)
            for (x, y), group, text in zip(points, told.groups, told.texts, strict=True)
        )
        for points in found.points
    )
    entries = tuple(Entry(_layer(number), one) for number, one in enumerate(found.likeness))
    apart, scores = told.apart.get(about.name), tuple[Cell, ...]()
    if apart is not None:
        nearest = Line("", "", PERCENT, {about.name: asdict(share(np.array(apart.hits)))})
        ways = (words.decimal(one, 2) for one in (apart.within, apart.between))
        scores = (*map(Cell, ways), _cell(nearest, about.name))
    elif any(one is not None for one in told.apart.values()):
        scores = (Cell(""), Cell(""), Cell(""))
    cannot = (
        "" if about.age == PLACE_VECTORS else translate("family", "One point: the sentence changes nothing.")
    )
    return Column(
        **{**head, "scores": scores}, entries=entries, is_likeness=True, planes=planes, cannot=cannot
    )


def _blocks(about: About, tokens: tuple[str, ...], place: int) -> tuple[tuple[float, str], ...]:
    """Return how each word of the sentence is seen, each as long as the word."""
    lengths = [len(token) if number != place else 4 for number, token in enumerate(tokens)]
    total = max(1, sum(lengths))
    return tuple(
        (length / total, BLANK if number == place else _seen(about, number, place))
        for number, length in enumerate(lengths)
    )


def _seen(about: About, number: int, place: int) -> str:
    is_near = not about.reach or abs(number - place) <= about.reach
    if not is_near or (about.sees == LEFT and number > place):
        return UNSEEN
    if about.sees in (NEAR, ALL):
        return SEEN_BAG
    return OTHER_SIDE if about.sees == SIDES and number > place else SEEN_FILL


def _cell(line: Line, name: str) -> Cell:
    """Return a score with its interval from low to high."""
    one = line.scores.get(name)
    if one is None:
        return Cell("")
    times, digits = (100, 1) if line.unit == PERCENT else (1, 2 if line.unit == RANKS else 1)
    few = 0 if line.unit != RANKS and times * one["high"] >= 1000 else digits
    value, low, high = (
        words.decimal(round(times * one[key], few), few)
        for key in ("value", "low", "high")  # as in the card
    )
    return Cell(value, translate("family", "{low} to {high}").format(low=low, high=high), line.is_best(name))


def _ordinal(rank: int) -> str:
    return translate("family", "no. {rank}").format(rank=words.number(rank))


def claims_text(report: Mapping[str, Any]) -> str:
    """Return what is said of these models, each with its figures and verdict."""
    verdicts = {
        HOLDS: translate("family", "Holds"),
        DOES_NOT: translate("family", "Expected, and does not hold"),
        OPEN: translate("family", "Cannot be told"),
        NO_VERDICT: translate("family", "No verdict"),
    }
    said = translate(
        "family",
        "{verdict}: {claim}\n{measure}: {first} and {second}, difference {difference} "
        "(95 %: {low} to {high}), over {count} texts{p}.{reason}",
    )
    found = []
    for told in sorted(judged_of(report), key=lambda one: VERDICTS.index(one.verdict)):
        one, p = told.claim, ""
        if told.p_value is not None:
            p = translate("family", "; p {p} after Holm’s correction").format(p=p_words(told.p_value))
        found.append(
            said.format(
                verdict=verdicts[told.verdict],
                claim=tr_engine(one.claim),
                measure=tr_engine(one.measure),
                first=words.decimal(one.first, 3),
                second=words.decimal(one.second, 3),
                difference=_signed(one.difference),
                low=_signed(one.low),
                high=_signed(one.high),
                count=words.number(one.count),
                p=p,
                reason="" if told.reason is None else f" {words.say(told.reason)}",
            )
        )
    last = translate(
        "family",
        "A verdict is computed from this family alone: a larger one may show what this one does not.",
    )
    return "\n\n".join([*found, tr_engine(ONE_TRAINING), *map(words.say, starts(report)), last])


def _signed(x: float) -> str:
    return ("+" if round(x, 3) > 0 else "") + words.decimal(x, 3)
