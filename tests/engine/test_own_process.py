"""A packaged program, which is no Python, starts itself for what needs a process of its own."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import pytest

from engine.child import asking, events
from engine.errors import UserError
from engine.events import result_of
from engine.export.targets.transformers import TransformersFolder
from engine.hub.asked import HubSettings
from engine.model.model_name import ModelName
from engine.own_process import AS_MODULE, MODULES, command_of, environment_of, run_as_module
from engine.questions.tokenize import TokenizeQuestion
from tests.fakes import model_folder


@pytest.fixture
def packaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program that is started as a packaged one is: it takes no -m."""
    path = tmp_path / "cloze"
    source = Path(__file__).parents[2]
    path.write_text(
        f"#!{sys.executable} -P\nimport sys\nsys.frozen = True\nsys.executable = {str(path)!r}\n"
        f"sys.path.insert(0, {str(source)!r})\n"
        "from app.__main__ import main\nsys.exit(main())\n",
        encoding="utf-8",
    )
    path.chmod(0o755)
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "executable", str(path))
    return path


@pytest.mark.slow
def test_a_packaged_program_runs_commands_and_the_process_that_cuts_text(packaged: Path) -> None:
    asked = command_of("engine", "queue", "list", "--runs", str(packaged.parent))
    done = subprocess.run(asked, capture_output=True, env=environment_of(), timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    asked = command_of("engine.text.corpus.cutter_process")
    done = subprocess.run(
        asked, input=b"", capture_output=True, env=environment_of(), timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_a_packaged_program_asks_a_hub_and_exports_in_a_child(packaged: Path, tmp_path: Path) -> None:
    asked = {"what": "search", "words": "bert", "settings": asdict(HubSettings(tries=1))}
    with pytest.raises(UserError, match=r"127\.0\.0\.1:9 cannot be reached"):
        result_of(events(asking("engine.hub", asked, around={"HF_ENDPOINT": "http://127.0.0.1:9"})))
    target = TransformersFolder(model_folder(tmp_path / "model"), tmp_path / "out")
    found = result_of(events(asking("engine.export", target.to_line(), patience_s=10)))
    assert Path(found["path"], "config.json").is_file()


@pytest.mark.slow
def test_a_packaged_program_takes_commands_and_names_itself_in_what_it_says(
    packaged: Path, tmp_path: Path
) -> None:
    done = subprocess.run(
        [packaged, "engine", "tokenize", "--model", str(model_folder(tmp_path / "model")), "a b"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0 and "[CLS]" in done.stdout, done.stderr
    done = subprocess.run([packaged, "engine", "resum"], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and done.stderr.endswith("See: cloze engine --help\n")
    assert TokenizeQuestion(ModelName(tmp_path), "a").command().startswith("cloze engine tokenize")


def test_only_the_programs_own_modules_are_started() -> None:
    assert command_of("engine", "runs")[1:] == ["-m", "engine", "runs"]
    for arguments in ([], [AS_MODULE], [AS_MODULE, "os"], ["engine"], [MODULES[0], AS_MODULE]):
        assert not run_as_module(arguments)
