"""What a family reached: a table for a terminal, a card in Markdown; a row for each member."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from engine.errors import marked
from engine.family.members import ABOUT
from engine.family.scores import BLANKS, BOTH_SIDES, FROM_LEFT
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
    for name in report["members"]:
        one, about = report["reached"][name], ABOUT[name]
        figures = (f"{one['weights']:,}", f"{one['words_read']:,}", f"{one['seconds']:.0f}")
        found = (_said(report, score, name) for score in (BLANKS, FROM_LEFT, BOTH_SIDES))
        rows.append((about.said, str(about.year), *figures, *found))
    notes = [INFORMED] if report.get("informed_start") else []
    return [*aligned(rows), "", *claims_lines(report["claims"]), *notes]


def _said(report: Mapping[str, Any], score: str, name: str) -> str:
    """Return a score with its interval, a share in percent; "cannot" is a result too."""
    one = report["scores"][score].get(name)
    if one is None:
        return CANNOT
    times, unit = (100.0, " %") if score == BLANKS else (1.0, "")
    return f"{times * one['value']:.1f}{unit} ({times * one['low']:.1f} to {times * one['high']:.1f})"


def claims_lines(claims: list[dict[str, Any]]) -> Iterator[str]:
    """Yield each claim with its figures and verdict, a line each."""
    for one in claims:
        yield (
            f"{one['verdict'].capitalize()}: {one['claim']} ({one['measure']}: {one['first']:.3f} and "
            f"{one['second']:.3f}, difference {one['difference']:+.3f}, 95 %: {one['low']:+.3f} to "
            f"{one['high']:+.3f}, {one['count']} texts)"
        )


_ABOUT_TEXT = (
    "All learned from {text}, each for {minutes:.3g} minutes, with one vocabulary of whole words; every "
    "other word is [UNK] to each of them. What they reached is of text kept apart, with 95 % intervals. "
    "Perplexity from the left and pseudo-perplexity from both sides are not to be compared."
)
_ABOUT_MEMBERS = (
    "BERT reads pairs of sentences and hides 15 % of the words. GPT is the first one, with the norm after "
    "each sum. ELMo reads words where the paper reads characters. CBOW and skip-gram are gensim's."
)


def card(report: Mapping[str, Any]) -> Iterator[str]:
    """Yield a family's card, in Markdown: what it learned from, what it reached, which claims hold."""
    yield from (f"# A family of {len(report['members'])} language models", "")
    yield from (_ABOUT_TEXT.format(text=", ".join(report["text"]), minutes=report["minutes"]), "")
    names = ("member", "paper", "weights", "words read", "blanks", "perplexity, left", "pseudo-perplexity")
    yield "| " + " | ".join(names) + " |"
    yield "|" + " --- |" * len(names)
    for name in report["members"]:
        one, about = report["reached"][name], ABOUT[name]
        found = [_said(report, score, name) for score in (BLANKS, FROM_LEFT, BOTH_SIDES)]
        cells = [about.said, about.paper, f"{one['weights']:,}", f"{one['words_read']:,}", *found]
        yield "| " + " | ".join(cells) + " |"
    yield ""
    yield from (f"- {line}" for line in claims_lines(report["claims"]))
    yield from ("", _ABOUT_MEMBERS)
    if report.get("informed_start"):
        yield INFORMED
