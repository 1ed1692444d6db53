"""What became of each weight of a model folder, and how a person is told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from engine.errors import Sentence, marked, some_of
from engine.model import names
from engine.model.families.family import BERT, Family

_MOST_NAMES = 3  # listed in one sentence


@dataclass(frozen=True)
class LoadReport:
    """What became of each weight.

    loaded, unexpected: names as the files spell them. missing: published names of those started at random.
    refused: (name, the sentence that says why). notes: what else a person should know. new: of names.PARTS,
    those that start at random. plain: name as the files spell it -> as BERT's is published. family: that
    wrote them.
    """

    loaded: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    unexpected: tuple[str, ...] = ()
    refused: tuple[tuple[str, Sentence], ...] = ()
    notes: tuple[Sentence, ...] = ()
    new: tuple[str, ...] = ()
    plain: Mapping[str, str] = field(default_factory=dict, repr=False)
    family: Family = BERT

    def sentences(self) -> list[Sentence]:
        """Return the report for a person: what was loaded, what is new, what was left out and why."""
        encoder = sum(names.part_of(self.plain[name]) == "encoder" for name in self.loaded)
        said = [
            Sentence(marked("engine", "All {count} tensors of the encoder were loaded."), {"count": encoder})
        ]
        said += {str(reason): reason for _, reason in self.refused}.values()  # each reason once
        said += self.notes
        heads: dict[str, int] = {}
        for name in self.unexpected:
            sentence = self._of_head(name)
            heads[sentence] = heads.get(sentence, 0) + 1
        said += [Sentence(template, {"count": count}) for template, count in heads.items() if template]
        unknown = [name for name in self.unexpected if not self._of_head(name)]
        if unknown:
            template = marked(
                "engine", "Ignored because config.json does not ask for them: {names} ({count} tensors)."
            )
            said.append(Sentence(template, {"names": listed(unknown), "count": len(unknown)}))
        return said

    def _of_head(self, name: str) -> str:
        """Return the sentence for the head that a stored weight belongs to; "" for an unknown weight."""
        return self.family.described(self.plain[name])[1] or names.head_sentence(self.plain[name])


def listed(values: Sequence[str]) -> list[str]:
    """Return a few names for a sentence."""
    return some_of(values, _MOST_NAMES)
