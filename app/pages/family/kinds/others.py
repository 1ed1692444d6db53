"""What the columns of models have in common that are no members: what they are, and why one says nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from app import words
from app.plots.member_column import MemberScore
from app.words import tr_engine, translate
from app.work.titles import model_title
from engine.errors import Sentence
from engine.family.members import ABOUT
from engine.family.other import AboutOther, ModelSize
from engine.family.other_guesses import MAY_HAVE_READ, READS


def titles_of(folders: Sequence[Path]) -> list[str]:
    """Return what models are called, no two alike, and none as a member."""
    found = [about.said for about in ABOUT.values()]
    for title in map(model_title, folders):
        same = sum(one == title or one.startswith(f"{title} (") for one in found)
        found.append(f"{title} ({same + 1})" if same else title)
    return found[len(ABOUT) :]


def head_of(title: str, about: AboutOther | None) -> dict[str, Any]:
    """Return what is in any column of such a model."""
    year = "" if about is None else str(about.year)
    return {"name": title, "year": year, "caption": translate("family", "Added")}


def waiting_or(refusal: Sentence | None, *, is_whole: bool) -> str:
    """Return what is in the place of an answer, "" where there is one."""
    if refusal is not None:
        return words.say(refusal)
    return "" if is_whole else translate("family", "Waiting…")


def size_heads() -> tuple[tuple[str, str], ...]:
    """Return the words of the rows that `size_cells` fills."""
    return (
        (translate("family", "Kind of model"), ""),
        (translate("family", "Weights"), ""),
        (translate("family", "Vocabulary"), ""),
    )


def size_cells(kind: str, size: ModelSize | None) -> tuple[MemberScore, ...]:
    """Return how large a model is. Args: kind: of models, "" where that is not known."""
    if size is None:
        return MemberScore(kind), MemberScore(""), MemberScore("")
    pieces = tr_engine(size.kind)
    return (
        MemberScore(kind),
        MemberScore(words.number(size.num_weights)),
        MemberScore(words.number(size.num_pieces), pieces, short=pieces),
    )


def member_cells(name: str, sizes: Mapping[str, ModelSize]) -> tuple[MemberScore, ...]:
    """Return how large a member is."""
    return size_cells(ABOUT[name].said, sizes.get(name))


def about_words(about: AboutOther | None, folder: Path, why: Sentence | None) -> list[str]:
    """Return sentences on a model that is no member. Args: why: it says nothing, or less than others."""
    found = [] if why is None else [words.say(why)]
    if about is not None:
        size = about.size
        found += [
            translate("family", "Built as {family} ({paper}): {weights} weights.").format(
                family=about.family, paper=about.paper, weights=words.number(size.num_weights)
            ),
            translate("family", "Vocabulary: {count} ({kind}). It reads words {reads}.").format(
                count=words.number(size.num_pieces),
                kind=tr_engine(size.kind),
                reads=tr_engine(READS[size.lowercase, size.strips]),
            ),
            tr_engine(MAY_HAVE_READ),
        ]
    return [*found, str(folder)]
