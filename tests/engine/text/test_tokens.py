"""A token store holds what encode_ids gives, is whole or not there, and is made again when it should be.

CLOZE_KILLS sets how many processes are killed while they make one (2 unless told).
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from engine.errors import ConfigError, DataError, UserError
from engine.events import Progress
from engine.text import segmenter as segmenting
from engine.text.corpus import cutter, cutter_pool
from engine.text.corpus.corpus import Corpus
from engine.text.corpus.tokens import TokenStore, counts, hold_out, open_store, store_key
from engine.text.special_tokens import ExtraToken
from engine.text.wordpiece import WordPiece
from tests.engine.tiny_stores import (
    TOKENS,
    content,
    fake_words,
    made,
    names,
    notes,
    was_made,
    wordpiece,
    words,
    write_text,
)

ROOT = Path(__file__).parents[3]
KILLS = int(os.environ.get("CLOZE_KILLS", "2"))


@pytest.fixture
def two_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut in two processes from the first sentence on, a little at a time."""
    monkeypatch.setattr("engine.device.num_cores", lambda: 2)
    monkeypatch.setattr("engine.text.corpus.cutter_pool.POOL_FROM", -1)
    monkeypatch.setattr("engine.text.corpus.token_writer.BLOCK", 3000)  # longer than any sentence here


# what is in it


def test_a_store_holds_the_ids_of_each_sentence_and_where_documents_begin(tmp_path: Path) -> None:
    corpus, pieces = write_text(tmp_path / "text.txt"), wordpiece()
    store, _ = made(open_store(tmp_path / "store", corpus, pieces))
    wanted = [
        [ids.tolist() for paragraph in document for ids in pieces.encode_ids(paragraph)]
        for document in corpus.documents()
    ]
    found = [
        [store.ids[store.sentences[i] : store.sentences[i + 1]].tolist() for i in range(start, end)]
        for start, end in zip(store.documents[:-1], store.documents[1:], strict=True)
    ]
    filled = [[ids for ids in document if ids] for document in wanted]
    assert found == [document for document in filled if document]
    assert store.num_tokens == store.sentences[-1] == sum(len(ids) for some in wanted for ids in some)
    assert store.num_documents == len(store.documents) - 1 == len(found)
    assert store.doc_tokens.tolist() == store.sentences[store.documents].tolist()
    assert (store.ids.dtype, store.continues) == (np.dtype("<u2"), None)
    assert names(tmp_path) == [".store.lock", "store", "text.txt"]


@pytest.mark.slow
def test_workers_and_one_process_give_the_same_bytes(tmp_path: Path, request: Any) -> None:
    corpus, pieces = write_text(tmp_path / "text.txt", 200), wordpiece(added=(ExtraToken("<e1>"),))
    made(open_store(tmp_path / "alone", corpus, pieces))
    request.getfixturevalue("two_workers")
    _, events = made(open_store(tmp_path / "workers", corpus, pieces))
    assert content(tmp_path / "alone") == content(tmp_path / "workers")
    done = [event.done for event in events if isinstance(event, Progress) and event.stage == "Tokenizing"]
    assert done == sorted(done) and done[-1] == corpus.num_bytes


def test_a_large_vocabulary_has_ids_of_four_bytes(tmp_path: Path) -> None:
    many = WordPiece.from_tokens([*TOKENS[:5], *(f"w{number}" for number in range(2**16))], lowercase=True)
    (tmp_path / "text.txt").write_text("w65535 w0\n")
    store, _ = made(open_store(tmp_path / "store", Corpus((tmp_path / "text.txt",)), many))
    assert store.ids.dtype == np.dtype("<u4") and store.ids.tolist() == [65540, 5]


def test_a_sentence_without_end_comes_in_pieces_of_one_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.text.corpus.token_writer.BLOCK", 100)
    (tmp_path / "text.txt").write_text("good film " * 50 + "\n\nplay\n")
    store, _ = made(
        open_store(tmp_path / "store", Corpus((tmp_path / "text.txt",), "sentences"), wordpiece())
    )
    assert store.num_documents == 2 and store.num_tokens == 101
    assert np.diff(store.sentences).tolist() == [20, 20, 20, 20, 20, 1]


def test_text_of_which_no_piece_comes_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("\u200b\n\n\u200b\n", encoding="utf-8")
    with pytest.raises(DataError, match="gave no pieces"):
        list(open_store(tmp_path / "store", Corpus((tmp_path / "text.txt",)), wordpiece()))
    assert names(tmp_path) == [".store.lock", "text.txt"]


# Chinese words


@pytest.fixture
def segmenter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segmenting, "import_module", lambda _: SimpleNamespace(cut=fake_words))
    monkeypatch.setattr(cutter.metadata, "version", lambda _: "0")


def test_words_are_kept_in_the_store_and_are_part_of_its_key(tmp_path: Path, segmenter: None) -> None:
    (tmp_path / "text.txt").write_text("中国人民\n\n大学生", encoding="utf-8")
    corpus, pieces = Corpus((tmp_path / "text.txt",)), wordpiece()
    store, _ = made(open_store(tmp_path / "store", corpus, pieces, segmenter="jieba"))
    assert store.continues is not None and store.continues.dtype == bool
    assert TokenStore.open(tmp_path / "store").continues.tolist() == [0, 1, 0, 1, 0, 1, 1]  # type: ignore[union-attr]
    assert store_key(corpus, pieces) != store_key(corpus, pieces, "jieba")
    _, events = made(open_store(tmp_path / "store", corpus, pieces))
    assert "segmenter" in notes(events)[0]


def test_a_segmenter_that_is_missing_or_unknown_is_refused_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = write_text(tmp_path / "text.txt")
    monkeypatch.setitem(sys.modules, "rjieba", None)
    with pytest.raises(UserError, match="pip install rjieba"):
        list(open_store(tmp_path / "store", corpus, wordpiece(), segmenter="jieba"))
    with pytest.raises(ConfigError) as told:
        list(open_store(tmp_path / "store", corpus, wordpiece(), segmenter="jie"))
    assert told.value.field == "segmenter" and names(tmp_path) == ["text.txt"]


@pytest.mark.slow
def test_the_real_segmenter_finds_words_in_workers_too(tmp_path: Path, two_workers: None) -> None:
    pytest.importorskip("rjieba", reason="rjieba is not installed")
    (tmp_path / "text.txt").write_text("中国人民爱上海\n\n我们" * 99, encoding="utf-8")
    pieces = wordpiece()
    corpus = Corpus((tmp_path / "text.txt",))
    store, _ = made(open_store(tmp_path / "store", corpus, pieces, segmenter="jieba"))
    cut = cutter.Cut(store.ids[:9], store.sentences, store.continues[:9])  # type: ignore[index]
    assert words(pieces, cut) == ["中国", "人民", "爱", "上海", "我们"]


# stale, cut, damaged


def test_a_fresh_store_is_opened_and_a_stale_one_made_again_with_the_reason(tmp_path: Path) -> None:
    path, corpus, pieces = tmp_path / "store", write_text(tmp_path / "text.txt"), wordpiece()
    made(open_store(path, corpus, pieces))
    store, events = made(open_store(path, corpus, pieces))
    assert not was_made(events) and notes(events) == [] and store.num_documents == 29
    key = store_key(corpus, pieces)
    cased = replace(pieces, lowercase=False)
    store, events = made(open_store(path, corpus, cased))
    assert was_made(events) and "another vocabulary" in notes(events)[0]
    assert store_key(corpus, cased) != key
    other = write_text(tmp_path / "text.txt", 31, seed=5)
    store, events = made(open_store(path, other, cased))
    assert was_made(events) and "text has changed" in notes(events)[0]
    assert store.num_documents == 31 and store_key(other, pieces) != key
    _, events = made(open_store(path, replace(other, layout="lines"), cased))
    assert was_made(events) and "text has changed" in notes(events)[0]


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def cut_off(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-7])


@pytest.mark.parametrize("name", ["ids.bin", "sentences.bin", "documents.bin", "header.json"])
@pytest.mark.parametrize("damage", [flip, cut_off, Path.unlink])
def test_a_damaged_store_is_refused_by_open_and_made_again_by_open_store(
    tmp_path: Path, name: str, damage: Callable[[Path], None]
) -> None:
    path, corpus, pieces = tmp_path / "store", write_text(tmp_path / "text.txt", 5), wordpiece()
    made(open_store(path, corpus, pieces))
    whole = content(path)
    damage(path / name)
    with pytest.raises(DataError, match=name):
        TokenStore.open(path)
    _, events = made(open_store(path, corpus, pieces))
    assert was_made(events) and name in notes(events)[0]
    assert content(path) == whole


def test_a_folder_of_something_else_is_refused_and_left_alone(tmp_path: Path) -> None:
    corpus = write_text(tmp_path / "text.txt")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    for place in (tmp_path / "mine", tmp_path / "text.txt"):
        with pytest.raises(UserError, match="files that do not belong"):
            list(open_store(place, corpus, wordpiece()))
    assert names(tmp_path / "mine") == ["thesis.txt"] and names(tmp_path) == ["mine", "text.txt"]
    with pytest.raises(DataError, match="There is no token store"):
        TokenStore.open(tmp_path / "nowhere")


def test_text_that_changes_while_it_is_read_makes_no_store(tmp_path: Path) -> None:
    corpus = write_text(tmp_path / "text.txt", 40)
    task = open_store(tmp_path / "store", corpus, wordpiece())
    next(event for event in task if isinstance(event, Progress) and event.stage == "Tokenizing")
    with (tmp_path / "text.txt").open("a") as file:
        file.write("more")
    with pytest.raises(DataError, match="changed while"):
        list(task)
    assert names(tmp_path) == [".store.lock", "text.txt"]


# stopped, killed, two at once


@pytest.mark.slow
def test_closing_half_way_ends_the_workers_and_leaves_the_old_store(
    tmp_path: Path, two_workers: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, corpus, pieces = tmp_path / "store", write_text(tmp_path / "text.txt"), wordpiece()
    made(open_store(path, corpus, pieces))
    old = content(path)
    started: list[subprocess.Popen[bytes]] = []
    popen = subprocess.Popen

    def noted(*args: Any, **more: Any) -> subprocess.Popen[bytes]:
        started.append(popen(*args, **more))
        return started[-1]

    monkeypatch.setattr(subprocess, "Popen", noted)
    task = open_store(path, write_text(tmp_path / "text.txt", 200, seed=3), pieces)
    while not started:
        next(task)
    assert len(names(tmp_path)) == 4  # the new one, half written
    task.close()
    assert [process.poll() is not None for process in started] == [True, True]
    assert names(tmp_path) == [".store.lock", "store", "text.txt"] and content(path) == old


def test_a_worker_that_is_killed_is_told_in_a_sentence(
    tmp_path: Path, two_workers: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask = cutter_pool._Worker._ask

    def killed(worker: Any, sentences: Sequence[str]) -> Any:
        worker.process.kill()
        return ask(worker, sentences)

    monkeypatch.setattr(cutter_pool._Worker, "_ask", killed)
    with pytest.raises(UserError, match="ended from outside"):
        list(open_store(tmp_path / "store", write_text(tmp_path / "text.txt"), wordpiece()))
    assert names(tmp_path) == [".store.lock", "text.txt"]


MAKING = """
import subprocess, sys, time
from pathlib import Path
popen = subprocess.Popen
def noted(*args, **more):
    process = popen(*args, **more)
    print(process.pid, flush=True)
    return process
subprocess.Popen = noted
from engine import device
from engine.text.corpus import cutter_pool, token_writer
from engine.text.corpus.corpus import Corpus
from engine.text.corpus.tokens import open_store
from tests.engine.tiny_stores import wordpiece
device.num_cores = lambda: 2
cutter_pool.POOL_FROM, token_writer.BLOCK = -1, 300
folder = Path(sys.argv[1])
for event in open_store(folder / "store", Corpus((folder / "text.txt",), layout="sentences"), wordpiece()):
    print("event", flush=True)
    time.sleep(0.01)
"""


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except ProcessLookupError:
        return False
    except FileNotFoundError:
        return Path("/proc/self/stat").exists() is False


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="kill -9 is not of this system")
def test_a_process_killed_half_way_leaves_no_store_and_no_worker_and_the_next_makes_it(
    tmp_path: Path,
) -> None:
    corpus, pieces = write_text(tmp_path / "text.txt", 60), wordpiece()
    whole, _ = made(open_store(tmp_path / "whole", corpus, pieces))
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    for number in range(KILLS):
        process = subprocess.Popen(
            [sys.executable, "-c", MAKING, tmp_path], stdout=subprocess.PIPE, text=True, env=environment
        )
        assert process.stdout is not None
        lines, wanted = [], random.Random(number).randrange(3, 15)
        while lines.count("event\n") < wanted or len(lines) < wanted + 2:
            lines.append(process.stdout.readline())
            assert lines[-1], "the process ended before it was killed"
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert not (tmp_path / "store").exists()
        workers = [int(line) for line in lines if line != "event\n"]
        deadline = time.monotonic() + 30
        while any(map(is_alive, workers)) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert not any(map(is_alive, workers))
    store, events = made(open_store(tmp_path / "store", corpus, pieces))
    assert "interrupted" in notes(events)[0] and not list(tmp_path.glob(".*.partial"))
    assert np.array_equal(store.ids, whole.ids) and content(store.path) == content(whole.path)


def test_a_second_maker_waits_for_the_first_and_opens_what_it_made(tmp_path: Path) -> None:
    corpus, pieces = write_text(tmp_path / "text.txt"), wordpiece()
    first, second = (open_store(tmp_path / "store", corpus, pieces) for _ in range(2))
    next(event for event in first if isinstance(event, Progress) and event.stage == "Tokenizing")
    waits = next(event for event in second if isinstance(event, Progress) and event.stage != "Reading")
    assert waits.stage == "Waiting for another process"
    made(first)
    store, events = made(second)
    assert not was_made(events) and store.num_documents == 29


# what is asked of it


def store_of(tmp_path: Path, sizes: Sequence[int]) -> TokenStore:
    """Make a store of documents of these sizes."""
    (tmp_path / "text.txt").write_text("\n\n".join(" ".join(["good"] * size) for size in sizes))
    return made(open_store(tmp_path / "store", Corpus((tmp_path / "text.txt",), "sentences"), wordpiece()))[0]


def test_a_share_of_the_tokens_is_held_out_in_whole_documents_by_seed(tmp_path: Path) -> None:
    sizes = random.Random(0).choices(range(1, 60), k=211)
    store = store_of(tmp_path, sizes)
    train, kept = hold_out(store, 0.1, 7)
    assert sorted([*train, *kept]) == list(range(211)) and train.dtype == kept.dtype == np.int64
    share = sum(sizes[number] for number in kept) / sum(sizes)
    assert 0.1 <= share < 0.1 + 60 / sum(sizes)
    assert kept.tolist() == sorted(kept) == hold_out(store, 0.1, 7)[1].tolist()
    assert kept.tolist() != hold_out(store, 0.1, 8)[1].tolist()


@pytest.mark.parametrize(
    ("sizes", "share", "wanted"),
    [((7,), 0.1, ([0], [0])), ((90, 3), 0.1, ([0], [1])), ((90, 50), 0.01, ([0], [1])),
     ((1, 1), 1.0, (None, None)), ((90, 5, 5), 0.05, (None, None))],
)  # fmt: skip
def test_holding_out_leaves_most_to_train_on_and_takes_at_least_one(
    tmp_path: Path, sizes: Sequence[int], share: float, wanted: tuple[list[int] | None, list[int] | None]
) -> None:
    train, kept = hold_out(store_of(tmp_path, sizes), share, 0)
    assert len(train) and len(kept)
    if wanted[0] is not None:
        assert (train.tolist(), kept.tolist()) == wanted
    elif sizes[0] == 90:
        assert 0 in train


def test_counts_are_those_of_the_ids_also_block_by_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.text.corpus.tokens._COUNTED_AT_ONCE", 13)
    store, _ = made(open_store(tmp_path / "store", write_text(tmp_path / "text.txt"), wordpiece()))
    found = counts(store)
    assert (
        found.dtype == np.int64 and found.tolist() == np.bincount(store.ids, minlength=len(TOKENS)).tolist()
    )
    assert json.loads((tmp_path / "store" / "header.json").read_text())["vocab_size"] == len(TOKENS)


@pytest.mark.slow
def test_real_text_gives_the_ids_of_encode_ids(real_data: Path, tmp_path: Path, two_workers: None) -> None:
    pieces = WordPiece.from_vocab(real_data / "vocabs" / "bert-base-chinese-vocab.txt", lowercase=True)
    files = (real_data / "corpora" / "albert-zh-sample.txt", real_data / "corpora" / "google-bert-sample.txt")
    store, _ = made(open_store(tmp_path / "store", Corpus(files), pieces))
    sentences = [text for document in Corpus(files).documents() for some in document for text in some]
    assert store.ids.tolist() == np.concatenate(pieces.encode_ids(sentences)).tolist()
