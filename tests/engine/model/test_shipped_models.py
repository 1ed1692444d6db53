"""The models in the box: whole, small, plain about where they come from, able to do what the window shows."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from assets.models.make import (
    CHINESE,
    CHINESE_STAGES,
    CHINESE_TUNED,
    MODEL,
    MODELS,
    STAGES,
    STARTER,
    TINY,
    TUNED,
    recipe,
    tuning,
)
from assets.samples.make import KINDS
from engine import library
from engine.events import result_of
from engine.inspect.embeddings.similarity import unit
from engine.inspect.embeddings.vectors import PoolingConfig, embed
from engine.inspect.loaded_model import LoadedModel
from engine.inspect.masked.follows import follows
from engine.inspect.masked.probe import probe
from engine.model.folder import read_json
from engine.model.weights import load_pretraining
from engine.text.examples import finding_examples
from engine.text.wordpiece import WordPiece
from engine.train.prepare import opening_table, roles_of, split_of
from engine.train.run.kept import history
from engine.train.run.runs import read_config, read_metrics

STARTER_DIR, TINY_DIR = MODELS / STARTER, MODELS / TINY
CHINESE_DIR = MODELS / CHINESE
TUNED_DIRS = (MODELS / TUNED, MODELS / CHINESE_TUNED)
MOST_BYTES, MOST_CHINESE_BYTES = 46_000_000, 20_000_000
MOST_TUNED_BYTES = {TUNED: 8_000_000, CHINESE_TUNED: 13_000_000}
PLACES = re.compile(r"(?:^|[\"' ])(?:/[a-z]|[A-Z]:\\)")  # of the machine that made them


def card_of(name: str) -> str:
    """The part of the card that speaks of a tuned model."""
    card = (MODELS / "README.md").read_text(encoding="utf-8")
    heads = {TUNED: "\n## Tuned\n", CHINESE_TUNED: "\n### Tuned to tell questions apart\n"}
    return card.split(heads[name])[1]


def model_folders() -> Iterator[Path]:
    yield from (STARTER_DIR, CHINESE_DIR)
    yield from (kept.path for kept in history(TINY_DIR))


@pytest.mark.parametrize(("folder", "most"), [(STARTER_DIR, MOST_BYTES), (CHINESE_DIR, MOST_CHINESE_BYTES)])
def test_a_starter_has_both_heads_and_is_small(folder: Path, most: int) -> None:
    _, report = load_pretraining(folder, seed=0)
    assert not report.missing and not report.unexpected
    assert sum(file.stat().st_size for file in folder.iterdir()) <= most


@pytest.mark.slow
@pytest.mark.parametrize(
    ("folder", "text"),
    [(STARTER_DIR, "the river flows into the sea ."), (CHINESE_DIR, "黄河流入大海。這本書")],
)
def test_transformers_opens_a_starter_whole_and_answers_alike(folder: Path, text: str) -> None:
    transformers = pytest.importorskip("transformers")
    ours, _ = load_pretraining(folder, seed=0)
    theirs, loading = transformers.BertForPreTraining.from_pretrained(
        folder, dtype=torch.float32, output_loading_info=True
    )
    assert not loading["missing_keys"] and not loading["unexpected_keys"]
    ids = torch.tensor(WordPiece.from_folder(folder).encode_ids([text])[0])[None]
    with torch.inference_mode():
        out = ours.eval()(ids)
        peer = theirs.eval()(ids)
        logits = ours.logits(out.hidden)[None]
    assert torch.allclose(logits, peer.prediction_logits, atol=1e-4)
    assert torch.allclose(out.next_sentence, peer.seq_relationship_logits, atol=1e-4)


@pytest.mark.parametrize(("folder", "name"), [(STARTER_DIR, "uncased"), (CHINESE_DIR, "chinese")])
def test_the_pieces_and_ids_of_a_starter_are_those_of_a_published_bert(
    real_data: Path, folder: Path, name: str
) -> None:
    published = (real_data / "vocabs" / f"bert-base-{name}-vocab.txt").read_text(encoding="utf-8")
    assert (folder / "vocab.txt").read_text(encoding="utf-8") == published
    assert WordPiece.from_folder(folder).mask_id == 103


def test_the_starter_guesses_words_by_the_weights_that_it_had_before_it_had_an_encoder() -> None:
    digest = hashlib.sha256((STARTER_DIR / "model.safetensors").read_bytes()).hexdigest()
    assert digest.startswith("8a367bde8ea4")


def test_texts_are_as_alike_for_the_starter_as_for_the_encoder_that_it_came_from() -> None:
    texts = (
        "A man is playing a guitar on the street.",
        "Somebody makes music outside.",
        "The bank raised its interest rates.",
        "It became dearer to borrow money.",
    )
    vectors = unit(library.embed(STARTER_DIR, texts, pooling="mean"))
    found = (vectors @ vectors.T)[np.triu_indices(4, 1)]
    of_encoder = [0.52, -0.06, -0.04, -0.10, -0.10, 0.49]  # all-MiniLM-L6-v2 itself
    assert np.allclose(found, of_encoder, atol=0.05)


@pytest.mark.parametrize(
    ("folder", "text", "fitting"),
    [
        (STARTER_DIR, "he was born in the united [MASK].", "states"),
        (STARTER_DIR, "a week has seven [MASK].", "days"),
        (STARTER_DIR, "the children [MASK] playing in the garden.", "were are"),
        (STARTER_DIR, "she is older [MASK] her brother.", "than"),
        (STARTER_DIR, "the film was directed [MASK] a young woman.", "by"),
        (CHINESE_DIR, "因为下雨，[MASK]以我们没有去。", "所"),
        (CHINESE_DIR, "我们应[MASK]努力学习。", "该"),
        (CHINESE_DIR, "這本書[MASK]作者是一個年輕人。", "的"),
    ],
)
def test_a_starter_fills_a_gap_that_leaves_no_choice(folder: Path, text: str, fitting: str) -> None:
    guesses = probe(LoadedModel.open(folder), text, top_k=1).answers[0].guesses
    assert guesses[0].word in fitting.split()


@pytest.mark.parametrize(
    ("folder", "first", "seconds"),
    [
        (
            STARTER_DIR,
            "The river Thames flows through the city of London.",
            (
                "It is the longest river in England and reaches the sea in the east.",
                "The band recorded their second album in the summer of that year.",
            ),
        ),
        (
            CHINESE_DIR,
            "从前有一个老爷爷，他和小孙子住在山里。",
            ("一天，爷爷带着孙子上山采药。", "第三条 本条例自发布之日起施行。"),
        ),
    ],
)
def test_a_starter_tells_a_second_sentence_from_one_of_elsewhere(
    folder: Path, first: str, seconds: tuple[str, str]
) -> None:
    subject = LoadedModel.open(folder)
    near, far = (follows(subject, first, second).probability for second in seconds)
    assert near > far


def test_the_history_shows_a_model_that_learns() -> None:
    kept = history(TINY_DIR)
    assert len(kept) >= 5
    for one in kept:
        load_pretraining(one.path, seed=0)
    records = read_metrics(TINY_DIR)
    losses = [record["loss"] for record in records if record["event"] == "evaluated"]
    assert losses[-1] < losses[0] - 1.0
    assert sum(record["event"] == "pinned" for record in records) >= 5


def test_no_shipped_model_names_a_place_on_the_machine_that_made_it() -> None:
    texts = [TINY_DIR / name for name in ("config.toml", "metrics.jsonl", "status.json")]
    texts += [folder / "cloze.json" for folder in (*model_folders(), *TUNED_DIRS)]
    for file in texts:
        assert not PLACES.search(file.read_text(encoding="utf-8")), file


def test_the_recipes_are_those_the_models_were_made_by() -> None:
    for folder, names in ((STARTER_DIR, STAGES), (CHINESE_DIR, CHINESE_STAGES)):
        chain = read_json(folder / "cloze.json")["chain"]
        assert [stage["run"] for stage in chain] == list(names)
        for stage, name in zip(chain, names, strict=True):
            budget = recipe(name, Path()).budget
            assert stage["learning_rate"] == budget.learning_rate and stage["tokens"] >= budget.tokens
            assert stage["seconds"] >= 59 * budget.minutes
    config = read_config(TINY_DIR)
    assert config.budget == recipe(TINY, Path()).budget


@pytest.mark.parametrize(
    ("name", "before_dir", "stages", "labels"),
    [
        (TUNED, TINY_DIR / MODEL, [TINY, TUNED], ["neg", "pos"]),
        (CHINESE_TUNED, CHINESE_DIR, [*CHINESE_STAGES, CHINESE_TUNED], [*KINDS]),
    ],
)
def test_a_tuned_model_is_another_one_after_its_recipe_and_its_card_tells_its_accuracy(
    name: str, before_dir: Path, stages: list[str], labels: list[str]
) -> None:
    folder = MODELS / name
    about, config = read_json(folder / "cloze.json"), tuning(name)
    assert [stage["run"] for stage in about["chain"]] == stages and about["base_model"] in (TINY, CHINESE)
    assert about["trained"]["learning_rate"] == config.training.learning_rate
    assert about["split"]["seed"] == config.data.split_seed and about["labels"] == sorted(labels)
    assert about["data"]["sha256"] == hashlib.sha256(Path(config.data.data).read_bytes()).hexdigest()
    assert f"| validation accuracy | {about['trained']['value']:.3f} (95 %: " in card_of(name)
    before, after = LoadedModel.open(before_dir), LoadedModel.open(folder)
    assert before.wordpiece.tokens == after.wordpiece.tokens
    assert sum(file.stat().st_size for file in folder.iterdir()) <= MOST_TUNED_BYTES[name]


@pytest.mark.slow
@pytest.mark.parametrize("name", [TUNED, CHINESE_TUNED])
def test_a_tuned_model_answers_as_its_card_says_though_its_weights_have_fewer_bits(name: str) -> None:
    data = tuning(name).data
    table = result_of(opening_table(data, data.data, "data"))
    found = result_of(finding_examples(table, roles_of(data, table)))
    together = None if table.together is None else table.together[found.examples.rows]
    test = found.examples.take(split_of(data, found.examples.labels.astype(np.int64), together)[2])
    texts = [example.text for example in test]
    subject = LoadedModel.open(MODELS / name)
    pooled = PoolingConfig("pooled").of(subject.about)
    embedded = result_of(embed(subject, texts, [pooled], max_length=data.max_length))
    assert subject.classifier is not None and len(embedded.places) == len(texts)
    with torch.inference_mode():
        logits = subject.classifier.classifier(torch.from_numpy(embedded.of(pooled)))
    right = float((logits.argmax(1).cpu().numpy() == test.labels).mean())
    told = float(card_of(name).split("| test accuracy | ")[1].split()[0])
    assert abs(right - told) < 0.002  # three reviews of 1,599


def test_every_model_says_in_its_card_where_it_comes_from() -> None:
    card = (MODELS / "README.md").read_text(encoding="utf-8")
    for name in (
        "all-MiniLM-L6-v2",
        "Apache-2.0",
        "CC BY-SA 3.0",
        "enwiki2015-core",
        "english-novels-95",
        "OpenCC",
    ):
        assert name in card
    for name in ("cloze50.json", "cloze50-chinese.json"):
        sentences = json.loads((MODELS.parent / "samples" / name).read_text(encoding="utf-8"))
        assert all(entry["text"] in card for entry in sentences)
