"""Google's checkpoints: to the last bit, as `transformers` reads them, and damaged ones refused."""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import time
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import BertForPreTraining

from engine.commands.command_line import main
from engine.errors import ModelError, UserError
from engine.events import result_of
from engine.model.convert import Conversion, converting
from engine.model.tensor_files import load_tensors
from engine.model.tensorflow.checkpoint import is_checkpoint
from engine.model.tensorflow.names import published
from engine.model.tensorflow.snappy import unpacked
from engine.model.weights import load_pretraining
from tests.engine.model.checkpoints import (
    WIDTH,
    WORDS,
    entry,
    field,
    index_of,
    tensors_of,
    write_checkpoint,
    written,
)
from tests.fakes import tiny_pretraining


def converted(checkpoint: Path, out: Path) -> Conversion:
    return result_of(converting(checkpoint, out))


@pytest.mark.parametrize(("shards", "snappy"), [(1, False), (1, True), (3, False), (7, True)])
def test_every_tensor_is_what_it_was_to_the_last_bit(tmp_path: Path, shards: int, snappy: bool) -> None:
    source = tensors_of()
    found = converted(written(tmp_path / "ckpt", source, shards=shards, snappy=snappy), tmp_path / "out")
    stored = load_tensors(tmp_path / "out" / "model.safetensors")
    wanted = {name: value for name, value in source.items() if "adam" not in name and name != "global_step"}
    assert len(stored) == len(wanted) == found.num_tensors
    for name, value in wanted.items():
        new, is_turned = published(name)
        assert np.array_equal(stored[new].numpy(), value.T if is_turned else value), name
    assert any("2 tensors" in str(note) for note in found.notes)  # those of training


def test_transformers_opens_the_folder_and_answers_the_same(tmp_path: Path) -> None:
    converted(written(tmp_path / "ckpt", tensors_of()), tmp_path / "out")
    theirs, report = BertForPreTraining.from_pretrained(tmp_path / "out", output_loading_info=True)
    assert not report["missing_keys"] and not report["unexpected_keys"]
    ours, _ = load_pretraining(tmp_path / "out")
    ids = torch.tensor([[2, 7, 4, 9, 11, 3]])
    with torch.inference_mode():
        there = theirs.eval()(ids)
        here = ours(ids)
        assert torch.allclose(ours.logits(here.hidden), there.prediction_logits[0], atol=1e-5)
        assert torch.allclose(here.next_sentence, there.seq_relationship_logits, atol=1e-5)


def test_a_zip_a_prefix_an_index_and_a_folder_are_the_same_checkpoint(tmp_path: Path) -> None:
    folder = written(tmp_path / "ckpt", tensors_of())
    for compression in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        with zipfile.ZipFile(tmp_path / f"{compression}.zip", "w", compression) as archive:
            for file in folder.iterdir():
                archive.write(file, f"uncased_L-2/{file.name}")
    places = [folder, folder / "bert_model.ckpt", folder / "bert_model.ckpt.index"]
    places += [folder / "bert_model.ckpt.data-00000-of-00001", tmp_path / "0.zip", tmp_path / "8.zip"]
    made = []
    for number, place in enumerate(places):
        assert is_checkpoint(place)
        converted(place, tmp_path / f"out{number}")
        made.append((tmp_path / f"out{number}" / "model.safetensors").read_bytes())
    assert len(set(made)) == 1 and not is_checkpoint(tmp_path / "out0")


@pytest.mark.parametrize(
    "packing", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]
)
def test_a_damaged_zip_is_refused_however_it_is_packed(tmp_path: Path, packing: int) -> None:
    folder = written(tmp_path / "ckpt", tensors_of())
    with zipfile.ZipFile(tmp_path / "all.zip", "w", packing) as archive:
        archive.write(folder / "bert_model.ckpt.index", "bert_model.ckpt.index")
    data = bytearray((tmp_path / "all.zip").read_bytes())
    data[300:320] = b"?" * 20
    (tmp_path / "all.zip").write_bytes(data)
    with pytest.raises(
        UserError, match=r"all.zip (is damaged: .* cannot be unpacked|could not be read: .*)\.$"
    ):
        converted(tmp_path / "all.zip", tmp_path / "out")


def test_heads_that_are_not_whole_are_left_out_and_told(tmp_path: Path) -> None:
    tensors = tensors_of(with_heads=False)
    found = converted(written(tmp_path / "plain", tensors), tmp_path / "out")
    assert found.kind == "BertModel"
    tensors |= {"output_weights": np.ones((3, WIDTH), np.float32), "output_bias": np.zeros(3, np.float32)}
    tensors["cls/predictions/output_bias"] = np.zeros(WORDS, np.float32)
    found = converted(written(tmp_path / "classes", tensors), tmp_path / "classifier")
    assert found.kind == "BertForSequenceClassification"
    assert any("cls.predictions.bias" in str(note) for note in found.notes)
    labels = json.loads((tmp_path / "classifier" / "config.json").read_text(encoding="utf-8"))["id2label"]
    assert len(labels) == 3


def test_what_is_missing_or_of_another_shape_is_named_and_nothing_is_written(tmp_path: Path) -> None:
    refusals = {
        "vocab.txt": "no vocab.txt",
        "bert_config.json": "no bert_config.json",
        "bert_model.ckpt.data-00000-of-00001": "data-00000-of-00001 is missing",
        "bert_model.ckpt.index": "no checkpoint",
    }
    for name, said in refusals.items():
        folder = written(tmp_path / f"no-{name}", tensors_of())
        (folder / name).unlink()
        with pytest.raises(ModelError, match=said):
            converted(folder, tmp_path / "out")
    tensors = tensors_of()
    del tensors["bert/pooler/dense/bias"], tensors["bert/encoder/layer_1/output/dense/kernel"]
    with pytest.raises(ModelError, match=r"^bert_model.ckpt lacks 1 of"):
        converted(written(tmp_path / "fewer", tensors), tmp_path / "out")
    two = written(tmp_path / "two", tensors_of())
    write_checkpoint(two / "other.ckpt", tensors_of())
    with pytest.raises(ModelError, match="several checkpoints: bert_model.ckpt, other.ckpt"):
        converted(two, tmp_path / "out")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("keep me", encoding="utf-8")
    with pytest.raises(ModelError, match="letter.txt"):
        converted(two / "other.ckpt", tmp_path / "mine")
    assert not (tmp_path / "out").exists() and not list(tmp_path.glob(".out*"))


@pytest.mark.slow
def test_1000_damaged_checkpoints_are_refused_quickly_and_none_is_taken(tmp_path: Path) -> None:
    draw = random.Random(0)
    whole = written(tmp_path / "whole", tensors_of(), snappy=True)
    names = ["bert_model.ckpt.index", "bert_model.ckpt.data-00000-of-00001"]
    contents = {name: (whole / name).read_bytes() for name in names}
    converted(whole, tmp_path / "good")
    good = load_tensors(tmp_path / "good" / "model.safetensors")
    out = tmp_path / "out"
    before, slowest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, 0.0
    for turn in range(1000):
        name = names[turn % 2]
        data = bytearray(contents[name])
        at = draw.randrange(len(data))
        match turn // 2 % 5:
            case 0:
                data[at] ^= 1 << draw.randrange(8)
            case 1:
                del data[at:]
            case 2:
                data[at : at + 8] = draw.randbytes(8)
            case 3:
                data[at : at + draw.randrange(1, 60)] = b""
            case _:
                data = bytearray(draw.randbytes(len(data)))
        for other, content in contents.items():
            (whole / other).write_bytes(bytes(data) if other == name else content)
        start = time.process_time()
        try:
            converted(whole, out)
        except UserError as error:
            assert str(error).endswith(".") and not out.exists()
        else:  # what was damaged is read by nobody: the optimizer's numbers, or room between blocks
            stored = load_tensors(out / "model.safetensors")
            assert stored.keys() == good.keys()
            assert all(torch.equal(value, good[key]) for key, value in stored.items())
            shutil.rmtree(out)
        slowest = max(slowest, time.process_time() - start)
    assert slowest < 5
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 500 * 1024


def test_an_index_that_would_take_hours_or_all_memory_is_refused_at_once(tmp_path: Path) -> None:
    folder = written(tmp_path / "ckpt", tensors_of())
    index, data = (folder / f"bert_model.ckpt.{end}" for end in ("index", "data-00000-of-00001"))
    zeros, whole = bytes(4 * WIDTH), [(b"a%d" % one, entry("float32", (0,), b"")) for one in range(2)]
    again = [(b"a%d" % one, entry("float32", (WIDTH,), zeros)) for one in range(2)]
    hole = 2**35  # bytes, of which none is on the disk
    endless = field(1, 1) + field(2, field(2, field(1, hole // 4))) + field(5, hole)
    for made, size, said in (
        (index_of([(b"a", bytes(5 * 2**20))]), 0, "too large"),
        (index_of(whole, times=2), 0, "not in order"),
        (index_of([*whole, *whole]), 0, "not in order"),
        (index_of(again), len(zeros), "overlap"),
        (index_of([(b"a", endless)]), hole, "take 32768 MB"),
    ):
        index.write_bytes(made)
        os.truncate(data, size)
        with pytest.raises(ModelError, match=said):
            converted(folder, tmp_path / "out")


def test_snappy_unpacks_copies_that_run_into_themselves_and_refuses_others() -> None:
    assert unpacked(b"\x05\x10hello", 99) == b"hello"
    assert unpacked(b"\x0a\x00a\x22\x01\x00", 99) == b"a" * 10  # one literal, then a copy of 9 from 1 back
    assert unpacked(b"\x08\x0cabcd\x01\x04", 99) == b"abcdabcd"
    for damaged in (
        b"",
        b"\x05\x10hell",
        b"\x04\x10hello",
        b"\x09\x00a\x22\x02\x00",
        b"\xff" * 9,
        b"\x05\xf0",
    ):
        with pytest.raises(ValueError, match="packed block"):
            unpacked(damaged, 99)
    with pytest.raises(ValueError, match="too large"):
        unpacked(b"\x05\x10hello", 4)


def test_a_checkpoint_of_googles_own_script_is_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = Path(os.environ.get("CLOZE_DATA", "")) / "tf_checkpoints"
    if not data.is_dir():
        pytest.skip("CLOZE_DATA names no folder with tf_checkpoints")
    assert main(["convert", str(data / "bert_model.ckpt"), "--out", str(tmp_path / "out")]) == 0
    assert "BertForPreTraining" in capsys.readouterr().out
    model, report = load_pretraining(tmp_path / "out")
    assert not report.unexpected and sum(value.numel() for value in model.parameters()) == 701
    assert tiny_pretraining().config.num_hidden_layers == model.config.num_hidden_layers
