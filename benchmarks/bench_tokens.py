"""Making a token store beside encode_batch_fast alone, and the memory that a gigabyte of text takes.

    python -m benchmarks.bench_tokens
    python -m benchmarks.bench_tokens --gigabytes 0         without the gigabyte (and 1 GB on the disk)

Cloze reads, finds sentences, cuts, hashes, writes and syncs; the peer only cuts texts that are in memory,
with all cores, as paragraphs or as the sentences that Cloze found. Both take turns on the same stretches of
text, which nobody has seen before. Then a process makes the store of a corpus that is repeated to a gigabyte,
while the memory of it and its workers is added up.
"""

from __future__ import annotations

import argparse
import lzma
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from tokenizers import Tokenizer

from benchmarks.measure import Contender, Line, Segment, Stopwatch, machine, spread
from benchmarks.work import SAMPLES, read_rows
from engine.text.corpus.corpus import Corpus
from engine.text.corpus.tokens import TokenStore, counts, hold_out, open_store
from engine.text.wordpiece import WordPiece

RATIO_FLOOR = 0.9
MEMORY_LIMIT = 2e9  # bytes
PEERS = ("paragraphs", "sentences")
TEXTS_AT_ONCE = 4096
PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


def main(arguments: Sequence[str] | None = None) -> int:
    """Print both; return 1 if the ratio is below its floor or the memory above its limit."""
    chosen = _parser().parse_args(arguments)
    print(machine(), flush=True)
    missed = False
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        WordPiece.from_vocab(_vocabulary(), lowercase=True).save(folder)
        source, stretches = _write_stretches(folder, chosen.repeats + 1, chosen.megabytes)
        print(
            f"{source}: {len(stretches)} stretches of {chosen.megabytes} MB, the first to warm up", flush=True
        )
        missed = _race(folder, stretches) or missed
        if chosen.gigabytes:
            missed = _weigh(folder, stretches, chosen.gigabytes) or missed
    return int(missed)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bench_tokens", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--repeats", type=int, default=4)
    parser.add_argument("--megabytes", type=int, default=32, help="of a turn")
    parser.add_argument("--gigabytes", type=float, default=1.0, help="of the text whose memory is measured")
    return parser


# --- taking turns ------------------------------------------------------------------------------------


def _race(folder: Path, stretches: Sequence[Path]) -> bool:
    segments: dict[str, list[Segment]] = {name: [] for name in ("Cloze", *PEERS)}
    with ExitStack() as stack:
        contenders = [stack.enter_context(Contender("Cloze", serve_cloze, folder))]
        contenders += [stack.enter_context(Contender(kind, serve_peer, folder, kind)) for kind in PEERS]
        for repeat, stretch in enumerate(stretches):
            order = contenders[:: 1 if repeat % 2 else -1]
            turn = {contender.name: contender.ask(stretch) for contender in order}
            for name, segment in turn.items() if repeat else ():
                segments[name].append(replace(segment, num_tokens=turn["Cloze"].num_tokens))
    print(f"\n{'':<32}{'tokens/s':>10}  {'Cloze is faster by':<26}by processor time")
    missed = False
    for name, theirs in segments.items():
        pairs = list(zip(segments["Cloze"], theirs, strict=True))
        wall = [a.tokens_per_s / b.tokens_per_s for a, b in pairs]
        cpu = [a.tokens_per_cpu_s / b.tokens_per_cpu_s for a, b in pairs]
        rate = sorted(segment.tokens_per_s for segment in theirs)[len(theirs) // 2]
        words = name if name == "Cloze" else f"encode_batch_fast, {name}"
        print(f"{words:<32}{rate:>10,.0f}  {spread(wall):<26}{spread(cpu)}")
        missed = missed or sorted(wall)[len(wall) // 2] < RATIO_FLOOR
    print(f"floor {RATIO_FLOOR}: {'MISSED' if missed else 'reached'}", flush=True)
    return missed


def serve_cloze(line: Line, folder: Path) -> None:
    """Make the store of a file, with a vocabulary that has seen no text."""
    line.send("ready")
    while (stretch := line.recv()) is not None:
        wordpiece, clock, helpers = WordPiece.from_folder(folder), Stopwatch(), _time_of_children()
        shutil.rmtree(folder / "store", ignore_errors=True)
        num_tokens = _store(folder / "store", stretch, wordpiece).num_tokens
        segment = clock.segment(1, num_tokens)
        cpu = segment.cpu_seconds + _time_of_children() - helpers
        line.send(Segment(1, num_tokens, num_tokens, segment.seconds, cpu))


def serve_peer(line: Line, folder: Path, kind: str) -> None:
    """Cut texts that are in memory, and drop what comes."""
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    line.send("ready")
    while (stretch := line.recv()) is not None:
        paragraphs = [some for document in Corpus((stretch,)).documents() for some in document]
        texts = [text for some in paragraphs for text in some]
        if kind == "paragraphs":
            texts = [" ".join(some) for some in paragraphs]
        clock = Stopwatch()
        for start in range(0, len(texts), TEXTS_AT_ONCE):
            tokenizer.encode_batch_fast(texts[start : start + TEXTS_AT_ONCE], add_special_tokens=False)
        line.send(clock.segment(1, 0))


def _store(place: Path, text: Path, wordpiece: WordPiece) -> TokenStore:
    task = open_store(place, Corpus((text,)), wordpiece)
    while True:
        try:
            next(task)
        except StopIteration as end:
            assert isinstance(end.value, TokenStore)
            return end.value


def _time_of_children() -> float:
    used = os.times()
    return used.children_user + used.children_system


# --- a gigabyte --------------------------------------------------------------------------------------


def _weigh(folder: Path, stretches: Sequence[Path], gigabytes: float) -> bool:
    if not Path("/proc/self/statm").exists():
        print("\nmemory: measured on Linux only")
        return False
    text, size = folder / "large.txt", 0
    with text.open("wb") as file:
        while size < gigabytes * 1e9:
            size += sum(file.write(stretch.read_bytes()) for stretch in stretches)
    with Contender("memory", serve_memory, folder) as contender, ThreadPoolExecutor(1) as thread:
        start, answer = time.perf_counter(), thread.submit(contender.ask, text)
        before, making, using = _memory_of(contender.greeting), dict[int, float](), dict[int, float]()
        while not wait([answer], 0.05).done:
            now = _memory_of(contender.greeting)
            if len(now) > 1:
                making = max(making, now, key=lambda some: sum(some.values()))
            else:  # without workers: before them, or when it is read again, mapped and counted
                using = max(using, now, key=lambda some: sum(some.values()))
        num_tokens, seconds = answer.result(), time.perf_counter() - start
    rate = num_tokens / seconds
    print(f"\n{size / 1e9:.2f} GB of text, {num_tokens:,} tokens, {seconds:,.0f} s, {rate:,.0f} a second")
    each = " + ".join(f"{value / 1e6:,.0f}" for value in making.values())
    most = max(sum(making.values()), sum(using.values()))
    print(f"most memory while it is made: {sum(making.values()) / 1e6:,.0f} MB ({each})")
    print(f"while it is read, mapped files included: {sum(using.values()) / 1e6:,.0f} MB")
    print(f"before: {sum(before.values()) / 1e6:,.0f} MB; limit {MEMORY_LIMIT / 1e6:,.0f} MB")
    return most > MEMORY_LIMIT


def serve_memory(line: Line, folder: Path) -> None:
    """Make the store of a file, and use it."""
    wordpiece = WordPiece.from_folder(folder)
    line.send(os.getpid())
    while (text := line.recv()) is not None:
        store = _store(folder / "large", text, wordpiece)
        hold_out(store, 0.05, 0)
        assert counts(store).sum() == store.num_tokens
        line.send(store.num_tokens)


def _memory_of(root: int) -> dict[int, float]:
    """Return process -> resident bytes, of a process and all below it. What they share counts for each."""
    parents = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(entry.parent.name)] = int(entry.read_text().rsplit(")", 1)[1].split()[1])
        except (OSError, IndexError):
            continue  # it has ended
    family = {root}
    while more := {pid for pid, parent in parents.items() if parent in family} - family:
        family |= more
    found = {}
    for pid in sorted(family):
        try:
            found[pid] = float(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE
        except OSError:
            continue
    return found


# --- what is cut -------------------------------------------------------------------------------------


def _write_stretches(folder: Path, count: int, megabytes: int) -> tuple[str, list[Path]]:
    """Write files of whole documents that follow one another in a corpus."""
    source, documents = _documents()
    places, size = [folder / f"{number}.txt" for number in range(count)], 0
    for place in places:
        with place.open("w", encoding="utf-8") as file:
            size = 0
            while size < megabytes * 1e6 and (document := next(documents, None)):
                size += file.write(document + "\n\n")
    return source, places


def _documents() -> tuple[str, Iterator[str]]:
    root = os.environ.get("CLOZE_DATA")
    if root is not None:
        return "Wikipedia", _of_wikipedia(Path(root) / "corpora" / "enwiki2015-core.txt.xz")
    rows = read_rows(SAMPLES / "sentence_polarity.csv")
    return "shipped sentences, repeated (flatters)", _repeated([text for _, text in rows])


def _of_wikipedia(path: Path) -> Iterator[str]:
    with lzma.open(path, "rt", encoding="utf-8") as file:
        lines: list[str] = []
        for line in file:
            if line.strip():
                lines.append(line.rstrip("\n"))
            elif lines:
                yield "\n".join(lines)
                lines = []


def _repeated(texts: Sequence[str]) -> Iterator[str]:
    while True:
        for start in range(0, len(texts), 12):
            yield "\n".join(texts[start : start + 12])


def _vocabulary() -> Path:
    root = os.environ.get("CLOZE_DATA")
    return SAMPLES / "vocab.txt" if root is None else Path(root) / "vocabs" / "bert-base-uncased-vocab.txt"


if __name__ == "__main__":
    sys.exit(main())
