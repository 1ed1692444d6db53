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

from assets.models.make import MODEL, MODELS, STAGES, STARTER, TINY, TUNED, recipe, tuning
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

STARTER_DIR, TINY_DIR, TUNED_DIR = MODELS / STARTER, MODELS / TINY, MODELS / TUNED
MOST_BYTES, MOST_TUNED_BYTES = 46_000_000, 8_000_000
PLACES = re.compile(r"(?:^|[\"' ])(?:/[a-z]|[A-Z]:\\)")  # of the machine that made them


def model_folders() -> Iterator[Path]:
    yield STARTER_DIR
    yield from (kept.path for kept in history(TINY_DIR))


def test_the_starter_has_both_heads_and_fits_in_46_megabytes() -> None:
    _, report = load_pretraining(STARTER_DIR, seed=0)
    assert not report.missing and not report.unexpected
    assert sum(file.stat().st_size for file in STARTER_DIR.iterdir()) <= MOST_BYTES


@pytest.mark.slow
def test_transformers_opens_the_starter_whole_and_answers_alike() -> None:
    transformers = pytest.importorskip("transformers")
    ours, _ = load_pretraining(STARTER_DIR, seed=0)
    theirs, loading = transformers.BertForPreTraining.from_pretrained(
        STARTER_DIR, dtype=torch.float32, output_loading_info=True
    )
    assert not loading["missing_keys"] and not loading["unexpected_keys"]
    wordpiece = WordPiece.from_folder(STARTER_DIR)
    ids = torch.tensor(wordpiece.encode_ids(["the river flows into the sea ."])[0])[None]
    with torch.inference_mode():
        out = ours.eval()(ids)
        peer = theirs.eval()(ids)
        logits = ours.logits(out.hidden)[None]
    assert torch.allclose(logits, peer.prediction_logits, atol=1e-4)
    assert torch.allclose(out.next_sentence, peer.seq_relationship_logits, atol=1e-4)


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


def test_the_pieces_and_ids_of_the_starter_are_those_of_bert_base_uncased(real_data: Path) -> None:
    published = (real_data / "vocabs" / "bert-base-uncased-vocab.txt").read_text(encoding="utf-8")
    assert (STARTER_DIR / "vocab.txt").read_text(encoding="utf-8") == published
    assert WordPiece.from_folder(STARTER_DIR).mask_id == 103


@pytest.mark.parametrize(
    ("text", "fitting"),
    [
        ("he was born in the united [MASK].", "states"),
        ("a week has seven [MASK].", "days"),
        ("the children [MASK] playing in the garden.", "were are"),
        ("she is older [MASK] her brother.", "than"),
        ("the film was directed [MASK] a young woman.", "by"),
    ],
)
def test_the_starter_fills_a_gap_that_leaves_no_choice(text: str, fitting: str) -> None:
    guesses = probe(LoadedModel.open(STARTER_DIR), text, top_k=1).answers[0].guesses
    assert guesses[0].word in fitting.split()


def test_the_starter_tells_a_second_sentence_from_one_of_elsewhere() -> None:
    subject = LoadedModel.open(STARTER_DIR)
    first = "The river Thames flows through the city of London."
    near, far = (
        follows(subject, first, second).probability
        for second in (
            "It is the longest river in England and reaches the sea in the east.",
            "The band recorded their second album in the summer of that year.",
        )
    )
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
    texts += [folder / "cloze.json" for folder in (*model_folders(), TUNED_DIR)]
    for file in texts:
        assert not PLACES.search(file.read_text(encoding="utf-8")), file


def test_the_recipes_are_those_the_models_were_made_by() -> None:
    chain = read_json(STARTER_DIR / "cloze.json")["chain"]
    assert [stage["run"] for stage in chain] == list(STAGES)
    for stage, name in zip(chain, STAGES, strict=True):
        budget = recipe(name, Path()).budget
        assert stage["learning_rate"] == budget.learning_rate and stage["tokens"] >= budget.tokens
    config = read_config(TINY_DIR)
    assert config.budget == recipe(TINY, Path()).budget


def test_the_tuned_model_is_the_tiny_one_after_its_recipe_and_its_card_tells_its_accuracy() -> None:
    about, config = read_json(TUNED_DIR / "cloze.json"), tuning()
    assert [stage["run"] for stage in about["chain"]] == [TINY, TUNED] and about["base_model"] == TINY
    assert about["trained"]["learning_rate"] == config.training.learning_rate
    assert about["split"]["seed"] == config.data.split_seed and about["labels"] == ["neg", "pos"]
    assert about["data"]["sha256"] == hashlib.sha256(Path(config.data.data).read_bytes()).hexdigest()
    card = (MODELS / "README.md").read_text(encoding="utf-8")
    assert f"| validation accuracy | {about['trained']['value']:.3f} (95 %: " in card
    before, after = LoadedModel.open(TINY_DIR / MODEL), LoadedModel.open(TUNED_DIR)
    assert before.wordpiece.tokens == after.wordpiece.tokens
    assert sum(file.stat().st_size for file in TUNED_DIR.iterdir()) <= MOST_TUNED_BYTES


@pytest.mark.slow
def test_the_tuned_model_answers_as_its_card_says_though_its_weights_are_halved() -> None:
    data = tuning().data
    table = result_of(opening_table(data, data.data, "data"))
    found = result_of(finding_examples(table, roles_of(data, table)))
    together = None if table.together is None else table.together[found.examples.rows]
    test = found.examples.take(split_of(data, found.examples.labels.astype(np.int64), together)[2])
    texts = [example.text for example in test]
    subject = LoadedModel.open(TUNED_DIR)
    pooled = PoolingConfig("pooled").of(subject.about)
    embedded = result_of(embed(subject, texts, [pooled], max_length=data.max_length))
    assert subject.classifier is not None and len(embedded.places) == len(texts)
    with torch.inference_mode():
        logits = subject.classifier.classifier(torch.from_numpy(embedded.of(pooled)))
    right = float((logits.argmax(1).cpu().numpy() == test.labels).mean())
    card = (MODELS / "README.md").read_text(encoding="utf-8")
    told = float(card.split("| test accuracy | ")[1].split()[0])
    assert abs(right - told) < 0.002  # three reviews of 1,599


def test_every_model_says_in_its_card_where_it_comes_from() -> None:
    card = (MODELS / "README.md").read_text(encoding="utf-8")
    for name in ("all-MiniLM-L6-v2", "Apache-2.0", "CC BY-SA 3.0", "enwiki2015-core", "english-novels-95"):
        assert name in card
    sentences = json.loads((MODELS.parent / "samples" / "cloze50.json").read_text(encoding="utf-8"))
    assert all(entry["text"] in card for entry in sentences)
