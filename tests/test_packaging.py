"""What carries Cloze to other computers: the wheel, and the two scripts of the folder for Linux.

The folder itself takes minutes to build and is tried by `packaging/linux/try.py`.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LINUX = ROOT / "packaging" / "linux"
ODD = '小 明\'s $HOME 100% "new"'

on_linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="scripts for Linux")


def folder_of(place: Path, version: str = "1", **more: str) -> Path:
    """A folder as `packaging/linux/build` makes it, with a program that says its version."""
    folder = place / f"unpacked {version}"
    shutil.copytree(LINUX, folder)
    (folder / "cloze" / "_internal").mkdir(parents=True)
    (folder / "cloze" / "cloze").write_text(f'#!/bin/sh\necho "Cloze {version}" "$@"\n')
    (folder / "cloze" / "cloze").chmod(0o755)
    (folder / "cloze" / "_internal" / f"library-{version}").touch()
    for name in ("applications/cloze.desktop", "mime/packages/cloze.xml"):
        (folder / "share" / name).parent.mkdir(parents=True)
        shutil.copy(LINUX / Path(name).name, folder / "share" / name)
    for name, text in more.items():
        (folder / "share" / name).write_text(text)
    return folder


def run(script: Path, home: Path, *words: object) -> subprocess.CompletedProcess[str]:
    home.mkdir(exist_ok=True)
    around = {"HOME": str(home), "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
    line = ["sh", str(script), *map(str, words)]
    return subprocess.run(line, env=around, capture_output=True, text=True, check=False)


def files_of(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


@on_linux
@pytest.mark.slow
def test_what_is_installed_runs_and_is_removed_to_the_last_file(tmp_path: Path) -> None:
    home = tmp_path / ODD
    (home / ".local" / "share" / "cloze" / "runs" / "mine").mkdir(parents=True)
    (home / ".config" / "Cloze").mkdir(parents=True)
    (home / ".config" / "Cloze" / "Cloze.conf").write_text("[General]\n")
    before = files_of(home)
    done = run(folder_of(tmp_path) / "install", home)
    assert done.returncode == 0, done.stderr
    command = home / ".local" / "bin" / "cloze"
    assert subprocess.run([command, "a b"], capture_output=True, text=True).stdout == "Cloze 1 a b\n"
    put = (home / ".local" / "lib" / "cloze" / "installed.txt").read_text().splitlines()
    assert "share/applications/cloze.desktop" in put and "bin/cloze" in put
    done = run(home / ".local" / "lib" / "cloze" / "uninstall", home)
    assert done.returncode == 0, done.stderr
    assert "still there" in done.stdout
    assert files_of(home) == before


@on_linux
@pytest.mark.slow
def test_the_menu_entry_names_the_program_whatever_its_place_is_called(tmp_path: Path) -> None:
    run(folder_of(tmp_path) / "install", tmp_path / ODD)
    entry = (tmp_path / ODD / ".local/share/applications/cloze.desktop").read_text()
    line = next(line for line in entry.splitlines() if line.startswith("Exec="))
    said = line.removeprefix('Exec="').removesuffix('" %f').replace("%%", "%")
    for sign in '"`$':
        said = said.replace("\\\\" + sign, sign)
    said = said.replace("\\" * 4, "\\")
    assert said == str(tmp_path / ODD / ".local/lib/cloze/cloze")
    checker = shutil.which("desktop-file-validate")
    if checker:
        path = tmp_path / ODD / ".local/share/applications/cloze.desktop"
        done = subprocess.run([checker, path], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout


@on_linux
@pytest.mark.slow
def test_a_newer_version_leaves_nothing_of_the_older_one(tmp_path: Path) -> None:
    home, local = tmp_path / "home", tmp_path / "home" / ".local"
    run(folder_of(tmp_path, "1", old="a file of version 1") / "install", home)
    assert (local / "share" / "old").is_file()
    (local / "lib" / "cloze" / "_internal" / "written-by-nobody").touch()
    done = run(folder_of(tmp_path, "2") / "install", home)
    assert done.returncode == 0, done.stderr
    assert files_of(local / "lib" / "cloze" / "_internal") == {"library-2"}
    assert not (local / "share" / "old").exists()
    run(local / "lib" / "cloze" / "uninstall", home)
    assert files_of(home) == set()


@on_linux
@pytest.mark.slow
def test_what_is_not_ours_is_neither_replaced_nor_removed(tmp_path: Path) -> None:
    home, folder = tmp_path / "home", folder_of(tmp_path)
    (home / ".local" / "bin").mkdir(parents=True)
    (home / ".local" / "bin" / "cloze").write_text("another program")
    done = run(folder / "install", home)
    assert done.returncode == 2 and "is another program" in done.stderr
    assert files_of(home) == {".local", ".local/bin", ".local/bin/cloze"}
    (home / ".local" / "lib" / "cloze").mkdir(parents=True)
    (home / ".local" / "lib" / "cloze" / "novel.txt").touch()
    done = run(folder / "install", home)
    assert done.returncode == 2 and "is not by this program" in done.stderr
    done = run(folder / "uninstall", home)
    assert done.returncode == 2 and "not installed here" in done.stderr
    assert (home / ".local" / "lib" / "cloze" / "novel.txt").exists()
    other = tmp_path / "elsewhere"
    assert run(folder / "install", home, other).returncode == 0
    run(other / "lib" / "cloze" / "uninstall", home)
    assert not other.exists()


@pytest.mark.slow
def test_the_wheel_carries_every_file_of_the_program() -> None:
    builders = pytest.importorskip("hatchling.builders.wheel", reason="hatchling makes the wheel")
    builder = builders.WheelBuilder(str(ROOT))
    files = [*builder.recurse_included_files()]
    carried = {Path(one.distribution_path).as_posix() for one in files}
    there = set()
    for folder in ("app", "engine", "assets"):
        for path in (ROOT / folder).rglob("*"):
            if path.is_file() and not {"__pycache__", "pictures"} & {*path.parts}:
                there.add(path.relative_to(ROOT).as_posix())
    there = {f"app/{one}" if one.startswith("assets/") else one for one in there}
    assert there - carried == set()
    assert "app/assets/models/starter/model.safetensors" in carried
    assert "engine/translations/zh.ts" in carried and "app/look/icons/logo.svg" in carried
