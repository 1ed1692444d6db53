"""Folders that are wrong or mean harm in what is said beside a model: relatives, poolings, shards.

Each is opened and exported, or refused in one sentence, at once. Nothing is run, nothing written elsewhere.
What lies in the model's own files is in test_folder.py and tests/app/test_hostile_folders.py.
"""

from __future__ import annotations

import json
import os
import pickle
import shutil
import struct
import time
import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file

from engine import embed
from engine.errors import UserError
from engine.events import result_of
from engine.export.folders import writing_folder, writing_sentence_folder
from engine.model.convert import converting
from tests.engine.hostile_folders import Gadget
from tests.fakes import model_folder, stored_tensors

Harm = Callable[[Path], object]
pytestmark = pytest.mark.skipif(os.name == "nt", reason="links, pipes")
BESIDE = ("modules.json", "1_Pooling/config.json", "sentence_bert_config.json", "README.md")
POOLED = [
    {"type": "sentence_transformers.models.Transformer", "path": ""},
    {"type": "sentence_transformers.models.Pooling", "path": "1_Pooling"},
]


def _put(name: str, data: bytes, folder: Path) -> None:
    (folder / name).unlink(missing_ok=True)
    (folder / name).write_bytes(data)


def _link(name: str, target: Any, folder: Path) -> None:
    (folder / name).unlink(missing_ok=True)
    (folder / name).symlink_to(target)


def _config(folder: Path, **changes: Any) -> None:
    document = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**document, **changes}))


def _modules(paths: Any, folder: Path) -> None:
    table = [{**one, "path": path} for one, path in zip(POOLED, paths, strict=True)]
    (folder / "modules.json").write_text(json.dumps(table))


def _only(name: str, folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    (folder / name).write_bytes(b"x" * 99)


def _shards(harm: Callable[[bytes], bytes], ending: str, folder: Path) -> None:
    """Two shards, the second of them harmed."""
    stored = list(stored_tensors(folder).items())
    (folder / "model.safetensors").unlink()
    table, start = {}, {"safetensors": "model", "bin": "pytorch_model"}[ending]
    for number, some in enumerate((stored[::2], stored[1::2])):
        name = f"{start}-0000{number + 1}-of-00002.{ending}"
        table |= dict.fromkeys(dict(some), name)
        save_file(dict(some), folder / name) if ending == "safetensors" else torch.save(
            dict(some), folder / name
        )
    (folder / name).write_bytes(harm((folder / name).read_bytes()))
    index = f"{start}.{ending}.index.json"
    (folder / index).write_text(json.dumps({"weight_map": table}))


def _gadget(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    gadget = Gadget(folder.parent / "canary")
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps({"x": gadget}, protocol=2))


def harms() -> Iterator[tuple[str, Harm]]:
    for name in BESIDE:
        for what, target in (
            ("is endless", "/dev/zero"),
            ("leads out", "../outside.json"),
            ("is itself", "README.md"),
        ):
            yield f"{name} {what}", partial(_link, name, target)
        for what, data in (
            ("is noise", bytes(range(256)) * 99),
            ("is deep", b"[" * 200_000),
            ("is a number", b"7"),
        ):
            yield f"{name} {what}", partial(_put, name, data)
    for paths in (("", "../outside"), ("", "/etc"), ("..", "1_Pooling"), ("", "a/b"), ("", "\0"), ("", None)):
        yield f"modules at {paths}", partial(_modules, paths)
    for changes in (
        {"model_type": "roberta"}, {"model_type": "electra", "embedding_size": 7}, {"model_type": "electra"},
        {"model_type": "distilbert"}, {"model_type": "distilbert", "dim": [], "n_layers": "2"},
        {"model_type": "roberta", "max_position_embeddings": 2, "pad_token_id": 1},
        {"model_type": "roberta", "max_position_embeddings": [], "pad_token_id": None},
        {"model_type": "xlm-roberta"}, {"model_type": "camembert", "pad_token_id": [], "type_vocab_size": 1},
        {"model_type": "albert"}, {"model_type": "albert", "embedding_size": [], "inner_group_num": {}},
        {"model_type": "albert", "embedding_size": 7, "classifier_dropout_prob": "1"},
        {"model_type": "ernie", "use_task_id": [1], "task_type_vocab_size": 65_536},
        {"model_type": {}},
        {"model_type": "x" * 10**6}, {"architectures": [["GPT2"]], "num_hidden_layers": 10**6},
    ):  # fmt: skip
        yield f"config {str(changes)[:40]}", partial(_config, **changes)
    for ending in ("safetensors", "bin"):
        for what, harm in (
            ("cut", lambda data: data[: len(data) // 2]),
            ("empty", lambda data: b""),
            ("of a huge header", lambda data: struct.pack("<Q", 2**62) + data[8:]),
        ):
            yield f"a {ending} shard {what}", partial(_shards, harm, ending)
    for name in ("model.onnx", "tf_model.h5", "flax_model.msgpack", "model.gguf"):
        yield f"only {name}", partial(_only, name)
    yield "a gadget", _gadget


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = model_folder(tmp_path_factory.mktemp("whole") / "model")
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text('{"pooling_mode": "cls"}')
    (folder / "modules.json").write_text(json.dumps(POOLED))
    return folder


def opened(folder: Path, _out: Path) -> None:
    assert embed(folder, ["good film"]).shape == (1, 12)


def as_folder(folder: Path, out: Path) -> None:
    result_of(writing_folder(folder, out))


def as_sentences(folder: Path, out: Path) -> None:
    result_of(writing_sentence_folder(folder, out))


@pytest.mark.slow
def test_what_is_wrong_beside_a_model_is_told_or_refused_and_does_no_harm(
    whole: Path, tmp_path: Path
) -> None:
    refused = dict[str, int]()
    for number, (name, harm) in enumerate(harms()):
        place = tmp_path / str(number)
        shutil.copytree(whole, place / "model")
        (place / "outside.json").write_text('{"pooling_mode": "max"}')
        harm(place / "model")
        refused[name] = 0
        is_beside = name.startswith((*BESIDE, "modules"))
        for work in (opened, as_sentences if is_beside else as_folder):
            began = time.process_time()
            try:
                work(place / "model", place / "out")
            except UserError as refusal:
                said = str(refusal)
                assert 20 < len(said) < 500 and "\n" not in said and said.endswith("."), (name, said)
                assert not (place / "out").exists(), name
                refused[name] += 1
            assert time.process_time() - began < 5, name
        left = {one.name for one in place.iterdir()} - {"model", "outside.json", "out"}
        assert not left, (name, left)
        assert refused[name] == (0 if is_beside else 2), name
        shutil.rmtree(place)
    assert len(refused) >= 40


def test_a_zip_whose_names_lead_out_writes_nothing_there(tmp_path: Path) -> None:
    for number, name in enumerate(("../evil", "/tmp/evil", "..\\evil", "a/../../evil")):
        place = tmp_path / str(number)
        place.mkdir()
        with zipfile.ZipFile(place / "checkpoint.zip", "w") as archive:
            for ending in (".index", ".data-00000-of-00001"):
                archive.writestr(f"{name}/bert_model.ckpt{ending}", b"x" * 99)
            archive.writestr(f"{name}/bert_config.json", "{}")
        with pytest.raises(UserError):
            result_of(converting(place / "checkpoint.zip", place / "out"))
        assert [one.name for one in place.iterdir()] == ["checkpoint.zip"]
    assert not (tmp_path / "evil").exists() and not Path("/tmp/evil").exists()
