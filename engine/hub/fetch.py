"""What the child process does: look at a model, or fetch it into a folder that is none yet.

Imported by the child process alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from engine.durable import explained
from engine.errors import ModelError, Sentence, UserError, marked
from engine.files import MOST_JSON
from engine.hub.client import Client, HubFile, HubModel
from engine.hub.files import STARTS, FileChoice, choose, shards_of
from engine.hub.parts import Beginnings, Record
from engine.hub.refusals import explained as explained_here
from engine.hub.refusals import host_of, is_unreachable
from engine.hub.transfer import FileSource, TransferMeter, copy_file, digest, fetch_file

MOST_HEADED = 8  # files of weights whose beginnings are looked at
MOST_LEFT_OUT = 200  # files of which a person is told
_FIRST = 2**16  # bytes in which the beginning of most files of weights ends
Tell = Callable[[str, Any], None]


def look(
    client: Client, name: str, revision: str, folder: Path, tell: Tell, parts: Path | None = None
) -> dict[str, Any]:
    """Write what there is to know of a model into `folder`: its config.json, and its weights as files of
    their full length that hold their beginnings alone; below STARTS, what came over the line. Return what
    else is known. Args: parts: the folder that holds what has come of it before.
    """
    about = _about(client, name, revision, tell)
    begins = Beginnings(client, about, folder / STARTS, parts)
    if "config.json" in about.files:
        _write(folder / "config.json", begins.read("config.json", MOST_JSON + 1))
    lacks: UserError | None = None
    choice, weights = FileChoice((), ""), tuple[str, ...]()
    try:
        choice = choose(about.files, about.name)
        weights = _weights(begins, about, choice, folder)
    except ModelError as error:
        lacks = error  # what kind of model it is says more, and is looked at first
    is_seen = choice.weights.endswith(("safetensors", "safetensors.index.json"))
    is_seen = is_seen and len(weights) <= MOST_HEADED
    sizes = {one: _size(client, about, one) for one in weights}
    for one in weights:
        try:
            is_seen = is_seen and _write_beginning(begins, one, sizes[one], folder)
        except Exception as error:  # where no part of a file can be had, it is fetched unseen
            if explained_here(error, about.name, client.host) is None:
                raise
            is_seen = False
    wanted = [*choice.small, *([choice.weights] if choice.is_list else []), *weights]
    known = {one: about.files.get(one, HubFile(one)) for one in wanted}
    known.update({one: replace(known[one], size=size) for one, size in sizes.items()})
    return {
        "name": about.name,
        "revision": revision or "main",
        "commit": about.commit,
        "host": "" if about.cache else client.host,
        "licence": about.licence,
        "languages": about.languages,
        "downloads": about.downloads,
        "gated": about.gated,
        "files": {one: [file.size, list(file.digests)] for one, file in known.items()},
        "cache": about.cache,
        "cached": [one for one in wanted if about.cache or client.cached_file(about, one) is not None],
        "left_out": sorted(one for one in about.files if one not in known)[:MOST_LEFT_OUT],
        "is_seen": is_seen,
        "lacks": None if lacks is None else [lacks.sentence.template, dict(lacks.sentence.values)],
    }


def fetch(client: Client, asked: dict[str, Any], folder: Path, tell: Tell) -> dict[str, Any]:
    """Fetch the files of a model that was looked at; return what they are, by name."""
    files = {one: HubFile(one, size, tuple(digests)) for one, (size, digests) in asked["files"].items()}
    about = HubModel(asked["name"], asked["commit"], files, cache=asked["cache"])
    record = Record(folder, about)
    with TransferMeter(lambda file, done, fetched: tell("moved", [file, done, fetched])) as moved:
        for name in files:
            _fetch_one(client, about, name, folder, record, moved, tell)
    found = {}
    for name, file in files.items():
        known = file.digests[0] if file.digests else digest(folder / name)
        found[name] = [(folder / name).stat().st_size, known]
    return found


def _about(client: Client, name: str, revision: str, tell: Tell) -> HubModel:
    """Return what is known of a model; from the shared cache alone where its hub cannot be reached."""
    try:
        return client.about(name, revision)
    except Exception as error:
        if not is_unreachable(error) or (found := client.cached(name, revision)) is None:
            raise
        if not _is_offline(error):
            template = marked("engine", "{host} cannot be reached. The cache of this computer is used.")
            tell("noted", Sentence(template, {"host": client.host}))
        return found


def _is_offline(error: BaseException) -> bool:
    from huggingface_hub.errors import OfflineModeIsEnabled

    return isinstance(error, OfflineModeIsEnabled)


def _weights(begins: Beginnings, about: HubModel, choice: FileChoice, folder: Path) -> tuple[str, ...]:
    if not choice.is_list:
        return (choice.weights,)
    text = begins.read(choice.weights, MOST_JSON + 1)
    _write(folder / choice.weights, text)
    try:
        index = json.loads(text)
    except (ValueError, RecursionError):
        index = None
    names = shards_of(index, about.name)
    absent = next((one for one in names if one not in about.files), "")
    if absent and about.is_listed:
        template = marked("engine", "{name} lists {file} among its weights, but does not hold it.")
        raise ModelError(template, name=about.name, file=absent)
    return names


def _size(client: Client, about: HubModel, file: str) -> int | None:
    known = about.files.get(file)
    if known is not None and known.size is not None:
        return known.size
    return None if about.cache else client.headed(about, file)[0].size


def _write_beginning(begins: Beginnings, file: str, size: int | None, folder: Path) -> bool:
    """Write a file of weights of its full length that holds only its beginning. False: it has none."""
    start = begins.read(file, _FIRST, tries=1)
    length = 8 + int.from_bytes(start[:8], "little")
    if size is None or len(start) < 8 or length > min(size, MOST_JSON):
        return False
    start = begins.read(file, length, tries=1) if length > len(start) else start
    try:
        with (folder / file).open("wb") as target:
            target.write(start[:length])
            target.truncate(size)  # a hole: no disk is taken
    except OSError:
        return False  # no room for it here, which is told before the fetching
    return True


def _write(path: Path, data: bytes) -> None:
    with explained(path):
        path.write_bytes(data)


def _fetch_one(
    client: Client, about: HubModel, name: str, folder: Path, record: Record, moved: TransferMeter, tell: Tell
) -> None:
    target = folder / name
    origin = Path(about.cache) / name if about.cache else client.cached_file(about, name)
    if origin is not None:
        file = about.files.get(name, HubFile(name))
        if record.take(file):
            moved.begin(name, target.stat().st_size)
            return
        if copy_file(origin, target, file, moved):
            return
        if about.cache:
            template = marked("engine", "{path} in the cache does not match its checksum. Remove it there.")
            raise UserError(template, path=origin)
    file, url, headers, xet = client.headed(about, name)
    is_small = not name.endswith((".safetensors", ".bin"))
    if record.take(file):
        moved.begin(name, target.stat().st_size)
        return
    use_xet = xet is not None and client.settings.transport == "xet" and not is_small
    source = FileSource(file, url, headers, xet if use_xet else None, is_small)
    if not use_xet:
        fetch_file(source, target, client, moved)
        return
    before = moved.done
    try:
        fetch_file(source, target, client, moved)
    except UserError:
        raise
    except Exception as error:  # Xet promises no kinds of errors; its host is in what it says
        template = marked("engine", "Xet failed ({reason}). Plain HTTP to {host} is used instead.")
        tell("noted", Sentence(template, {"reason": " ".join(str(error).split()), "host": host_of(url)}))
        moved.add(before - moved.done)
        fetch_file(replace(source, xet=None), target, client, moved)
