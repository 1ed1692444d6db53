"""Each content is kept once, under its hash; what was broken off goes on, what is wrong is forgotten."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path

import pytest

from engine.errors import UserError
from engine.remote.store import Store

DATA = bytes(range(256)) * 10
SHA = hashlib.sha256(DATA).hexdigest()


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


def _put(store: Store, data: bytes, offset: int = 0, size: int = len(DATA), sha256: str = SHA) -> int:
    return store.put(sha256, size, offset, io.BytesIO(data), len(data))


def test_a_content_that_was_broken_off_goes_on_where_it_ended(store: Store) -> None:
    assert store.have({SHA: len(DATA)}) == {SHA: 0}
    assert _put(store, DATA[:1000]) == 1000 and store.have({SHA: len(DATA)}) == {SHA: 1000}
    assert _put(store, DATA[1000:], 1000) == len(DATA) and store.have({SHA: len(DATA)}) == {SHA: len(DATA)}
    assert (store.contents / SHA).read_bytes() == DATA


def test_a_content_that_is_not_what_its_hash_says_is_forgotten(store: Store) -> None:
    assert _put(store, b"?" * len(DATA)) == 0
    assert store.have({SHA: len(DATA)}) == {SHA: 0} and not list(store.contents.iterdir())


def test_bytes_that_do_not_follow_are_left_out(store: Store) -> None:
    _put(store, DATA[:10])
    source = io.BytesIO(DATA[20:40] + b"next")
    assert store.put(SHA, len(DATA), 20, source, 20) == 10
    assert source.read() == b"next"  # what was announced was read
    assert _put(store, DATA + b"more", 10) == 10


def test_contents_get_the_names_that_settings_say(store: Store) -> None:
    _put(store, DATA)
    one = store.place("reviews.csv", [("", SHA)])
    folder = store.place("first/model", [("config.json", SHA), ("1_Pooling/config.json", SHA)])
    assert one.name == "reviews.csv" and one.read_bytes() == DATA
    assert folder.parts[-2:] == ("first", "model")
    assert (folder / "1_Pooling" / "config.json").read_bytes() == DATA
    assert store.place("reviews.csv", [("", SHA)]) == one and store.place("other.csv", [("", SHA)]) != one


@pytest.mark.parametrize("name", ["../x", "a/../../x", "/etc/x", ".ssh/authorized_keys", "a//b", ""])
def test_no_name_leads_elsewhere(store: Store, name: str) -> None:
    _put(store, DATA)
    if name:
        with pytest.raises(UserError, match="is no name that another computer can take"):
            store.place(name, [("", SHA)])
    with pytest.raises(UserError):
        store.place("model", [(name or "../x", SHA)])
    with pytest.raises(UserError, match="is no hash"):
        store.put("../../x", 1, 0, io.BytesIO(b"x"), 1)
