"""Going on: what those that read from the left write after a beginning."""

from __future__ import annotations

import numpy as np

from engine.family.ask import Family
from engine.family.members import NUM_SPECIALS, SEP, Continues


def go_on(family: Family, text: str, count: int, temperature: float, seed: int) -> dict[str, str]:
    """Return what each writes: at most `count` words, to the end of a sentence. Others are not in it.

    Args: temperature: 0 for the likeliest word each time; 1 draws words as often as the member expects them.
    """
    beginning = family.words(text) if text.strip() else []
    found = dict[str, str]()
    for name, member in family.members.items():
        if not isinstance(member, Continues):
            continue
        rng, words = np.random.default_rng(seed), list(beginning)
        while len(words) < len(beginning) + count:
            word = _next(member.after(words), temperature, rng)
            if word == SEP:
                break
            words.append(word)
        found[name] = family.said(words[len(beginning) :])
    return found


def _next(p: np.ndarray, temperature: float, rng: np.random.Generator) -> int:
    p = p.astype(np.float64)
    p[[number for number in range(NUM_SPECIALS) if number != SEP]] = 0.0  # no word that could be read
    if temperature <= 0.0:
        return int(p.argmax())
    p = np.power(p / p.max(), 1.0 / temperature)
    return int(rng.choice(len(p), p=p / p.sum()))
