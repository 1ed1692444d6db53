"""A task of rows beside transformers: the same few texts, the same weights, loss and gradients."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from engine.model.config import BertConfig
from engine.model.heads import SequenceClassifier
from engine.model.names import published_names
from engine.model.weights import load_headed
from engine.text.batch import EncodedRows, collate
from engine.train.task import Answering

transformers = pytest.importorskip("transformers")


def tiny_set(targets: np.ndarray) -> EncodedRows:
    """Return texts of 3 to 6 pieces of the fake's, one for each target."""
    rng = np.random.default_rng(5)
    lengths = [3 + row % 4 for row in range(len(targets))]
    ids = rng.integers(5, 37, sum(lengths)).astype(np.int32)
    bounds = np.cumsum([0, *lengths]).astype(np.int64)
    return EncodedRows(ids, bounds, np.array(lengths, np.int32), targets, np.arange(len(targets)))


def assert_loss_equals(task: Answering, shape: BertConfig, targets: np.ndarray, folder: Path) -> None:
    """Compare a task's loss over two parts of a batch with that of the published class, gradients too."""
    torch.manual_seed(1)
    theirs: Any = transformers.BertForSequenceClassification(
        transformers.BertConfig(**shape.to_json())
    ).eval()
    theirs.save_pretrained(folder)
    ours, _ = load_headed(folder, SequenceClassifier)
    data = tiny_set(targets)
    parts = [collate(data, np.array([0, 1, 2])), collate(data, np.array([3, 4]))]
    totals = task.count(parts)
    loss = torch.stack([task.loss(ours, part, totals)[0] for part in parts]).sum()
    ids = torch.zeros(len(data), int(data.lengths.max()), dtype=torch.long)
    for row, (start, stop) in enumerate(zip(data.bounds[:-1], data.bounds[1:], strict=True)):
        ids[row, : stop - start] = torch.from_numpy(data.input_ids[start:stop].astype(np.int64))
    wanted = theirs(ids, (ids > 0).long(), labels=torch.from_numpy(targets).float()).loss
    assert loss.item() == pytest.approx(wanted.item(), abs=1e-5)
    loss.backward()
    wanted.backward()
    assert_gradients_equal(ours, theirs)


def assert_gradients_equal(ours: nn.Module, theirs: nn.Module) -> None:
    """Compare what was computed backwards: within 1e-5 of the largest value, or of 1."""
    gradients = {name: one.grad for name, one in theirs.named_parameters() if one.grad is not None}
    for name, one in ours.named_parameters():
        pieces = torch.cat([gradients[published] for published in published_names(name)])
        assert one.grad is not None
        found = one.grad.to_dense() if one.grad.is_sparse else one.grad
        assert torch.allclose(found, pieces, atol=1e-5 * max(1.0, float(pieces.abs().max())))
