"""Fine-tuning in miniature: made-up reviews, the fake model on one thread, and what a run leaves on disk."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from engine.device import cpu_has_bfloat16
from engine.events import Event, Step
from engine.settings.config import values_of, with_values
from engine.settings.finetune import FineTuneConfig
from engine.train.run.runs import read_metrics, read_status
from tests import warm
from tests.fakes import model_folder

ROOT = Path(__file__).parents[2]
TIMES = (
    "seconds",
    "elapsed_s",
    "used_s",
    "remaining_s",
    "tokens_per_s",
)  # rates and times are not part of a promise
PLACES = ("path", "run_dir")
OPENINGS = {"bad": ("bad film", "a bad play", "bad !"), "good": ("good film", "a good play", "good !")}
# kernels and precisions that a run can have on this CPU; the bits of each repeat
WAYS = [("oneDNN", "float32"), ("torch", "float32"), *([("torch", "bfloat16")] if cpu_has_bfloat16() else [])]


def reviews(num_rows: int = 53, seed: int = 0) -> list[tuple[str, str]]:
    """Return (text, label) rows of 3 to 20 WordPieces that the fake can learn."""
    rng = random.Random(seed)
    rows = []
    for number in range(num_rows):
        label = ("bad", "good")[number % 2]
        tail = " ".join(rng.choice("abcdefghxyz") for _ in range(rng.randrange(17)))
        rows.append((f"{rng.choice(OPENINGS[label])} {tail}".strip(), label))
    return rows


def write_table(path: Path, rows: Iterable[tuple[str, ...]], header: str = "text,label") -> Path:
    """Write rows as a CSV; header "" for none."""
    lines = [header] if header else []
    path.write_text("\n".join([*lines, *(",".join(row) for row in rows)]) + "\n", encoding="utf-8")
    return path


def tiny_config(folder: Path, **settings: Any) -> FineTuneConfig:
    """Return settings of a run of 18 steps over reviews.csv and start/, written to `folder` if absent."""
    if not (folder / "reviews.csv").exists():
        write_table(folder / "reviews.csv", reviews())
    if not (folder / "start").exists():
        model_folder(folder / "start", labels=("bad", "good"))
    values = {
        "data": str(folder / "reviews.csv"),
        "text": "text",
        "label": "label",
        "model": str(folder / "start"),
        "max_length": 23,
        "batch_size": 5,
        "num_epochs": 2,
        "learning_rate": 3e-3,
        "checkpoint_every_steps": 2,
        "device": "cpu",
        "precision": "float32",  # auto would measure, and choose, in every process
        "kernels": "oneDNN",
        "num_threads": 1,
    }
    return with_values(FineTuneConfig(), {**values, **settings})


def command_of(config: FineTuneConfig, run_dir: Path) -> list[str]:
    """Return the words of `python -m engine finetune` for a config."""
    words = ["finetune", "--run", str(run_dir)]
    for name, value in values_of(config).items():
        if value not in (None, ""):
            words += ["--set", f"{name}={value}"]
    return words


def start_engine(
    *words: str | Path, environment: dict[str, str] | None = None, program: Path | None = None
) -> warm.Process | subprocess.Popen[str]:
    """Start `python -m engine ...` in another process, or a program in its place; with torch loaded unless
    Python or torch is told by the environment how to load.
    """
    whole = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", **(environment or {})}
    is_loaded = not any(name.startswith(("PYTHON", "OMP", "LC_", "LANG")) for name in environment or {})
    line = [*(["-m", "engine"] if program is None else [program]), *words]
    return warm.start(line, environment=whole, is_loaded=is_loaded)


def run_engine(*words: str | Path, environment: dict[str, str] | None = None) -> tuple[int, str, str]:
    """Return exit code, stdout and stderr of `python -m engine ...`."""
    process = start_engine(*words, environment=environment)
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err


def kill_and_end(config: FineTuneConfig, run_dir: Path, data: Path) -> None:
    """Kill a run twice, wherever it is, and let it end when its data are gone."""
    rng, words = random.Random(os.urandom(8)), command_of(config, run_dir)
    for _ in range(2):
        process = start_engine(*words)
        reached = len(read_metrics(run_dir)) + rng.randrange(3, 9)
        while process.poll() is None and len(read_metrics(run_dir)) < reached:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        words = ["resume", str(run_dir)]
    data.unlink()
    if read_status(run_dir).get("state") != "finished":
        code, _, err = run_engine(*words)
        assert code == 0, err


def assert_learned_alike(*run_dirs: Path) -> None:
    """Whether runs came to the same model by the same steps; those that were stopped saved more often."""
    first, *others = (without_saved(outcome(run_dir)) for run_dir in run_dirs)
    for other in others:
        assert first["metrics"] == other["metrics"] and first["model"] == other["model"]


def outcome(run_dir: Path) -> dict[str, Any]:
    """Return all that a run promises to repeat bit for bit: weights, optimizer, RNG, metrics, the result."""
    found: dict[str, Any] = {"metrics": list(promised_metrics(run_dir))}
    for checkpoint in sorted((run_dir / "checkpoints").iterdir()):
        for name in ("weights", "optimizer"):
            found[f"{checkpoint.name}/{name}"] = (checkpoint / f"{name}.safetensors").read_bytes()
        state = json.loads((checkpoint / "state.json").read_text())
        found[f"{checkpoint.name}/state"] = {
            name: value for name, value in state.items() if name not in (*TIMES, "metrics_bytes")
        }
    found["model"] = (run_dir / "model" / "model.safetensors").read_bytes()
    return found


def promised_metrics(run_dir: Path) -> Iterator[dict[str, Any]]:
    """Yield the records of metrics.jsonl without times, rates and places.

    Nor what was noted: a run that was killed says what was broken off and is made again.
    """
    for record in read_metrics(run_dir):
        if record["event"] == "noted":
            continue
        yield {name: value for name, value in record.items() if name not in (*TIMES, *PLACES)}


def without_saved(found: dict[str, Any]) -> dict[str, Any]:
    """Leave out "saved" records: a run that is stopped saves once more than one that is not."""
    records = [record for record in found["metrics"] if record["event"] != "saved"]
    return {**found, "metrics": records}


def losses(events: Iterable[Event]) -> list[float]:
    """Return the loss of each step."""
    return [event.loss for event in events if isinstance(event, Step)]
