"""A folder with the vocabulary of a test's own `wordpiece`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine.text.wordpiece import WordPiece


@pytest.fixture
def folder(tmp_path: Path, wordpiece: WordPiece) -> Path:
    wordpiece.save(tmp_path)
    return tmp_path


def peer(folder: Path) -> Any:
    """Open a folder's tokenizer with `transformers`; without it the test is skipped."""
    transformers = pytest.importorskip("transformers")
    return transformers.AutoTokenizer.from_pretrained(folder)
