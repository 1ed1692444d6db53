"""What was open when the window closed, kept for the next start: the table, how it was read and what it was
compared with, the model, the form for a run, and what each page showed.

A settings file may hold anything: what does not fit is left out, never raised.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from app.session import Session
from app.settings import AppSettings
from app.work.inspector import LONGEST_KEPT
from app.work.open_data import FILE_SETTINGS, LABEL_CHOICES, OVERRIDES
from app.work.page_state import TEXTS, PageState, SceneValues, State, state_of, values_of
from engine.errors import UserError
from engine.settings.config import with_values
from engine.settings.finetune import DataConfig, FineTuneConfig
from engine.settings.setting import settings_of
from engine.text.roles import EVERY, Roles

TABLE, MODEL, FORM, STATE = "open_table", "open_model", "finetune/form", "state"
MOST_COMPARED = 8  # files


def keep_table(session: Session) -> None:
    """Keep which table is open, and what its columns mean."""
    data, roles = session.data, session.data.roles
    kept: dict[str, Any] = {}
    if data.path is not None:
        kept = {"path": str(data.path), "task": data.task, **data.label_choices, **data.overrides}
        if roles is not None:
            kept["roles"] = roles.as_json(EVERY)
        kept["said"] = data.file_settings
        kept["against"] = [str(other) for other in session.doctor.against[:MOST_COMPARED]]
    session.settings.set_value(TABLE, json.dumps(kept, ensure_ascii=False))


def keep_model(session: Session) -> None:
    """Keep which model is chosen to be trained."""
    model, said = session.model.chosen, dict[str, str]()
    if model is not None:
        said = {name: str(session.values()[name]) for name in ("model", "vocab", "lowercase")}
    session.settings.set_value(MODEL, json.dumps(said, ensure_ascii=False))


def reopen_model(session: Session) -> None:
    """Choose the model that was chosen last, if it is still there."""
    try:
        kept = json.loads(session.settings.value(MODEL, ""))
        model, vocab, lowercase = (str(kept[name]) for name in ("model", "vocab", "lowercase"))
        with_values(FineTuneConfig(), {"model": model, "vocab": vocab, "lowercase": lowercase})
        folder, is_new = Path(model), model.startswith("new:")
        if Path(vocab).is_file() if is_new else folder.is_absolute() and (folder / "config.json").is_file():
            session.model.choose(model, vocab, lowercase)
    except (ValueError, TypeError, KeyError, RecursionError, OSError, UserError):
        return


def keep_form(settings: AppSettings, values: Mapping[str, Any], apart: Sequence[str]) -> None:
    """Keep what a person has set for a run. Args: apart: a table, its own validation and test file."""
    kept = {"values": dict(values), "apart": list(apart)}
    settings.set_value(FORM, json.dumps(kept, ensure_ascii=False))


def kept_form(settings: AppSettings, names: Sequence[str]) -> tuple[dict[str, Any], tuple[str, str, str]]:
    """Return what was kept of these settings, as far as it can be, and a table with its own files."""
    values, apart = dict[str, Any](), ("", "", "")
    try:
        kept = json.loads(settings.value(FORM, ""))
        named = kept["apart"]
        if isinstance(named, list) and len(named) == 3 and all(isinstance(path, str) for path in named):
            apart = (named[0], named[1], named[2])
        found = {name: kept["values"][name] for name in names if name in kept["values"]}
    except (ValueError, TypeError, KeyError, RecursionError):
        return values, apart
    for name, value in found.items():
        with suppress(UserError, ValueError, TypeError):
            with_values(FineTuneConfig(), {name: value})
            values[name] = value
    return values, apart


def reopen_table(session: Session) -> None:
    """Open the table that was open last, if it is still there."""
    try:
        kept = json.loads(session.settings.value(TABLE, ""))
        path, named = Path(str(kept["path"])), kept.get("roles")
        if not path.is_absolute() or not path.is_file():
            return
        if isinstance(named, list):  # as windows of before kept them
            named = dict(zip(("text", "text_pair", "label"), named, strict=False))
        roles = Roles.from_json(named) or None
        overrides = {name: kept[name] for name in OVERRIDES if isinstance(kept.get(name), str)}
        choices = {
            name: kept[name] for name, usual in LABEL_CHOICES.items() if type(kept.get(name)) is type(usual)
        }
        task = kept["task"] if kept.get("task") in known_tasks() else ""
        given = kept.get("said", {})
        said = {name: given[name] for name in FILE_SETTINGS if isinstance(given.get(name), str)}
        others = kept.get("against", [])
        if isinstance(others, list):
            named_files = [Path(other) for other in others[:MOST_COMPARED] if isinstance(other, str)]
            session.doctor.remember(path, tuple(file for file in named_files if file.is_file()))
        session.data.open(path, roles=roles, label_choices=choices, task=task, said=said, **overrides)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, OSError, UserError):
        return


def keep_state(settings: AppSettings, key: str, state: PageState) -> None:
    """Keep what a page shows. Args: key: of the page."""
    scene = values_of(state)
    models = {role: str(path) for role, path in scene.models.items()}
    kept = {"values": scene.values, "models": models, "text": scene.text, "text_pair": scene.text_pair}
    settings.set_value(f"{key}/{STATE}", json.dumps(kept, ensure_ascii=False))


def kept_state(settings: AppSettings, key: str, kind: type[State]) -> State | None:
    """Return what a page showed when the last window closed, without models that are gone; None where nothing
    can be shown without them, or was kept.
    """
    try:
        kept = json.loads(settings.value(f"{key}/{STATE}", ""))
        named = {role: Path(path) for role, path in kept["models"].items()}
        models = {role: path for role, path in named.items() if path.is_absolute() and path.exists()}
        texts = {name: str(kept[name])[:LONGEST_KEPT] for name in TEXTS}
        return state_of(kind, SceneValues(dict(kept["values"]), models, **texts))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, OSError, UserError):
        return None


def known_tasks() -> tuple[str, ...]:
    """Return the names of the tasks that data can be for."""
    return settings_of(DataConfig)["task"].choices
