"""How many blanks of a text does each fill?"""

from __future__ import annotations

from argparse import Namespace
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from engine.errors import per_cent
from engine.events import Steps
from engine.family.questions.question import FamilyQuestion, Option, Rows, other_arguments, said_score

if TYPE_CHECKING:
    from engine.family.ask import Family
    from engine.family.text_blanks import FilledBlanks, OtherFilled


@dataclass(frozen=True)
class TextBlanks(FamilyQuestion["FilledBlanks"]):
    """A file of plain text, and models that are asked next to the members."""

    option = Option(
        "blanks", "a text, of whose sentences up to 500 have a word masked", type=Path, metavar="FILE"
    )
    takes_others = True

    file: Path | None
    others: tuple[Path, ...] = ()

    @classmethod
    def given_by(cls, options: Namespace) -> Self:
        return cls(options.family, options.blanks, tuple(options.beside))

    def answer(self, family: Family) -> Steps[FilledBlanks]:
        from engine.family.text_blanks import filled_blanks

        assert self.file is not None
        return (yield from filled_blanks(family, self.file, self.others))

    def document(self, family: Family, found: FilledBlanks) -> Any:
        from engine.family.text_blanks import other_document

        reached = {name: asdict(one) for name, one in found.scores.items()}
        return {
            "text": found.source,
            "blanks": found.num_blanks,
            "sentences": found.num_read,
            **{name: reached[name] for name in family.members},
            "others": [other_document(one, reached.get(str(n))) for n, one in enumerate(found.others)],
        }

    def rows(self, family: Family, found: FilledBlanks) -> Rows:
        from engine.family.members import ABOUT

        more = ("compared with BERT", "right words of one piece", "parameters", "vocabulary")
        rows: Rows = [("member", f"filled of {found.num_blanks}", *(more if self.others else ()))]
        for name in family.members:
            size = found.sizes.get(name)
            sizes = ("", "", f"{size.num_weights:,}", f"{size.num_pieces:,} {size.kind}") if size else ()
            rows.append((ABOUT[name].said, said_score(found.scores[name]), *sizes))
        return [*rows, *(self._row(found, place, one) for place, one in enumerate(found.others))]

    def _row(self, found: FilledBlanks, place: int, one: OtherFilled) -> tuple[str, ...]:
        from engine.family.other_guesses import called
        from engine.family.text_blanks import against_words

        name = called(one.folder, one.about)
        if one.refusal is not None or one.about is None or one.one_piece is None:
            return name, str(one.refusal), "", "", "", ""
        size = one.about.size
        said = said_score(found.scores.get(str(place)))
        pieces = per_cent(f"{100 * one.one_piece:.1f}")
        return (
            *(name, said, against_words(one.against), pieces),
            *(f"{size.num_weights:,}", f"{size.num_pieces:,} {size.kind}"),
        )

    def lines(self, family: Family, found: FilledBlanks) -> list[str]:
        from engine.family.other_guesses import MAY_HAVE_READ
        from engine.family.text_blanks import ONE_PIECE

        return [*super().lines(family, found), *(["", ONE_PIECE, MAY_HAVE_READ] if self.others else [])]

    def arguments(self) -> list[str]:
        return ["--blanks", str(self.file), *other_arguments(self.others)]
