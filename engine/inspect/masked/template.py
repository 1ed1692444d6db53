"""Templates: one sentence with alternatives in braces and a gap, such as "{he|she} works as a [MASK]"."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

from engine.errors import UserError, marked

MOST_CELLS = 5000  # sentences that one template may make
MASK = "[MASK]"
_PART = re.compile(r"\{([^{}]*)\}|([^{}]+)|([{}])")


@dataclass(frozen=True, slots=True)
class TemplateCell:
    """One combination of a template's alternatives.

    options: the alternative of each group. text: the sentence. spans: where each option stands in it.
    """

    options: tuple[str, ...]
    text: str
    spans: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Template:
    """A parsed template. parts: text as it is written, and groups of alternatives as tuples."""

    text: str
    parts: tuple[str | tuple[str, ...], ...]

    @classmethod
    def parse(cls, text: str) -> Template:
        """Read a template; an alternative may be empty: "{very |}good".

        Raises: UserError: no [MASK] or several, a brace without its other, braces in braces, an empty group,
                or more than `MOST_CELLS` combinations.
        """
        parts: list[str | tuple[str, ...]] = []
        for found in _PART.finditer(text):
            if found[3]:
                _refuse(marked("engine", "The template {text!r} has an unmatched brace."), text)
            if found[1] is None:
                parts.append(found[2])
            elif found[1].strip():
                parts.append(tuple(dict.fromkeys(option.strip("\n") for option in found[1].split("|"))))
            else:
                _refuse(
                    marked(
                        "engine", "The template {text!r} has empty braces. Write {{he|she}}, for example."
                    ),
                    text,
                )
        template = cls(text, tuple(parts))
        plain = sum(part.count(MASK) for part in parts if isinstance(part, str))
        if plain != 1 or any(MASK in option for group in template.groups for option in group):
            _refuse(marked("engine", "The template {text!r} needs one [MASK], outside of braces."), text)
        if template.num_cells > MOST_CELLS:
            raise UserError(
                marked(
                    "engine",
                    "The template {text!r} makes {count} sentences, and at most {most} are asked. "
                    "Remove some alternatives.",
                ),
                text=text[:80],
                count=template.num_cells,
                most=MOST_CELLS,
            )
        return template

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """The alternatives of each group, in order."""
        return tuple(part for part in self.parts if isinstance(part, tuple))

    @property
    def num_cells(self) -> int:
        """How many sentences it makes."""
        return math.prod(map(len, self.groups))

    def cells(self) -> Iterator[TemplateCell]:
        """Yield all combinations, the last group changing fastest."""
        for options in itertools.product(*self.groups):
            text, spans, rest = "", list[tuple[int, int]](), iter(options)
            for part in self.parts:
                if isinstance(part, str):
                    text += part
                else:
                    option = next(rest)
                    spans.append((len(text), len(text) + len(option)))
                    text += option
            yield TemplateCell(options, text, tuple(spans))


def _refuse(sentence: str, text: str) -> None:
    raise UserError(sentence, text=text[:80])
