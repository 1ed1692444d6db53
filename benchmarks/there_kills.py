"""Does a run that trains elsewhere survive everything? Kills what there is of it, at random, and compares.

    python -m benchmarks.there_kills [--kills 100] [--a-run 20] [--seed 0]

A real sshd of our own listens on loopback, with keys and a home of its own; the real OpenSSH client reaches
it. A small run is trained undisturbed. Then the same run is trained there and mirrored here, by the
commands that a person would use, while one process after another is killed (SIGKILL), after times drawn at
random: ssh here, the command that watches, the agent there, sshd's process of the connection, the process
of the run there, and what trains in it. A command that was killed is started again, as `follow`; all else
has to mend itself. At the end, metrics.jsonl has to be the same byte for byte on both sides, the weights
those of the undisturbed run bit for bit, each fetched file as it is there, and nothing may run any more. A
secret in the environment and the private key are looked for in every file and log that was written.
"""

from __future__ import annotations

import argparse
import os
import random
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from engine.remote.agent import FETCHED
from engine.train.finetune import fine_tune
from engine.train.run.runs import read_status
from tests.engine.remote.loopback import HOST, Elsewhere
from tests.engine.tiny_runs import ROOT, command_of, promised_metrics, reviews, tiny_config, write_table

MOST_S = 600.0  # of one run
VICTIMS = {  # what is killed, and how it is told from the others by its command line
    "ssh": "ssh -F",
    "watching command": "-m engine follow|-m engine finetune --on",
    "agent": "engine.remote agent",
    "sshd": "no such command",  # it is found otherwise
    "run's process": "engine.remote job",
    "training": "-m engine finetune --config|-m engine resume",
}


def main() -> int:
    """Return 1 if anything was lost, differs, or is left."""
    parser = argparse.ArgumentParser(description="Kill a run that trains elsewhere, and compare.")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--a-run", type=int, default=20, help="kills of one run")
    parser.add_argument("--seed", type=int, default=0)
    values = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="there-") as folder:
        judge = Judge(Path(folder), values.seed)
        try:
            return judge.run(values.kills, values.a_run)
        finally:
            judge.there.close()


class Judge:
    """One other computer, and all runs on it."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder, self.draw = folder, random.Random(seed)
        self.there = Elsewhere(folder / "elsewhere")
        self.secret = secrets.token_hex(16)
        self.counts = dict.fromkeys(VICTIMS, 0)
        self.faults: list[str] = []
        self.runs = 0

    def run(self, kills: int, a_run: int) -> int:
        """Return 1 if anything was lost, differs, or is left."""
        began = time.monotonic()
        write_table(self.folder / "reviews.csv", reviews(600))
        config = tiny_config(self.folder, num_epochs=12, checkpoint_every_steps=25)
        (self.folder / "alone").mkdir()
        list(fine_tune(config, self.folder / "alone" / "run"))
        self.there.serve()
        words = command_of(config, self.folder)[3:]
        while (done := sum(self.counts.values())) < kills:
            self.runs += 1
            run_dir = self.folder / f"{self.runs:03d}" / "run"
            run_dir.parent.mkdir()
            self._live(run_dir, words, min(a_run, kills - done))
            self._compare(run_dir)
            print(
                f"run {self.runs}: {sum(self.counts.values())} kills, {len(self.faults)} faults", flush=True
            )
        self._look_for_secrets()
        told = ", ".join(f"{name} {count}" for name, count in self.counts.items())
        print(f"{kills} kills ({told}) in {self.runs} runs, {time.monotonic() - began:.0f} s")
        fine = "all metrics and weights are the same; nothing is left; no secret was found"
        print("\n".join(self.faults) or fine)
        return int(bool(self.faults))

    def _live(self, run_dir: Path, words: list[str], kills: int) -> None:
        """Train a run there, and kill what there is of it so many times; end when it has ended."""
        watching, until = self._start(run_dir, words), time.monotonic() + MOST_S
        due, victim = time.monotonic() + self.draw.uniform(0.1, 3.0), self.draw.choice([*VICTIMS])
        while read_status(run_dir).get("state") != "finished" or watching.poll() is None:
            if time.monotonic() > until:
                self.faults.append(f"{run_dir}: it has not ended after {MOST_S:.0f} s")
                watching.kill()
                break
            if (code := watching.poll()) is not None:
                is_refused = (
                    code == 2 and not run_dir.exists()
                )  # the first connection was cut: nothing was made
                if code not in (0, -signal.SIGKILL) and not is_refused:
                    self.faults.append(f"{run_dir}: the command that watches ended with {code}")
                    break
                watching = self._start(run_dir, words)
            if kills and time.monotonic() > due and self._kill(victim):
                kills, victim = kills - 1, self.draw.choice([*VICTIMS])
                due = time.monotonic() + self.draw.uniform(0.1, 3.0)
            time.sleep(0.05)
        watching.wait()

    def _start(self, run_dir: Path, words: list[str]) -> subprocess.Popen[bytes]:
        is_begun = (run_dir / "remote.json").is_file()
        line = (
            ["follow", str(run_dir)]
            if is_begun
            else ["finetune", "--on", HOST, "--run", str(run_dir), *words]
        )
        environment = {
            **os.environ,
            "PATH": f"{self.there.bin}:{os.environ['PATH']}",
            "HOME": str(self.there.folder / "home"),
            "PYTHONPATH": str(ROOT),
            "CLOZE_TRIED_SECRET": self.secret,
        }
        with open(run_dir.parent / "watching.log", "ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "engine", *line], env=environment, stdout=log, stderr=log, cwd=ROOT
            )

    def _kill(self, name: str) -> bool:
        """Kill a process of a kind; return whether there was one."""
        marks = VICTIMS[name].split("|")
        pids = [pid for pid, command in self.there.processes() if any(mark in command for mark in marks)]
        if name == "sshd":
            pids = self.there.sessions()
        with suppress(ProcessLookupError, IndexError):
            os.kill(self.draw.choice(pids), signal.SIGKILL)
            self.counts[name] += 1
            return True
        return False

    def _compare(self, run_dir: Path) -> None:
        alone = self.folder / "alone" / "run"
        remote = _bytes(run_dir / "remote.json").decode()
        runs = [one for one in self.there.home.glob(".cloze/runs/*/run") if one.parent.name in remote]
        there = runs[0] if runs else None
        if there is None:
            self.faults.append(f"{run_dir}: there is no run there")
            return
        names = [
            file.relative_to(there) for part in FETCHED for file in [there / part, *(there / part).rglob("*")]
        ]
        for name in [Path("metrics.jsonl"), Path("status.json"), *names]:
            if (there / name).is_file() and (there / name).read_bytes() != _bytes(run_dir / name):
                self.faults.append(f"{run_dir}: {name} is not as it is there")
        if _bytes(run_dir / "model" / "model.safetensors") != _bytes(alone / "model" / "model.safetensors"):
            self.faults.append(f"{run_dir}: the weights are others than those of the undisturbed run")
        if list(promised_metrics(run_dir)) != list(promised_metrics(alone)):
            self.faults.append(f"{run_dir}: the metrics are others than those of the undisturbed run")
        until = time.monotonic() + 15
        while (left := self._left()) and time.monotonic() < until:
            time.sleep(0.1)
        self.faults += [f"{run_dir}: left running: {command}" for command in left]

    def _left(self) -> list[str]:
        sessions = [f"sshd {pid}" for pid in self.there.sessions()]
        return sessions + [command for pid, command in self.there.processes() if pid != self.there.server]

    def _look_for_secrets(self) -> None:
        key = (self.there.folder / "key").read_text().splitlines()[2].encode()
        own = [self.there.folder / name for name in ("key", "host_key")]
        for file in self.folder.rglob("*"):
            data = _bytes(file)
            if file not in own and any(one in data for one in (self.secret.encode(), key, b"PRIVATE KEY")):
                self.faults.append(f"{file} holds a secret")


def _bytes(path: Path) -> bytes:
    return path.read_bytes() if path.is_file() else b""


if __name__ == "__main__":
    sys.exit(main())
