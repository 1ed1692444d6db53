"""Vectors kept on the disk: found again by what decides them, and never trusted where they are torn."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from engine.events import result_of
from engine.inspect.embeddings import kept_vectors
from engine.inspect.embeddings.kept_vectors import KeptVectors, vectors_key
from engine.inspect.embeddings.vectors import PoolingConfig
from engine.inspect.loaded_model import LoadedModel

KEY = "5d" * 32
VECTORS = np.random.default_rng(0).normal(size=(13, 7)).astype(np.float32)


def test_what_is_kept_is_found_again_whole_or_as_far_as_it_went(tmp_path: Path) -> None:
    kept = KeptVectors(tmp_path / "vectors", KEY)
    assert kept.read(13, 7).shape == (0, 7)
    kept.write(VECTORS[:5])
    assert (kept.read(13, 7) == VECTORS[:5]).all()
    kept.write(VECTORS)
    assert (KeptVectors(tmp_path / "vectors", KEY).read(13, 7) == VECTORS).all()
    assert not len(kept.read(12, 7)) and not len(kept.read(13, 8))  # of other texts, or another model


def test_a_torn_a_changed_and_a_foreign_file_count_as_none(tmp_path: Path) -> None:
    kept = KeptVectors(tmp_path, KEY)
    kept.write(VECTORS)
    whole = kept.path.read_bytes()
    for cut in range(0, len(whole), 11):
        kept.path.write_bytes(whole[:cut])
        assert not len(kept.read(13, 7)), cut
    for place in range(0, len(whole), 5):
        kept.path.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
        found = kept.read(13, 7)
        assert not len(found) or (found == VECTORS).all(), place  # a letter of no meaning may differ
    other = KeptVectors(tmp_path, "6e" * 32)
    kept.path.write_bytes(whole)
    kept.path.rename(other.path)
    assert not len(other.read(13, 7))
    save_file({"vectors": VECTORS}, kept.path)
    assert not len(kept.read(13, 7))


def test_another_text_reading_or_vocabulary_has_another_key(subject: LoadedModel) -> None:
    about, mean = subject.about, PoolingConfig("mean", 1)

    def key(*texts: str, **changes: object) -> str:
        return result_of(vectors_key(replace(about, **changes), mean, 64, texts))  # type: ignore[arg-type]

    words = replace(about.wordpiece, lowercase=not about.wordpiece.lowercase)
    keys = [
        key("a film", "a play"),
        key("a film", "a playe"),
        key("a filma", " play"),  # the same letters one after the other
        key("a film", "a play", fingerprint="other"),
        key("a film", "a play", wordpiece=words),
        result_of(vectors_key(about, PoolingConfig("cls", 1), 64, ("a film", "a play"))),
        result_of(vectors_key(about, mean, 65, ("a film", "a play"))),
    ]
    assert len({*keys}) == len(keys) and key("a film", "a play") == keys[0]


def test_what_was_not_used_for_the_longest_time_gives_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = [KeptVectors(tmp_path, letter * 64) for letter in "abc"]
    for age, one in enumerate(made):
        one.write(VECTORS)
        os.utime(one.path, (1000.0 + age, 1000.0 + age))
    half = tmp_path / ".dd.safetensors.7.partial"
    half.write_bytes(b"x")
    os.utime(half, (1000.0, 1000.0))
    assert len(made[0].read(13, 7))  # which uses it
    monkeypatch.setattr(kept_vectors, "MOST_BYTES", 3 * made[0].path.stat().st_size)
    KeptVectors(tmp_path, "d" * 64).write(VECTORS)
    assert not made[1].path.exists() and made[0].path.exists() and made[2].path.exists()
    assert not half.exists()
