"""What every run settles before its first step and keeps in setup/: from there alone it can go on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engine.durable import replaced_folder
from engine.errors import ModelError, marked
from engine.files import read_json_object
from engine.model.config import BertConfig
from engine.model.folder import LEARNED
from engine.model.tensor_files import save_tensors
from engine.settings.values import as_kind
from engine.text.example_rows import Keys
from engine.text.tokenizer import Tokenizer
from engine.train.learned import NOTHING, as_tensors

SETUP_FILE = "setup.json"
MOST_SETUP = 32 * 2**20  # bytes of it; it names every line of a table that is not used


@dataclass(frozen=True)
class RunSetup:
    """config: the model's shape. about: plain facts, for cloze.json and for going on.

    learned: hashes of the texts that are learned from; once the run has begun, also of those that the model
    it starts from has learned from.
    """

    config: BertConfig
    wordpiece: Tokenizer
    about: dict[str, Any]
    learned: Keys = field(default_factory=lambda: NOTHING.hashes, kw_only=True)

    def save(self, folder: Path) -> None:
        """Write setup/, whole or not at all."""
        with replaced_folder(folder) as beside:
            self.wordpiece.save(beside)
            for name, document in (("config.json", self.config.to_json()), (SETUP_FILE, self.about)):
                text = json.dumps(document, indent=1, ensure_ascii=False)
                (beside / name).write_text(text, encoding="utf-8")
            if (hashes := as_tensors(self.learned)) is not None:
                save_tensors(beside / LEARNED, hashes)
            self.write_data(beside)

    def write_data(self, folder: Path) -> None:
        """Write what a kind of training keeps beside that: its encoded texts."""


def read_setup(folder: Path, kinds: Mapping[str, Any]) -> dict[str, Any]:
    """Return the plain facts in a setup/. Args: kinds: what has to stand there, and as what type.

    Raises: ModelError if they cannot be read, or one of these is missing or cannot be what it says.
    """
    path = folder / SETUP_FILE
    about = read_json_object(path, most=MOST_SETUP, kind=ModelError)
    for name, hint in kinds.items():
        try:
            as_kind(hint, about[name])
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise ModelError(
                marked(
                    "engine",
                    "{path} is damaged: {name} is missing or cannot be true, so the run cannot "
                    "continue. Start a new one.",
                ),
                path=path,
                name=name,
            ) from error
    return about
