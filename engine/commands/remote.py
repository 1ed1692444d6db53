"""Training on another computer: --on of the commands that train, and the commands for runs there.

follow, stop and pause are for any run that trains in another process, here or there. See command_line.py.
"""

from __future__ import annotations

import argparse
import shlex
import sys
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, cast

from engine.commands.screen import Screen, answered, asked_to_stop, print_json, show, tell_kept
from engine.durable import write_text
from engine.errors import RunError, UserError, marked
from engine.events import Evaluated, Event, Noted, Steps
from engine.language import said
from engine.remote.computer import Computer, this_computer
from engine.remote.contact import Contact
from engine.remote.hosts import FOLDER, HostSettings, check_host, hosts, remember, settings_of, slurm_options
from engine.remote.install import install
from engine.remote.manifests import TOOLS, manifest
from engine.remote.record import last_contact
from engine.remote.run import fetch, follow, look_at, pass_on, resume_there, train_there
from engine.runs.follow import following
from engine.train.run.lock import is_locked
from engine.train.run.mirrored import is_mirrored
from engine.train.run.runs import LOCK, MODEL, AnyConfig, read_any_config, run_info
from engine.train.run.wanted import FETCH, GO, PAUSE, STOP, want, wanted

SLURM_FLAG = "--slurm"
HEARD_S = 30.0  # that a run here may take to hear what is wanted


def add_where(command: argparse.ArgumentParser) -> None:
    """Let a command that trains do so on another computer."""
    command.add_argument(
        "--on", metavar="HOST", help="train on this host of ~/.ssh/config, and watch it here"
    )
    command.add_argument(
        "--slurm",
        metavar="OPTIONS",
        help="with --on: by sbatch with these options, such as '--partition=gpu --gpus=2 --time=4:00:00'",
    )
    command.add_argument(
        "--no-weights",
        action="store_true",
        help="with --on: leave the weights there; `get-weights` downloads them",
    )


def add_remote_commands(commands: Any) -> None:
    """Add the commands to the parser's."""
    check = commands.add_parser("check-host", help="show what a host, or this computer, has to train with")
    check.add_argument("host", metavar="HOST", nargs="?", help="of ~/.ssh/config; default: this computer")
    check.add_argument("--json", action="store_true", help="print everything known about it as JSON")
    check.add_argument(
        "--install", action="store_true", help="install this Cloze there, in a folder of its own"
    )
    check.add_argument(
        "--wheelhouse", type=Path, metavar="DIR", help="with --install: wheels of all it needs"
    )
    check.add_argument(
        "--slurm", metavar="OPTIONS", help="remember: runs there go by sbatch with these; '' for none"
    )
    check.add_argument("--python", metavar="PATH", help="remember: the Python there that has Cloze")
    check.add_argument(
        "--folder", metavar="PATH", help=f"remember: where Cloze keeps its files; default: {FOLDER}"
    )
    check.set_defaults(run=_check_host)
    _add(
        commands, "follow", _follow, "watch a run that trains in another process, here or on another computer"
    )
    _add(commands, "stop", _stop, "stop a run that trains in another process; what it learned is kept")
    _add(commands, "pause", _pause, "pause a run that trains in another process; `resume` continues it")
    fetching = _add(commands, "get-weights", _fetch, "download the weights of a run from where it is trained")
    fetching.add_argument("--all", action="store_true", help="also its kept weights and checkpoints")
    export = commands.add_parser(
        "export-job", help="write a training for SkyPilot, dstack or Kubernetes, as YAML"
    )
    export.add_argument("--for", dest="tool", required=True, choices=[*TOOLS], help="for whom")
    export.add_argument("--out", required=True, type=Path, help="the file to write")
    export.add_argument("--name", default="cloze", help="what it is called there")
    export.add_argument("--gpus", type=int, default=1, help="over how many GPUs; 0: none")
    export.add_argument(
        "words",
        metavar="COMMAND ...",
        nargs=argparse.REMAINDER,
        help="finetune or pretrain, with all that follows",
    )
    export.set_defaults(run=_export_job)


def _add(commands: Any, name: str, run: Any, words: str) -> argparse.ArgumentParser:
    command: argparse.ArgumentParser = commands.add_parser(name, help=words)
    command.add_argument("run_dir", metavar="RUN", type=Path)
    command.add_argument(
        "--on", metavar="HOST", default="", help="ask this host, though the folder was not made here"
    )
    command.set_defaults(run=run)
    return command


def joined(words: Sequence[str]) -> list[str]:
    """Return a command line in which sbatch's options, which begin as ours do, are one word with --slurm."""
    found = list[str]()
    for word in words:
        if found and found[-1] == SLURM_FLAG:
            found[-1] = f"{SLURM_FLAG}={word}"
        else:
            found.append(word)
    return found


def where_words(host: str, slurm: str | None = None) -> list[str]:
    """Return the words that have a command train on a host; none for this computer."""
    words = ["--on", host] if host else []
    return words if slurm is None or not host else [*words, f"--slurm={slurm}"]


# --- training there -------------------------------------------------------------------------------


def train_on(options: argparse.Namespace, config: AnyConfig, found: list[Event] | None = None) -> int:
    """Train where --on says, and tell what is told there. Returns: the exit code."""
    run_dir = Path(options.run_dir).absolute()
    task = train_there(config, run_dir, options.on, slurm=options.slurm, fetches=not options.no_weights)
    return watch(task, run_dir, found)


def check_where(options: argparse.Namespace) -> bool:
    """Whether a command trains elsewhere. Raises: UserError: options that say nothing here."""
    if options.on is None and (options.slurm is not None or options.no_weights):
        raise UserError(marked("engine", "--slurm and --no-weights need --on, which names the host."))
    return options.on is not None


def watch(task: Iterator[Event], run_dir: Path, found: list[Event] | None = None) -> int:
    """Tell what a run there says. Ctrl-C detaches: it goes on there. Returns: the exit code."""
    screen, is_there = Screen(), is_mirrored(run_dir)
    with asked_to_stop() as asked, closing(cast(Generator[Event, None, None], task)):
        try:
            for event in task:
                screen.tell(event)
                is_there = is_there or isinstance(event, Contact)
                if found is not None and isinstance(event, Evaluated | Noted):
                    found.append(event)
                if asked.signals:
                    break
        except KeyboardInterrupt:
            if not asked.signals:
                raise
        finally:
            screen.end()
    if asked.signals:
        if is_there and is_mirrored(run_dir):
            _tell_detached(run_dir)
        return 128 + asked.signals[0]
    if run_info(run_dir).state == "stopped":
        tell_kept(run_dir)
    return 0


def _tell_detached(run_dir: Path) -> None:
    contact = last_contact(run_dir)
    template = marked(
        "engine", "The run continues on {host}. Watch it again with: {follow}; stop it with: {stop}"
    )
    words = {name: shlex.join(["python", "-m", "engine", name, str(run_dir)]) for name in ("follow", "stop")}
    print("\n" + said(template, host=contact.host if contact else "?", **words), file=sys.stderr)


# --- runs of other processes ----------------------------------------------------------------------


def resume_remote(run_dir: Path) -> int | None:
    """Go on with a run that is trained elsewhere, or that is paused; None for any other."""
    is_heard = is_locked(run_dir / LOCK)  # by what trains it here, or follows it
    if is_mirrored(run_dir) and not is_heard:
        return watch(resume_there(run_dir), run_dir)
    if is_heard and (is_mirrored(run_dir) or wanted(run_dir) == PAUSE):
        want(run_dir, GO)
        return 0
    return None


def _follow(options: argparse.Namespace) -> int:
    run_dir = options.run_dir.absolute()
    is_here = run_info(run_dir).state == "finished" and (run_dir / MODEL).is_dir()
    if is_mirrored(run_dir) and not is_locked(run_dir / LOCK) and not is_here:
        return watch(follow(run_dir, told=0, host=options.on), run_dir)
    read_any_config(run_dir)
    return show(following(run_dir))


def _stop(options: argparse.Namespace) -> int:
    run_dir = options.run_dir.absolute()
    if is_mirrored(run_dir) and not is_locked(run_dir / LOCK):
        want(run_dir, STOP)
        return watch(follow(run_dir, host=options.on), run_dir)
    return _heard_here(run_dir, STOP)


def _pause(options: argparse.Namespace) -> int:
    run_dir = options.run_dir.absolute()
    if is_mirrored(run_dir) and not is_locked(run_dir / LOCK):
        return show(pass_on(run_dir, PAUSE, host=options.on))
    return _heard_here(run_dir, PAUSE)


def _heard_here(run_dir: Path, what: str) -> int:
    """Ask a run of a process of this computer, and wait until it has heard. Raises: RunError."""
    if not is_locked(run_dir / LOCK):
        read_any_config(run_dir)
        raise RunError(marked("engine", "No process is training the run in {path}."), path=run_dir)
    want(run_dir, what)
    until = time.monotonic() + HEARD_S
    while what == STOP and is_locked(run_dir / LOCK) and time.monotonic() < until:
        time.sleep(0.1)
    return 0


def _fetch(options: argparse.Namespace) -> int:
    if is_mirrored(options.run_dir) and is_locked(options.run_dir / LOCK):
        want(options.run_dir, FETCH)
        return 0
    return show(fetch(options.run_dir, everything=options.all, host=options.on))


# --- hosts ----------------------------------------------------------------------------------------


def _check_host(options: argparse.Namespace) -> int:
    computer: Computer | None = this_computer()
    if options.host is None:
        if options.install:
            raise UserError(marked("engine", "Name the host on which to install."))
    else:
        _remember(options)
        task: Steps[Computer] = look_at(options.host)
        if options.install:
            task = install(options.host, wheelhouse=options.wheelhouse)
        code, computer = answered(task)
        if computer is None:
            return code
    assert computer is not None
    if options.json:
        known = {"hosts": list(hosts())} if options.host is None else {}
        print_json({**computer.document(), "has_cloze": computer.has_cloze, **known})
    else:
        print(computer.said())
        if not computer.has_cloze:
            print(said(marked("engine", "It does not have this Cloze; --install installs it there.")))
    return 0


def _remember(options: argparse.Namespace) -> None:
    known = settings_of(check_host(options.host))
    slurm_options(options.slurm or "")
    said = {name: getattr(options, name) for name in ("slurm", "python", "folder")}
    settings = HostSettings(**{name: getattr(known, name) if v is None else v for name, v in said.items()})
    if settings != known:
        remember(options.host, settings)


def _export_job(options: argparse.Namespace) -> int:
    words = [word for word in options.words if word != "--"] if options.words[:1] == ["--"] else options.words
    if not words or words[0] not in ("finetune", "pretrain", "pipeline", "resume"):
        raise UserError(
            marked(
                "engine",
                "Behind the options goes the command that trains, such as: finetune --data reviews.csv ...",
            )
        )
    write_text(options.out, manifest(options.tool, options.name, ["-m", "engine", *words], options.gpus))
    return 0
