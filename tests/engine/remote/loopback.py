"""Another computer on this one: a home of its own, reached by a real sshd, or by a stand-in for ssh.

The stand-in runs what ssh is asked to, in the other home, and can end the line after so many bytes. Both are
found by PATH under the name ssh, as a person's is.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

HOST = "there"
SSH, SSHD = (
    shutil.which("ssh"),
    shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin"),
)
_STAND_IN = """\
#!{python}
import os, subprocess, sys
environment = {{**os.environ, **{environment!r}}}
broken = {broken!r}
if os.path.exists(broken + ".refused"):
    sys.exit("ssh: connect to host there port 22: Connection refused")
left = int(open(broken).read()) if os.path.exists(broken) else None
process = subprocess.Popen(
    ["/bin/sh", "-c", sys.argv[-1]], env=environment, cwd=environment["HOME"],
    stdout=subprocess.PIPE,
)
while data := os.read(process.stdout.fileno(), 65536):
    os.write(1, data if left is None else data[:left])
    if left is not None and (left := left - len(data)) <= 0:
        os.unlink(broken)
        process.kill()
        sys.exit("Connection to there closed by remote host.")
sys.exit(process.wait())
"""


class Elsewhere:
    """The other computer. home: there. bin: put first on PATH here."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.home, self.bin = folder, folder / "there", folder / "bin"
        for path in (self.home, self.bin, folder / "home" / ".ssh"):
            path.mkdir(parents=True)
        self.tools = folder / "tools"  # first on PATH there
        self.tools.mkdir()
        self.environment = {
            "HOME": str(self.home),
            "PATH": f"{self.tools}:/usr/bin:/bin",
            "OMP_NUM_THREADS": "1",
        }
        self._server: subprocess.Popen[bytes] | None = None

    def stand_in(self, says: str = "") -> None:
        """Be reached by the stand-in; what it does is what it is asked, or what is given."""
        text = _STAND_IN.format(
            python=sys.executable, environment=self.environment, broken=str(self.folder / "break")
        )
        self._program("ssh", text.replace("sys.argv[-1]", repr(says)) if says else text)

    def break_after(self, num_bytes: int) -> None:
        """Let the next line end after so many bytes of what is said there."""
        (self.folder / "break").write_text(str(num_bytes))

    def refuse(self, refuses: bool) -> None:
        """Let nobody in, or again."""
        path = self.folder / "break.refused"
        path.touch() if refuses else path.unlink()

    def serve(self) -> None:
        """Be reached by a real sshd, with keys of its own, that listens on loopback alone."""
        assert SSHD is not None and SSH is not None
        for name in ("host_key", "key"):
            subprocess.run(
                ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.folder / name], check=True
            )
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        (self.folder / "authorized_keys").write_bytes((self.folder / "key.pub").read_bytes())
        said = " ".join(f'{name}="{value}"' for name, value in self.environment.items())
        self._write(
            "sshd_config",
            f"""
            ListenAddress 127.0.0.1
            Port {port}
            HostKey {self.folder}/host_key
            AuthorizedKeysFile {self.folder}/authorized_keys
            PidFile none
            StrictModes no
            UsePAM no
            PasswordAuthentication no
            KbdInteractiveAuthentication no
            PermitRootLogin prohibit-password
            SetEnv {said}
            """,
        )
        key = (self.folder / "host_key.pub").read_text().split()
        (self.folder / "known_hosts").write_text(f"[127.0.0.1]:{port} {key[0]} {key[1]}\n")
        self._write(
            "home/.ssh/config",
            f"""
            Host {HOST}
                HostName 127.0.0.1
                Port {port}
                IdentityFile {self.folder}/key
                IdentitiesOnly yes
                UserKnownHostsFile {self.folder}/known_hosts
                GlobalKnownHostsFile /dev/null
            """,
        )
        self._program("ssh", f'#!/bin/sh\nexec {SSH} -F {self.folder}/home/.ssh/config "$@"\n')
        words = [SSHD, "-D", "-e", "-f", str(self.folder / "sshd_config")]
        with open(self.folder / "sshd.log", "wb") as log:
            self._server = subprocess.Popen(words, stdout=log, stderr=log, start_new_session=True)
        until = time.monotonic() + 10
        while time.monotonic() < until:
            with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                return
            time.sleep(0.02)
        raise RuntimeError((self.folder / "sshd.log").read_text())

    @property
    def server(self) -> int:
        """The process that listens; 0 for none."""
        return 0 if self._server is None else self._server.pid

    def sessions(self) -> list[int]:
        """Return sshd's processes, one or two a connection."""
        found, parents = [], {self.server}
        for pid in sorted(int(path.name) for path in Path("/proc").iterdir() if path.name.isdecimal()):
            with suppress(OSError, ValueError):
                if int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1]) in parents:
                    command = Path(f"/proc/{pid}/cmdline").read_bytes()
                    if command.startswith(b"sshd:"):
                        found.append(pid)
                        parents.add(pid)
        return found

    def processes(self) -> list[tuple[int, str]]:
        """Return what runs for this place: everything in whose command line or environment it is named."""
        found, own = [], str(self.folder).encode()
        for path in Path("/proc").iterdir():
            with suppress(OSError, ValueError):
                command, around = (path / "cmdline").read_bytes(), (path / "environ").read_bytes()
                if int(path.name) != os.getpid() and command and own in command + b"\0" + around:
                    found.append((int(path.name), command.replace(b"\0", b" ").decode(errors="replace")))
        return found

    def close(self) -> None:
        """End the server, and whatever still runs there."""
        if self._server is not None:
            self._server.terminate()
            self._server.wait()
        for pid, _ in self.processes():
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)

    def _write(self, name: str, text: str) -> None:
        (self.folder / name).write_text("\n".join(line.strip() for line in text.splitlines()) + "\n")

    def _program(self, name: str, text: str) -> None:
        path = self.bin / name
        path.write_text(text)
        path.chmod(0o755)
