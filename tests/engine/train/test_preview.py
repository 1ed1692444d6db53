"""The preview of a text beside what the run itself makes of it."""

from __future__ import annotations

import random
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from engine.events import result_of
from engine.text import segmenter as segmenting
from engine.text.corpus.instances import collate_masked, single
from engine.text.corpus.masking import Masker
from engine.train.pretraining import setup as pretraining_setup
from engine.train.pretraining.preview import NOT_CHOSEN, preview
from tests.engine.tiny_stores import TOKENS, fake_words
from tests.engine.tiny_texts import text_config


@pytest.mark.parametrize("changes", [{}, {"dynamic_masking": False}, {"mask_unit": "ngram"}])
def test_the_preview_hides_what_the_run_hides_words_of_a_segmenter_among_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any]
) -> None:
    monkeypatch.setattr(pretraining_setup, "default_store_root", lambda: tmp_path / "cache")
    monkeypatch.setattr(segmenting, "import_module", lambda _: SimpleNamespace(cut=fake_words))
    rng = random.Random(1)
    said = [
        "中国人民。",
        "大学生爱上海。",
        "我们爱中国。",
        "上海人民爱语言。",
        "\u200b",
    ]  # the last has no pieces
    documents = ["\n".join(rng.choices(said, k=4)) for _ in range(60)]
    (tmp_path / "zh.txt").write_text("\n\n".join([*documents, "\u200b"]) + "\n", encoding="utf-8")
    (tmp_path / "vocab.txt").write_text("\n".join(TOKENS) + "\n", encoding="utf-8")
    values = {"text": str(tmp_path / "zh.txt"), "vocab": str(tmp_path / "vocab.txt"), "mask_unit": "word"}
    settings = {"segmenter": "jieba", "next_sentence": False, "mask_rate": 0.3, "validation_share": 0.0}
    config = text_config(tmp_path, **{**values, **settings, **changes})
    shown = result_of(preview(config, count=1000)).examples
    setup = result_of(pretraining_setup.prepare(config))
    store, objective, seed = setup.stores[0], config.objective, config.budget.seed
    made = single(store, np.arange(store.num_documents), max_length=objective.max_length, seed=seed, epoch=0)
    masker = Masker(pretraining_setup.masking_of(objective, setup.wordpiece), setup.wordpiece, seed)
    wanted, found, num_words = [], [], 0
    for index in range(len(made)):
        one = np.array([index])
        masked = collate_masked(store, made, one, masker, setup.wordpiece, int(objective.dynamic_masking))
        read = tuple(setup.wordpiece.tokens[number] for number in masked.input_ids.tolist())
        wanted.append((read, tuple(masked.masked.tolist())))
    for example in shown:
        chosen = tuple(place for place, done in enumerate(example.actions) if done != NOT_CHOSEN)
        found.append((example.shown, chosen))
        num_words += sum(
            (place in chosen and place + 1 in chosen)
            for place, pair in enumerate(zip(example.tokens, example.tokens[1:], strict=False))
            if pair == ("中", "国")
        )
    assert sorted(found) == sorted(wanted) and num_words > 5
