"""A model hub of our own at 127.0.0.1, which answers huggingface_hub as a hub does, or in some other way.

It counts every byte of a file that it sends, by name.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

LARGE = 100_000  # bytes from which on a file is kept apart, as Git LFS does
PIECE = 2**14
QUIET = 0.02  # seconds between two pieces of a slow file


@dataclass
class Fault:
    """What goes wrong with a file or, under "api", with questions. times: how often; -1: always.

    status: answered in the place of the file. at: the byte before which it is cut or stalls. slow: seconds
    between two pieces. size, digest: what is said of it in the place of the truth. to: where it is sent.
    """

    status: int = 0
    code: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    cut_at: int | None = None
    stall_at: int | None = None
    slow: float = 0.0
    size: int | None = None
    digest: str = ""
    to: str = ""
    no_ranges: bool = False
    body: bytes | None = None
    times: int = -1


class LocalHub:
    """The server. Use as a context manager; `faults` may be changed at any time."""

    def __init__(self) -> None:
        self.models: dict[str, dict[str, bytes]] = {}
        self.cards: dict[str, dict[str, Any]] = {}
        self.aliases: dict[str, str] = {}
        self.token = ""  # asked for, where it is one
        self.tokens: set[str] = set()  # that were sent
        self.faults: dict[str, Fault] = {}
        self.served: Counter[str] = Counter()
        self.asked: list[str] = []
        self.closing = threading.Event()
        hub = self

        class Handler(_Handler):
            pass

        Handler.hub = hub
        self._server = _Server(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.host = f"127.0.0.1:{self._server.server_address[1]}"
        self.url = f"http://{self.host}"

    def __enter__(self) -> LocalHub:
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def publish(self, name: str, folder: Path, **card: Any) -> None:
        """Have a model folder published, without what Cloze wrote of it."""
        files = (one for one in sorted(folder.rglob("*")) if one.is_file() and one.name != "cloze.json")
        self.models[name] = {one.relative_to(folder).as_posix(): one.read_bytes() for one in files}
        self.cards[name] = card

    def commit(self, name: str) -> str:
        """Return the commit that a model is at: another one whenever its files are others."""
        text = b"".join(file.encode() + data for file, data in sorted(self.models[name].items()))
        return hashlib.sha1(text).hexdigest()

    def take_fault(self, key: str) -> Fault | None:
        """Return what is to go wrong now."""
        fault = self.faults.get(key)
        if fault is None or fault.times == 0:
            return None
        fault.times -= fault.times > 0
        return fault


class _Server(ThreadingHTTPServer):
    """Says nothing of those who hang up."""

    def handle_error(self, *_: Any) -> None: ...


class _Handler(BaseHTTPRequestHandler):
    """One connection."""

    hub: LocalHub
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None: ...

    def do_HEAD(self) -> None:
        self._answer()

    def do_GET(self) -> None:
        self._answer()

    def _answer(self) -> None:
        path, _, query = self.path.partition("?")
        steps = [unquote(step) for step in path.strip("/").split("/")]
        self.hub.asked.append(f"{self.command} {path} {self.headers.get('Range', '')}".strip())
        self.hub.tokens |= {self.headers["Authorization"]} - {None}
        if self.hub.token and self.headers.get("Authorization") != f"Bearer {self.hub.token}":
            self._refuse(401, "")
        elif steps[:2] == ["api", "models"]:
            self._tell(steps[2:], parse_qs(query))
        elif "resolve" in steps:
            place = steps.index("resolve")
            self._file("/".join(steps[:place]), steps[place + 1], "/".join(steps[place + 2 :]), path)
        elif steps[0] == "cdn":
            self._send("/".join(steps[2:]), self._data(steps[1].replace("--", "/"), "/".join(steps[2:])))
        else:
            self._refuse(404, "")

    def _data(self, name: str, file: str) -> bytes:
        return self.hub.models[name][file]

    def _tell(self, steps: list[str], query: Mapping[str, list[str]]) -> None:
        fault = self.hub.take_fault("api")
        if fault is not None:
            self._go_wrong(fault)
            return
        if not steps:
            words = query.get("search", [""])[0].lower()
            wanted = set(query.get("filter", []))
            found = [self._about(name) for name in self.hub.models if words in name.lower()]
            self._json([{**one, "siblings": None} for one in found if wanted <= {*one["tags"]}])
            return
        revision = ""
        if "revision" in steps:
            place = steps.index("revision")
            steps, revision = steps[:place], "/".join(steps[place + 1 :])
        name = "/".join(steps)
        if name in self.hub.aliases:
            self._redirect(f"/api/models/{self.hub.aliases[name]}?{urlsplit(self.path).query}", 307)
        elif name not in self.hub.models:
            self._refuse(404, "RepoNotFound")
        elif revision not in ("", "main", self.hub.commit(name)):
            self._refuse(404, "RevisionNotFound")
        else:
            self._json(self._about(name))

    def _about(self, name: str) -> dict[str, Any]:
        files = self.hub.models[name]
        siblings = []
        for file, data in files.items():
            one: dict[str, Any] = {"rfilename": file, "size": len(data), "blobId": git_digest(data)}
            if len(data) >= LARGE:
                sha = hashlib.sha256(data).hexdigest()
                one["lfs"] = {"sha256": sha, "size": len(data), "pointerSize": 130}
            siblings.append(one)
        card = self.hub.cards.get(name, {})
        tags = [json.loads(files["config.json"]).get("model_type", "bert"), *card.get("language", [])]
        tags += [f"license:{card['license']}"] if "license" in card else []
        return {
            "id": name,
            "sha": self.hub.commit(name),
            "siblings": siblings,
            "cardData": card,
            "tags": tags,
            "downloads": 1234,
            "gated": False,
            "private": False,
        }

    def _file(self, name: str, revision: str, file: str, path: str) -> None:
        if name in self.hub.aliases:
            self._redirect(path.replace(f"/{name}/", f"/{self.hub.aliases[name]}/", 1), 307)
            return
        if name not in self.hub.models:
            self._refuse(404, "RepoNotFound")
            return
        if revision not in ("main", self.hub.commit(name)):
            self._refuse(404, "RevisionNotFound")
            return
        if file not in self.hub.models[name]:
            self._refuse(404, "EntryNotFound")
            return
        data = self.hub.models[name][file]
        fault = self.hub.faults.get(file) or Fault()
        said = {"X-Repo-Commit": self.hub.commit(name)}
        if len(data) >= LARGE:
            digest = fault.digest or hashlib.sha256(data).hexdigest()
            said |= {"X-Linked-Etag": f'"{digest}"', "X-Linked-Size": str(fault.size or len(data))}
            target = f"/cdn/{name.replace('/', '--')}/{file}"
            self._redirect(fault.to or f"{self.hub.url.replace('127.0.0.1', 'localhost')}{target}", 302, said)
            return
        if self.command == "HEAD":
            said |= {
                "ETag": f'"{fault.digest or git_digest(data)}"',
                "Content-Length": str(fault.size or len(data)),
            }
            self._start(200, said)
            return
        self._send(file, data)

    def _send(self, file: str, data: bytes) -> None:
        """Send a file, or the part of it that is asked for, with what goes wrong."""
        fault = self.hub.take_fault(file) or Fault()
        if fault.status or fault.to:
            self._go_wrong(fault)
            return
        data = data if fault.body is None else fault.body
        begin, end, wanted = 0, len(data), self.headers.get("Range", "")
        if wanted and not fault.no_ranges:
            first, _, last = wanted.removeprefix("bytes=").partition("-")
            begin, end = int(first), min(len(data), int(last) + 1 if last else len(data))
            if begin >= len(data):
                self._start(416, {"Content-Range": f"bytes */{len(data)}", "Content-Length": "0"})
                return
            whole = {"Content-Range": f"bytes {begin}-{end - 1}/{len(data)}"}
            self._start(206, {**whole, "Content-Length": str(end - begin)})
        else:
            self._start(200, {"Content-Length": str(len(data))})
        if self.command == "GET":
            self._write(file, data[:end], begin, fault)

    def _write(self, file: str, data: bytes, place: int, fault: Fault) -> None:
        """Send bytes from a place on, up to where it is cut or stalls."""
        stop = next((one for one in (fault.cut_at, fault.stall_at) if one is not None), len(data))
        while place < min(stop, len(data)):
            upto = min(place + PIECE, stop, len(data))
            try:
                self.wfile.write(data[place:upto])
                self.wfile.flush()
            except OSError:
                return
            self.hub.served[file] += upto - place
            place = upto
            if fault.slow:
                self.hub.closing.wait(fault.slow)
        if place < len(data):
            self.hub.closing.wait(60 if fault.stall_at is not None else 0)
            self.close_connection = True
            self.connection.close()

    def _go_wrong(self, fault: Fault) -> None:
        if fault.to:
            self._redirect(fault.to, 302)
            return
        body = fault.body if fault.body is not None else b"{}"
        headers = {"X-Error-Code": fault.code} if fault.code else {}
        self._start(fault.status, {**headers, **fault.headers, "Content-Length": str(len(body))})
        if self.command == "GET":
            self.wfile.write(body)

    def _refuse(self, status: int, code: str) -> None:
        self._go_wrong(Fault(status=status, code=code))

    def _redirect(self, to: str, status: int, headers: Mapping[str, str] | None = None) -> None:
        self._start(status, {**(headers or {}), "Location": to, "Content-Length": "0"})

    def _json(self, document: Any) -> None:
        data = json.dumps(document).encode()
        self._start(200, {"Content-Type": "application/json", "Content-Length": str(len(data))})
        if self.command == "GET":
            self.wfile.write(data)

    def _start(self, status: int, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()


def git_digest(data: bytes) -> str:
    """Return the name that git gives to a file."""
    return hashlib.sha1(f"blob {len(data)}\0".encode() + data).hexdigest()
