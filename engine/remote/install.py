"""The Cloze that runs here, installed on a host: in a folder of its own there, where a person asks for it.

A wheel of the engine is packed from the source that runs, so that both are the same to the last byte, and its
dependencies are fetched there by pip; from a wheelhouse that comes along where there is no network. The
window and its dependencies stay here. Nothing else there is touched; deleting ~/.cloze takes all of it away.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import shlex
import subprocess
import tarfile
import tempfile
import time
import tomllib
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import BinaryIO

from engine.errors import UserError, marked
from engine.events import Event, Progress, Steps
from engine.own_process import environment_of
from engine.remote.computer import PACKAGE, Computer, program, source_root
from engine.remote.connection import BEAT_S, OPTIONS, in_shell, pythons
from engine.remote.frames import foreign
from engine.remote.hosts import HostSettings, check_host, settings_of
from engine.remote.run import look_at

WINDOW = ("pyside6-essentials", "pyqtgraph")  # what only a window needs
INSTALLING = marked("engine", "Installing on {name}")
MOST_S = 3600.0
_LAST = 4096  # bytes of what pip says
LONGEST_LINE = 60
_VERSION = "0.1.0"  # where no version is known: of a folder of sources
_NAME = re.compile(r"[A-Za-z0-9._-]+")


def install(host: str, *, wheelhouse: Path | None = None) -> Steps[Computer]:
    """Install the Cloze that runs here on a host, in a folder of its own there; return what it has then.

    Args:   wheelhouse: a folder of wheels, of all that it needs, for a host without network.
    Raises: UserError.
    """
    settings = settings_of(check_host(host))
    with tempfile.TemporaryDirectory() as folder:
        wheels = [pack_wheel(Path(folder)), *(sorted(wheelhouse.glob("*.whl")) if wheelhouse else ())]
        with tempfile.TemporaryFile() as sent:
            with tarfile.open(fileobj=sent, mode="w") as tar:
                for wheel in wheels:
                    tar.add(wheel, f"wheels/{wheel.name}")
            sent.seek(0)
            script = script_of(settings, wheels[0].name, has_all=wheelhouse is not None)
            yield from _done_there(host, script, sent, Path(folder) / "said")
    computer = yield from look_at(host)
    if not computer.has_cloze:
        raise UserError(
            marked("engine", "Cloze was installed on {host}, but is another one than here. Try again."),
            host=host,
        )
    return computer


def script_of(settings: HostSettings, wheel: str, *, has_all: bool) -> str:
    """Return what a shell there does with an archive of wheels: a venv of its own, pip, a mark at the end."""
    home = f"{in_shell(settings.folder)}/programs/{program()}"
    where = "--no-index " if has_all else ""
    steps = [
        f"d={home}",
        'rm -rf "$d"; mkdir -p "$d" && cd "$d" && tar xf - || exit 1',
        f'for p in {pythons(settings)}; do "$p" -c "import sys; sys.exit(sys.version_info < (3, 11))" '
        "2>/dev/null && break; p=; done",
        '[ -n "$p" ] || { echo "there is no Python 3.11 or newer" >&2; exit 1; }',
        '"$p" -m venv "$d" || exit 1',
        "bin/python -m pip install --disable-pip-version-check --progress-bar off "
        f"{where}--find-links wheels wheels/{shlex.quote(wheel)} || exit 1",
        "rm -rf wheels; touch ready",
    ]
    return "; ".join(steps)


def pack_wheel(folder: Path) -> Path:
    """Write a wheel of the engine that runs here into a folder; return it. Raises: UserError: it is packaged,
    so there is no source of it.
    """
    root = source_root()
    if root is None:
        raise UserError(
            marked(
                "engine",
                "A packaged Cloze cannot install itself elsewhere. Install it there by pip: "
                "pip install {package}",
            ),
            package=PACKAGE,
        )
    version = _version(root)
    name = PACKAGE.replace("-", "_")
    about = f"{name}-{version}.dist-info"
    needed = "".join(f"Requires-Dist: {one}\n" for one in requirements(root))
    files = {
        path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(_sources(root / "engine"))
    }
    files |= {
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {PACKAGE}\nVersion: {version}\n{needed}".encode(),
        f"{about}/WHEEL": b"Wheel-Version: 1.0\nGenerator: cloze\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{inner},sha256={_digest(data)},{len(data)}\n" for inner, data in files.items())
    files[f"{about}/RECORD"] = f"{record}{about}/RECORD,,\n".encode()
    path = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for inner, data in files.items():
            wheel.writestr(zipfile.ZipInfo(inner, (2020, 1, 1, 0, 0, 0)), data)
    return path


def requirements(root: Path) -> list[str]:
    """Return what the engine needs, as pip is told it: without what is for a window or an extra."""
    found = list[str]()
    with suppress(OSError, ValueError, KeyError):
        found = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"][
            "dependencies"
        ]
    if not found:
        with suppress(metadata.PackageNotFoundError):
            found = metadata.requires(PACKAGE) or []
    plain = [one for one in found if "extra ==" not in one]
    return [one for one in plain if (named := _NAME.match(one)) and named[0].lower() not in WINDOW]


def _done_there(host: str, script: str, sent: BinaryIO, told: Path) -> Iterator[Event]:
    """Have a shell there do something with what is sent, telling its lines. Args: told: where they are kept.

    Raises: UserError.
    """
    words = [word for name, value in OPTIONS.items() for word in ("-o", f"{name}={value}")]
    with told.open("wb") as output:
        process = subprocess.Popen(
            ["ssh", "-T", *words, "--", host, f"exec /bin/sh -c {shlex.quote(script)}"],
            stdin=sent,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=environment_of(),
            start_new_session=True,
        )
    try:
        until = time.monotonic() + MOST_S
        while process.poll() is None and time.monotonic() < until:
            what = foreign(next(reversed(_last_lines(told)), "…"), LONGEST_LINE)
            yield Progress(stage=INSTALLING, name=f"{host}: {what}", done=0, total=0)
            time.sleep(BEAT_S)
    finally:
        if process.poll() is None:
            process.kill()
        code = process.wait()
    if code:
        raise UserError(
            marked("engine", "Cloze could not be installed on {host}: {reason}"),
            host=host,
            reason=foreign(next(reversed(_last_lines(told)), "?")),
        )


def _last_lines(path: Path) -> list[str]:
    """Return the last lines of a file that somebody writes to."""
    with path.open("rb") as file:
        file.seek(max(0, os.fstat(file.fileno()).st_size - _LAST))
        text = file.read(_LAST).decode(errors="replace")
    return [line.strip() for line in text.splitlines() if line.strip()]


def _sources(package: Path) -> Iterator[Path]:
    for path in package.rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            yield path


def _version(root: Path) -> str:
    with suppress(OSError, ValueError, KeyError):
        said = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
        return str(said)
    with suppress(metadata.PackageNotFoundError):
        return metadata.version(PACKAGE)
    return _VERSION


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
