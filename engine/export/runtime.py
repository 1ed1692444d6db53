"""A graph in onnxruntime: opened, asked beside this engine, or put in a model's place to be measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from engine.errors import UserError, marked
from engine.export.heads import INPUTS, Graph
from engine.text.batch import Bounds
from engine.text.tokenizer import Tokenizer

# B texts, T tokens of the longest, N tokens of all texts packed, M chosen tokens, C labels

_AT_ONCE = 8  # texts
Batch = tuple[Tensor, Tensor, Tensor]  # ids, mask, segments: (B, T)


def needed() -> Any:
    """Return onnxruntime. Raises: UserError, if it or what writes ONNX is not installed."""
    try:
        import onnx  # noqa: F401 - torch writes by it
        import onnxruntime
        import onnxscript  # noqa: F401 - as above
    except ImportError as error:
        template = marked("engine", "To export ONNX, install three more packages: pip install {what}.")
        raise UserError(template, what="onnx onnxscript onnxruntime") from error
    return onnxruntime


def open_session(path: Path) -> Any:
    """Return a graph ready to be asked, by as many threads as torch has. Raises: UserError as `needed`."""
    runtime = needed()
    options = runtime.SessionOptions()
    options.intra_op_num_threads = torch.get_num_threads()
    options.log_severity_level = 3
    return runtime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def batches(graph: Graph, wordpiece: Tokenizer, texts: Sequence[str]) -> Iterator[Batch]:
    """Yield ids, mask and segments (B, T) of texts, some at a time."""
    for start in range(0, len(texts), _AT_ONCE):
        some = [
            wordpiece.encode(text, max_length=graph.max_length, truncation=graph.truncation)
            for text in texts[start : start + _AT_ONCE]
        ]
        longest = max(len(one.input_ids) for one in some)
        batch = torch.zeros((3, len(some), longest), dtype=torch.long)
        for row, one in enumerate(some):
            batch[0, row, : len(one.input_ids)] = torch.tensor(one.input_ids)
            batch[1, row, : len(one.input_ids)] = 1
            batch[2, row, : len(one.input_ids)] = torch.tensor(one.token_type_ids)
        ids, mask, types = batch.unbind(0)
        yield ids, mask, types


def ours(graph: Graph, batch: Batch) -> list[np.ndarray]:
    """Return what the engine answers."""
    with torch.inference_mode():
        found = graph.module(*batch)
    return [one.numpy() for one in (found if isinstance(found, tuple | list) else (found,))]


def theirs(session: Any, batch: Batch) -> list[np.ndarray]:
    """Return what onnxruntime answers."""
    given = {name: value.numpy() for name, value in zip(INPUTS, batch, strict=True)}
    found: list[np.ndarray] = session.run(None, given)
    return found


def read_part(graph: Graph, scores: np.ndarray, batch: Batch) -> Any:
    """Return where scores are of tokens that are read: (B, T) without padding; of whole texts, all."""
    is_of_tokens = scores.ndim == 3 or (graph.task is not None and not graph.task.head.reads_firsts)
    return batch[1].numpy() > 0 if is_of_tokens else slice(None)


class InItsPlace(nn.Module):
    """A graph that answers as an `HeadedEncoder` does, so that a task measures it as it does the model."""

    def __init__(self, session: Any, config: Any) -> None:
        super().__init__()
        self._session, self.config = session, config

    def forward(
        self,
        input_ids: Tensor,
        token_type_ids: Tensor,
        *,
        bounds: Bounds,
        rows: Tensor | None = None,
        **_: Any,
    ) -> Tensor:
        """Return (B, C) of classes; of tags (M, C) and of questions (N, 2).

        Args: as `HeadedEncoder` takes them.
        """
        padded = torch.zeros((3, len(bounds), bounds.max_length), dtype=torch.long)
        where = torch.arange(bounds.max_length) < torch.tensor(bounds.lengths)[:, None]  # (B, T)
        for row, values in enumerate((input_ids, torch.ones_like(input_ids), token_type_ids)):
            padded[row][where] = values[: bounds.num_tokens].cpu()
        ids, mask, types = padded.unbind(0)
        found = [torch.from_numpy(one) for one in theirs(self._session, (ids, mask, types))]
        if len(found) == 1 and found[0].ndim == 2:
            return found[0]
        scores = torch.stack(found, -1) if len(found) > 1 else found[0]  # (B, T, C)
        packed = scores[where]
        filler = packed.new_zeros(len(input_ids) - len(packed), packed.shape[-1])
        packed = torch.cat([packed, filler])
        return packed if rows is None else packed.index_select(0, rows.cpu())
