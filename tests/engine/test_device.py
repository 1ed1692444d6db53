"""A device made ready, and what of it all threads share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

from engine.config import DeviceConfig
from engine.device import open_device


@pytest.fixture
def precision() -> Iterator[None]:
    """Set float32 products as they were before."""
    before = torch.get_float32_matmul_precision(), torch.backends.cuda.cudnn_sdp_enabled()
    yield
    torch.set_float32_matmul_precision(before[0])
    torch.backends.cuda.enable_cudnn_sdp(before[1])


@pytest.mark.parametrize(("asked", "products"), [("auto", "highest"), ("float32", "high")])
def test_training_in_bfloat16_leaves_the_products_of_others_exact(
    asked: str, products: str, precision: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda: True)
    opened = open_device(DeviceConfig(device="cuda", precision=asked))
    assert opened.precision == (torch.bfloat16 if asked == "auto" else torch.float32)
    assert torch.get_float32_matmul_precision() == products
