"""The figures of the Chinese starter's card: what it guesses on text held out of its training, in simplified
and in traditional characters, the fifty sentences, and classifiers made of it beside random weights.

    python -m benchmarks.bench_chinese --what held-out cloze classifiers

`CLOZE_DATA` names the folder with corpora/, cloze_chinese/, chnsenticorp/, thucnews/ and lcqmc/. The held-out
documents are those of `assets.models.chinese_text`, one of sixty of each kind. "Random" is the same shape and
vocabulary with random weights, at the same rate. --json FILE keeps what it held of other parts.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import statistics
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from assets.models.chinese_text import divided, read, traditional
from assets.models.make import CHINESE, CHINESE_STAGES, MODELS, recipe
from benchmarks.measure import machine
from benchmarks.starter_work import cloze_sentences, fine_tuned, measure, other_text, random_twin
from benchmarks.work import SAMPLES
from engine.model.weights import load_pretraining
from engine.settings.config import with_values

SEEDS = (42, 43, 44, 45, 46)
SENTIMENT, TITLES, PAIRS, QUESTIONS = TASKS = ("chnsenticorp", "thucnews", "lcqmc", "chinese_questions")
PARTS = ("held-out", "cloze", "classifiers")


def main(argv: Sequence[str] | None = None) -> int:
    """Measure what was asked for, print it, and write it as JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bench_chinese", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--what", nargs="+", required=True, choices=PARTS)
    parser.add_argument("--model", type=Path, default=MODELS / CHINESE, metavar="DIR")
    parser.add_argument("--tokens", type=int, default=32_768, help="of held-out text, of each kind")
    parser.add_argument("--tasks", nargs="+", default=TASKS, choices=TASKS, help="of the classifiers")
    parser.add_argument("--seeds", nargs="+", type=int, default=SEEDS)
    parser.add_argument("--json", type=Path, metavar="FILE")
    chosen = parser.parse_args(argv)
    data = Path(os.environ["CLOZE_DATA"])
    print(machine(), flush=True)
    found: dict[str, Any] = {}
    if chosen.json and chosen.json.is_file():
        found = json.loads(chosen.json.read_text(encoding="utf-8"))
    if "held-out" in chosen.what:
        found["held-out"] = dict(_held_out(chosen.model, data, chosen.tokens))
    if "cloze" in chosen.what:
        rows = cloze_sentences(chosen.model, "cloze50-chinese.json")
        for row in rows:
            print("+" if row["sensible"] else "-", row["text"], "|", " ".join(row["guesses"]))
        print(f"{sum(bool(row['sensible']) for row in rows)} of {len(rows)}", flush=True)
        found["cloze"] = rows
    if "classifiers" in chosen.what:
        found["classifiers"] = {
            **found.get("classifiers", {}),
            **_classifiers(chosen.model, data, chosen.tasks, chosen.seeds),
        }
    if chosen.json:
        chosen.json.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return 0


def _held_out(model_dir: Path, data: Path, num_tokens: int) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield what the model reaches on each kind of held-out text, in both scripts."""
    model, _ = load_pretraining(model_dir, seed=0)
    model.eval()
    _, documents = divided(read(data / "corpora", data / "cloze_chinese" / "cft.zip"))
    stage = recipe(CHINESE_STAGES[0], Path(), model_dir)
    config = with_values(stage, {"vocab": "", "max_length": 128, "next_sentence": False})
    with tempfile.TemporaryDirectory() as folder:
        for kind in dict.fromkeys(document.kind for document in documents):
            own = [document for document in documents if document.kind == kind]
            for script, texts in (("simplified", own), ("traditional", traditional(own))):
                file = Path(folder) / f"{len(kind)}-{script}.txt"
                file.write_text("\n\n".join(one.text for one in texts) + "\n", encoding="utf-8")
                _, batches = other_text(config, file, num_tokens)
                measured, name = measure(model, batches), f"{kind} ({script})"
                print(f"{name}: " + ", ".join(f"{key} {value:.4g}" for key, value in measured.items()))
                yield name, measured


def _classifiers(
    model_dir: Path, data: Path, tasks: Sequence[str], seeds: Sequence[int]
) -> dict[str, dict[str, list[float]]]:
    """Return the accuracy of each task's classifiers: of the model, and of random weights, by seed."""
    found: dict[str, dict[str, list[float]]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for task, table in _tables(data, folder).items():
            if task not in tasks:
                continue
            accuracies: dict[str, list[float]] = {"starter": [], "random": []}
            for seed in seeds:
                models = {"starter": model_dir, "random": random_twin(model_dir, folder, seed)}
                for who, model in models.items():
                    accuracies[who].append(
                        fine_tuned(model, table, seed, precision="bfloat16", num_threads=1)
                    )
            for who, values in accuracies.items():
                spread = statistics.stdev(values) if len(values) > 1 else 0.0
                print(
                    f"{task}: {who} {statistics.mean(values):.4f} ± {spread:.4f} ({len(values)})", flush=True
                )
            found[task] = accuracies
    return found


def _tables(data: Path, folder: Path) -> dict[str, dict[str, Any]]:
    """Return the flat settings of each task: its table, and how it is learned."""
    sentiment, titles, pairs = data / SENTIMENT, data / TITLES, data / PAIRS
    names = _lines(titles / "class.txt")
    for part in ("train", "dev"):
        _write(
            folder / f"{part}.csv", [line.split("\t", 1) for line in _lines(sentiment / f"{part}.tsv")[1:]]
        )
    titled = [line.rsplit("\t", 1) for line in _lines(titles / "dev.txt")]
    _write(folder / "titles.csv", [[names[int(label)], title] for title, label in titled])
    paired = [line.split("\t") for line in _lines(pairs / "dev.txt")]
    _write(folder / "pairs.csv", [[label, first, second] for first, second, label in paired])
    once: dict[str, Any] = {"text": "text", "label": "label", "num_epochs": 1, "max_length": 64}
    return {
        SENTIMENT: {
            **once,
            "max_length": 192,
            "data": str(folder / "train.csv"),
            "validation_data": str(folder / "dev.csv"),
        },
        TITLES: {**once, "data": str(folder / "titles.csv")},
        PAIRS: {**once, "text_pair": "second", "data": str(folder / "pairs.csv")},
        QUESTIONS: {
            **once,
            "text": "question",
            "num_epochs": 10,
            "data": str(SAMPLES / "chinese_questions.csv"),
        },
    }


def _lines(path: Path) -> list[str]:
    return [line for line in path.read_text(encoding="utf-8-sig").split("\n") if line]


def _write(path: Path, rows: Sequence[Sequence[str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["label", "text", "second"][: len(rows[0])], *rows])


if __name__ == "__main__":
    raise SystemExit(main())
