"""One tiny family for all tests: a made-up text, every member that can be trained here, a few steps."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.family.train import train_family
from engine.settings.config import with_values
from engine.settings.family import FamilyConfig
from engine.train.pretraining import setup as pretraining_setup
from tests.engine.tiny_texts import write_text
from tests.engine.typed import Engine, typed


def family_config(text: Path, **settings: Any) -> FamilyConfig:
    """Return settings of a family that learns from a text in a second or two."""
    values = {
        "text": str(text),
        "layout": "sentences",
        "validation_share": 0.1,
        "words": 100,
        "width": 16,
        "length": 16,
        "steps": 6,
        "evaluations": 2,
        "batch_tokens": 64,
        "device": "cpu",
        "precision": "float32",
        "kernels": "oneDNN",
        "num_threads": 1,
    }
    return with_values(FamilyConfig(), {**values, **settings})


@pytest.fixture(scope="session")
def store_root(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where tokens are kept meanwhile."""
    folder = tmp_path_factory.mktemp("tokens")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(pretraining_setup, "default_store_root", lambda: folder)
        yield folder


@pytest.fixture(scope="session")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sixty documents on ships, kings and cats."""
    return write_text(tmp_path_factory.mktemp("text") / "text.txt", 60)


@pytest.fixture(scope="session")
def family(tmp_path_factory: pytest.TempPathFactory, store_root: Path, text: Path) -> Path:
    """The folder of a trained family; without gensim two of its members are missing."""
    folder = tmp_path_factory.mktemp("family") / "family"
    for _ in train_family(family_config(text), folder):
        pass
    return folder


@pytest.fixture
def engine(capsys: pytest.CaptureFixture[str]) -> Engine:
    """Run a command; give its exit code, stdout and stderr."""
    return typed(capsys)
