"""Questions to a model hub, asked by huggingface_hub. Imported by the child process alone.

What is found becomes plain values; every error leaves as it came, for `refusals` to explain.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import httpx2
from huggingface_hub import HfApi, constants, get_hf_file_metadata, hf_hub_url, try_to_load_from_cache
from huggingface_hub.errors import HfHubHTTPError, OfflineModeIsEnabled
from huggingface_hub.utils import build_hf_headers, get_session

from engine.hub.asked import HubSettings, is_name, spellings
from engine.hub.files import CARD, PROBED
from engine.hub.guard import Guard
from engine.hub.recommended import LANGUAGES
from engine.hub.refusals import answered, as_answered, host_of, is_passing, no_hub
from engine.model.families.known import MODEL_TYPES

MOST_LISTED = 100  # models of a search, of any family
MOST_FOUND = 20  # that are shown
_AS_IT_COMES = 2**20  # bytes: who wants more takes what comes from the beginning, and hangs up
_COMMIT = re.compile(r"[\w.-]{4,64}", re.ASCII)
_SHA256, _SHA1 = re.compile(r"[0-9a-f]{64}"), re.compile(r"[0-9a-f]{40}")
_LICENCE = re.compile(r"^license:\s*['\"]?([\w.-]+)", re.MULTILINE)

# of huggingface_hub, where what came is not what a hub says
_NO_ANSWER = (KeyError, TypeError, AttributeError, json.JSONDecodeError, UnicodeDecodeError, RecursionError)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class HubFile:
    """A file of a model as its hub tells of it. digests: by which it is known: sha256, or git's sha1."""

    name: str
    size: int | None = None
    digests: tuple[str, ...] = ()
    etag: str = ""

    @property
    def known_by(self) -> str:
        """What tells it from other versions of itself; "" where nothing does."""
        return self.etag or "".join(self.digests)


@dataclass(frozen=True, slots=True)
class HubModel:
    """A model as its hub tells of it. cache: the folder that holds it, where nobody was asked. is_listed:
    `files` are all that it has."""

    name: str
    commit: str
    files: Mapping[str, HubFile]
    licence: str = ""
    languages: tuple[str, ...] = ()
    downloads: int | None = None
    gated: bool = False
    cache: str = ""
    is_listed: bool = True


class Client:
    """One way to one hub: at `endpoint`, "" for where huggingface_hub finds one."""

    def __init__(self, settings: HubSettings, endpoint: str = "") -> None:
        self.settings = settings
        self._endpoint = endpoint or constants.ENDPOINT
        self.host = host_of(self._endpoint)
        stall = settings.stall_s or float(constants.HF_HUB_DOWNLOAD_TIMEOUT)
        self.timeout = httpx2.Timeout(stall, connect=min(stall, 10.0))
        self.guard = Guard(self._endpoint, sends_token=settings.send_token)
        self._api = HfApi(endpoint=self._endpoint)

    def search(self, words: str) -> list[dict[str, Any]]:
        """Return published models of the families that are opened, the most used first.

        Args: words: that stand in a name; a language as people call it asks for models that read it.
        """
        codes = [code for code, name in LANGUAGES.items() if name.lower() == words.lower()]
        wanted = {"search": "bert", "filter": codes[0]} if codes else {"search": words}
        asked = {**wanted, "sort": "downloads", "limit": MOST_LISTED}
        expand = ["downloads", "tags", "safetensors", "gated"]
        found = self._patiently(lambda: self._listed({**asked, "expand": expand}))
        try:
            opened = (one for one in found if MODEL_TYPES & set(map(str, one.get("tags") or ())))
            return [_found(one) for one in islice(opened, MOST_FOUND)]
        except (KeyError, TypeError, AttributeError) as error:
            raise no_hub(self.host) from error

    def _listed(self, asked: dict[str, Any]) -> list[dict[str, Any]]:
        """Return a list of models. huggingface_hub's own would try for half a minute."""
        url = f"{self._endpoint}/api/models"
        response = get_session().get(url, params=asked, headers=build_hf_headers(), timeout=self.timeout)
        if response.status_code != 200:
            raise answered(response)
        try:
            found = response.json()
        except (ValueError, RecursionError) as error:
            raise no_hub(self.host) from error
        if not isinstance(found, list):
            raise no_hub(self.host)
        return found

    def about(self, name: str, revision: str) -> HubModel:
        """Return what is known of a model. Raises: what the hub answered the first spelling."""
        first: BaseException | None = None
        for spelling in spellings(name):
            try:
                return self._patiently(lambda spelling=spelling: self._about(spelling, revision))  # type: ignore[misc]
            except HfHubHTTPError as error:
                said = as_answered(error)
                if said is None or said.status not in (401, 404) or said.code == "RevisionNotFound":
                    raise
                first = first or error
        assert first is not None
        raise first

    def cached(self, name: str, revision: str) -> HubModel | None:
        """Return what the shared cache holds of a model; None where that is nothing."""
        for spelling in spellings(name):
            config = try_to_load_from_cache(spelling, "config.json", revision=revision or None)
            if isinstance(config, str):
                folder = Path(config).parent
                names = [one.relative_to(folder).as_posix() for one in folder.rglob("*") if one.is_file()]
                files = {one: _of_blob(folder / one, one) for one in names}
                card = folder / CARD
                text = card.read_text("utf-8", "replace")[:100_000] if card.is_file() else ""
                return HubModel(spelling, folder.name, files, licence=_of_card(text), cache=str(folder))
        return None

    def cached_file(self, about: HubModel, file: str) -> Path | None:
        """Return where a file lies in the shared cache."""
        for spelling in spellings(about.name):
            found = try_to_load_from_cache(spelling, file, revision=about.commit)
            if isinstance(found, str):
                return Path(found)
        return None

    def url(self, about: HubModel, file: str) -> str:
        """Return the address of a file."""
        return hf_hub_url(about.name, file, revision=about.commit, endpoint=self._endpoint)

    def headed(self, about: HubModel, file: str) -> tuple[HubFile, str, dict[str, str], Any]:
        """Return what a hub says of a file before it is fetched; its address, the headers to send there, and
        what Xet needs, None where it is not offered.
        """
        url = self.url(about, file)
        said = self._patiently(
            lambda: get_hf_file_metadata(url, timeout=self.timeout.read, endpoint=self._endpoint)
        )
        if said.commit_hash is None or said.etag is None:
            raise no_hub(self.host)
        known = about.files.get(file, HubFile(file))
        digests = tuple(dict.fromkeys((*known.digests, *_digests(said.etag))))
        told = replace(known, digests=digests, etag=said.etag)
        told = replace(told, size=said.size if said.size is not None else known.size)
        headers = build_hf_headers()
        if host_of(said.location) != host_of(url) or not self.guard.may_have_token(said.location):
            headers.pop("authorization", None)  # a token is for its hub, not for where that sends
        return told, said.location or url, headers, said.xet_file_data

    def read(self, about: HubModel, file: str, most: int, begin: int = 0, *, tries: int = 0) -> bytes:
        """Return bytes of a file, at most `most` from `begin` on, and fetch no more than these."""
        headers = {**build_hf_headers(), "Accept-Encoding": "identity"}
        known = about.files.get(file)
        is_whole = known is not None and known.size is not None and known.size <= most
        if begin or not (is_whole or most > _AS_IT_COMES):
            headers["Range"] = f"bytes={begin}-{begin + most - 1}"
        return self._patiently(lambda: self._read(self.url(about, file), headers, most, begin), tries)

    def _read(self, url: str, headers: dict[str, str], most: int, begin: int) -> bytes:
        with get_session().stream("GET", url, headers=headers, timeout=self.timeout) as response:
            if response.status_code == 416:
                return b""  # it ends before
            if response.status_code not in (200, 206):
                raise answered(response)
            skip = begin if response.status_code == 200 else 0  # ranges are not known everywhere
            found = bytearray()
            for chunk in response.iter_bytes():
                found += chunk
                if len(found) >= most + skip:
                    break
        return bytes(found[skip : skip + most])

    def _about(self, name: str, revision: str) -> HubModel:
        try:
            about = _of_info(
                self._api.model_info(
                    name, revision=revision or None, files_metadata=True, timeout=self.timeout.read
                )
            )
        except HfHubHTTPError as error:
            said = as_answered(error)
            if said is None or said.status not in (404, 405, 501) or said.code:
                raise
            return self._probed(name, revision, error)  # a plain mirror of files answers no questions
        except _NO_ANSWER as error:
            raise no_hub(self.host) from error
        if not about.files or not _COMMIT.fullmatch(about.commit):
            return self._probed(name, revision, None)
        if not about.licence and CARD in about.files:
            card = self.read(about, CARD, 100_000).decode("utf-8", "replace")
            about = replace(about, licence=_of_card(card))
        return about if is_name(about.name) else replace(about, name=name)

    def _probed(self, name: str, revision: str, error: HfHubHTTPError | None) -> HubModel:
        """Return what single questions find out, where no list can be had. Raises: `error` if nothing is."""
        files: dict[str, HubFile] = {}
        commit = ""
        for file in PROBED:
            try:
                url = hf_hub_url(name, file, revision=revision or None, endpoint=self._endpoint)
                said = get_hf_file_metadata(url, timeout=self.timeout.read, endpoint=self._endpoint)
            except HfHubHTTPError as missing:
                if file == PROBED[0]:
                    raise (error or missing) from missing
                continue
            commit = commit or str(said.commit_hash or "")
            files[file] = HubFile(file, said.size, _digests(said.etag or ""), said.etag or "")
        if not _COMMIT.fullmatch(commit):
            raise no_hub(self.host)
        return HubModel(name, commit, files, is_listed=False)

    def _patiently(self, ask: Callable[[], T], tries: int = 0) -> T:
        """Ask until there is an answer, as often as a person has patience for."""
        tries = tries or self.settings.tries
        for count in range(1, tries + 1):
            try:
                return ask()
            except OfflineModeIsEnabled:
                raise
            except (httpx2.HTTPError, OSError) as error:
                wait = self.wait_of(error, count)
                if wait is None or count == tries:
                    raise
                time.sleep(wait)
        raise AssertionError("there is one try at least")

    def wait_of(self, error: BaseException, count: int) -> float | None:
        """Return how long to wait for the next try; None where none is worth while."""
        if not is_passing(error) or isinstance(error, httpx2.ConnectError):
            return None
        said = as_answered(error)
        if said is not None and said.wait_s is not None:
            return said.wait_s if said.wait_s <= self.settings.longest_s else None
        return float(min(self.settings.wait_s * 2 ** (count - 1), self.settings.longest_s))


def _found(one: dict[str, Any]) -> dict[str, Any]:
    """Return what a list says of a model."""
    return {
        "name": str(one["id"]),
        "downloads": _number(one.get("downloads")),
        "licence": _tagged(one.get("tags"), "license:"),
        "weights": _number((one.get("safetensors") or {}).get("total")),
        "gated": bool(one.get("gated")),
    }


def _of_info(info: Any) -> HubModel:
    """Return what a hub tells of a model, where it is what it should be."""
    return HubModel(
        str(info.id),
        str(info.sha or ""),
        {one.rfilename: _of_sibling(one) for one in info.siblings or () if isinstance(one.rfilename, str)},
        licence=_licence(info.card_data, info.tags),
        languages=_languages(info.card_data),
        downloads=_number(info.downloads),
        gated=bool(info.gated),
    )


def _of_sibling(one: Any) -> HubFile:
    large = one.lfs
    digests = _digests(getattr(large, "sha256", "") or "") if large else _digests(one.blob_id or "")
    return HubFile(one.rfilename, _number(one.size), digests)


def _of_blob(path: Path, name: str) -> HubFile:
    """Return a file of the cache, which calls it by its digest."""
    blob = Path(os.path.realpath(path)).name
    return HubFile(name, path.stat().st_size, _digests(blob), blob)


def _digests(text: str) -> tuple[str, ...]:
    return (text,) if _SHA256.fullmatch(text) or _SHA1.fullmatch(text) else ()


def _number(value: Any) -> int | None:
    return value if type(value) is int and 0 <= value < 2**53 else None


def _tagged(tags: Iterable[Any] | None, start: str) -> str:
    return next((str(one).removeprefix(start) for one in tags or () if str(one).startswith(start)), "")


def _licence(card: Any, tags: Iterable[Any] | None) -> str:
    said = getattr(card, "license", None) or getattr(card, "license_name", None)
    said = said[0] if isinstance(said, list) and said else said
    return str(said) if isinstance(said, str) else _tagged(tags, "license:")


def _languages(card: Any) -> tuple[str, ...]:
    said = getattr(card, "language", None)
    said = [said] if isinstance(said, str) else said
    return tuple(str(one) for one in said[:20]) if isinstance(said, list) else ()


def _of_card(text: str) -> str:
    """Return the licence that a model's card begins with."""
    head = text.split("\n---", 1)[0] if text.startswith("---") else ""
    found = _LICENCE.search(head)
    return found[1] if found else ""
