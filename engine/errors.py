"""What a person can mend, in one whole sentence.

Every sentence is a literal template marked for translation plus named values; anything that is not a
`UserError` is our own bug and must keep its traceback.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


def marked(context: str, text: str) -> str:
    """Return `text` unchanged; marks a literal for lupdate (`-tr-function-alias
    QT_TRANSLATE_NOOP+=marked`).
    """
    return text


@dataclass(frozen=True, slots=True)
class Sentence:
    """A marked template and the values that fill it; `str()` gives the English sentence."""

    template: str
    values: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.template.format(**self.values)


class UserError(Exception):
    """Something a person can mend: what is wrong, where, and what to do.

    Args: template: a literal wrapped in `marked("engine", ...)`; values: what its braces name.
    """

    def __init__(self, template: str, /, **values: Any) -> None:
        self.sentence = Sentence(template, values)
        super().__init__(str(self.sentence))

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.sentence.template, dict(self.sentence.values), dict(self.__dict__))


def _rebuild(
    kind: type[UserError], template: str, values: dict[str, Any], state: dict[str, Any]
) -> UserError:
    error = kind.__new__(kind)
    UserError.__init__(error, template, **values)
    error.__dict__.update(state)
    return error


class ConfigError(UserError):
    """A setting is refused; `field` names it, so that a form can show the sentence beside its widget."""

    def __init__(self, template: str, /, *, field: str, **values: Any) -> None:
        self.field = field
        super().__init__(template, field=field, **values)


class DataError(UserError):
    """A table, a text or a vocabulary cannot be used as it is."""


class ModelError(UserError):
    """A model folder cannot be read, or is not what it says it is."""


class RunError(UserError):
    """A run folder cannot be written, resumed or read."""
