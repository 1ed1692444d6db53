"""What is written for other tools is YAML that says what was asked for, whatever stands in it."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest

from engine.errors import UserError
from engine.remote.manifests import TOOLS, manifest, tidy_name, yaml_of
from tests.engine.typed import Engine, typed

yaml = pytest.importorskip("yaml", reason="PyYAML, which transformers brings, reads what is written")
ODD = [
    "-m",
    "engine",
    "finetune",
    "--data",
    "a b: {c} #d.csv",
    "--set",
    "text='x\"\\\n\ty",
    "--label",
    "电影🎬\x7f\u2028no",
]


@pytest.mark.parametrize("tool", sorted(TOOLS))
@pytest.mark.parametrize("gpus", [0, 1, 4])
def test_each_tool_gets_the_same_command(tool: str, gpus: int) -> None:
    text = manifest(tool, "My run: #1", ODD, gpus)
    document = yaml.safe_load(text)
    (line,) = [one for one in _texts(document) if "finetune" in one]
    words = shlex.split(line.rpartition("&& ")[2])
    start = ["torchrun", "--standalone", "--nproc-per-node=4"] if gpus == 4 else ["python"]
    assert words == [*start, *ODD]
    assert "my-run-1" in list(_texts(document))
    number = {
        "skypilot": lambda: document["resources"].get("accelerators", ":0").partition(":")[2],
        "dstack": lambda: document["resources"].get("gpu", 0),
        "kubernetes": lambda: text.partition("nvidia.com/gpu: ")[2][:1] or 0,
    }
    assert int(number[tool]()) == gpus
    if tool == "kubernetes":
        assert document["kind"] == "PyTorchJob" and document["apiVersion"] == "kubeflow.org/v1"
        (container,) = document["spec"]["pytorchReplicaSpecs"]["Master"]["template"]["spec"]["containers"]
        assert container["name"] == "pytorch"
    if tool == "dstack":  # which takes nothing along unasked
        assert document["files"] == [f".:{document['working_dir']}"]


def test_yaml_is_read_as_it_was_meant() -> None:
    document = {
        "a": "yes",
        "b": [1, "2", {"c": None, "d": True}, []],
        "e/f.g": {},
        "on: x": "null",
        "n": "0x1f",
    }
    assert yaml.safe_load(yaml_of(document)) == document


def test_a_name_is_one_for_each_tool() -> None:
    assert tidy_name("电影") == "run" and tidy_name("20261129-films") == "run-20261129-films"
    assert tidy_name("A" * 100) == "a" * 40
    with pytest.raises(UserError, match="is none of: skypilot, dstack, kubernetes"):
        manifest("ray", "x", ODD, 1)


def test_the_command_writes_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    engine: Engine = typed(capsys)
    out = tmp_path / "sky.yaml"
    code, _, err = engine(
        "export-job",
        "--for",
        "skypilot",
        "--gpus",
        "2",
        "--out",
        out,
        "finetune",
        "--data",
        "x.csv",
        "--run",
        "r",
    )
    assert code == 0, err
    assert "engine finetune --data x.csv --run r" in yaml.safe_load(out.read_text())["run"]
    code, _, err = engine("export-job", "--for", "dstack", "--out", out, "predict")
    assert code == 2 and "Behind the options goes the command that trains" in err


def _texts(document: Any) -> list[str]:
    if isinstance(document, dict):
        return [text for value in document.values() for text in _texts(value)]
    if isinstance(document, list):
        return [text for value in document for text in _texts(value)]
    return [document] if isinstance(document, str) else []
