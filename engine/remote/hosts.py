"""The computers that can be named: those of ~/.ssh/config, and what is remembered of each: never a secret."""

from __future__ import annotations

import glob
import re
import shlex
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import platformdirs
import tomli_w

from engine.durable import explained, write_text
from engine.errors import UserError, marked
from engine.files import read_regular

FOLDER = "~/.cloze"  # there, in which all that is ours lies
_SSH = Path(".ssh")
_MOST = 2**20  # bytes of a file of settings
_DEEPEST = 8  # of files that include files
_LONGEST = 255  # characters of a name
_NAME = re.compile(r"[A-Za-z0-9_.@:%\[\]\u0080-\U0010ffff][A-Za-z0-9_.@:%\[\]\u0080-\U0010ffff-]*")
_LINE = re.compile(r"\s*([A-Za-z]+)[\s=]+(.*)")
_PATTERN = re.compile(r"[*?!]")


@dataclass(frozen=True, slots=True, kw_only=True)
class HostSettings:
    """What a person has said of a host. slurm: options of sbatch, such as "--partition=gpu --gpus=2
    --time=4:00:00", or "" where runs start at once; python: there, with Cloze in it; folder: there, in which
    all that is Cloze's lies.
    """

    slurm: str = ""
    python: str = ""
    folder: str = FOLDER


def hosts() -> tuple[str, ...]:
    """Return the hosts that ~/.ssh/config names, those it includes among them, without patterns."""
    return tuple(dict.fromkeys(_named_in(Path.home() / _SSH / "config", 0)))


def check_host(host: str) -> str:
    """Return a host's name if ssh can take it for one. Raises: UserError."""
    if len(host) > _LONGEST or not _NAME.fullmatch(host):
        raise UserError(
            marked(
                "engine",
                "{host} is not the name of a host. Name one of ~/.ssh/config, or say user@computer.",
            ),
            host=host,
        )
    return host


def settings_of(host: str) -> HostSettings:
    """Return what is remembered of a host."""
    known = _remembered().get(host)
    fields = HostSettings.__dataclass_fields__
    values = known if isinstance(known, dict) else {}
    return HostSettings(**{name: v for name, v in values.items() if name in fields and isinstance(v, str)})


def remember(host: str, settings: HostSettings) -> None:
    """Remember the settings of a host. Raises: UserError."""
    path = _file()
    with explained(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    values = {name: value for name, value in asdict(settings).items() if value and value != FOLDER}
    document = {**_remembered(), check_host(host): values}
    write_text(path, tomli_w.dumps({name: one for name, one in document.items() if one}))


def slurm_options(text: str) -> list[str]:
    """Return options of sbatch as its words. Raises: UserError: they are none."""
    try:
        words = shlex.split(text)
    except ValueError:
        words = [""]
    if any(not word.startswith("-") and not before.startswith("-") for before, word in _pairs(words)):
        raise UserError(
            marked("engine", "{given!r} are not options of sbatch, such as --partition=gpu --gpus=1."),
            given=text,
        )
    return words


def _pairs(words: list[str]) -> Iterator[tuple[str, str]]:
    return zip(["", *words], words, strict=False)


def _named_in(path: Path, depth: int) -> Iterator[str]:
    try:
        lines = read_regular(path, most=_MOST).decode(errors="replace").splitlines()
    except UserError:
        return
    for line in lines:
        said = _LINE.fullmatch(line)
        key, words = ("", []) if said is None else (said[1].lower(), _words(said[2]))
        if key == "host":
            yield from (one for one in words if not _PATTERN.search(one) and _NAME.fullmatch(one))
        elif key == "include" and depth < _DEEPEST:
            for one in words:
                pattern = Path.home() / _SSH / Path(one).expanduser()
                for found in sorted(glob.glob(str(pattern))):
                    yield from _named_in(Path(found), depth + 1)


def _words(text: str) -> list[str]:
    with suppress(ValueError):
        return shlex.split(text, comments=True)
    return []


def _file() -> Path:
    return Path(platformdirs.user_config_dir("cloze", appauthor=False)) / "hosts.toml"


def _remembered() -> dict[str, Any]:
    try:
        return tomllib.loads(read_regular(_file(), most=_MOST).decode())
    except (UserError, ValueError, RecursionError):
        return {}
