"""What is measured of the starter model: held-out text, written cloze sentences, classifiers made of it."""

from __future__ import annotations

import csv
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from assets.models.make import STAGES, recipe
from benchmarks.work import SAMPLES
from engine.device import open_device
from engine.events import Evaluated, result_of
from engine.inspect.loaded_model import LoadedModel
from engine.inspect.masked.probe import probe
from engine.model.bert import initialize
from engine.model.heads import PreTraining
from engine.model.weights import load_pretraining, read_config, save_model
from engine.settings.config import with_values
from engine.settings.finetune import FineTuneConfig
from engine.settings.pretrain import PretrainConfig
from engine.text.corpus.instances import MaskedBatch
from engine.text.wordpiece import WordPiece
from engine.train.finetune import fine_tune
from engine.train.pretraining import setup as pretraining_setup
from engine.train.pretraining.language import LanguageModel
from engine.train.pretraining.setup import PretrainSetup

WIKIPEDIA = "enwiki2015-core.txt.xz"
NOVELS = 95  # the last documents of the text; those before are Wikipedia's
AT_ONCE = 4096  # tokens of a batch that is measured
POLARITY, SST2 = "polarity", "sst2"


# --- held-out text -----------------------------------------------------------------------------------


def settings(data: Path, model: Path, **changes: Any) -> PretrainConfig:
    """Return the recipe's settings with the model's own vocabulary, so that the same text is held out."""
    config = recipe(STAGES[0], data / "corpora", model)
    return with_values(config, {"trim_vocab": 0, **changes})


def held_out_articles(config: PretrainConfig, setup: PretrainSetup, num_tokens: int) -> list[MaskedBatch]:
    """Return masked batches of the Wikipedia articles that no stage has seen, without the held-out novel."""
    articles = setup.stores[0].num_documents - NOVELS
    return pretraining_setup.validation_batches(setup, config, num_tokens, AT_ONCE, before=articles)


def other_text(
    config: PretrainConfig, path: Path, num_tokens: int
) -> tuple[PretrainSetup, list[MaskedBatch]]:
    """Return masked batches of all documents of another file."""
    config = with_values(config, {"text": str(path), "validation_text": str(path), "next_sentence": False})
    setup = result_of(pretraining_setup.prepare(config))
    return setup, pretraining_setup.validation_batches(setup, config, num_tokens, AT_ONCE)


def measure(model: PreTraining, batches: list[MaskedBatch], next_sentence: bool = False) -> dict[str, float]:
    """Return loss, perplexity and accuracy in float32; masks are by piece at 15 %, 80/10/10."""
    device = open_device(with_values(PretrainConfig(), {"precision": "float32"}).device)
    measured = result_of(LanguageModel(next_sentence).evaluate(model, batches, device))
    words = sum(len(batch.targets) for batch in batches)
    return {"hidden_words": words, **{name: float(value) for name, value in measured.metrics.items()}}


def on_held_out(model_dir: Path, data: Path, num_tokens: int) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield what a model reaches on held-out articles, by length of the examples, and on wikitext-2-valid."""
    model, _ = load_pretraining(model_dir, seed=0)
    model.eval()
    for length, pairs in ((128, False), (512, False), (128, True)):
        config = settings(data, model_dir, max_length=length, next_sentence=pairs)
        setup = result_of(pretraining_setup.prepare(config))
        batches = held_out_articles(config, setup, num_tokens)
        name = f"held-out articles, {'pairs' if pairs else 'text'} of {length}"
        yield name, measure(model, batches, pairs)
    for length in (128, 512):
        config = settings(data, model_dir, max_length=length, next_sentence=False)
        _, batches = other_text(config, data / "corpora" / "wikitext-2-valid.txt", num_tokens)
        yield f"wikitext-2-valid, text of {length}", measure(model, batches)


# --- written sentences -------------------------------------------------------------------------------


def cloze_sentences(model_dir: Path, file: str = "cloze50.json", top_k: int = 5) -> list[dict[str, Any]]:
    """Return each of the fifty written sentences with its first guesses and the sensible ones.

    Args: file: of assets/samples.
    """
    subject = LoadedModel.open(model_dir)
    rows = []
    for entry in json.loads((SAMPLES / file).read_text(encoding="utf-8")):
        guesses = [guess.word for guess in probe(subject, entry["text"], top_k=top_k).answers[0].guesses]
        hits = [word for word in guesses if word in entry["accepted"]]
        rows.append({"text": entry["text"], "guesses": guesses, "sensible": hits})
    return rows


# --- classifiers -------------------------------------------------------------------------------------


def tables(data: Path, folder: Path) -> dict[str, dict[str, str]]:
    """Return the flat settings that name each table's rows to learn from and to measure on."""
    for part in ("train", "dev"):
        lines = (data / SST2 / f"{part}.tsv").read_text(encoding="utf-8").split("\n")
        rows = [line.split("\t") for line in lines if line]
        with (folder / f"{part}.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([["text", "label"], *rows])
    columns = {"text": "text", "label": "label"}
    return {
        POLARITY: {**columns, "data": str(SAMPLES / "sentence_polarity.csv")},
        SST2: {
            **columns,
            "data": str(folder / "train.csv"),
            "validation_data": str(folder / "dev.csv"),
        },
    }


def fine_tuned(model_dir: Path, table: dict[str, str], seed: int, **changes: Any) -> float:
    """Return the accuracy after the last epoch: no checkpoint is chosen on the rows that are measured."""
    values = {**table, "model": str(model_dir), "seed": seed, "split_seed": 42, **changes}
    with tempfile.TemporaryDirectory() as name:
        events = fine_tune(with_values(FineTuneConfig(), values), Path(name) / "run")
        found = [event for event in events if isinstance(event, Evaluated) and event.split == "validation"]
    return float(found[-1].metrics["accuracy"])


def random_twin(model_dir: Path, folder: Path, seed: int) -> Path:
    """Write a model of the same shape and vocabulary whose weights are random, as published."""
    twin = PreTraining(read_config(model_dir))
    initialize(twin, twin.config.initializer_range, seed=seed)
    save_model(folder / f"random-{seed}", twin, WordPiece.from_folder(model_dir))
    return folder / f"random-{seed}"
