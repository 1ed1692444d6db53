"""What a model that is no member makes of a word in several sentences, next to the members."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from engine.errors import Sentence, UserError
from engine.family.ask import Family
from engine.family.other import AboutOther, about_other
from engine.family.other_guesses import NO_MEMORY, called
from engine.family.senses import MemberSenses, SenseSeparation, practice_senses, told_apart
from engine.train.run.kept import name_of


@dataclass(frozen=True, slots=True)
class OtherSenses:
    """A model's vectors of a word. about: None until it is open. apart: None of one sense. refusal: why there
    are none.
    """

    folder: Path
    about: AboutOther | None = None
    senses: MemberSenses | None = None
    apart: SenseSeparation | None = None
    refusal: Sentence | None = None
    is_whole: bool = False  # it has answered


def ask_senses(
    family: Family, folder: Path, word: str, texts: Sequence[str], groups: Sequence[int]
) -> OtherSenses:
    """Return what a model makes of a word; whatever is wrong with it is said in its place."""
    found = OtherSenses(folder, is_whole=True)
    try:
        subject = family.open_model(folder)
        found = replace(found, about=about_other(subject))
        senses = practice_senses(family.other(subject), word, texts)
    except UserError as error:
        return replace(found, refusal=error.sentence)
    except MemoryError:
        return replace(found, refusal=Sentence(NO_MEMORY))
    return replace(found, senses=senses, apart=told_apart(senses, groups))


def document_of(found: OtherSenses) -> dict[str, Any]:
    """Return what a model says as JSON can hold it."""
    senses, about = found.senses, found.about
    return {
        "model": str(found.folder),
        "name": name_of(found.folder),
        **({} if about is None else asdict(about)),
        "likeness": None if senses is None else list(senses.likeness),
        "points": None if senses is None else senses.points.tolist(),
        "why_not": None if found.refusal is None else str(found.refusal),
    }


def row_of(found: OtherSenses) -> tuple[str, str]:
    """Return what a model says as the row of a table for a terminal."""
    name = called(found.folder, found.about)
    if found.senses is None:
        return name, str(found.refusal)
    return name, " ".join(f"{x:.2f}" for x in found.senses.likeness)
