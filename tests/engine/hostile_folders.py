"""Model folders that are broken or mean harm, by name: each is a whole one, and one thing is done to it."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import struct
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from safetensors.torch import save_file

from tests.fakes import model_folder, stored_tensors

Harm = Callable[[Path], None]
MEGABYTE = "x" * 2**20
HALF = "\ud800"
NAN, INFINITE = float("nan"), float("inf")
_SIZES = (
    "vocab_size",
    "hidden_size",
    "num_hidden_layers",
    "num_attention_heads",
    "intermediate_size",
    "max_position_embeddings",
    "type_vocab_size",
)
_RATES = ("hidden_dropout_prob", "classifier_dropout", "initializer_range", "layer_norm_eps", "pad_token_id")
_JSON = ("config.json", "cloze.json", "tokenizer_config.json", "tokenizer.json")


class Gadget:
    """What a pickle runs when it is opened."""

    def __init__(self, canary: Path) -> None:
        self.canary = canary

    def __reduce__(self) -> tuple[Any, ...]:
        return os.system, (f"touch '{self.canary}'",)


def _nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


def _change(file: str, folder: Path, **changes: Any) -> None:
    path = folder / file
    document = json.loads(path.read_text("utf-8")) if path.exists() else {}
    path.write_text(json.dumps({**document, **changes}), "utf-8")


def _in_rules(folder: Path, part: str, **changes: Any) -> None:
    path = folder / "tokenizer.json"
    rules = json.loads(path.read_text("utf-8"))
    rules[part].update(changes)
    path.write_text(json.dumps(rules), "utf-8")


def _put(file: str, data: bytes, folder: Path) -> None:
    (folder / file).unlink(missing_ok=True)
    (folder / file).write_bytes(data)


def _pipe(file: str, folder: Path) -> None:
    (folder / file).unlink(missing_ok=True)
    os.mkfifo(folder / file)


def _folder(file: str, folder: Path) -> None:
    (folder / file).unlink(missing_ok=True)
    (folder / file).mkdir()


def _link(file: str, target: str, folder: Path) -> None:
    (folder / file).unlink(missing_ok=True)
    (folder / file).symlink_to(target)


def _moved(file: str, folder: Path) -> None:
    """Put a file outside, and a link to it in its place."""
    (folder / file).touch()
    (folder / file).rename(folder.parent / "outside")
    (folder / file).symlink_to(folder.parent / "outside")


def _sparse(file: str, size: int, folder: Path) -> None:
    (folder / file).unlink(missing_ok=True)
    with (folder / file).open("wb") as handle:
        handle.truncate(size)


def _vocab(data: bytes, folder: Path) -> None:
    (folder / "tokenizer.json").unlink()
    (folder / "vocab.txt").write_bytes(data)


def _without_rules(harm: Harm, folder: Path) -> None:
    (folder / "tokenizer.json").unlink()
    harm(folder)


def _header(document: Any, folder: Path, data: int = 4) -> None:
    header = document if isinstance(document, bytes) else json.dumps(document).encode()
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + bytes(data))


def _in_header(entry: Any, folder: Path) -> None:
    """Let the file say something else of one weight."""
    data = (folder / "model.safetensors").read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    document = json.loads(data[8 : 8 + length])
    document["bert.embeddings.word_embeddings.weight"] = entry
    header = json.dumps(document).encode()
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + data[8 + length :])


def _twice(folder: Path) -> None:
    """Two weights for one place, with names of a megabyte."""
    stored = stored_tensors(folder)
    weight = stored["bert.embeddings.LayerNorm.weight"]
    stored |= {f"bert.{MEGABYTE}": weight.clone(), MEGABYTE: weight.clone()}
    save_file(stored, folder / "model.safetensors")


def _renamed(folder: Path) -> None:
    save_file(
        {f"{n}{MEGABYTE[:9999]}": t for n, t in stored_tensors(folder).items()}, folder / "model.safetensors"
    )


def _bin(data: bytes, folder: Path) -> None:
    (folder / "model.safetensors").unlink(missing_ok=True)
    (folder / "pytorch_model.bin").write_bytes(data)


def _gadget(protocol: int, folder: Path) -> None:
    _bin(pickle.dumps({"x": Gadget(folder.parent / "canary")}, protocol=protocol), folder)


def _tuples(count: int, twice: bool, folder: Path) -> None:
    """A key of tuples in tuples: to look it up takes for ever (each holds the last twice) or all stack."""
    inner = b"".join(
        (b"h" + bytes([n]) + b"\x86q" + bytes([n + 1])) if twice else b"\x85" for n in range(1, count + 1)
    )
    start = b"".join(
        pickle.dumps(value, 2) for value in (0x1950A86A20F9469CFC6C, 1001, {"little_endian": True})
    )
    _bin(start + b"\x80\x02}q\x00(K\x01\x85q\x01" + inner + b"K\x01u." + pickle.dumps([], 2), folder)


def _index(table: Any, folder: Path, ending: str = "safetensors") -> None:
    (folder / "model.safetensors").rename(folder / "part.safetensors")
    name = "model.safetensors.index.json" if ending == "safetensors" else "pytorch_model.bin.index.json"
    (folder / name).write_text(json.dumps({"weight_map": table}), "utf-8")


def _shards(count: int, folder: Path) -> None:
    table = {}
    for number, (name, value) in enumerate(stored_tensors(folder).items()):
        for copy in range(count):
            file = f"part-{number}-{copy}.safetensors"
            save_file({name: value}, folder / file)
            table[name] = file
            if count > 1:
                table[f"{name}{copy}"] = file
    (folder / "model.safetensors").unlink()
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": table}), "utf-8")


def _configs() -> Iterator[tuple[str, Harm]]:
    odd = (0, 10**9, 10**400, 1.5, "12", True, [], NAN)
    for key in _SIZES:
        for value in odd:
            yield f"{key} {str(value)[:9]}", partial(_change, "config.json", **{key: value})
    for key in _RATES:
        for value in (-1, 0.5 if key == "pad_token_id" else 11, 10**400, [], HALF):
            yield f"{key} {str(value)[:9]!r}", partial(_change, "config.json", **{key: value})
    for value in ([], {}, None, 7, MEGABYTE, HALF):
        yield f"hidden_act {str(value)[:9]!r}", partial(_change, "config.json", hidden_act=value)
        yield f"model_type {str(value)[:9]!r}", partial(_change, "config.json", model_type=value)
    tables: dict[str, Any] = {
        "a list": ["a", "b"],
        "a text": "a",
        "a gap": {"0": "a", "2": "b"},
        "from one": {"1": "a"},
        "words": {"a": "b"},
        "one twice": {"0": "a", "1": "a"},
        "half a character": {"0": HALF, "1": "b"},
        "no number": {"0": NAN, "1": "b"},
        "an object": {"0": {"a": 1}, "1": []},
        "nothing": {"0": None, "1": "b"},
        "a megabyte": {"0": MEGABYTE, "1": "b"},
        "3000": {str(number): f"label {number}" for number in range(3000)},
        "a number twice": {"0": "a", "00": "b"},
    }
    for name, table in tables.items():
        yield f"id2label {name}", partial(_change, "config.json", id2label=table)
    for value in (NAN, INFINITE, -INFINITE, HALF, {HALF: 1}, _nested(150), _nested(400), [[]] * 400_000):
        yield f"unknown {str(value)[:9]!r}", partial(_change, "config.json", unknown={"a": value})
    yield "1e999", partial(_put, "config.json", b'{"model_type": "bert", "unknown": 1e999}')
    yield "a decoder", partial(_change, "config.json", is_decoder=MEGABYTE)
    yield "rotary", partial(_change, "config.json", position_embedding_type=[MEGABYTE])


def _files() -> Iterator[tuple[str, Harm]]:
    """What may lie in the place of any file."""
    for file in (*_JSON, "vocab.txt", "model.safetensors"):
        harms: dict[str, Harm] = {
            "is a pipe": partial(_pipe, file),
            "is a folder": partial(_folder, file),
            "is endless": partial(_link, file, "/dev/zero"),
            "leads out": partial(_moved, file),
            "leads to itself": partial(_link, file, file),
            "has a terabyte": partial(_sparse, file, 10**12),
            "is empty": partial(_put, file, b""),
            "is noise": partial(_put, file, bytes(range(256)) * 99),
        }
        if file in _JSON:
            harms |= {
                "is a list": partial(_put, file, b"[1]"),
                "is a number": partial(_put, file, b"5"),
                "is deep": partial(_put, file, b"[" * 200_000),
                "is deep in objects": partial(_put, file, b'{"a":' * 90_000 + b"1" + b"}" * 90_000),
                "is cut": partial(_put, file, b'{"vocab_size": 3'),
                "has a long number": partial(_put, file, b'{"a": ' + b"9" * 5000 + b"}"),
                "has half a character": partial(_put, file, b'{"a": "\xed\xa0\x80"}'),
            }
        for name, harm in harms.items():
            yield f"{file} {name}", partial(_without_rules, harm) if file == "vocab.txt" else harm


def _notes() -> Iterator[tuple[str, Harm]]:
    for key, values in {
        "max_length": (INFINITE, NAN, 0, "long", [], 10**400, 2.5),
        "roles": (None, [], {"text": []}, {"text": {"a": 1}}, {"text_pair": 7}, {"text": HALF}),
        "truncation": ([], "tail", 7),
        "labels": (5, [[]], "ab", {"a": 1}),
        "layer_mix": ([10**400], [NAN], ["a"], {"a": 1}, 7),
        "chain": (
            5,
            [5],
            [{"steps": 10**400}],
            [{"seconds": 10**400}],
            [{"text": [[]]}],
            [{"accuracy": NAN}],
        ),
        "data": (5, [[]], {"name": MEGABYTE}),
    }.items():
        for value in values:
            yield f"cloze.json {key} {str(value)[:19]!r}", partial(_change, "cloze.json", **{key: value})


def _tokenizers() -> Iterator[tuple[str, Harm]]:
    for key in ("do_lower_case", "tokenizer_class", "cls_token", "strip_accents"):
        for value in (7, [], MEGABYTE, {"content": HALF}):
            name = f"tokenizer_config.json {key} {str(value)[:9]}"
            yield name, partial(_change, "tokenizer_config.json", **{key: value})
    for value in ([1], {"[PAD]": 0, "[UNK]": 2}, {"[PAD]": "0"}, {HALF: 0}, {"a\nb": 0}, {MEGABYTE: 7}, None):
        yield f"tokenizer.json vocab {str(value)[:9]!r}", partial(_in_rules, part="model", vocab=value)
    for value in (7, [7], [{"content": "a"}], [{"id": 10**9, "content": "new"}],
                  [{"id": 37, "content": HALF}], [{"id": 37, "content": MEGABYTE}],
                  [{"id": 37, "content": "new", "lstrip": 3}],
                  [{"id": n, "content": f"n{n}"} for n in range(37, 999)]):  # fmt: skip
        yield f"added_tokens {str(value)[:39]!r}", partial(_change, "tokenizer.json", added_tokens=value)
    for part in ("model", "normalizer", "pre_tokenizer"):
        for value in (None, 7, [], {"type": MEGABYTE}):
            yield (
                f"tokenizer.json {part} {str(value)[:9]}",
                partial(_change, "tokenizer.json", **{part: value}),
            )
    good = "\n".join(("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")).encode()
    texts = {
        "a return alone ends lines": b"\r".join(
            [good.replace(b"\n", b"\r")] + [b"word%d" % n for n in range(2000)]
        ),
        "twice": good + b"\na\na",
        "a megabyte twice": good + b"\n" + MEGABYTE.encode() + b"\n" + MEGABYTE.encode(),
        "no specials": b"a\nb\nc",
        "NULs": good + b"\n\0\n\0\0",
        "Latin-1": good + b"\n\xe9",
        "100000 lines": good + b"".join(b"\nw%d" % n for n in range(100_000)),
        "UTF-16": good.decode().encode("utf-16"),
    }
    for name, data in texts.items():
        yield f"vocab.txt {name}", partial(_vocab, data)


def _tensors() -> Iterator[tuple[str, Harm]]:
    one = {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}
    documents: dict[str, Any] = {
        "nothing": {},
        "a list": [1],
        "deep": b"[" * 100_000,
        "50000 weights": {f"w{n}": one for n in range(50_000)},
        "9000 weights": {f"w{n}": one for n in range(9_000)},
        "a long name": {MEGABYTE: {**one, "shape": [2]}},
        "100000 dimensions": {"x": {**one, "shape": [1] * 100_000}},
    }
    for name, document in documents.items():
        yield f"header {name}", partial(_header, document)
    for key, values in {
        "shape": (7, [-1], [1.5], [True], ["a"], [10**400], [0], [2**40] * 9, None),
        "dtype": ([], None, "F8_E5M2", MEGABYTE, 7),
        "data_offsets": ([0], [4, 0], [-4, 0], [0, 10**400], [0, NAN], "ab", [True, 4]),
    }.items():
        for value in values:
            yield f"{key} {str(value)[:9]}", partial(_in_header, {**one, key: value})
    yield "two for one place", _twice
    yield "long names", _renamed
    for length in (0, 1, 2**31, 2**63, 2**64 - 1):
        data = struct.pack("<Q", length) + b"{}"
        yield f"a header of {length}", partial(_put, "model.safetensors", data)
    for protocol in (0, 1, 2, 3, 4, 5):
        yield f"a gadget of protocol {protocol}", partial(_gadget, protocol)
    bins: dict[str, bytes] = {
        "nothing": b"",
        "noise": bytes(range(256)) * 99,
        "an empty zip": b"PK\x05\x06" + bytes(18),
        "a cut zip": b"PK\x03\x04" + bytes(99),
        "a list": pickle.dumps([1], 2),
        "many words": pickle.dumps(["y"] * 2**20, 2),
        "one long word": pickle.dumps("y" * 2**23, 2),
        "more taken than there is": b"\x80\x02(lu.",
        "nothing kept": b"\x80\x02h\x07.",
    }
    for name, data in bins.items():
        yield f"bin {name}", partial(_bin, data)
    yield "bin tuples twice", partial(_tuples, 60, True)
    yield "bin tuples deep", partial(_tuples, 200_000, False)


def _indexes() -> Iterator[tuple[str, Harm]]:
    word = "bert.embeddings.word_embeddings.weight"
    names = ("../outside.safetensors", "/etc/passwd", "a/b.safetensors", "", "part.bin", "no.safetensors")
    names += (MEGABYTE, f"{MEGABYTE}.safetensors", f"{HALF}.safetensors", "\0.safetensors")
    for value in (*names, 7, None, []):
        yield f"shard {str(value)[:29]!r}", partial(_index, {word: value})
    for table in ([], 7, None, {}, {MEGABYTE: "part.safetensors"}, {word: "part.safetensors"}):
        yield f"weight_map {str(table)[:9]}", partial(_index, table)
    yield "a table of bins", partial(_index, {word: "part.safetensors"}, ending="bin")
    yield "shards of one weight each", partial(_shards, 1)
    yield "several hundred shards", partial(_shards, 9)


def harms() -> dict[str, Harm]:
    """Return what can be done to a model folder, by name."""
    parts = (_configs(), _files(), _notes(), _tokenizers(), _tensors(), _indexes())
    found = [pair for part in parts for pair in part]
    return {f"{number} {name}": harm for number, (name, harm) in enumerate(found)}


def whole_folder(path: Path) -> Path:
    """Write what harm is done to: a classifier of two labels."""
    return model_folder(path, labels=("bad", "good"))


def harmed(whole: Path, harm: Harm, folder: Path) -> Path:
    """Return a copy of a folder to which harm was done."""
    shutil.copytree(whole, folder)
    harm(folder)
    return folder
