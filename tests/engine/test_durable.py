"""Files are old or new and whole, whatever happens while they are written."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from engine import durable
from engine.durable import check_place, explained, replaced_file, replaced_folder, sweep_partials
from engine.errors import UserError

ROOT = Path(__file__).parents[2]
# Replaces file and folder, and dies without a word at the n-th thing it does to the disk.
DYING = """
import os, shutil, sys
from pathlib import Path
place, left = Path(sys.argv[1]), [int(sys.argv[2])]
def dying(act):
    def acts(*args, **more):
        left[0] -= 1
        if left[0] == 0:
            os._exit(9)
        return act(*args, **more)
    return acts
for name in ("replace", "fsync", "open", "mkdir", "unlink", "rmdir"):
    setattr(os, name, dying(getattr(os, name)))
from engine.durable import replaced_file, replaced_folder
with replaced_file(place / "file") as beside:
    beside.write_text("new")
with replaced_folder(place / "folder") as beside:
    (beside / "a").write_text("new")
    (beside / "b").write_text("new")
"""


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def content(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir()}


def old_ones(folder: Path) -> Path:
    (folder / "folder").mkdir(parents=True)
    (folder / "file").write_text("old")
    (folder / "folder" / "a").write_text("old")
    return folder


@pytest.mark.slow
def test_a_process_that_dies_at_any_moment_leaves_old_or_new_whole(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    code, moment = 9, 0
    while code == 9:
        moment += 1
        place = old_ones(tmp_path / str(moment))
        words = [sys.executable, "-S", "-c", DYING, place, str(moment)]
        code = subprocess.run(words, env=environment, check=False).returncode
        sweep_partials(place)
        assert names(place) == ["file", "folder"], moment
        assert (place / "file").read_text() in ("old", "new")
        assert content(place / "folder") in ({"a": "old"}, {"a": "new", "b": "new"}), moment
    assert code == 0 and moment > 10
    assert content(place / "folder") == {"a": "new", "b": "new"}


def test_what_is_written_is_synced_before_it_is_renamed_and_its_folder_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    acts: list[str] = []
    sync, replace = durable.sync, os.replace
    monkeypatch.setattr(
        durable, "sync", lambda path: (acts.append(f"sync {Path(path).name[:4]}"), sync(path))[1]
    )
    monkeypatch.setattr(
        os, "replace", lambda a, b: (acts.append(f"rename to {Path(b).name}"), replace(a, b))[1]
    )
    with replaced_file(tmp_path / "file") as beside:
        beside.write_text("new")
    assert acts == ["sync .fil", "rename to file", f"sync {tmp_path.name[:4]}"]
    acts.clear()
    with replaced_folder(tmp_path / "dir") as beside:
        (beside / "a").write_text("new")
    assert acts == ["sync a", "sync .dir", "rename to dir", f"sync {tmp_path.name[:4]}"]


def test_an_error_while_writing_leaves_the_old_and_nothing_else(tmp_path: Path) -> None:
    place = old_ones(tmp_path / "here")
    with pytest.raises(ZeroDivisionError), replaced_file(place / "file") as beside:
        beside.write_text("half")
        raise ZeroDivisionError
    with pytest.raises(ZeroDivisionError), replaced_folder(place / "folder") as beside:
        (beside / "a").write_text("half")
        raise ZeroDivisionError
    assert names(place) == ["file", "folder"]
    assert (place / "file").read_text() == "old" and content(place / "folder") == {"a": "old"}


def test_a_folder_that_cannot_take_its_place_gives_it_back_to_the_old(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = old_ones(tmp_path / "here")
    replace = os.replace

    def refusing(source: Path, target: Path) -> None:
        if source.name.endswith(".partial") and ".old" not in source.name:
            raise OSError(errno.EACCES, "no")
        replace(source, target)

    monkeypatch.setattr(os, "replace", refusing)
    with pytest.raises(UserError, match="read-only"), replaced_folder(place / "folder") as beside:
        (beside / "a").write_text("new")
    assert names(place) == ["file", "folder"] and content(place / "folder") == {"a": "old"}


@pytest.mark.parametrize(
    ("number", "says"),
    [(errno.ENOSPC, "full"), (errno.EDQUOT, "full"), (errno.EFBIG, "full"), (errno.EROFS, "read-only"),
     (errno.EACCES, "read-only"), (errno.EPERM, "read-only"), (errno.EIO, "could not be written")],
)  # fmt: skip
def test_a_refusal_of_the_disk_is_a_sentence_with_the_place(tmp_path: Path, number: int, says: str) -> None:
    with pytest.raises(UserError, match=says) as told, explained(tmp_path / "file"):
        raise OSError(number, os.strerror(number))
    assert str(tmp_path) in str(told.value)


def test_a_place_below_a_file_is_refused_and_leaves_the_file_alone(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("old")
    for path in (tmp_path / "file", tmp_path / "file" / "run", tmp_path / "file" / "a" / "b"):
        with pytest.raises(UserError, match="could not be written"):
            check_place(path)
    with (
        pytest.raises(UserError, match="could not be written"),
        replaced_file(tmp_path / "file" / "x") as beside,
    ):
        beside.write_text("new")
    assert (tmp_path / "file").read_text() == "old"


def test_a_place_that_is_free_is_not_touched_by_asking(tmp_path: Path) -> None:
    check_place(tmp_path / "a" / "b")
    assert names(tmp_path) == []


def test_sweeping_leaves_what_is_not_ours(tmp_path: Path) -> None:
    for name in (".hidden", "notes.partial", ".file.12.partial"):
        (tmp_path / name).write_text("")
    sweep_partials(tmp_path)
    assert names(tmp_path) == [".hidden", "notes.partial"]
