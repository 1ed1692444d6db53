"""What is installed elsewhere is what runs here, to the last byte, without what only a window needs."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from engine.errors import UserError
from engine.events import Progress, result_of
from engine.remote import install as subject
from engine.remote.computer import program, source_root
from engine.remote.hosts import HostSettings
from engine.remote.install import install, pack_wheel, requirements, script_of
from engine.remote.run import look_at
from tests.engine.remote.loopback import HOST, Elsewhere

ROOT = Path(__file__).parents[3]


def test_the_wheel_holds_this_engine_and_asks_for_what_it_needs(tmp_path: Path) -> None:
    wheel = pack_wheel(tmp_path)
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        about = archive.read(next(name for name in names if name.endswith("METADATA"))).decode()
        record = archive.read(names[-1]).decode()
    assert "engine/remote/agent.py" in names and "engine/translations/zh.ts" in names
    assert not any(name.startswith(("app/", "tests/")) or "__pycache__" in name for name in names)
    assert "Requires-Dist: torch>=" in about and "Requires-Dist: safetensors>=" in about
    assert "PySide6" not in about and "pyqtgraph" not in about and "extra ==" not in about
    assert len(record.splitlines()) == len(names) == len(set(names))
    assert requirements(ROOT) and not any(one.startswith("PySide6") for one in requirements(Path("/nowhere")))


@pytest.mark.slow
def test_pip_takes_the_wheel_and_it_is_the_same_program(tmp_path: Path) -> None:
    wheel, target = pack_wheel(tmp_path), tmp_path / "target"
    words = [sys.executable, "-m", "pip", "install", "--no-deps", "--no-index", "--target", target, wheel]
    subprocess.run(words, check=True, capture_output=True)
    words = [sys.executable, "-P", "-c", "from engine.remote.computer import program; print(program())"]
    said = subprocess.run(
        words, check=True, capture_output=True, text=True, env={"PYTHONPATH": str(target)}, cwd=tmp_path
    )
    assert said.stdout.strip() == program()


def test_it_is_installed_into_a_folder_of_its_own_and_found_there(
    elsewhere: Elsewhere, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a Python there that makes no environment of its own, but starts this one with what pip was given."""
    python = elsewhere.tools / "python3.13"
    python.write_text(
        f"""#!/bin/sh
        [ "$1 $2" = "-m venv" ] || exec {sys.executable} "$@"
        mkdir -p "$3/bin"
        cat > "$3/bin/python" <<'END'
#!/bin/sh
here=$(dirname "$(dirname "$0")")
case "$*" in
  *"pip install"*) echo "$*" > "$here/asked"; cd "$here" && exec {sys.executable} -c \\
    "import glob, zipfile; zipfile.ZipFile(glob.glob('wheels/cloze*')[0]).extractall('lib')" ;;
  *) PYTHONPATH="$here/lib" exec {sys.executable} "$@" ;;
esac
END
        chmod +x "$3/bin/python"
        """
    )
    python.chmod(0o755)
    (tmp_path / "house").mkdir()
    (tmp_path / "house" / "torch-2.13.0-py3-none-any.whl").touch()
    monkeypatch.setattr("engine.remote.connection.source_root", lambda: None)
    assert not result_of(look_at(HOST)).has_cloze
    told = list[str]()
    computer = result_of(
        install(HOST, wheelhouse=tmp_path / "house"),
        lambda event: told.append(str(event.sentence)) if isinstance(event, Progress) else None,
    )
    assert computer.has_cloze and any(stage.startswith("Installing on there") for stage in told)
    (home,) = (elsewhere.home / ".cloze" / "programs").iterdir()
    assert home.name == program() and (home / "ready").is_file() and not (home / "wheels").exists()
    asked = (home / "asked").read_text()
    assert "--no-index --find-links wheels wheels/cloze_workbench" in asked
    assert result_of(look_at(HOST)).has_cloze


def test_why_it_could_not_be_installed_is_told(elsewhere: Elsewhere) -> None:
    for name in ("python3.13", "python3.12", "python3.11", "python3"):
        (elsewhere.tools / name).write_text("#!/bin/sh\nexit 1\n")
        (elsewhere.tools / name).chmod(0o755)
    with pytest.raises(UserError, match="could not be installed on there: there is no Python 3.11 or newer"):
        result_of(install(HOST))
    assert not list(elsewhere.home.glob(".cloze/programs/*/ready"))


def test_a_packaged_program_says_how_else(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(subject, "source_root", lambda: None)
    with pytest.raises(UserError, match="pip install cloze-workbench"):
        pack_wheel(tmp_path)
    assert source_root() == ROOT


def test_the_script_takes_the_folder_and_python_that_a_person_has_named() -> None:
    script = script_of(HostSettings(folder="/scratch/a b", python="~/my python"), "c.whl", has_all=False)
    assert script.startswith("d='/scratch/a b'/programs/") and "\"$HOME\"'/my python' python3.13" in script
    assert "--no-index" not in script
