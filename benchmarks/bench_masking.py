"""Masking beside the Trainer's collator, `DataCollatorForLanguageModeling`, on one core, taking turns.

    python -m benchmarks.bench_masking

The same examples to both, 256 of 128 tokens and 256 of 512: by whole word (whole_word_mask=True), and by
piece, its plain mode. It has no n-grams and spans; ours are set beside its whole words. "batch" is all that a
batch takes, from the examples as each keeps them (lists of numbers there, places in the token store here) to
tensors; "mask" is the choice and the change of tokens alone, both on arrays. The control is a copy in memory:
no program can make batches faster than it can write them.
"""

from __future__ import annotations

import argparse
import json
import lzma
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.measure import Contender, Line, Segment, Stopwatch, machine
from benchmarks.work import SAMPLES, read_rows
from engine.device import num_cores  # the module keeps freed memory, as in every run
from engine.text.corpus.instances import collate_masked, joined, single
from engine.text.corpus.masking import Masker, Masking
from engine.text.wordpiece import WordPiece

SHAPES = (128, 512)
BATCH = 256
PAIRS = (("word", "word"), ("ngram", "word"), ("span", "word"), ("piece", "piece"))  # our unit, the peer's
STAGES = ("batch", "mask")
FLOOR, GOAL = 20, 100
WRITTEN = 3 * 8 + 0.15 * (
    8 + 8 + 1
)  # bytes a token of a batch: ids, segments, positions; and what was hidden


@dataclass(frozen=True)
class Texts:
    """A token store in memory, and the vocabulary it was made with."""

    vocabulary: Path
    ids: np.ndarray
    documents: np.ndarray

    @property
    def sentences(self) -> np.ndarray:
        """A document is one sentence here."""
        return np.concatenate(([0], self.documents))

    @property
    def doc_tokens(self) -> np.ndarray:
        return self.documents

    @property
    def continues(self) -> None:
        return None


@dataclass
class Result:
    """Turns of both, by length, stage and unit; bytes a second that memory takes, written once."""

    source: str
    segments: dict[tuple[int, str, str, str], tuple[list[Segment], list[Segment]]]
    copied: float


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; return 1 if whole words, n-grams or pieces stay below the floor."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bench_masking", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.5, help="of a turn")
    parser.add_argument("--json", default="", metavar="FILE")
    chosen = parser.parse_args(argv)
    os.environ.update(HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false", TRANSFORMERS_VERBOSITY="error")
    torch.set_num_threads(1)
    print(f"{machine()}; {num_cores()} cores, one of them used", flush=True)
    source, texts = _texts()
    result = Result(source, {}, _copied())
    for length in SHAPES:
        with ExitStack() as stack:
            ours = stack.enter_context(Contender("Cloze", serve_cloze, texts, length))
            theirs = stack.enter_context(Contender("collator", serve_collator, texts, length))
            _take_turns(result, length, ours, theirs, chosen)
    result.copied = max(result.copied, _copied())
    medians = _print(result)
    if chosen.json:
        Path(chosen.json).write_text(json.dumps(_document(result, chosen), indent=1), encoding="utf-8")
    return int(min(medians) < FLOOR)


def _take_turns(
    result: Result, length: int, ours: Contender, theirs: Contender, chosen: argparse.Namespace
) -> None:
    for stage in STAGES:
        for unit, other in PAIRS:
            asked = ((ours, (stage, unit, chosen.seconds)), (theirs, (stage, other, chosen.seconds)))
            for contender, (what, which, _) in asked:
                contender.ask((what, which, chosen.seconds / 5))  # warm-up
            pair: tuple[list[Segment], list[Segment]] = ([], [])
            for repeat in range(chosen.repeats):
                for number in (0, 1) if repeat % 2 == 0 else (1, 0):
                    contender, question = asked[number]
                    pair[number].append(contender.ask(question))
            result.segments[length, stage, unit, other] = pair


# --- the two -----------------------------------------------------------------------------------------


def _serve(line: Line, works: Callable[[str, str], Iterator[Callable[[], object]]], num_tokens: int) -> None:
    """Do batch after batch for as long as asked, and say how many."""
    torch.set_num_threads(1)
    line.send("ready")
    while (question := line.recv()) is not None:
        stage, unit, seconds = question
        jobs, count = works(stage, unit), 0
        next(jobs)  # prepares
        clock, end = Stopwatch(), time.perf_counter() + seconds
        while time.perf_counter() < end or not count:
            next(jobs)()
            count += 1
        line.send(clock.segment(count, count * num_tokens))


def serve_cloze(line: Line, texts: Texts, length: int) -> None:
    """Make batches from the token store, each time with other masks."""
    wordpiece = WordPiece.from_vocab(texts.vocabulary)
    examples, batches = _examples(texts, length)

    def works(stage: str, unit: str) -> Iterator[Callable[[], object]]:
        masker, salt = Masker(Masking(unit=unit), wordpiece, 0), 0
        made = [joined(texts, examples, batch, wordpiece.cls_id, wordpiece.sep_id) for batch in batches]
        while True:
            for batch, (ids, _, _, places, lengths) in zip(batches, made, strict=True):
                salt += 1
                if stage == "batch":
                    yield partial(collate_masked, texts, examples, batch, masker, wordpiece, salt)
                else:
                    yield partial(masker.mask, ids, lengths, places, salt)

    _serve(line, works, BATCH * length)


def serve_collator(line: Line, texts: Texts, length: int) -> None:
    """Make batches from the rows that a `datasets` table would hand over, with the collator as it ships."""
    import transformers

    wordpiece = WordPiece.from_vocab(texts.vocabulary)
    tokenizer = transformers.BertTokenizer(vocab=str(texts.vocabulary))
    examples, batches = _examples(texts, length)
    rows = [list(_rows(texts, wordpiece, examples, batch)) for batch in batches]

    def works(stage: str, unit: str) -> Iterator[Callable[[], object]]:
        whole = unit == "word"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that whole words are always [MASK]
            collator = transformers.DataCollatorForLanguageModeling(tokenizer, whole_word_mask=whole)
        kept = [[_without(row, not whole) for row in batch] for batch in rows]
        padded = [tokenizer.pad(batch, return_tensors="pt") for batch in kept] if stage == "mask" else []
        while True:
            for number, batch in enumerate(kept):
                if stage == "batch":
                    yield partial(collator, batch)
                else:
                    yield partial(_mask, collator, padded[number])

    _serve(line, works, BATCH * length)


def _mask(collator: Any, batch: Any) -> object:
    return collator.torch_mask_tokens(
        batch["input_ids"].clone(),
        special_tokens_mask=batch["special_tokens_mask"],
        offset_mapping=batch.get("offset_mapping"),
    )


def _without(row: dict[str, Any], offsets: bool) -> dict[str, Any]:
    return {name: value for name, value in row.items() if not (offsets and name == "offset_mapping")}


# --- the same examples for both ----------------------------------------------------------------------


def _texts() -> tuple[str, Texts]:
    """Return text as ids: Wikipedia where CLOZE_DATA is set, else the sentences that ship with Cloze."""
    if root := os.environ.get("CLOZE_DATA"):
        with lzma.open(Path(root) / "corpora" / "enwiki2015-core.txt.xz", "rt", encoding="utf-8") as file:
            texts = file.read(6_000_000).replace("\n\n", "\0").replace("\n", " ").split("\0")
        source, vocabulary = "Wikipedia", Path(root) / "vocabs" / "bert-base-uncased-vocab.txt"
    else:
        rows = [text for _, text in read_rows(SAMPLES / "sentence_polarity.csv")]
        texts = [" ".join(rows[start : start + 200]) for start in range(0, len(rows), 200)]
        source, vocabulary = "shipped sentences", SAMPLES / "vocab.txt"
    pieces = WordPiece.from_vocab(vocabulary).encode_ids(texts)
    bounds = np.concatenate(([0], np.cumsum([len(ids) for ids in pieces])))
    return source, Texts(vocabulary, np.concatenate(pieces).astype(np.uint16), bounds)


def _examples(texts: Texts, length: int) -> tuple[Any, list[np.ndarray]]:
    """Return examples, and at most 8 batches of those that are exactly `length` long."""
    examples = single(texts, np.arange(len(texts.documents) - 1), max_length=length, seed=0, epoch=0)
    whole = np.flatnonzero(examples.lengths == length)
    order = whole[np.random.default_rng(0).permutation(len(whole))]
    count = min(8, max(1, len(order) // BATCH))
    return examples, list(np.resize(order, (count, BATCH)))


def _rows(texts: Texts, wordpiece: WordPiece, examples: Any, batch: np.ndarray) -> Iterator[dict[str, Any]]:
    """Yield what `tokenizer(..., return_offsets_mapping=True, return_special_tokens_mask=True)` would."""
    tokens = wordpiece.tokens
    for index in batch:
        ids, types, *_ = joined(texts, examples, np.array([index]), wordpiece.cls_id, wordpiece.sep_id)
        special = [int(number in (wordpiece.cls_id, wordpiece.sep_id)) for number in ids]
        offsets, end = [], 0
        for number, is_special in zip(ids, special, strict=True):
            piece = tokens[number]
            start = end if piece.startswith("##") else end + 1
            end = end if is_special else start + len(piece.removeprefix("##"))
            offsets.append((0, 0) if is_special else (start, end))
        yield {
            "input_ids": ids.tolist(),
            "token_type_ids": types.tolist(),
            "attention_mask": [1] * len(ids),
            "special_tokens_mask": special,
            "offset_mapping": offsets,
        }


def _copied() -> float:
    """Return bytes a second that one core writes while it reads as many, from and to memory."""
    source, target = np.ones(2**24), np.empty(2**24)  # 128 MiB each
    best = float("inf")
    for _ in range(12):
        start = time.perf_counter()
        np.copyto(target, source)
        best = min(best, time.perf_counter() - start)
    return source.nbytes / best


# --- what is said ------------------------------------------------------------------------------------


def _print(result: Result) -> list[float]:
    """Print a line for each pair; return the median ratios of whole batches."""
    limit = result.copied / WRITTEN
    print(f"{result.source}. Memory: {result.copied / 1e9:.1f} GB/s copied, room for ", end="")
    print(f"{limit / 1e6:,.0f} M tokens/s of batches\n")
    head = f"{'examples':<12}{'':<7}{'Cloze by':<10}{'collator by':<13}{'M tokens/s':>16}"
    print(f"{head}  {'of memory':>9}  {'ratio, wall clock':<28}processor time")
    medians = []
    for (length, stage, unit, other), (ours, theirs) in result.segments.items():
        mine, yours = (float(np.median([s.tokens_per_s for s in turns])) for turns in (ours, theirs))
        wall, cpu = _ratios(ours, theirs)
        rates = f"{mine / 1e6:8.1f}{yours / 1e6:8.2f}"
        shape = f"{BATCH} x {length}"
        line = f"{shape:<12}{stage:<7}{unit:<10}{other:<13}{rates:>16}  {mine / limit:>9.1%}"
        print(f"{line}  {_spread(wall):<28}{_spread(cpu)}")
        if stage == "batch":
            medians.append(float(np.median(wall)))
    print(f"\nfloor {FLOOR}, goal {GOAL} times the collator's batches: lowest median {min(medians):.0f}")
    return medians


def _spread(values: list[float]) -> str:
    return f"{np.median(values):.0f} ({min(values):.0f} to {max(values):.0f})"


def _ratios(ours: list[Segment], theirs: list[Segment]) -> tuple[list[float], list[float]]:
    pairs = list(zip(ours, theirs, strict=True))
    wall = [mine.tokens_per_s / other.tokens_per_s for mine, other in pairs]
    return wall, [mine.tokens_per_cpu_s / other.tokens_per_cpu_s for mine, other in pairs]


def _document(result: Result, chosen: argparse.Namespace) -> dict[str, Any]:
    turns = []
    for (length, stage, unit, other), (ours, theirs) in result.segments.items():
        wall, cpu = _ratios(ours, theirs)
        named = {"length": length, "stage": stage, "unit": unit, "collator": other}
        both = {"ours": [asdict(s) for s in ours], "theirs": [asdict(s) for s in theirs]}
        turns.append({**named, **both, "wall": wall, "processor": cpu})
    told = {"machine": machine(), "arguments": vars(chosen), "source": result.source}
    return {**told, "copied_bytes_per_s": result.copied, "turns": turns}


if __name__ == "__main__":
    sys.exit(main())
