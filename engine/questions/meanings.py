"""Does a word have other vectors where it means something else?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.errors import UserError, marked
from engine.events import Noted, Steps
from engine.language import heads, said, spoken
from engine.questions.flags import TextArgument
from engine.questions.how_read import ReadSettings, how_field
from engine.questions.question import Models, Question, asked, json_field
from engine.questions.writing import aligned
from engine.text.reading.kinds import A_TABLE

if TYPE_CHECKING:
    from engine.inspect.embeddings.contexts import Contexts
    from engine.inspect.embeddings.meanings import Meanings, Parting


@dataclass(frozen=True, eq=False)
class MeaningsFound:
    """A word's uses with the meaning that each was given. groups: (E,) places among `names`, -1 for none."""

    contexts: Contexts
    texts: tuple[str, ...]
    names: tuple[str, ...]
    groups: np.ndarray
    meanings: Meanings


@dataclass(frozen=True)
class MeaningsQuestion(
    Question["MeaningsFound"],
    command="meanings",
    help="show whether a word’s vectors differ by meaning, layer by layer",
):
    """A word in sentences that name its meaning, or in a table with a column that does."""

    word: str = asked(help="the word, or words in a row, to look for")
    sentences: tuple[str, ...] = asked(
        (), "where to look for it, each as “meaning | sentence”", flag=TextArgument("SENTENCE")
    )
    data: Path | None = asked(None, f"{A_TABLE} to look for it in", kw_only=True)
    text: str = asked("", "with --data: the column with the text", kw_only=True)
    label: str = asked("", "with --data: the column with the meaning", kw_only=True)
    json: bool = json_field("print the figures of each layer as JSON")
    how: ReadSettings = how_field()

    def check(self) -> None:
        if bool(self.data) == bool(self.sentences):
            template = marked("engine", "Give either sentences or a table with --data and --text, not both.")
            raise UserError(template)

    def answer(self, models: Models) -> Steps[MeaningsFound]:
        from engine.inspect.embeddings.contexts import embed_word
        from engine.inspect.embeddings.meanings import compare_meanings

        subject = models.subject(self.model)
        lines = self._lines()
        found = yield from embed_word(subject, self.word, [text for _label, text in lines])
        for note in found.notes:
            yield Noted(sentence=note)
        uses = [lines[place.sentence] for place in found.places]
        names = tuple(sorted({label for label, _text in uses if label}))
        groups = np.array([names.index(label) if label else -1 for label, _text in uses], np.int64)
        meanings = compare_meanings(found.table, found.vectors[1:], groups)
        if not meanings.partings:
            template = marked("engine", "Name at least two meanings, each as “meaning | sentence”.")
            raise UserError(template)
        return MeaningsFound(found, tuple(text for _label, text in uses), names, groups, meanings)

    def _lines(self) -> list[tuple[str, str]]:
        """Return what is searched: (meaning, text) each, "" for no meaning."""
        from engine.inspect.embeddings.contexts import typed_lines
        from engine.text.table import read_table

        if self.data is None:
            return [line for one in self.sentences for line in typed_lines(one)]
        table = read_table(self.data, **self.how.named())
        texts = table.frame[table.column(self.text)].tolist()
        labels = table.frame[table.column(self.label)].tolist() if self.label else [""] * len(texts)
        return [(str(label).strip(), text) for label, text in zip(labels, texts, strict=True)]

    def document(self, found: MeaningsFound) -> Any:
        meanings = found.meanings
        return {
            "word": found.contexts.word,
            "uses": [
                {"meaning": found.names[group] if group >= 0 else None, "sentence": text}
                for group, text in zip(found.groups.tolist(), found.texts, strict=True)
            ],
            "vectors_in_word_table": meanings.starts,
            "steps": [
                {
                    "step": _name(step),
                    "same_meaning": _number(one.within),
                    "other_meaning": _number(one.between),
                    **({} if meanings.is_one_point(step) else _neighbours(one)),
                }
                for step, one in enumerate(meanings.partings)
            ],
        }

    def lines(self, found: MeaningsFound) -> Iterator[str]:
        rows: list[Sequence[str]] = [
            heads(
                "",
                marked("table", "same meaning"),
                marked("table", "other meaning"),
                marked("table", "nearest of own meaning"),
                marked("table", "by chance"),
                marked("table", "p"),
            )
        ]
        for step, one in enumerate(found.meanings.partings):
            right = said(marked("engine", "{count} of {total}"), count=one.num_right, total=one.num_labelled)
            own = [right, f"{one.chance:.1f}", f"{one.p:.4f}"]
            if found.meanings.is_one_point(step):
                own = ["–"] * 3
            rows.append([_said_step(step), *map(_said, (one.within, one.between)), *own])
        yield from aligned(rows)
        last = found.meanings.partings[-1]
        for place in np.flatnonzero((found.groups >= 0) & ~last.right).tolist():
            other = found.names[found.groups[last.nearest[place]]]
            yield said(marked("engine", "nearest is {other}: {text}"), other=other, text=found.texts[place])


def _said_step(step: int) -> str:
    if not step:
        return spoken(marked("engine", "word table"))
    return said(marked("engine", "layer {layer}"), layer=step)


def _name(step: int) -> str:
    return f"layer {step}" if step else "word table"


def _neighbours(one: Parting) -> dict[str, Any]:
    return {
        "nearest": one.nearest.tolist(),
        "nearest_of_own_meaning": one.num_right,
        "labelled": one.num_labelled,
        "by_chance": one.chance,
        "p": one.p,
    }


def _said(value: float) -> str:
    return "–" if np.isnan(value) else f"{value:.3f}"


def _number(value: float) -> float | None:
    """Return a figure as JSON has it; None where there is no such pair."""
    return None if np.isnan(value) else value
