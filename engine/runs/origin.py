"""Which jobs were put into a queue here: those that bear a seal made with a key of this person's.

The key lies outside of every folder of runs, and a seal holds for one folder alone: no queue that was copied,
unpacked or shared brings along what it takes.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import platformdirs

from engine.durable import explained
from engine.errors import UserError, marked
from engine.files import read_regular

_KEY, _KEY_BYTES = "queue.key", 32


def seal_of(document: Mapping[str, Any], folder: Path) -> str:
    """Return the seal of a document in a folder. Raises: UserError: no key can be kept on this computer."""
    place = os.path.normcase(os.path.realpath(folder))
    said = json.dumps([place, document], sort_keys=True)
    return hmac.new(_key(), said.encode(), hashlib.sha256).hexdigest()


def is_sealed(document: Mapping[str, Any], folder: Path, seal: Any) -> bool:
    """Whether a seal was made here, for this document and folder."""
    if not isinstance(seal, str) or not seal.isascii():
        return False
    with suppress(UserError):
        return hmac.compare_digest(seal_of(document, folder), seal)
    return False


def _key() -> bytes:
    """Return the key, made where there is none yet. Raises: UserError."""
    path = Path(platformdirs.user_state_dir("cloze", appauthor=False)) / _KEY
    if not path.exists():
        beside = path.with_name(f".{_KEY}.{secrets.token_hex(8)}")
        with explained(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(secrets.token_bytes(_KEY_BYTES))
                with suppress(FileExistsError):  # somebody was quicker
                    os.link(beside, path)
            finally:
                beside.unlink()
    key = read_regular(path, most=_KEY_BYTES)
    if len(key) != _KEY_BYTES:
        raise UserError(marked("engine", "{path} is damaged. Delete it, and a new one is made."), path=path)
    return key
