"""What a family reached: a table for a terminal, a card in Markdown with all questions to all members.

Perplexity from the left and pseudo-perplexity from both sides are two rows, and never one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from engine.errors import marked
from engine.family.members import ABOUT
from engine.family.scores import BLANKS, BOTH_SIDES, FOLLOWS, FROM_LEFT
from engine.train.gains import aligned

CANNOT = "cannot"
INFORMED = marked(
    "engine",
    "BERT began with what counting tells of the whole text, which is in nobody’s minutes; the others began "
    "at random. With informed_start off it begins so too.",
)


def table(report: Mapping[str, Any]) -> list[str]:
    """Return a family's report as lines."""
    head = ("member", "year", "weights", "words read", "seconds")
    rows: list[tuple[str, ...]] = [
        (*head, "blanks filled", "perplexity from the left", "pseudo-perplexity, both sides")
    ]
    first = lines(report)[:3]
    for name in report["members"]:
        one, about = report["reached"][name], ABOUT[name]
        figures = (f"{one['weights']:,}", f"{one['words_read']:,}", f"{one['seconds']:.0f}")
        found = (line.cell(name) for line in first)
        rows.append((about.said, str(about.year), *figures, *found))
    notes = [INFORMED] if report.get("informed_start") else []
    return [*aligned(rows), "", *claims_lines(report["claims"]), *notes]


ANALOGIES, NEXT_SENTENCE = marked("engine", "Analogies"), marked("engine", "Next sentence told")
PERCENT, RANKS = "%", "ρ"  # units: shares of 1, rank correlations; "" for any number


@dataclass(frozen=True, slots=True)
class Line:
    """One question to all members. name: marked. source: the file that it was asked from, "" for the text
    kept apart. scores: value, low, high and count of those that can be asked. is_less_better: perplexity.
    """

    name: str
    source: str
    unit: str
    scores: Mapping[str, Mapping[str, float]]
    is_less_better: bool = False
    left_out: int = 0

    def cell(self, name: str) -> str:
        """Return a member's score with its interval; "cannot" is a result too."""
        one = self.scores.get(name)
        if one is None:
            return CANNOT
        times, digits = (100.0, 1) if self.unit == PERCENT else (1.0, 2 if self.unit == RANKS else 1)
        value, low, high = (f"{times * one[key]:.{digits}f}" for key in ("value", "low", "high"))
        return f"{value}{' %' if self.unit == PERCENT else ''} ({low} to {high})"


def lines(report: Mapping[str, Any]) -> list[Line]:
    """Return all questions that were asked of a family, those on the text kept apart first."""
    kept = report["scores"]
    found = [
        Line(marked("engine", "Blanks filled"), "", PERCENT, kept[BLANKS]),
        Line(marked("engine", "Perplexity, from the left"), "", "", kept[FROM_LEFT], True),
        Line(marked("engine", "Pseudo-perplexity, both sides"), "", "", kept[BOTH_SIDES], True),
    ]
    if kept.get(FOLLOWS):
        found.append(Line(NEXT_SENTENCE, "", PERCENT, kept[FOLLOWS]))
    return found + [
        Line(one["name"], one["source"], one["unit"], one["scores"], left_out=int(one["left_out"]))
        for one in report.get("questions", [])
    ]


def claims_lines(claims: list[dict[str, Any]]) -> Iterator[str]:
    """Yield each claim with its figures and verdict, a line each."""
    for one in claims:
        yield (
            f"{one['verdict'].capitalize()}: {one['claim']} ({one['measure']}: {one['first']:.3f} and "
            f"{one['second']:.3f}, difference {one['difference']:+.3f}, 95 %: {one['low']:+.3f} to "
            f"{one['high']:+.3f}, {one['count']} texts)"
        )


_ABOUT_TEXT = (
    "All learned from {text}, each for up to about {minutes:.3g} minutes, with one vocabulary of whole "
    "words; every other word is [UNK] to each of them. What they reached has 95 % intervals. "
    "Perplexity from the left and pseudo-perplexity from both sides are not to be compared: one foresees a "
    "word from what stands before it, the other from all the rest."
)
_ABOUT_MEMBERS = (
    "BERT reads pairs of sentences and hides 15 % of the words. GPT is the first one, with the norm after "
    "each sum. ELMo reads words where the paper reads characters. CBOW and skip-gram are gensim's."
)
_ABOUT_TABLE = (
    "Vectors are compared by their cosine: of words, or of the mean of a sentence's places or words. A "
    "question with a word beyond the vocabulary is left out. By chance half of the next sentences are told, "
    "and 44 % of the senses. “cannot” is a result: the n-gram has no vectors, and who sees one side alone "
    "has no pseudo-perplexity."
)
_VERDICTS = {
    "holds": "What was expected and came",
    "does not hold": "What was expected and did not come",
    "cannot be told": "What cannot be told",
}


def card(report: Mapping[str, Any]) -> Iterator[str]:
    """Yield a family's card, in Markdown: what it learned from, all questions, which claims hold."""
    names = report["members"]
    yield from (f"# A family of {len(names)} language models", "")
    yield from (_ABOUT_TEXT.format(text=", ".join(report["text"]), minutes=report["minutes"]), "")
    if machine := report.get("note") or report.get("machine"):
        yield from (f"Trained on: {machine}.", "")
    yield from _table(("member", "paper", "weights", "words read", "seconds"), _facts(report))
    yield from ("## All questions to all members", "", _ABOUT_TABLE, "")
    head = ("question", *(ABOUT[name].said for name in names))
    yield from _table(head, ((_asked(line), *map(line.cell, names)) for line in lines(report)))
    yield from ("## What is said of them, and the verdict", "")
    for verdict, title in _VERDICTS.items():
        claims = [one for one in report["claims"] if one["verdict"] == verdict]
        if claims:
            yield from (f"### {title}", "")
            yield from (f"- {line}" for line in claims_lines(claims))
            yield ""
    yield _ABOUT_MEMBERS
    if report.get("informed_start"):
        yield INFORMED


def _facts(report: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    for name in report["members"]:
        one, about = report["reached"][name], ABOUT[name]
        figures = (f"{one['weights']:,}", f"{one['words_read']:,}", f"{one['seconds']:.0f}")
        yield about.said, about.paper, *figures


def _asked(line: Line) -> str:
    """Return what a question is, where it is from and over how many."""
    counts = [int(one["count"]) for one in line.scores.values()]
    many = f"{max(counts):,}" if counts else ""
    left = f"{line.left_out:,} left out" if line.left_out else ""
    rest = ", ".join(part for part in (line.source, many, left) if part)
    return f"{line.name} ({rest})" if rest else line.name


def _table(head: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> Iterator[str]:
    yield "| " + " | ".join(head) + " |"
    yield "|" + " --- |" * len(head)
    yield from ("| " + " | ".join(row) + " |" for row in rows)
    yield ""
