"""What a person asks of a model hub: a name as it is written, and the way to the hub.

Nothing here knows the address of a hub: huggingface_hub has it, or a person names another.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from engine.errors import UserError, marked

TRANSPORTS = ("http", "xet")
_PART = r"[A-Za-z0-9_](?:[\w.-]*[A-Za-z0-9_])?"
_NAME = re.compile(rf"{_PART}(?:/{_PART})?", re.ASCII)
_REVISION = re.compile(r"(?!-)[\w./-]{1,200}", re.ASCII)
_OWNER = "google-bert/"  # the first BERTs were published without an owner, and have this one now


@dataclass(frozen=True, slots=True, kw_only=True)
class HubSettings:
    """The way to a hub. mirror: its address; "": what HF_ENDPOINT says, or huggingface_hub's own.

    send_token: to that address as well; else a token goes to the hub that it is for, and to no other.
    transport: "http" goes on where it was cut; "xet" is faster on some lines and begins a file anew.
    stall_s: without a byte, after which a transfer counts as cut; 0: as huggingface_hub has it. tries: in a
    row that bring nothing. wait_s: before the second, doubled for each further one, at most longest_s.
    """

    mirror: str = ""
    transport: str = "http"
    offline: bool = False
    send_token: bool = False
    stall_s: float = 0.0
    tries: int = 2
    wait_s: float = 1.0
    longest_s: float = 30.0

    def __post_init__(self) -> None:
        if self.mirror and not is_address(self.mirror):
            raise UserError(
                marked(
                    "engine",
                    "The mirror {mirror} is not an address. An address begins with https:// or http://.",
                ),
                mirror=self.mirror,
            )


def other_hub(mirror: str) -> str:
    """Return the address that is asked in the place of the usual hub; "" where it is that one."""
    return mirror or os.environ.get("HF_ENDPOINT", "")


def is_address(text: str) -> bool:
    """Whether a text can be the address of a hub."""
    try:
        parts = urlsplit(text)
        host = (parts.hostname or "").encode("idna")  # of parts that are not too long
        return parts.scheme in ("http", "https") and bool(host) and parts.port != 0
    except ValueError:
        return False


def is_name(text: str) -> bool:
    """Whether a text can be the name of a published model."""
    return bool(_NAME.fullmatch(text)) and len(text) <= 96 and "--" not in text and ".." not in text


def parse_name(text: str, revision: str = "") -> tuple[str, str]:
    """Return name and revision of what a person typed: a name, or the address of a model's page.

    Raises: UserError where it is neither.
    """
    name = text.strip().strip("/")
    if "://" in name:
        steps = urlsplit(name).path.strip("/").split("/")
        place = next((at for at, step in enumerate(steps) if step in ("tree", "blob", "resolve")), len(steps))
        name, said = "/".join(steps[:place]), steps[place + 1 : place + 2]
        revision = revision or (said[0] if said else "")
    if not is_name(name):
        raise UserError(
            marked(
                "engine",
                "{name} is not the name of a published model. One looks like bert-base-chinese "
                "or google-bert/bert-base-uncased.",
            ),
            name=text.strip() or '""',
        )
    if revision and (not _REVISION.fullmatch(revision) or ".." in revision):
        raise UserError(
            marked("engine", "{revision} is not a revision: a branch, a tag or a commit."), revision=revision
        )
    return name, revision


def spellings(name: str) -> list[str]:
    """Return the names by which a model may be known, as it was asked for first."""
    if name.startswith(_OWNER):
        return [name, name.removeprefix(_OWNER)]
    return [name, _OWNER + name] if "/" not in name and name.startswith("bert-") else [name]
