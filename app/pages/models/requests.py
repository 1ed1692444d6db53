"""What the Models page asks: plain Python that touches no Qt object and loads no weights."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engine.errors import Sentence, UserError
from engine.events import Steps
from engine.model.arithmetic import HeadsConfig, count_built
from engine.model.config import BertConfig
from engine.model.convert import Conversion, converting
from engine.model.info import read_info
from engine.model.inventory import Inventory, take_stock
from engine.model.sentence_files import read_sentence_files
from engine.text.read_tokenizer import read_tokenizer
from engine.train.run.kept import history, run_of


@dataclass(frozen=True, slots=True)
class ModelDetail:
    """What is known of one model without its weights. info: cloze.json. num_kept: weights along its run."""

    path: Path
    inventory: Inventory
    lowercase: bool | None  # None where its vocabulary cannot be read; `problem` says why
    num_pieces: int
    has_mask: bool
    notes: tuple[Sentence, ...]
    info: dict[str, Any] = field(default_factory=dict)
    num_kept: int = 0
    problem: UserError | None = None

    @property
    def answers(self) -> tuple[str, ...]:
        """What it can be asked, once its vocabulary and its training are known too."""
        lacks = set() if self.has_mask else {"masked_words"}
        if self.info.get("next_sentence") is False:
            lacks.add("next_sentence")
        return tuple(what for what in self.inventory.answers if what not in lacks)


def read_detail(path: Path) -> ModelDetail:
    """Return what is known of a folder. Raises: ModelError where it cannot be opened."""
    inventory, info, run = take_stock(path), read_info(path), run_of(path)
    num_kept = len(history(run)) if run is not None else 0
    try:
        wordpiece = read_tokenizer(path)
    except UserError as error:
        return ModelDetail(path, inventory, None, 0, False, (), info, num_kept, error)
    pieces, has_mask = wordpiece.vocab_size, wordpiece.mask_id is not None
    notes = (*inventory.notes, *wordpiece.notes, *read_sentence_files(path)[1])
    return ModelDetail(path, inventory, wordpiece.lowercase, pieces, has_mask, notes, info, num_kept)


def convert_checkpoint(checkpoint: Path, root: Path) -> Steps[Conversion]:
    """Convert a checkpoint of TensorFlow into a new folder below `root`. Raises: UserError."""
    name = checkpoint.name if checkpoint.is_dir() else checkpoint.parent.name
    name = checkpoint.stem if checkpoint.suffix == ".zip" else name
    out, count = root / name, 1
    while out.exists():
        count += 1
        out = root / f"{name}-{count}"
    return (yield from converting(checkpoint, out))


def count_weights(config: BertConfig, heads: HeadsConfig) -> int:
    """Return how many weights the model of these sizes has, counted in the model itself."""
    return sum(count_built(config, heads).values())
