"""Settings: every one described, read, kept in a file and refused by name."""

from __future__ import annotations

import ast
import dataclasses
import tomllib
from pathlib import Path
from typing import Any

import pytest

from engine.errors import ConfigError
from engine.settings.config import from_toml, to_toml, values_of, with_values
from engine.settings.finetune import FineTuneConfig
from engine.settings.setting import settings_of

ENGINE = Path(__file__).parents[3] / "engine"
GROUPS = list(vars(FineTuneConfig()).values())


def changed() -> FineTuneConfig:
    values = {
        "data": 'C:\\daten\\"neu".csv',
        "separator": "\t",
        "label": "标签",
        "validation_share": 0.15,
        "learning_rate": "3e-5",
        "num_epochs": 7,
        "precision": "float32",
    }
    return with_values(FineTuneConfig(), values)


def test_a_config_comes_back_from_its_file_as_it_was(tmp_path: Path) -> None:
    for config in (FineTuneConfig(), changed()):
        (tmp_path / "config.toml").write_text(to_toml(config), encoding="utf-8")
        assert with_values(FineTuneConfig(), from_toml(tmp_path / "config.toml")) == config


def test_a_file_holds_every_setting_but_the_empty_ones() -> None:
    document = tomllib.loads(to_toml(changed()))
    assert document.pop("schema_version") == 1
    assert {name for group in document.values() for name in group} == set(values_of(changed()))


def test_a_setting_may_stand_in_a_file_without_its_group(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text("num_epochs = 5\n[training]\nseed = 3\n")
    assert from_toml(tmp_path / "mine.toml") == {"num_epochs": 5, "seed": 3}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("num_epochs = = 5", "cannot be read as settings"),
        ("seed = " + "9" * 5000, "cannot be read as settings"),
        ("seed = " + "[" * 5000, "cannot be read as settings"),
        ("schema_version = 99", "newer Cloze"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_by_its_name(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "mine.toml").write_text(text)
    with pytest.raises(ConfigError, match=says) as refused:
        from_toml(tmp_path / "mine.toml")
    assert "mine.toml" in str(refused.value)


def test_a_file_that_is_not_there_or_not_text_is_refused_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "latin.toml").write_bytes(b"text = '\xe9'")
    for name in ("none.toml", "latin.toml", "."):
        with pytest.raises(ConfigError, match="cannot be read as settings"):
            from_toml(tmp_path / name)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("learning_rate", "nan"),
        ("learning_rate", float("inf")),
        ("learning_rate", "fast"),
        ("learning_rate", True),
        ("learning_rate", 0),
        ("batch_size", 0),
        ("batch_size", "2.5"),
        ("batch_size", "nan"),
        ("batch_size", "inf"),
        ("batch_size", "1" + "0" * 400),
        ("batch_size", 10**400),
        ("batch_size", None),
        ("batch_size", [3]),
        ("seed", -1),
        ("seed", 2**31),
        ("warmup_ratio", 1.01),
        ("truncation", "tail"),
        ("device", "tpu"),
        ("text", 3),
        ("text", {"name": "text"}),
        ("num_epoch", 3),
        ("", 3),
    ],
)
def test_a_refusal_names_the_setting_in_a_sentence(name: str, value: Any) -> None:
    with pytest.raises(ConfigError) as refused:
        with_values(FineTuneConfig(), {name: value})
    assert refused.value.field == name
    assert str(refused.value).endswith(".") and name in str(refused.value) and len(str(refused.value)) < 1200


def test_a_limit_is_told_in_full() -> None:
    with pytest.raises(ConfigError, match=r"2147483648; it must lie between 0 and 2147483647"):
        with_values(FineTuneConfig(), {"seed": 2**31})


@pytest.mark.parametrize(
    ("name", "value", "read"),
    [("learning_rate", "3e-5", 3e-5), ("learning_rate", "", None), ("batch_size", "16", 16),
     ("batch_size", "1e3", 1000), ("batch_size", 16.0, 16), ("weight_decay", 0, 0.0),
     ("seed", "2147483647", 2**31 - 1)],
)  # fmt: skip
def test_text_is_read_as_the_kind_of_its_setting(name: str, value: Any, read: Any) -> None:
    found = values_of(with_values(FineTuneConfig(), {name: value}))[name]
    assert found == read and type(found) is type(read)


def test_a_refused_value_changes_nothing() -> None:
    config = changed()
    with pytest.raises(ConfigError):
        with_values(config, {"num_epochs": 9, "seed": -1})
    assert config == changed()


def test_every_setting_is_described_and_has_a_name_of_its_own() -> None:
    names = [field.name for group in GROUPS for field in dataclasses.fields(group)]
    assert len(names) == len(set(names))
    for group in GROUPS:
        for name, about in settings_of(group).items():
            assert about.label and about.help.endswith("."), name


@pytest.mark.slow
def test_every_setting_is_read_somewhere() -> None:
    read = set()
    for file in ENGINE.rglob("*.py"):
        if file.name not in ("config.py", "setting.py", "command_line.py"):
            tree = ast.parse(file.read_text(encoding="utf-8"))
            read |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert set(values_of(FineTuneConfig())) <= read
