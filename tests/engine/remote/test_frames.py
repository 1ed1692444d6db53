"""The line takes what fits its bounds, and nothing else."""

from __future__ import annotations

import io

import pytest

from engine.remote import frames
from engine.remote.frames import BLOCK, Garbled, foreign, heard, heard_bytes, said


def test_what_is_said_is_heard() -> None:
    stream = io.BytesIO(said({"do": "read", "name": "词"}, 3) + b"abc" + said({}))
    assert heard(stream, BLOCK) == ({"do": "read", "name": "词"}, 3)
    assert heard_bytes(stream, 3) == b"abc"
    assert heard(stream, BLOCK) == ({}, 0) and heard(stream, BLOCK) is None


def test_a_line_that_was_cut_is_the_end() -> None:
    assert heard(io.BytesIO(said({"a": 1})[:-3]), BLOCK) is None
    assert heard_bytes(io.BytesIO(b"ab"), 3) is None


MUCH = (b"[" * 100_000 + b"\n", b'{"a": [' + b"1," * 60_000 + b"1]}\n", b'{"bytes": 99999999}\n')
WRONG = (b"hello\n", b"[1]\n", b'{"bytes": -1}\n', b'{"bytes": 1.5}\n', b'{"bytes": "1"}\n', b"\xff\xfe\n")


@pytest.mark.parametrize("data", [*MUCH, *WRONG])
def test_what_is_not_ours_is_refused(data: bytes) -> None:
    with pytest.raises(Garbled):
        heard(io.BytesIO(data), BLOCK)


def test_a_line_without_end_takes_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "MOST_LINE", 100)
    with pytest.raises(Garbled):
        heard(io.BytesIO(b"x" * 1000), BLOCK)


def test_what_another_computer_says_cannot_do_anything_to_a_terminal() -> None:
    assert foreign("no\x1b]0;x\x07 way\n\u202eback") == "no ]0;x  way  back"
    assert len(foreign("x" * 1000)) == 300
