"""A device made ready, and what of it all threads share."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import pytest
import torch

from engine import device
from engine.device import check_device, open_device
from engine.errors import ConfigError
from engine.settings.shared import DeviceConfig
from engine.train.run.machine import as_before, recipe_of


@pytest.fixture(autouse=True)
def switches() -> Iterator[None]:
    """Set what all threads share as it was before."""
    before = torch.get_float32_matmul_precision(), torch.backends.cuda.cudnn_sdp_enabled()
    yield
    torch.set_float32_matmul_precision(before[0])
    torch.backends.cuda.enable_cudnn_sdp(before[1])


def pretend_gpu(monkeypatch: pytest.MonkeyPatch, major: int, minor: int) -> None:
    """Answer as a machine with a GPU of some generation; older than the eighth, bfloat16 is emulated."""

    def is_bf16_supported(including_emulation: bool = True) -> bool:
        return including_emulation or (major, minor) >= (8, 0)

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", is_bf16_supported)


def test_the_emulated_gpu_of_other_tests_is_none_of_this_process() -> None:
    assert torch._C._get_privateuse1_backend_name() == "privateuseone"
    assert not hasattr(torch, "emulated") and device.GPU == "cuda"
    assert device.place_of("cpu") == torch.device("cpu") and device.setting_of(torch.device("xpu")) == "cuda"


@pytest.mark.parametrize("found", ["highest", "high"])
@pytest.mark.parametrize("asked", ["auto", "float32", "bfloat16"])
def test_what_all_threads_share_is_as_it_was_found_whatever_is_trained(
    asked: str, found: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pretend_gpu(monkeypatch, 9, 0)
    torch.set_float32_matmul_precision(found)
    opened = open_device(DeviceConfig(device="cuda", precision=asked))
    assert opened.precision == (torch.float32 if asked == "float32" else torch.bfloat16)
    assert torch.get_float32_matmul_precision() == found and torch.backends.cuda.cudnn_sdp_enabled()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # there is no GPU, so autocast says that it does nothing
        with opened.autocast():
            assert torch.backends.cuda.cudnn_sdp_enabled() == (asked == "float32")
            assert torch.get_float32_matmul_precision() == found
    assert torch.get_float32_matmul_precision() == found and torch.backends.cuda.cudnn_sdp_enabled()
    assert torch.backends.cuda.matmul.allow_tf32 == (found == "high")


@pytest.mark.parametrize(
    ("generation", "kind"), [((7, 0), "float32"), ((7, 5), "float32"), ((8, 6), "bfloat16")]
)
def test_a_gpu_that_only_emulates_bfloat16_computes_in_float32(
    generation: tuple[int, int], kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pretend_gpu(monkeypatch, *generation)
    assert open_device(DeviceConfig()).precision == getattr(torch, kind)


def test_a_run_begun_in_bfloat16_goes_on_in_float32_on_a_gpu_that_only_emulates_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pretend_gpu(monkeypatch, 8, 0)
    begun = recipe_of(open_device(DeviceConfig()))
    assert as_before(DeviceConfig(), begun, None)[1] == []
    pretend_gpu(monkeypatch, 7, 5)
    device, told = as_before(DeviceConfig(), begun, None)
    assert device.precision == torch.float32
    assert [str(one) for one in told] == [
        "This run was begun with precision bfloat16. Here it is float32, so its last digits may differ."
    ]


def test_bfloat16_is_refused_by_its_name_where_a_gpu_only_emulates_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pretend_gpu(monkeypatch, 7, 5)
    with pytest.raises(
        ConfigError, match="precision is bfloat16, which this machine does not have"
    ) as refused:
        check_device(DeviceConfig(precision="bfloat16"))
    assert refused.value.field == "precision"
    pretend_gpu(monkeypatch, 8, 0)
    check_device(DeviceConfig(precision="bfloat16"))
