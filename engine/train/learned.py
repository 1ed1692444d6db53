"""Which texts a model has learned from, so that nobody takes them for texts that it has not seen.

A hash of every training text lies beside the weights, those of the models that it began from among them: so a
text is known again in whatever file, order or company it comes back. Models of before, and those that went
through another tool, kept no hashes; of them cloze.json says which files they were trained on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np
import torch

from engine.errors import ModelError, Sentence, marked
from engine.events import Beat, Event, Noted, Steps
from engine.files import file_in
from engine.model.folder import LEARNED
from engine.model.info import read_info
from engine.model.tensor_files import load_tensors
from engine.text.example_rows import Keys, distinct
from engine.text.listed import folded

MOST_KEPT = 1 << 22  # hashes, 32 MB beside the weights; of more texts none are kept
LEAST_UNSEEN = 10  # texts whose score is told beside that of all
MANY = 0.1  # of the texts: a score over them is wrong, no longer only a little too good
AT_ONCE = 4096
_TEXTS = "texts"  # the name of the hashes in their file
_SIDES = "\x1f"  # between the two texts of a pair
_SOME = marked(
    "engine",
    "The model was trained on {count:,} of these {total:,} texts, so the score over "
    "all of them looks too good. {unseen:,} texts are new to it.",
)
_ALL = marked(
    "engine",
    "The model was trained on all {total:,} of these texts, so the score shows what "
    "it remembers, not what it can do.",
)
_FILE = marked(
    "engine",
    "The model was trained on this very file ({name}). Which of its rows were "
    "training rows was not saved, so the score may look too good.",
)
ON_SEEN = frozenset({_SOME, _ALL, _FILE})  # what `telling_seen` says

Block = tuple[Sequence[str], Sequence[str] | None]  # some texts, and their second ones


def hashes_of(blocks: Iterable[Block]) -> Steps[Keys]:
    """Return (E,) int64, the same in every process for texts that are the same but for case and white space;
    a pair is the same with its sides swapped.
    """
    digests = bytearray()
    for texts, pairs in blocks:
        seconds: Iterable[str | None] = repeat(None) if pairs is None else pairs
        digests += b"".join(map(_digest, texts, seconds))
        yield Beat()
    return np.frombuffer(digests, np.int64)


def hashes_of_parts(parts: Mapping[str, tuple[Iterable[Block], str]]) -> Steps[dict[str, HashedRows]]:
    """Return what tells the texts of each part again. Args: parts: texts, and the sha256 of their file."""
    found = {}
    for name, (blocks, sha256) in parts.items():
        found[name] = HashedRows((yield from hashes_of(blocks)), sha256)
    return found


def blocks_of(texts: Sequence[str], pairs: Sequence[str] | None = None) -> Iterator[Block]:
    """Yield texts some at a time."""
    for start in range(0, len(texts), AT_ONCE):
        some = slice(start, start + AT_ONCE)
        yield texts[some], None if pairs is None else pairs[some]


def _digest(text: str, pair: str | None) -> bytes:
    said = folded(text) if pair is None else _SIDES.join(sorted((folded(text), folded(pair))))
    return blake2b(said.encode("utf-8", "surrogatepass"), digest_size=8).digest()


@dataclass(frozen=True, slots=True)
class LearnedFile:
    """A file that a model, or one that it came from, was trained on, and whose texts nobody kept.

    rows: all of it. split: how it was split, as cloze.json has it; {} where that is not known.
    """

    name: str
    sha256: str
    rows: int
    split: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class LearnedTexts:
    """What a model has learned from. hashes: (K,) ascending. files: the stages of which no hash was kept.

    splits: of all stages, by the sha256 of the file.
    """

    hashes: Keys
    files: tuple[LearnedFile, ...] = ()
    splits: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(len(self.hashes) or self.files)

    def seen(self, hashes: Keys) -> np.ndarray:
        """Return (E,) bool, which of some texts it has learned from, as far as was kept."""
        if not len(self.hashes):
            return np.zeros(len(hashes), bool)
        places = np.minimum(np.searchsorted(self.hashes, hashes), len(self.hashes) - 1)
        found: np.ndarray = self.hashes[places] == hashes
        return found

    def file(self, sha256: str, split: Mapping[str, Any] | None = None) -> LearnedFile | None:
        """Return the file of these whose texts nobody kept; None where there is none.

        Args: split: how the file is split now; a file that was split just so has kept its rows apart.
        """
        for one in self.files:
            if one.sha256 == sha256 and (split is None or one.split.get("sha256") != split.get("sha256")):
                return one
        return None

    def joined(self, hashes: Keys) -> Keys:
        """Return what is kept with a model that began from this one and has learned from these texts."""
        found: Keys = distinct(np.concatenate([self.hashes, hashes]))
        return found if len(found) <= MOST_KEPT else NOTHING.hashes


NOTHING = LearnedTexts(np.zeros(0, np.int64))


def learned_by(model: Path | str) -> LearnedTexts:
    """Return what a model folder has learned from; nothing of a new model, and of one that does not say."""
    folder = Path(model)
    if str(model).startswith("new:"):
        return NOTHING
    try:
        info = read_info(folder)
    except (ModelError, OSError):
        info = {}
    hashes = kept_in(folder)
    files, splits = list[LearnedFile](), dict[str, Mapping[str, Any]]()
    for stage in _stages(info):
        data, split = stage["data"], stage.get("split")
        split = split if isinstance(split, dict) else {}
        splits[data["sha256"]] = split
        if hashes is None or not stage.get("num_hashed"):
            rows = data.get("rows")
            files.append(
                LearnedFile(
                    str(data.get("name"))[:200], data["sha256"], rows if type(rows) is int else 0, split
                )
            )
    return LearnedTexts(NOTHING.hashes if hashes is None else hashes, tuple(files), splits)


def has_learned(info: Mapping[str, Any]) -> bool:
    """Whether a model's cloze.json says that it was fine-tuned on some file."""
    return bool(_stages(info))


def _stages(info: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the trainings on a file that a cloze.json tells of, the oldest first."""
    chain = info.get("chain")
    stages = [one for one in chain if isinstance(one, dict)] if isinstance(chain, list) else []
    own = {name: info.get(name) for name in ("data", "split")}
    if own["data"] is not None:
        if not stages or stages[-1].get("data") != own["data"]:  # before there were chains
            stages.append({})
        stages[-1] = {**own, **stages[-1]}
    return [
        one
        for one in stages
        if isinstance(one.get("data"), dict) and isinstance(one["data"].get("sha256"), str)
    ]


def kept_in(folder: Path) -> Keys | None:
    """Return the hashes in a folder of a model, or in a run's setup/; None: none, or none that can be."""
    with suppress(ModelError, OSError):
        path = file_in(folder, LEARNED)
        found = None if path is None else load_tensors(path).get(_TEXTS)
        if found is not None and found.dtype == torch.int64 and found.ndim == 1 and len(found) <= MOST_KEPT:
            return np.sort(found.numpy())
    return None


def as_tensors(hashes: Keys) -> dict[str, torch.Tensor] | None:
    """Return hashes as a folder keeps them; None where there are none."""
    return {_TEXTS: torch.from_numpy(np.ascontiguousarray(hashes))} if len(hashes) else None


@dataclass(frozen=True, slots=True, eq=False)
class HashedRows:
    """A part of the data of a run: the hashes of its texts, and the sha256 of the file they stand in."""

    hashes: Keys
    sha256: str


def telling_start(
    model: str, parts: Mapping[str, HashedRows], split: Mapping[str, Any]
) -> Steps[frozenset[str]]:
    """Tell what the model to start from has already learned of the parts of a run; return which of those that
    are measured it knows.

    Args: parts: by name, "train", and "validation" and "test" where there are any. split: how the table is
    split, as cloze.json has it.
    """
    base, train = learned_by(model), parts["train"]
    known = set()
    for name in ("validation", "test"):
        if name in parts:
            own = split if parts[name].sha256 == train.sha256 else None
            note = _on_apart(base, name, parts[name], own)
            if note is not None:
                yield note
                known.add(name)
    if count := int(base.seen(train.hashes).sum()):
        template = marked(
            "engine", "The starting model was already trained on {count:,} of the {total:,} training texts."
        )
        values = {"count": count, "total": len(train.hashes)}
        yield Noted(sentence=Sentence(template, values), level="note")
    return frozenset(known)


def _on_apart(
    base: LearnedTexts, name: str, part: HashedRows, split: Mapping[str, Any] | None
) -> Noted | None:
    """Return what to say of the texts that are measured. Args: split: None of a file of its own."""
    count, total = int(base.seen(part.hashes).sum()), len(part.hashes)
    values: dict[str, Any] = {"count": count, "total": total, "part": name}
    if count:
        template = marked(
            "engine",
            "The starting model was already trained on {count:,} of the {total:,} {part} texts, so "
            "the {part} score will look too good.{way}",
        )
        values["way"] = Sentence("")
        before = base.splits.get(part.sha256, {}).get("seed") if split is not None else None
        if type(before) is int and split is not None and before != split.get("seed"):
            way = marked("engine", " With split seed {seed}, as in its training, they stay held out.")
            values["way"] = Sentence(way, {"seed": before})
        return Noted(sentence=Sentence(template, values), level="wrong" if count >= MANY * total else "look")
    file = base.file(part.sha256, split)
    if file is None:
        return None
    template = marked(
        "engine",
        "The starting model was trained on this very file ({name}, {rows:,} rows), so the {part} score will "
        "look too good.",
    )
    return Noted(
        sentence=Sentence(template, {"name": file.name, "rows": file.rows, "part": name}), level="wrong"
    )


def telling_seen(
    model: Path, blocks: Iterable[Block], count: int, sha256: str, split: Mapping[str, Any] | None = None
) -> Steps[np.ndarray]:
    """Tell how many of the texts that are measured a model has learned from; return (E,) bool, which.

    Args: count: of the texts. sha256: of the file in which they stand. split: how that was split, where they
    are a part of it.
    """
    learned = learned_by(model)
    if not learned:
        return np.zeros(count, bool)
    seen = learned.seen((yield from hashes_of(blocks)))
    yield from _on_seen(int(seen.sum()), len(seen))
    if not seen.any() and (file := learned.file(sha256, split)) is not None:
        yield Noted(sentence=Sentence(_FILE, {"name": file.name}), level="wrong")
        seen[:] = True
    return seen


def _on_seen(count: int, total: int) -> Iterator[Event]:
    if not count:
        return
    template = _ALL if count == total else _SOME
    values = {"count": count, "total": total, "unseen": total - count}
    yield Noted(sentence=Sentence(template, values), level="wrong" if count >= MANY * total else "look")
