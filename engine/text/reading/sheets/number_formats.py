"""Number formats whose text is not the value: 0.12 that shows as 12%, 42 as 00042, 7 as ID-007.

Such a format is zeros with fixed text around it. Any other, such as a thousands separator, a currency, a
fraction or a date's, only changes how the same value is written: there the value is read in full.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation

_FIXED = r'(?:"[^"]*"|\\.|[-+ ])*'  # text that is written as it is
_CODE = re.compile(rf"({_FIXED})(0+)(?:\.(0+))?(%?)({_FIXED})")
_PART = re.compile(r'"([^"]*)"|\\(.)|([-+ ])')
BUILT_IN = {9: "0%", 10: "0.00%"}  # ECMA-376, 18.8.30
_PLAIN_BUILT_IN = (0, 1, 2, 3, 4, 49)
_PLAIN = re.compile(r"(?i:general)|@|[#,]*0+(?:\.0+)?")  # a number as such, or text


@dataclass(frozen=True, slots=True)
class NumberFormat:
    """Zeros with text around them. width: digits before the point at least. places: behind it."""

    before: str
    width: int
    places: int
    is_percent: bool
    after: str

    @classmethod
    def of(cls, code: str) -> NumberFormat | None:
        """Return what a code shows other than the value; None where it is another way to write it."""
        found = _CODE.fullmatch(code)
        if not found:
            return None
        before, after = (_plain(found[group]) for group in (1, 5))
        is_percent, places = bool(found[4]), len(found[3] or "")
        if not (is_percent or before.strip() or after.strip() or (len(found[2]) > 1 and not places)):
            return None
        return cls(before, len(found[2]), places, is_percent, after)

    def said(self, value: str) -> str:
        """Return a number, as a file holds it, as it is shown; a value that is none as it is."""
        try:
            number = Decimal(value)
            shown = abs(number * 100 if self.is_percent else number)
            rounded = shown.quantize(Decimal(1).scaleb(-self.places), ROUND_HALF_UP)
        except InvalidOperation:
            return value
        if not self.is_percent and rounded != shown:
            return value  # what is no whole number is no number of digits
        sign = "-" if number < 0 and rounded else ""
        digits, point, rest = f"{rounded:f}".partition(".")
        return (
            f"{sign}{self.before}{digits.zfill(self.width)}{point}{rest}{'%' * self.is_percent}{self.after}"
        )


def is_plain(number: int, code: str) -> bool:
    """Whether a format only says how many digits are shown. Args: code: "" of a built-in one."""
    return number in _PLAIN_BUILT_IN or bool(_PLAIN.fullmatch(code))


def _plain(text: str) -> str:
    return "".join(part for found in _PART.finditer(text) for part in found.groups("") if part)
