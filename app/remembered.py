"""What was open when the window closed, kept for the next start: the table, and how it was read.

A settings file may hold anything: what does not fit is left out, never raised.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from app.session import FILE_SETTINGS, LABEL_CHOICES, OVERRIDES, Session
from app.settings import AppSettings
from engine.errors import UserError
from engine.settings.finetune import DataConfig
from engine.settings.setting import settings_of
from engine.text.examples import Roles

TABLE = "open_table"
MOST_HEADS = 64
_HEAD = re.compile(r"([1-9]\d{0,2})\.([1-9]\d{0,2})")  # layer.head, both from 1


def keep_table(session: Session) -> None:
    """Keep which table is open, and what its columns mean."""
    path, roles = session.table_path, session.roles
    kept: dict[str, Any] = {}
    if path is not None:
        kept = {"path": str(path), "task": session.task, **session.label_choices, **session.table_overrides}
        if roles is not None:
            kept["roles"] = [roles.text, roles.text_pair, roles.label]
        kept["said"] = session.file_settings
    session.settings.set_value(TABLE, json.dumps(kept, ensure_ascii=False))


def reopen_table(session: Session) -> None:
    """Open the table that was open last, if it is still there."""
    try:
        kept = json.loads(session.settings.value(TABLE, ""))
        path, named = Path(str(kept["path"])), kept.get("roles")
        if not path.is_absolute() or not path.is_file():
            return
        roles = None
        if isinstance(named, list) and len(named) == 3 and all(isinstance(name, str) for name in named):
            roles = Roles(text=named[0], text_pair=named[1], label=named[2])
        overrides = {name: kept[name] for name in OVERRIDES if isinstance(kept.get(name), str)}
        choices = {name: kept.get(name) is True for name in LABEL_CHOICES}
        task = kept["task"] if kept.get("task") in known_tasks() else ""
        given = kept.get("said", {})
        said = {name: given[name] for name in FILE_SETTINGS if isinstance(given.get(name), str)}
        session.open_table(path, roles=roles, label_choices=choices, task=task, said=said, **overrides)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, OSError, UserError):
        return


def known_tasks() -> tuple[str, ...]:
    """Return the names of the tasks that data can be for."""
    return settings_of(DataConfig)["task"].choices


def keep_heads(settings: AppSettings, key: str, heads: Sequence[tuple[int, int]]) -> None:
    """Keep heads, counted from 0 here and from 1 in the file."""
    settings.set_value(key, [f"{layer + 1}.{head + 1}" for layer, head in heads[:MOST_HEADS]])


def kept_heads(settings: AppSettings, key: str) -> tuple[tuple[int, int], ...]:
    """Return the heads that were kept, counted from 0; none that is not written as one."""
    found = [_HEAD.fullmatch(text) for text in settings.value(key, list[str]())[:MOST_HEADS]]
    return tuple(dict.fromkeys((int(one[1]) - 1, int(one[2]) - 1) for one in found if one is not None))
