"""A model with the heads of pretraining, for the tests that look inside one; others have their own."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.inspect.loaded_model import LoadedModel
from engine.model.weights import save_model
from tests.fakes import tiny_pretraining, tiny_wordpiece


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the heads of pretraining."""
    path = tmp_path_factory.mktemp("language")
    save_model(path, tiny_pretraining(), tiny_wordpiece(), {})
    return path


@pytest.fixture(scope="module")
def subject(folder: Path) -> LoadedModel:
    return LoadedModel.open(folder, device="cpu")
