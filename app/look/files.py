"""The dialogs that ask for a folder or a file: never waited for, they call back with what was chosen.

`name` is the dialog's object name. Without a place to begin, Qt begins where the last dialog ended.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QWidget

from app.shipped import assets


def ask_folder(
    parent: QWidget, title: str, chosen: Callable[[str], object], *, name: str, start: str | Path = ""
) -> None:
    """Ask for a folder that is there."""
    dialog = _dialog(parent, title, name, start)
    dialog.setFileMode(QFileDialog.FileMode.Directory)
    dialog.setOption(QFileDialog.Option.ShowDirsOnly)
    dialog.fileSelected.connect(chosen)
    dialog.open()


def ask_file(
    parent: QWidget,
    title: str,
    chosen: Callable[[str], object],
    *,
    name: str,
    start: str | Path = "",
    filters: Sequence[str] = (),
) -> None:
    """Ask for a file that is there. filters: as Qt writes them, "Tables (*.csv)"; none for all files."""
    dialog = _dialog(parent, title, name, start, filters)
    dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
    dialog.fileSelected.connect(chosen)
    dialog.open()


def ask_files(
    parent: QWidget,
    title: str,
    chosen: Callable[[list[str]], object],
    *,
    name: str,
    start: str | Path = "",
    filters: Sequence[str] = (),
) -> None:
    """Ask for one or more files that are there."""
    dialog = _dialog(parent, title, name, start, filters)
    dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
    dialog.filesSelected.connect(chosen)
    dialog.open()


def ask_save(
    parent: QWidget,
    title: str,
    chosen: Callable[[str], object],
    *,
    name: str,
    suggested: str | Path = "",
    filters: Sequence[str] = (),
    suffix: str = "",
    confirms: bool = True,
) -> None:
    """Ask where to save.

    Args: suggested: a path, or a bare name. suffix: added to a name without one. confirms: False where the
    page says itself what becomes of a file that is there.
    """
    folder = Path(suggested).parent
    dialog = _dialog(parent, title, name, folder if folder.is_absolute() else "", filters)
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setOption(QFileDialog.Option.DontConfirmOverwrite, not confirms)
    dialog.setDefaultSuffix(suffix)
    dialog.selectFile(Path(suggested).name)
    dialog.fileSelected.connect(chosen)
    dialog.open()


def beside(recent: Iterable[str | Path]) -> Path:
    """Return where a dialog begins: beside what was used last, but never among what ships with Cloze."""
    own = (Path(path) for path in recent if not Path(path).absolute().is_relative_to(assets()))
    return next((path.parent for path in own if path.parent.is_dir()), Path.home())


def _dialog(
    parent: QWidget, title: str, name: str, start: str | Path, filters: Sequence[str] = ()
) -> QFileDialog:
    dialog = QFileDialog(parent.window(), title, str(start))
    dialog.setObjectName(name)
    if filters:
        dialog.setNameFilters(filters)
    dialog.finished.connect(dialog.deleteLater)
    return dialog
