"""A model as a folder for other libraries, and all of it in one zip: opened again, it is the same."""

from __future__ import annotations

import json
import zipfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from engine import embed
from engine.errors import ModelError, UserError
from engine.events import result_of
from engine.export.archive import writing_zip
from engine.export.folders import writing_folder, writing_sentence_folder
from engine.model.sentence_files import SentenceConfig, read_sentence_files
from engine.model.weights import load_classifier, load_encoder, save_model
from tests.engine.model.family_cases import CASES, made
from tests.engine.model.test_relatives import IDS, MASK, agrees
from tests.engine.typed import is_one_sentence, typed
from tests.fakes import (
    model_folder,
    same_weights,
    stored_tensors,
    tiny_classifier,
    tiny_pretraining,
    tiny_wordpiece,
)

transformers = pytest.importorskip("transformers")
TEXTS = ["good film", "bad play ! good", "q"]


def test_a_model_is_written_as_it_is_stored_with_its_card(tmp_path: Path) -> None:
    folder = model_folder(tmp_path / "model")
    found = result_of(writing_folder(folder, tmp_path / "out"))
    assert same_weights(load_classifier(tmp_path / "out")[0], tiny_classifier())
    assert (tmp_path / "out" / "model.safetensors").read_bytes() == (
        folder / "model.safetensors"
    ).read_bytes()
    card = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert card.startswith("---\nlibrary_name: transformers\npipeline_tag: text-classification\n")
    assert "the answers are identical, to the last bit" in card and "`bad`, `good`, `odd`" in card
    assert found.num_bytes == sum(one.stat().st_size for one in (tmp_path / "out").iterdir())
    (folder / "README.md").write_text("Licence: MIT")  # as published models have it
    result_of(writing_folder(folder, tmp_path / "out"))  # over the earlier export
    assert (tmp_path / "out" / "ORIGIN.md").read_text() == "Licence: MIT"
    assert "`ORIGIN.md`, the card that it came with" in (tmp_path / "out" / "README.md").read_text()
    (tmp_path / "out" / "thesis.tex").write_text("years of work")
    with pytest.raises(UserError, match="already exists"):
        result_of(writing_folder(folder, tmp_path / "out"))


@pytest.mark.parametrize(
    ("changes", "what"), [({"pooling": "first_last"}, "mean"), ({"layer_mix": True}, "mix")]
)
def test_a_head_that_transformers_does_not_have_is_refused_for_it(
    tmp_path: Path, changes: dict[str, Any], what: str
) -> None:
    folder = model_folder(tmp_path / "model", **changes)
    with pytest.raises(UserError, match=f"reads .*{what} of all .*ONNX"):
        list(writing_folder(folder, tmp_path / "out"))
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
@torch.no_grad()
def test_relatives_and_old_files_leave_as_berts(tmp_path: Path) -> None:
    theirs = made(tmp_path / "own", CASES["DistilBERT"], "ForMaskedLM")
    tiny_wordpiece().save(tmp_path / "own")
    result_of(writing_folder(tmp_path / "own", tmp_path / "out"))
    again, info = transformers.BertForMaskedLM.from_pretrained(tmp_path / "out", output_loading_info=True)
    assert not info["missing_keys"] and not info["unexpected_keys"]
    assert agrees(again.eval()(IDS, attention_mask=MASK).logits, theirs(IDS, attention_mask=MASK).logits)
    made(tmp_path / "classes", CASES["DistilBERT"], "ForSequenceClassification")
    tiny_wordpiece().save(tmp_path / "classes")
    found = result_of(writing_folder(tmp_path / "classes", tmp_path / "no head"))
    assert "Ignored because BERT has no use for them: " in " ".join(map(str, found.said))
    with pytest.raises(ModelError, match="holds no classifier"):
        load_classifier(tmp_path / "no head")
    assert load_encoder(tmp_path / "no head")[1].unexpected == ()


@pytest.mark.parametrize(("pooling", "is_normed"), [("", None), ("cls", True), ("max", False)])
def test_sentence_transformers_files_say_how_the_vectors_are_made(
    pooling: str, is_normed: bool | None, tmp_path: Path
) -> None:
    folder = model_folder(tmp_path / "model")
    out = tmp_path / "out"
    result_of(writing_sentence_folder(folder, out, pooling, is_normed))
    assert read_sentence_files(out)[0] == SentenceConfig(pooling or "mean", bool(is_normed), 41)
    wanted = embed(folder, TEXTS, pooling=pooling or "mean")
    wanted = wanted / np.linalg.norm(wanted, axis=1, keepdims=True) if is_normed else wanted
    np.testing.assert_allclose(embed(out, TEXTS), wanted, atol=1e-5)
    kinds = [one["type"] for one in json.loads((out / "modules.json").read_text())]
    assert kinds[:2] == [f"sentence_transformers.models.{kind}" for kind in ("Transformer", "Pooling")]
    document = json.loads((out / "1_Pooling" / "config.json").read_text())
    assert document["word_embedding_dimension"] == 12
    assert [name for name, value in document.items() if value is True] == [
        {"cls": "pooling_mode_cls_token", "max": "pooling_mode_max_tokens"}.get(
            pooling, "pooling_mode_mean_tokens"
        )
    ]
    assert not any(name.startswith(("bert.", "classifier")) for name in stored_tensors(out))
    result_of(writing_sentence_folder(out, tmp_path / "again"))  # its own pooling goes on with it
    assert read_sentence_files(tmp_path / "again")[0] == read_sentence_files(out)[0]
    sentence_transformers: Any = pytest.importorskip("sentence_transformers")
    theirs = sentence_transformers.SentenceTransformer(str(out), device="cpu").encode(TEXTS)
    np.testing.assert_allclose(theirs, wanted, atol=1e-5)


@pytest.mark.slow
def test_a_zip_is_whole_and_the_same_each_time(tmp_path: Path) -> None:
    save_model(tmp_path / "model", tiny_pretraining(), tiny_wordpiece(), {}, dtype=torch.float16)
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        result_of(writing_zip(tmp_path / "model", tmp_path / name / "all.zip", TEXTS, with_onnx=False))
    first = tmp_path / "one" / "all.zip"
    assert first.read_bytes() == (tmp_path / "two" / "all.zip").read_bytes()
    assert [one.name for one in (tmp_path / "one").iterdir()] == ["all.zip"]  # nothing half-written beside it
    with zipfile.ZipFile(first) as archive:
        names = archive.namelist()
        archive.extractall(tmp_path / "unpacked")
    wanted = {"README.md", "config.json", "model.safetensors", "vocab.txt", "tokenizer.json", "modules.json"}
    assert names == sorted(names) and {f"all/{name}" for name in wanted} <= set(names)
    np.testing.assert_allclose(
        embed(tmp_path / "unpacked" / "all", TEXTS), embed(tmp_path / "model", TEXTS), atol=1e-6
    )
    theirs = transformers.AutoModel.from_pretrained(tmp_path / "unpacked" / "all")
    assert {value.dtype for value in theirs.parameters()} == {torch.float32}
    card = (tmp_path / "unpacked" / "all" / "README.md").read_text(encoding="utf-8")
    assert "SentenceTransformer" in card and "AutoModel" in card and "answer.py" not in card
    with pytest.raises(UserError, match=r"ends in \.zip"):
        result_of(writing_zip(tmp_path / "model", tmp_path / "all.tar", TEXTS))
    result_of(writing_zip(tmp_path / "model", first, TEXTS, with_onnx=False))  # over an earlier one
    for name, data in (("photos.zip", first.read_bytes()), ("text.zip", b"mine")):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(UserError, match="not an earlier export"):
            result_of(writing_zip(tmp_path / "model", tmp_path / name, TEXTS))
        assert (tmp_path / name).read_bytes() == data


def test_what_killed_exports_have_left_is_removed_and_what_others_write_is_not(tmp_path: Path) -> None:
    save_model(tmp_path / "model", tiny_pretraining(), tiny_wordpiece(), {})
    for out, writing in (
        (tmp_path / "all.zip", partial(writing_zip, with_onnx=False)),
        (tmp_path / "out", lambda folder, out, _texts: writing_folder(folder, out)),
    ):
        killed = tmp_path / f".{out.name}.abcd1234.partial"
        (killed / "all").mkdir(parents=True)
        (killed / "lock").write_text("1")
        mine = tmp_path / f".{out.name}.mine.partial"  # of another program
        mine.mkdir()
        under_way = writing(tmp_path / "model", out, TEXTS)
        next(under_way)
        next(under_way)
        (busy,) = set(tmp_path.glob(f".{out.name}.*.partial")) - {mine}
        result_of(writing(tmp_path / "model", out, TEXTS))
        assert set(tmp_path.glob(f".{out.name}.*.partial")) == {mine, busy}
        under_way.close()
        assert set(tmp_path.glob(f".{out.name}.*.partial")) == {mine} and out.exists()


def test_the_command_writes_several_at_once_and_refuses_in_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, folder = typed(capsys), model_folder(tmp_path / "model")
    two = ("--transformers", tmp_path / "t", "--sentence-transformers", tmp_path / "s")
    code, said, _ = run("export", "--model", folder, *two, "--pooling", "cls", "--normalize")
    assert code == 0 and said.count("Reopened: ") == 2 and "(cls)" in said
    for words in (
        (),
        ("--int8",),
        ("--onnx", tmp_path / "o", "--keep"),
        ("--transformers", tmp_path / "model" / "vocab.txt"),
    ):
        code, _, err = run("export", "--model", folder, *words)
        assert code == 2 and is_one_sentence(err)
    assert not (tmp_path / "o").exists()
