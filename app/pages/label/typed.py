"""The number of a label as it is typed: a digit that can still become another number waits for the next one.

Of nine labels each has one key. Of forty, 5 is given at once and 1 waits: for a second digit, or for Enter.
"""

from __future__ import annotations


class TypedNumber:
    """Digits that wait. digits: "" where none do."""

    def __init__(self) -> None:
        self.digits = ""

    def type(self, digit: str, count: int) -> int | None:
        """Take a digit, where there are so many labels. Returns: the label's place; None: not yet, none."""
        typed = self.digits + digit
        self.digits = typed if 1 <= int(typed) <= count else ""  # of what is no label, nothing is given
        return None if not self.digits or int(typed) * 10 <= count else self.end()

    def end(self) -> int | None:
        """Return the place of the label whose number was typed; None: none was. Nothing waits any more."""
        typed, self.digits = self.digits, ""
        return int(typed) - 1 if typed else None

    def could_be(self, count: int) -> list[int]:
        """Return the places of the labels whose numbers begin with what was typed."""
        return [place for place in range(count) if self.digits and str(place + 1).startswith(self.digits)]
