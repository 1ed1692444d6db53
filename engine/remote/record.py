"""What a folder here says of a run that is trained elsewhere: where, sealed; and how far it has been heard.

A folder may come from somebody else. Which host is to be asked is believed only under this person's seal (see
engine/runs/origin.py), so that no folder makes anybody connect anywhere.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from engine.durable import replaced_folder, write_text
from engine.errors import RunError, UserError, marked
from engine.files import is_bare_name, read_json_object
from engine.remote.contact import WAITING, Contact
from engine.remote.hosts import FOLDER, check_host
from engine.runs.origin import is_sealed, seal_of
from engine.settings.values import kinds_of
from engine.train.run.lock import is_locked
from engine.train.run.mirrored import ENDED, MIRROR, MOST_MIRROR, REMOTE, host_of, is_mirrored
from engine.train.run.runs import CONFIG, LOCK, METRICS, STATUS, AnyConfig, document_of

__all__ = [
    "RemoteRun",
    "host_of",
    "is_followed",
    "last_contact",
    "make_folder",
    "read_remote",
    "write_contact",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteRun:
    """Where a run is trained. key, name: of its folder there, below `folder`. slurm: options of sbatch; None:
    it is started at once. fetches: its weights come when it has ended.
    """

    host: str
    key: str
    name: str
    kind: str
    folder: str = FOLDER
    slurm: str | None = None
    fetches: bool = True


def make_folder(run_dir: Path, config: AnyConfig, remote: RemoteRun) -> None:
    """Make the folder in which a run will be mirrored. Raises: RunError: it is not empty; UserError."""
    if run_dir.is_dir() and any(run_dir.iterdir()):
        raise RunError(
            marked("engine", "The run folder {path} is not empty. Name a new one, or resume the run in it."),
            path=run_dir,
        )
    document = asdict(remote)
    sealed = {**document, "seal": seal_of(document, run_dir)}
    with replaced_folder(run_dir) as beside:  # whoever is killed leaves all of it, or nothing
        write_text(beside / CONFIG, document_of(config))
        write_text(beside / REMOTE, json.dumps(sealed, indent=1))
        contact = Contact(host=remote.host, is_connected=True, since=time.time(), state=WAITING)
        write_contact(beside, contact)


def discard(run_dir: Path) -> None:
    """Remove what `make_folder` made, where nothing was started."""
    for name in (CONFIG, REMOTE, MIRROR, LOCK, STATUS):
        (run_dir / name).unlink(missing_ok=True)
    with suppress(OSError):
        run_dir.rmdir()


def read_remote(run_dir: Path, host: str = "") -> RemoteRun:
    """Return where a run is trained. Args: host: which a person has named, so that no seal is needed.

    Raises: RunError: nowhere but here, or by a folder that was not made on this computer.
    """
    if not is_mirrored(run_dir):
        raise RunError(
            marked("engine", "{path} is no run that is trained on another computer."), path=run_dir
        )
    document = read_json_object(run_dir / REMOTE, most=MOST_MIRROR, kind=RunError)
    seal = document.pop("seal", None)
    try:
        remote = RemoteRun(**kinds_of(RemoteRun, document))
    except (KeyError, TypeError, ValueError, OverflowError):
        raise RunError(
            marked("engine", "{path} is damaged: it does not say where the run is trained."),
            path=run_dir / REMOTE,
        ) from None
    check_host(remote.host)
    if not is_bare_name(remote.name) or not (remote.host == host or is_sealed(document, run_dir, seal)):
        raise RunError(
            marked(
                "engine",
                "{path} was not made here or was moved, so {host} is not asked for it. Name the host with "
                "--on to allow it.",
            ),
            path=run_dir,
            host=remote.host,
        )
    return remote


def write_contact(run_dir: Path, contact: Contact) -> None:
    """Keep what was heard. Raises: UserError."""
    document = {"state": contact.state, "is_connected": contact.is_connected, "since": contact.since}
    write_text(run_dir / MIRROR, json.dumps(document))


def last_contact(run_dir: Path) -> Contact | None:
    """Return what was last heard of a remote run, from its folder alone; None for a run of this computer."""
    if not is_mirrored(run_dir):
        return None
    said: Mapping[str, object] = {}
    with suppress(UserError):
        said = read_json_object(run_dir / MIRROR, most=MOST_MIRROR)
    state, since = said.get("state"), said.get("since")
    heard = float(since) if isinstance(since, int | float) else 0.0
    for name in (MIRROR, METRICS):  # its follower may have been killed
        with suppress(OSError):
            heard = max(heard, os.stat(run_dir / name).st_mtime) if said.get("is_connected") else heard
    return Contact(
        host=host_of(run_dir),
        is_connected=bool(said.get("is_connected")) and (is_followed(run_dir) or state in ENDED),
        since=heard,
        state=state if isinstance(state, str) else WAITING,
    )


def is_followed(run_dir: Path) -> bool:
    """Whether a process of this computer mirrors a run just now."""
    return is_locked(run_dir / LOCK)
