"""Made-up examples for the fake model, padded and end to end, and how near numbers have to be."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from engine.text.batch import Bounds

LENGTHS = (13, 7, 7, 3)  # longest first, as batches are; two of one length, so that a run holds two


def padded_batch() -> dict[str, Tensor]:
    """Return pairs of texts, padded to the longest."""
    generator = torch.Generator().manual_seed(1)
    ids = torch.randint(5, 37, (len(LENGTHS), max(LENGTHS)), generator=generator)
    mask = torch.arange(max(LENGTHS)) < torch.tensor(LENGTHS)[:, None]
    second = torch.arange(max(LENGTHS)) >= torch.tensor(LENGTHS)[:, None] // 2
    return {"input_ids": ids * mask, "token_type_ids": (second & mask).long(), "attention_mask": mask.long()}


def packed(padded: dict[str, Tensor]) -> dict[str, Any]:
    """Return the same examples end to end."""
    keep = padded["attention_mask"].bool()
    flat = {name: value[keep] for name, value in padded.items() if name != "attention_mask"}
    return {**flat, "bounds": Bounds(LENGTHS)}


def assert_close(ours: Tensor, reference: Tensor) -> None:
    """Within 1e-5 of the largest value, or of 1."""
    ours, reference = ours.detach(), reference.detach()
    assert ours.shape == reference.shape
    assert float((ours - reference).abs().max()) <= 1e-5 * max(1.0, float(reference.abs().max()))
