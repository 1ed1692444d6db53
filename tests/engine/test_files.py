"""A file that somebody else wrote is opened only if it is an ordinary one of a fitting size."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from engine.errors import ConfigError, RunError, UserError
from engine.files import open_regular, read_json_object, read_regular
from engine.settings.config import from_toml, with_values
from engine.settings.finetune import FineTuneConfig
from engine.text.table import read_table
from engine.text.vocabulary import read_vocab


def make_pipe(path: Path) -> None:
    os.mkfifo(path)


def make_endless(path: Path) -> None:
    path.symlink_to("/dev/zero")


def make_huge(path: Path) -> None:
    with open(path, "wb") as file:
        file.truncate(300 * 2**20)


STRANGE = {
    "a pipe": (make_pipe, "not an ordinary file"),
    "a device": (make_endless, "not an ordinary file"),
    "a folder": (Path.mkdir, "not an ordinary file"),
    "300 MB": (make_huge, "larger than 1 MB"),
    "nothing": (lambda path: None, "could not be read: No such file"),
    "a link to itself": (lambda path: path.symlink_to(path), "could not be read"),
}


@pytest.mark.skipif(os.name == "nt", reason="no pipes or devices among this system's files")
@pytest.mark.parametrize("name", STRANGE)
def test_what_is_no_ordinary_file_is_refused_at_once_in_a_sentence(tmp_path: Path, name: str) -> None:
    make, words = STRANGE[name]
    path = tmp_path / "file"
    make(path)
    began = time.monotonic()
    with pytest.raises(RunError, match=words):
        read_regular(path, most=2**20, kind=RunError)
    with pytest.raises(ConfigError, match=words):
        from_toml(path)
    assert time.monotonic() - began < 2


@pytest.mark.parametrize("text", ["", "[1]", "5", "{", "[" * 100_000, '{"a":' * 100_000, "\xff"])
def test_json_that_is_no_object_is_refused_in_a_sentence(tmp_path: Path, text: str) -> None:
    path = tmp_path / "status.json"
    path.write_text(text, encoding="latin-1")
    with pytest.raises(UserError, match="status.json is damaged: its JSON"):
        read_json_object(path)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("NaN", "holds NaN at b, which cannot be saved again"),
        ("1e999", "holds Infinity at b"),
        ('"\\ud800"', "half a character .* at b"),
        ('{"\\udfff": 1}', "half a character .* at "),
        ("[[[-Infinity]]]", "holds -Infinity at b"),
        ("[" * 150 + "]" * 150, "its JSON cannot be read"),
        ("[" + "[]," * 2_000 + "7]", "holds more than 1500 values"),
    ],
)
def test_json_that_could_not_be_written_again_or_would_fill_the_memory_is_refused(
    tmp_path: Path, value: str, words: str
) -> None:
    path = tmp_path / "config.json"
    path.write_text(f'{{"a": {{"b": {value}}}}}', encoding="utf-8")
    with pytest.raises(RunError, match=words) as refused:
        read_json_object(path, writable=True, most_values=1500, kind=RunError)
    assert str(refused.value).isascii()


def test_a_number_of_4000_digits_is_refused_where_numbers_have_a_bound(tmp_path: Path) -> None:
    path = tmp_path / "cloze.json"
    path.write_text('{"steps": ' + "9" * 4000 + "}")
    assert read_json_object(path)["steps"] > 10**3000
    with pytest.raises(UserError, match="a number out of bounds at steps"):
        read_json_object(path, writable=True, most_number=2**53)


def test_an_ordinary_file_is_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    path.write_text('{"a": [1, "é"]}', encoding="utf-8")
    assert read_json_object(path) == {"a": [1, "é"]}
    with open_regular(path) as file:
        assert file.read(4) == b'{"a"'


def test_settings_with_a_strange_name_or_value_are_refused_in_a_short_sentence(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text("learning_rat = 1\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="nearest names are: learning_rate") as refused:
        with_values(FineTuneConfig(), from_toml(path))
    assert len(str(refused.value)) < 300


@pytest.mark.parametrize("name", ["vocab.txt", "config.json", "reviews.csv"])
def test_what_a_clone_without_git_lfs_leaves_is_named_whatever_file_it_stands_for(
    name: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 232\n")
    read = {"vocab.txt": read_vocab, "config.json": read_json_object, "reviews.csv": read_table}[name]
    with pytest.raises(UserError, match="only a Git LFS pointer.*git lfs pull"):
        read(path)


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="Linux alone has a file that cannot be read")
def test_a_file_whose_first_byte_cannot_be_read_is_refused_in_a_sentence() -> None:
    with pytest.raises(UserError, match="could not be read: Input/output error"):
        read_regular(Path("/proc/self/mem"), most=2**20)
