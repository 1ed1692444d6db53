"""A question to a model is a frozen value with a function that answers it.

Two questions that are equal have the same answer, so a question is its own identity. Its fields are declared
once, as settings are; its command with `--help`, the line that a person copies, and what a file holds of it
follow from them. Nothing here, nor in a file of a question, imports torch before it is answered.
"""

from __future__ import annotations

import dataclasses
import shlex
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Iterator
from dataclasses import MISSING, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, Self, TypeVar, cast

from engine.events import Event, Steps, result_of
from engine.model.model_name import ModelName
from engine.own_process import command_words
from engine.questions.flags import Flag
from engine.settings.setting import Setting, types_of
from engine.settings.values import plain, read_value

if TYPE_CHECKING:
    from engine.inspect.loaded_model import LoadedModel
    from engine.train.tasks.rows.predict import RowModel

Found = TypeVar("Found", covariant=True)
FLAG = Flag()


class Models(Protocol):
    """The models that questions are answered with."""

    def subject(self, folder: ModelName, /) -> LoadedModel:
        """Return a model for looking inside. Raises: ModelError, DataError."""

    def predictor(self, folder: ModelName, /) -> RowModel:
        """Return a model for predicting. Raises: ModelError if it is no classifier."""


def asked(
    default: Any = MISSING,
    help: str = "",
    *,
    flag: Flag | None = FLAG,
    compare: bool = True,
    kw_only: bool = False,
    **metadata: Any,
) -> Any:
    """Return a field of a question. Without a default, a person has to give it.

    Args: help: as `--help` says it. flag: how a command line has it; None: not at all. compare: whether the
    answer depends on it. metadata: as in `Setting`: limits and choices, which hold for what a file says.
    """
    about = Setting(label="", help=help, **metadata)
    return dataclasses.field(
        default=default, compare=compare, kw_only=kw_only, metadata={"setting": about, "flag": flag}
    )


def given(default: Any = None) -> Any:
    """Return a field of what this process has at hand, such as an open table: no file or line tells of it."""
    return asked(default, flag=None, kind="given", kw_only=True)


def json_field(help: str) -> Any:
    """Return the field that has a command print JSON."""
    return asked(False, help, compare=False, kw_only=True)


def out_field(help: str, *, is_needed: bool = False) -> Any:
    """Return the field that names the file which a command writes."""
    return asked(None, help, flag=Flag(is_needed=is_needed), compare=False, kw_only=True)


@dataclass(frozen=True)
class Question(Generic[Found]):
    """One question. A class of its own declares what else is asked, and what its command is called."""

    name: ClassVar[str] = ""  # of its command; "": it has none
    help: ClassVar[str] = ""
    is_done_told: ClassVar[bool] = False  # the command says that its file is written
    lines_are_aside: ClassVar[bool] = False  # on stderr, where its progress is told

    model: ModelName = asked(help="a model folder")

    def __init_subclass__(cls, *, command: str = "", help: str = "", **more: Any) -> None:
        super().__init_subclass__(**more)
        if command:
            cls.name, cls.help = command, help

    def answer(self, models: Models) -> Steps[Found] | Iterator[Event] | Found:
        """Return the answer, or a generator of events that returns it or tells it on the way.

        Raises: UserError.
        """
        raise NotImplementedError

    # ---- on a command line

    def check(self) -> None:
        """Refuse what cannot be asked before a model is opened. Raises: UserError."""

    def outs(self) -> tuple[Path, ...]:
        """Return the files that the command writes once there is an answer."""
        out: Path | None = getattr(self, "out", None)
        return () if out is None else (out,)

    def write(self, found: Any, out: Path) -> None:
        """Write an answer into a file that the command names."""
        raise NotImplementedError

    def document(self, found: Any) -> Any:
        """Return an answer as `--json` prints it."""
        raise NotImplementedError

    def lines(self, found: Any) -> Iterable[str]:
        """Return an answer as lines for a terminal."""
        return ()

    @classmethod
    def add_to(cls, command: ArgumentParser) -> None:
        """Let a command read the question."""
        groups: dict[str, Any] = {}
        fields = sorted(_flagged(cls), key=lambda one: one[1].is_last)
        for field, flag in fields:
            place: Any = command
            if flag.group:
                if flag.group not in groups:
                    groups[flag.group] = command.add_mutually_exclusive_group(required=True)
                place = groups[flag.group]
            flag.add(place, field.name, field.metadata["setting"], types_of(cls)[field.name], field.default)

    @classmethod
    def given_by(cls, options: Namespace) -> Self:
        """Return the question that a command line asks."""
        values = {field.name: flag.given(options, field.name) for field, flag in _flagged(cls)}
        for name, kind in types_of(cls).items():
            if kind is ModelName and values.get(name) is not None:
                values[name] = ModelName(values[name])
        return cls(**values)

    def command(self) -> str:
        """Return the line that asks this without the window; what is at its default is left out."""
        words, texts = [*command_words(), self.name], list[str]()
        for field, flag in _flagged(type(self)):
            value = getattr(self, field.name)
            if value not in (field.default, None, ""):
                (texts if flag.is_text else words).extend(flag.words(field.name, value))
        if any(text.startswith("-") for text in texts):
            words.append("--")  # else it would be read as a flag
        return shlex.join(words + texts)

    def texts_named(self) -> tuple[str, ...]:
        """Return the texts that stand on the line itself."""
        found = (getattr(self, field.name) for field, flag in _flagged(type(self)) if flag.is_text)
        each = (one if isinstance(one, tuple) else (one or "",) for one in found)
        return tuple(text for some in each for text in some if text.strip())

    # ---- in a file

    def to_json(self) -> dict[str, Any]:
        """Return the question as JSON can hold it."""
        return {"question": self.name, **plain(self)}

    @classmethod
    def from_json(cls, document: Any) -> Self:
        """Return what `to_json` gave. Raises: Unfit: a value is missing or cannot be."""
        return read_value(cls, document)


def _flagged(kind: type[Question[Any]]) -> Iterator[tuple[dataclasses.Field[Any], Flag]]:
    for field in dataclasses.fields(kind):
        flag = cast("Flag | None", field.metadata["flag"])
        if flag is not None:
            yield field, flag


def answer_of(
    question: Question[Found], models: Models, hear: Callable[[Any], object] | None = None
) -> Found:
    """Return the answer, step by step where it has steps; their events are told to whoever hears them."""
    found = question.answer(models)
    return result_of(cast("Steps[Found]", found), hear) if isinstance(found, Iterator) else found
