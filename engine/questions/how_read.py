"""How the file of a question is read: what a person says of it; the rest is found out."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

from engine.questions.flags import Flag, flag_words
from engine.questions.question import asked
from engine.settings.config import with_values
from engine.settings.finetune import DataConfig, FineTuneConfig
from engine.settings.setting import Setting, settings_of
from engine.text.roles import ROLE_NAMES

QUOTINGS = ("csv", "none", "backslash")
_ESCAPES = {"\\t": "\t", "tab": "\t", "comma": ",", "semicolon": ";", "bar": "|"}


@dataclass(frozen=True, slots=True)
class ReadSettings:
    """As `read_table` takes it; "": found out."""

    encoding: str = ""
    separator: str = ""
    quoting: str = ""
    header: str = ""
    sheet: str = ""

    @classmethod
    def of(cls, values: Any) -> Self:
        """Return what is said in a mapping, or among the attributes of an object."""
        found = values if isinstance(values, Mapping) else vars(values)
        return cls(**{field.name: found.get(field.name) or "" for field in fields(cls)})

    def named(self) -> dict[str, str]:
        """Return it as arguments by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def words(self) -> list[str]:
        """Return what a command line says of it."""
        separator = "tab" if self.separator == "\t" else self.separator  # a tab would complete a word
        said = {**self.named(), "separator": separator, "header": ""}
        words = [word for name, value in said.items() if value for word in flag_words(f"--{name}", value)]
        header = {"": [], "no": ["--no-header"], "yes": ["--header"]}
        return [*words, *header.get(self.header, ["--header", self.header])]


@dataclass(frozen=True, slots=True)
class HowReadFlags(Flag):
    """The flags of `ReadSettings`."""

    def add(self, place: Any, name: str, about: Setting, hint: Any, default: Any) -> None:
        add_how_read(place)

    def given(self, options: Namespace, name: str) -> ReadSettings:
        return ReadSettings.of(options)

    def words(self, name: str, value: ReadSettings) -> list[str]:
        return value.words()


HOW_READ = tuple(field.name for field in fields(ReadSettings))


def how_field(*, is_last: bool = True) -> Any:
    """Return the field of how a file is read."""
    return asked(ReadSettings(), flag=HowReadFlags(is_last=is_last), kw_only=True)


def data_config(asked: Any) -> DataConfig:
    """Return the file that a question or a command line names, and how it is read. Raises: ConfigError."""
    how = getattr(asked, "how", None) or ReadSettings.of(asked)
    named = {name: getattr(asked, name, None) for name in ("data", *ROLE_NAMES, "scheme")}
    said = {name: value for name, value in {**named, **how.named()}.items() if value}
    return with_values(FineTuneConfig(), said).data


def add_how_read(command: Any) -> None:
    """Let a command read what a person says of a file."""
    helps = {name: about.help.replace("%", "%%") for name, about in settings_of(DataConfig()).items()}
    command.add_argument("--encoding", help=helps["encoding"])
    command.add_argument(
        "--separator", type=lambda given: _ESCAPES.get(given, given), help=helps["separator"]
    )
    command.add_argument("--quoting", choices=QUOTINGS, help=helps["quoting"])
    command.add_argument("--sheet", metavar="NAME", help=helps["sheet"])
    header = command.add_mutually_exclusive_group()
    header.add_argument("--no-header", dest="header", action="store_const", const="no", help="line 1 is data")
    header.add_argument(
        "--header",
        dest="header",
        nargs="?",
        const="yes",
        metavar="LINE",
        help="line 1 names the columns, or the line given here",
    )
