"""A folder that somebody else made may name any host: it is asked only where a person says so."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtWidgets import QWidget

from app.look.sure_dialog import SureDialog
from app.words import translate
from app.work.titles import run_title
from engine.errors import UserError
from engine.remote.record import read_remote
from engine.train.run.mirrored import host_of


def when_allowed(run_dir: Path, parent: QWidget, call: Callable[[str], object]) -> None:
    """Do something with a run's host. Raises: as what is called.

    Args: call: gets "" for a run that was started from here, else its host, once a person has allowed it.
    """
    host = host_of(run_dir)
    if not host or not _is_foreign(run_dir, host):
        call("")
        return
    text = translate(
        "RunPage", "The folder of {name} was not made here, or was moved. Connect to {host} for it?"
    )
    said, title = text.format(name=run_title(run_dir), host=host), translate("RunPage", "Connect")
    dialog = SureDialog("connect", title, said, (), title, parent.window())
    dialog.accepted.connect(partial(call, host))
    dialog.finished.connect(dialog.deleteLater)
    dialog.open()


def _is_foreign(run_dir: Path, host: str) -> bool:
    """Whether a folder bears no seal of this person, and says otherwise all that it has to."""
    try:
        read_remote(run_dir)
    except UserError:
        try:
            read_remote(run_dir, host)
        except UserError:
            return False
        return True
    return False
