"""Letters and digits as wide as a Chinese character, as East Asian keyboards can write them: ＡＢＣ."""

from __future__ import annotations

import re

FULL_WIDTH = re.compile("[０-９Ａ-Ｚａ-ｚ]")  # no punctuation, which belongs to Chinese texts
_HALF_WIDTH = {code: code - 0xFEE0 for code in range(ord("０"), ord("ｚ") + 1) if FULL_WIDTH.match(chr(code))}


def half_width(text: str) -> str:
    """Return a text with half-width letters and digits, all else as it is. Source: NFKC of Unicode."""
    return text.translate(_HALF_WIDTH)
