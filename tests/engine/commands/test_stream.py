"""`predict --stream`: one line out for one line in, whatever stands there."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.commands.command_line import main
from engine.commands.stream import MOST_LINE, answered, stream
from engine.errors import ModelError
from engine.train.tasks.known import task_of
from tests.fakes import LABELS, model_folder


def streamed(folder: Path, lines: Sequence[bytes]) -> list[dict[str, Any]]:
    out = io.StringIO()
    assert stream(folder, "cpu", io.BytesIO(b"\n".join(lines)), out) == 0
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_each_line_gets_the_answer_that_its_text_alone_gets(tmp_path: Path) -> None:
    folder = model_folder(tmp_path / "model")
    texts = ["good film", "bad play !", "good"]
    found = streamed(folder, [json.dumps({"text": text, "id": 7}).encode() for text in texts])
    predictor = task_of(folder).predictor(folder)  # type: ignore[attr-defined]
    for text, said in zip(texts, found, strict=True):
        shares = predictor.predict(text)
        assert list(said["probabilities"]) == list(LABELS)
        assert list(said["probabilities"].values()) == pytest.approx(shares.tolist(), abs=1e-6)
        assert said["prediction"] == LABELS[int(np.argmax(shares))]
        assert said["probability"] == max(said["probabilities"].values())


def test_a_line_that_cannot_be_answered_gets_a_sentence_and_the_next_is_read(tmp_path: Path) -> None:
    folder = model_folder(tmp_path / "model")
    good = b'{"text": "good film"}'
    odd = [b"nonsense", b"[1]", b'{"text": ""}', b'{"text": 7}', b"\xff\xfe", b"[" * 2000, b'{"t": "x"}']
    too_long = b'{"text": "' + b"good " * (MOST_LINE // 5) + b'"}'
    found = streamed(folder, [*(line for each in odd for line in (each, good)), b"", too_long, good])
    assert len(found) == 2 * len(odd) + 2  # an empty line asks nothing
    for said, expected in zip(found, [*[True, False] * len(odd), True, False], strict=True):
        assert ("error" in said) is expected
        assert not expected or (set(said) == {"error"} and said["error"].endswith("."))


def test_what_no_json_can_hold_is_no_answer() -> None:
    with pytest.raises(ValueError, match="JSON"):  # our own fault, and not to be written as NaN
        list(answered(lambda _document: {"prediction": float("nan")}, [b"{}"]))


def test_a_folder_that_is_no_model_is_refused_before_a_line_is_read(tmp_path: Path) -> None:
    with pytest.raises(ModelError):
        stream(tmp_path, "cpu", io.BytesIO(b"{}"), io.StringIO())
    assert main(["predict", "--stream", "--model", str(tmp_path), "--data", "x.csv"]) != 0


@pytest.mark.slow
def test_a_program_that_waits_for_each_answer_gets_it_at_once(tmp_path: Path) -> None:
    folder = model_folder(tmp_path / "model")
    line = [sys.executable, "-m", "engine", "predict", "--stream", "--model", str(folder)]
    with subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None and process.stdout is not None
        for text in ("good film", "bad play"):
            process.stdin.write(json.dumps({"text": text}) + "\n")
            process.stdin.flush()
            assert "prediction" in json.loads(process.stdout.readline())  # before the next is written
        process.stdin.close()
        assert process.stdout.read() == "" and process.wait(60) == 0
