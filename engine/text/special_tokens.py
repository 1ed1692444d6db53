"""Tokens that no text is split into by itself: what a family calls those of its own, and further ones."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SpecialNames:
    """What a family calls its special tokens, and how it joins two texts.

    mask: which a vocabulary may lack; as long as [MASK], which may be typed for it. num_between,
    tells_segments: as of `Tokenizer`. own_class: its tokenizer in `transformers`.
    """

    pad: str
    unk: str
    cls: str
    sep: str
    mask: str
    num_between: int
    tells_segments: bool
    own_class: str

    @property
    def needed(self) -> tuple[str, ...]:
        """Those that no vocabulary may lack."""
        return self.pad, self.unk, self.cls, self.sep

    @property
    def named(self) -> dict[str, str]:
        """All by their keys in tokenizer_config.json."""
        return {f"{key}_token": getattr(self, key) for key in ("pad", "unk", "cls", "sep", "mask")}


@dataclass(frozen=True, slots=True)
class ExtraToken:
    """A token that is looked for in the text itself, before it is cut into words."""

    content: str
    special: bool = True
    normalized: bool = False
    single_word: bool = False
    lstrip: bool = False
    rstrip: bool = False
