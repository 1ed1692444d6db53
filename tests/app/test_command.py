"""The command `cloze` opens the window on the page that is named."""

from __future__ import annotations

import subprocess
import sys

import pytest

from app.__main__ import main
from app.main_window import MainWindow
from app.rail import NAMES
from app.settings import AppSettings
from tests.app.hand import OpenWindow


@pytest.fixture
def window(open_window: OpenWindow, settings: AppSettings, no_models_ship: None) -> MainWindow:
    return open_window(settings)


@pytest.mark.slow
def test_a_page_that_is_not_there_is_refused_with_those_that_are() -> None:
    asked = [sys.executable, "-m", "app", "--page", "nowhere"]
    ended = subprocess.run(asked, capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert "there is no page nowhere" in ended.stderr and ", ".join(NAMES) in ended.stderr


def test_every_page_of_the_rail_has_a_name_that_the_help_gives(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    said = " ".join(capsys.readouterr().out.replace("\n", " ").split()).replace("- ", "-")
    assert all(name in said for name in NAMES)
    assert {"start", "data", "label", "fine-tune", "masked-words", "step-by-step", "lectures"} <= {*NAMES}


@pytest.mark.parametrize("name", ["start", "label", "masked-words", "step-by-step"])
def test_a_name_leads_to_its_page(name: str, window: MainWindow) -> None:
    window.show_page(NAMES[name])
    keys = {"start": "welcome", "label": "label", "masked-words": "probe", "step-by-step": "anatomy"}
    assert window.current_page == keys[name]
