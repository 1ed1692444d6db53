"""A vocabulary learned from text: its pieces, their order, and that it is always the same."""

from __future__ import annotations

import os
import random
import string
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import pytest
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

from engine.errors import ConfigError, DataError
from engine.events import Event, Noted, Progress
from engine.text.corpus import new_vocabulary
from engine.text.corpus.corpus import Corpus
from engine.text.corpus.new_vocabulary import SPECIAL_TOKENS, train_vocabulary, write_vocab
from engine.text.wordpiece import WordPiece

ROOT = Path(__file__).parents[3]
SYLLABLES = ["an", "Ba", "co", "de", "él", "fro", "gi", "ho", "in", "ße", "ko", "λa"]


def some_text(folder: Path, num_words: int = 3000) -> Path:
    rng = random.Random(7)
    kinds = ["".join(rng.choices(SYLLABLES, k=rng.randint(1, 4))) for _ in range(400)]
    words = rng.choices(kinds, weights=[1 / rank for rank in range(1, 401)], k=num_words)
    ends = rng.choices(["", "", "", ",", ".", "!?", "'s", " (1999)"], k=num_words)
    path = folder / "text.txt"
    path.write_text("\n".join(word + end for word, end in zip(words, ends, strict=True)), encoding="utf-8")
    return path


def train(path: Path, size: int, *, lowercase: bool = True, events: list[Event] | None = None) -> WordPiece:
    def drain(task: Generator[Event, None, WordPiece]) -> Generator[Event, None, None]:
        found.append((yield from task))

    found: list[WordPiece] = []
    heard = list(drain(train_vocabulary(Corpus((path,)), size=size, lowercase=lowercase)))
    if events is not None:
        events += heard
    return found[0]


def of_the_library(path: Path, ours: WordPiece) -> tuple[str, ...]:
    """Return the pieces that tokenizers' trainer adds to our characters, in its order.

    It is deterministic only if no pair of pieces waits on the order of its hash table: with every "##" piece
    given as a special token.
    """
    num_letters = sum(token.startswith("##") and len(token) == 3 for token in ours.tokens)
    alone, within = ours.tokens[5 : 5 + num_letters], ours.tokens[5 + num_letters : 5 + 2 * num_letters]
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=ours.lowercase)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(
        vocab_size=ours.vocab_size,
        min_frequency=2,
        special_tokens=[*SPECIAL_TOKENS, *within],
        initial_alphabet=list(alone),
        limit_alphabet=len(alone),
        show_progress=False,
    )
    tokenizer.train_from_iterator(path.read_text(encoding="utf-8").split("\n"), trainer)
    found = sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])
    return tuple(token for token, number in found if number >= 5 + 2 * num_letters)


@pytest.mark.parametrize("lowercase", [True, False])
def test_the_pieces_are_those_of_the_published_trainer(tmp_path: Path, lowercase: bool) -> None:
    path = some_text(tmp_path)
    ours = train(path, 400, lowercase=lowercase)
    theirs = of_the_library(path, ours)
    assert ours.vocab_size == 400
    assert len(theirs) > 150
    assert ours.tokens[-len(theirs) :] == theirs


@pytest.mark.slow
def test_six_processes_find_the_same_tokens_in_the_same_order(tmp_path: Path) -> None:
    path = some_text(tmp_path)
    code = f"""
import sys
from pathlib import Path
from engine.text.corpus.corpus import Corpus
from engine.text.corpus.new_vocabulary import train_vocabulary, write_vocab
def main(path, to):
    write_vocab(to, (yield from train_vocabulary(Corpus((path,)), size=350, lowercase=True)))
for seed in sys.argv[1:]:
    list(main(Path({str(path)!r}), Path({str(tmp_path)!r}) / (seed + ".vocab")))
"""
    seeds = [str(seed) for seed in range(6)]
    children = [
        subprocess.Popen(
            [sys.executable, "-c", code, seed], cwd=ROOT, env={**os.environ, "PYTHONHASHSEED": seed}
        )
        for seed in seeds
    ]
    assert [child.wait() for child in children] == [0] * 6
    assert len({(tmp_path / (seed + ".vocab")).read_bytes() for seed in seeds}) == 1
    assert WordPiece.from_vocab(tmp_path / "0.vocab").tokens == train(path, 350).tokens


@pytest.mark.parametrize("lowercase", [True, False])
def test_every_printable_character_has_a_piece_alone_and_within_a_word(
    tmp_path: Path, lowercase: bool
) -> None:
    wordpiece = train(some_text(tmp_path), 400, lowercase=lowercase)
    assert wordpiece.tokens[:5] == SPECIAL_TOKENS
    letters = set(string.printable.strip()) - set(string.ascii_uppercase if lowercase else "")
    assert {form for letter in letters for form in (letter, "##" + letter)} <= set(wordpiece.tokens)
    assert ("é" in wordpiece.tokens) is not lowercase  # lower-casing strips accents
    text = "Never seen before: ~{}|^ \\`@ quiz-XYZ él λa"
    assert wordpiece.unk_id not in wordpiece.encode(text).input_ids
    assert WordPiece.from_tokens(wordpiece.tokens).lowercase is lowercase  # a bare vocab.txt tells its casing


def test_chinese_has_a_piece_for_each_character_and_none_within_words(tmp_path: Path) -> None:
    path = tmp_path / "zh.txt"
    path.write_text("我们不知道。他说：我们知道！龘\n" * 2 + "他们走了，鱻", encoding="utf-8")
    wordpiece = train(path, 400)
    assert set("我们不知道他说龘") <= set(wordpiece.tokens)
    assert not [
        token for token in wordpiece.tokens if token[:2] == "##" and "\u4e00" <= token[2:3] <= "\u9fff"
    ]
    assert wordpiece.encode("我们。").tokens == ["[CLS]", "我", "们", "。", "[SEP]"]


def test_where_room_is_short_the_commonest_ideographs_and_pieces_come_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(new_vocabulary, "COVERAGE", 0.0)
    path = tmp_path / "zh.txt"
    path.write_text("的 " * 9 + "一 " * 4 + "abab " * 3 + "龘 " * 2, encoding="utf-8")
    base = 5 + 2 * (94 - 26)
    for room, expected in enumerate([set(), {"的"}, {"的", "一"}, {"的", "一", "##ab"}]):
        found = set(train(path, base + room).tokens[5:])
        assert {
            token for token in found if not token.removeprefix("##").isascii() or len(token) > 3
        } == expected


def test_a_size_that_cannot_hold_the_characters_is_refused_beside_its_field(tmp_path: Path) -> None:
    with pytest.raises(
        ConfigError, match="vocab_size is 100, but the characters of this text alone take 1"
    ) as refused:
        train(some_text(tmp_path), 100)
    assert refused.value.field == "vocab_size"


def test_a_text_too_small_for_the_size_is_noted_and_an_empty_one_refused(tmp_path: Path) -> None:
    path, events = tmp_path / "a.txt", list[Event]()
    path.write_text("small small text", encoding="utf-8")
    wordpiece = train(path, 1000, events=events)
    assert wordpiece.vocab_size < 200
    assert {"small"} <= set(wordpiece.tokens)
    assert "text" not in wordpiece.tokens  # there once only
    notes = [str(event.sentence) for event in events if isinstance(event, Noted)]
    assert notes == [f"The text gives {wordpiece.vocab_size} pieces, not 1,000: nothing else occurs twice."]
    path.write_text("\n", encoding="utf-8")
    with pytest.raises(DataError, match="holds only blanks"):
        train(path, 1000)


def test_words_are_counted_in_parts_where_there_are_too_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = some_text(tmp_path)
    whole = train(path, 400)
    monkeypatch.setattr("engine.text.reading.text_file._BLOCK", 500)
    monkeypatch.setattr(new_vocabulary, "_MAX_RAW", 50)
    monkeypatch.setattr(new_vocabulary, "_AT_ONCE", 7)
    monkeypatch.setattr(new_vocabulary, "_TELL_S", 0.0)
    events: list[Event] = []
    assert train(path, 400, events=events) == whole
    assert len(events) > 300
    done = [event.done for event in events if isinstance(event, Progress) and event.stage == "Counting words"]
    assert done == sorted(done)


def test_where_memory_is_short_the_rarest_words_are_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.txt"
    rare = (f"{a}{b}{c}" for a in "qxz" for b in "jkvw" for c in string.ascii_lowercase)
    path.write_text("often " * 9 + " ".join(rare) + " often seldom seldom", encoding="utf-8")
    for limit in ("_MAX_COUNTED", "_MAX_LEARNED"):
        with monkeypatch.context() as short:
            short.setattr(new_vocabulary, limit, 2)
            wordpiece = train(path, 1000)
        assert {"often", "seldom"} <= set(wordpiece.tokens)
        assert not [token for token in wordpiece.tokens if token in ("qj", "xk", "zw")]
    assert {"qj", "xk", "zw"} <= set(train(path, 1000).tokens)


def test_it_can_be_stopped_at_any_event(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(new_vocabulary, "_TELL_S", 0.0)
    place = some_text(tmp_path)
    task = train_vocabulary(Corpus((place,)), size=400, lowercase=True)
    for _ in range(40):
        next(task)
    task.close()
    assert next(task, None) is None and [path.name for path in tmp_path.iterdir()] == [place.name]


def test_a_vocabulary_is_written_a_token_a_line(tmp_path: Path) -> None:
    wordpiece = train(some_text(tmp_path), 400)
    write_vocab(tmp_path / "vocab.txt", wordpiece)
    assert (tmp_path / "vocab.txt").read_bytes().decode() == "".join(
        token + "\n" for token in wordpiece.tokens
    )


@pytest.mark.slow
def test_real_text_gives_the_pieces_of_the_published_trainer(real_data: Path) -> None:
    path = real_data / "corpora" / "wikitext-2-valid.txt"
    ours = train(path, 4000)
    theirs = set(of_the_library(path, ours))
    # The library learns from the "=" of headings, too; those are words of their own, so pieces do not change.
    assert set(ours.tokens[-len(theirs) :]) == theirs
