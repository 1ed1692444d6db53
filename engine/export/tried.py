"""The texts that an export is tried on: of a file, or the sentences that ship."""

from __future__ import annotations

from pathlib import Path

from engine.errors import UserError
from engine.events import Steps
from engine.inspect.example_texts import topics_for
from engine.model.info import read_info
from engine.settings.finetune import DataConfig
from engine.text.read_tokenizer import read_tokenizer
from engine.text.table import reading_table
from engine.train.tasks.known import task_of

NUM_TEXTS = 200


def texts_for(model: Path, data: DataConfig | None = None, count: int = NUM_TEXTS) -> Steps[list[str]]:
    """Return some texts, spread evenly over a file; without one, sentences that ship, two by two."""
    found = list[str]()
    if data is not None:
        found = yield from _of_file(model, data)
    if not found:
        sentences = [text for _, text in topics_for(read_tokenizer(model)).sentences]
        found = [f"{one} {other}" for one in sentences for other in sentences][:count]
    step = max(1, len(found) // count)
    return found[::step][:count]


def _of_file(model: Path, data: DataConfig) -> Steps[list[str]]:
    kind = task_of(model)
    if not kind.reads_tables:
        try:
            opened = yield from kind.open(data)
        except UserError:
            return []
        return [first for first, _ in opened.texts() if first.strip()]
    table = yield from reading_table(data.data, **data.how)
    named = data.text or str(read_info(model).get("roles", {}).get("text") or "1")
    return [cell for cell in table.frame[table.column(named)].tolist() if cell.strip()]
