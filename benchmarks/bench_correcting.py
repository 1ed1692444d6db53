"""Chinese spelling: a model fine-tuned on LEMON's pairs, measured on SIGHAN 2015's test set, new to it.

CLOZE_DATA names a folder with spelling/zh. Printed are SIGHAN's scores with their 95 % intervals, beside what
changing nothing reaches.
"""

from __future__ import annotations

import argparse
import lzma
import os
import tempfile
import time
from pathlib import Path

from engine.events import Evaluated, Noted, result_of
from engine.settings.config import with_values
from engine.settings.finetune import DataConfig, FineTuneConfig
from engine.train.finetune import fine_tune
from engine.train.tasks.known import evaluate_file

TEACHING = ("enc.tsv.xz", "new.tsv.xz")
SHOWN = (
    *("correction_f1", "correction_precision", "correction_recall"),
    *("detection_f1", "detection_precision", "detection_recall"),
    *(
        "false_positive_rate",
        "sentence_accuracy",
        "unchanged_accuracy",
        "place_correction_f1",
        "place_detection_f1",
    ),
)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", default="assets/models/chinese", help="the model to start from")
    parser.add_argument("--test", default="sig.tsv", help="a file of spelling/zh to measure on")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument(
        "--rate", type=float, help="peak learning rate; that of the model's size unless given"
    )
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--masked-share", type=float, default=0.2, help="of the right pieces, in training")
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("--run", type=Path, help="a folder to keep the run in")
    asked = parser.parse_args()
    data = Path(os.environ["CLOZE_DATA"]) / "spelling" / "zh"
    with tempfile.TemporaryDirectory() as folder:
        place = asked.run or Path(folder) / "run"
        pairs, test = (
            with_header(Path(folder) / name, data, names)
            for name, names in (("pairs.tsv", TEACHING), ("test.tsv", (asked.test,)))
        )
        values = {
            "data": str(pairs), "text": "text", "label": "right", "task": "correction", "quoting": "none",
            "model": asked.model, "num_epochs": asked.epochs, "batch_size": asked.batch, "seed": asked.seed,
            "validation_share": 0.1, "learning_rate": asked.rate, "masked_share": asked.masked_share,
        }  # fmt: skip
        start = time.perf_counter()
        for event in fine_tune(with_values(FineTuneConfig(), values), place):
            if isinstance(event, Noted):
                print("note:", event.sentence)
            if isinstance(event, Evaluated):
                print(f"epoch {event.epoch:.1f}: {event.metrics['correction_f1']:.4f} correction F1 held out")
        print(f"fine-tuned in {time.perf_counter() - start:.0f} s")
        measured = DataConfig(data=str(test), text="text", label="right", quoting="none")
        event = result_of(evaluate_file(place / "model", measured)).evaluated
    print(
        f"{event.details['num_examples']} texts, {event.details['num_wrong']} with an error. Changing nothing"
    )
    print("has an F1 of 0, no false positives, and the unchanged_accuracy below.")
    for name in SHOWN:
        low, high = event.details["intervals"][name]
        print(f"{name:24} {event.metrics[name]:.4f}  {low:.4f} to {high:.4f}")


def with_header(path: Path, folder: Path, names: tuple[str, ...]) -> Path:
    """Write pairs of some files below a header; return the path."""
    lines = ["text\tright\n"]
    for name in names:
        opened = lzma.open if name.endswith(".xz") else open
        with opened(folder / name, "rt", encoding="utf-8") as file:
            lines += [line.rstrip("\n") + "\n" for line in file if line.strip()]
    path.write_text("".join(lines), encoding="utf-8")
    return path


if __name__ == "__main__":
    main()
