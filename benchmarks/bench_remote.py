"""What a run over ssh costs: seconds until it trains, megabytes a second, how late an event is.

    python -m benchmarks.bench_remote [--megabytes 256] [--events 300]

By the real OpenSSH client through an sshd of our own on loopback: the network itself takes nothing here, so
what is measured is ssh, the agent there and the mirror here. `benchmarks/scale.md` has what was seen.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

from engine.events import Noted, Progress, Started, Step, result_of
from engine.remote.connection import connected
from engine.remote.contact import Contact
from engine.remote.hosts import settings_of
from engine.remote.mirror import Mirror
from engine.remote.record import RemoteRun
from engine.remote.run import look_at, train_there
from engine.remote.sending import sent
from engine.settings.config import with_values
from engine.settings.finetune import FineTuneConfig
from engine.train.run.runs import METRICS
from tests.engine.made_runs import made_run
from tests.engine.remote.loopback import HOST, Elsewhere
from tests.engine.tiny_runs import tiny_config

KEY = "0123456789abcdef"


def main() -> int:
    """Print a table."""
    parser = argparse.ArgumentParser(description="Measure what a run over ssh costs.")
    parser.add_argument("--megabytes", type=int, default=256)
    parser.add_argument("--events", type=int, default=300)
    values = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="remote-") as folder:
        there = Elsewhere(Path(folder) / "elsewhere")
        there.serve()
        os.environ["PATH"] = f"{there.bin}:{os.environ['PATH']}"
        os.environ["HOME"] = str(there.folder / "home")
        try:
            _measure(Path(folder), there, values.megabytes, values.events)
        finally:
            there.close()
    return 0


def _measure(folder: Path, there: Elsewhere, megabytes: int, events: int) -> None:
    checks = [_timed(lambda: result_of(look_at(HOST)))[0] for _ in range(5)]
    print(f"connect and check: {_spread(checks)} s")
    _until_it_trains(folder, "the first time")
    _until_it_trains(folder, "again, all of it sent before")
    big = folder / "big.csv"
    draw = random.Random(0)
    with big.open("wb") as file:
        for _ in range(megabytes):
            file.write(draw.randbytes(2**20))
    config = with_values(FineTuneConfig(), {"data": str(big), "model": "new:tiny"})
    with closing(result_of(connected(HOST, settings_of(HOST)))) as line:
        first, _ = _timed(lambda: result_of(sent(line, config)))
        again, _ = _timed(lambda: result_of(sent(line, config)))
        print(f"sent, its hash included: {megabytes / first:.0f} MB/s; known: {megabytes / again:.0f} MB/s")
        home = there.home / ".cloze" / "runs" / KEY
        run = made_run(home, "run", steps=3)
        (home / "job.json").write_text(json.dumps({"name": run.name, "kind": "finetune"}))
        (run / "model").mkdir(exist_ok=True)
        named = next((there.home / ".cloze" / "store" / "named").glob("*/big.csv"))
        os.link(named, run / "model" / "big.safetensors")
        (folder / "mirrored").mkdir()
        mirror = Mirror(folder / "mirrored", RemoteRun(host=HOST, key=KEY, name=run.name, kind="finetune"))
        took, _ = _timed(lambda: list(mirror.fetch(line)))
        print(f"fetched and compared: {megabytes / took:.0f} MB/s")
        late = list(_late(line, mirror, run, events))
    late.sort()
    middle, high = late[len(late) // 2], late[len(late) * 9 // 10]
    print(f"an event is here after {middle * 1e3:.0f} ms, nine of ten within {high * 1e3:.0f} ms")


def _until_it_trains(folder: Path, called: str) -> None:
    """Tell when a run was checked, sent, started, and made its first step."""
    config, began = tiny_config(folder, num_epochs=1), time.monotonic()
    at: dict[str, float] = {}
    for event in train_there(config, folder / called.replace(" ", "-"), HOST):
        for name, kind in (("checked", Noted), ("started", Contact), ("trains", Started), ("step", Step)):
            if isinstance(event, kind):
                at.setdefault(name, time.monotonic() - began)
        if isinstance(event, Progress) and event.stage.startswith("Sending"):
            at["sent"] = time.monotonic() - began
    at["all"] = time.monotonic() - began
    print(f"{called}: " + ", ".join(f"{name} {value:.2f} s" for name, value in at.items()))


def _late(line: object, mirror: Mirror, run: Path, count: int) -> Iterator[float]:
    """Yield how late each event is that is written there at random, as `follow` asks for them."""
    draw = random.Random(1)

    def write() -> None:
        for _ in range(count):
            time.sleep(draw.uniform(0.0, 0.2))
            with (run / METRICS).open("a") as file:
                sentence = {"template": "{at}", "values": {"at": time.monotonic()}}
                file.write(json.dumps({"event": "noted", "sentence": sentence, "level": "fine"}) + "\n")

    known: dict[str, object] = {}
    writer = threading.Thread(target=write)
    writer.start()
    while count:
        found, _ = result_of(line.ask("look", key=KEY, known=known, wait_s=0.5))  # type: ignore[attr-defined]
        result_of(mirror.catch_up(line, found["metrics"], whole=not known))  # type: ignore[arg-type]
        known, now = found, time.monotonic()
        for event in mirror.news():
            if isinstance(event, Noted) and "at" in event.sentence.values:
                count -= 1
                yield now - event.sentence.values["at"]
    writer.join()


def _timed(work: Callable[[], object]) -> tuple[float, object]:
    began = time.monotonic()
    found = work()
    return time.monotonic() - began, found


def _spread(seconds: list[float]) -> str:
    return f"{statistics.median(seconds):.2f} ({min(seconds):.2f} to {max(seconds):.2f})"


if __name__ == "__main__":
    sys.exit(main())
