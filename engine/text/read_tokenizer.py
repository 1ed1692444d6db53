"""Which tokenizer a model folder has, and what its files say: the one place that knows all kinds.

Everything read here may be damaged or hostile; see engine/text/vocabulary.py.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from engine.errors import ModelError, marked
from engine.files import MOST_VALUES, file_in, read_json_object
from engine.text.byte_level import MODERNBERT, ROBERTA, ByteLevel, Markers
from engine.text.read_unigram import FILES, is_unigram, unigram_of_file, unigram_of_rules
from engine.text.tokenizer import Tokenizer
from engine.text.vocabulary import (
    MAX_FILE_BYTES,
    check_size,
    in_order,
    most_tokens,
    read_added,
    read_folder,
    read_rules,
    read_text,
)
from engine.text.wordpiece import WordPiece

_WHOLE = {  # of a byte-level model in tokenizer.json -> what it may be; else texts are cut otherwise
    "dropout": (None,),
    "continuing_subword_prefix": ("", None),
    "end_of_word_suffix": ("", None),
    "byte_fallback": (False, None),
    "ignore_merges": (False, None),
}
_NFC = {"type": "NFC"}
_TEMPLATES = {  # around a text, and around two
    "single": [MODERNBERT.cls, "A", MODERNBERT.sep],
    "pair": [MODERNBERT.cls, "A", MODERNBERT.sep, "B", MODERNBERT.sep],
}


def read_tokenizer(folder: Path | str) -> Tokenizer:
    """Return the tokenizer of a model folder, by its tokenizer.json, or else vocab.txt, or vocab.json and
    merges.txt, or a file of SentencePiece.

    Raises: ModelError: another kind, or damaged. DataError: a vocabulary that cannot be one.
    """
    folder = Path(folder)
    rules = read_rules(folder)
    if rules is not None and _is_bpe(rules):
        return _byte_level_of_rules(folder, rules)
    if rules is not None and is_unigram(rules):
        return unigram_of_rules(folder, rules)
    if rules is None and file_in(folder, "vocab.txt") is None:
        if all(file_in(folder, name) for name in ("vocab.json", "merges.txt")):
            return _byte_level_of_pair(folder)
        for path in filter(None, (file_in(folder, name) for name in FILES)):
            return unigram_of_file(folder, path)
    return WordPiece(*read_folder(folder, rules).said())


def _is_bpe(rules: Mapping[str, Any]) -> bool:
    model = rules.get("model")
    return isinstance(model, dict) and model.get("type", "BPE") == "BPE" and "merges" in model


def _byte_level_of_rules(folder: Path, rules: Mapping[str, Any]) -> ByteLevel:
    path, model = folder / "tokenizer.json", rules["model"]
    before, after = (_with_type(rules.get(name)) for name in ("pre_tokenizer", "post_processor"))
    is_template = after.get("type") == "TemplateProcessing"
    markers = MODERNBERT if is_template else ROBERTA
    composes = is_template and rules.get("normalizer") is not None
    _expect(path, markers, "normalizer", rules.get("normalizer"), (_NFC,) if composes else (None,))
    _expect(path, markers, "pre_tokenizer", before.get("type"), ("ByteLevel",))
    _expect(path, markers, "use_regex", before.get("use_regex", True), (True,))
    _expect(path, markers, "add_prefix_space", before.get("add_prefix_space"), (False, True))
    if is_template:
        for name, parts in _TEMPLATES.items():
            _expect(path, markers, name, _parts_of(after.get(name)), (parts,))
    else:
        _expect(path, markers, "post_processor", after.get("type"), ("RobertaProcessing",))
        for name, wanted in (("cls", markers.cls), ("sep", markers.sep)):
            pair = after.get(name)
            _expect(path, markers, name, pair[0] if isinstance(pair, list) and pair else pair, (wanted,))
    for name, allowed in _WHOLE.items():
        _expect(path, markers, name, model.get(name), allowed)
    base = in_order(path, model.get("vocab"))
    added = read_added(path, rules.get("added_tokens") or [], base)
    known = set(base)
    most = most_tokens(folder)
    check_size(len(base) + sum(token.content not in known for token in added), most)
    merges = model["merges"] if isinstance(model["merges"], list) else [model["merges"]]
    if not composes:  # nothing is normalized, and the flag means nothing
        added = tuple(replace(token, normalized=False) for token in added)
    names = known & set(markers.named.values())  # those that everybody has are left out
    own = tuple(
        token for token in added if token.content not in names or token != markers.usual(token.content)
    )
    return ByteLevel(
        base,
        _merges(path, merges, most),
        before["add_prefix_space"],
        own,
        markers=markers,
        composes=composes,
    )


def _byte_level_of_pair(folder: Path) -> ByteLevel:
    """Return what vocab.json, merges.txt and tokenizer_config.json say, as folders of before 2020 have it."""
    most, path = most_tokens(folder), folder / "vocab.json"
    document = read_json_object(
        path, most=MAX_FILE_BYTES, most_values=most + MOST_VALUES, writable=True, kind=ModelError
    )
    base = in_order(path, document)
    check_size(len(base), most)
    begins = False
    said = file_in(folder, "tokenizer_config.json")
    if said is not None:
        config = read_json_object(said, kind=ModelError)
        begins = config.get("add_prefix_space", False)
        _expect(said, ROBERTA, "add_prefix_space", begins, (False, True))
        for key, name in ROBERTA.named.items():
            value = _content(config.get(key))
            _expect(said, ROBERTA, key, value, (None, name))
    lines = read_text(folder / "merges.txt", ModelError).split("\n")
    written = [line for line in lines if line and not line.startswith("#version")]
    return ByteLevel(base, _merges(folder / "merges.txt", written, most), begins)


def _merges(path: Path, entries: Sequence[Any], most: int) -> tuple[tuple[str, str], ...]:
    """Return merges, which older files write with a space between the two pieces."""
    check_size(len(entries), most)
    pairs = [entry.split(" ") if isinstance(entry, str) else entry for entry in entries]
    for pair in pairs:
        if not isinstance(pair, list) or len(pair) != 2 or not all(isinstance(one, str) for one in pair):
            template = marked(
                "engine",
                "{path} is damaged near {where}: a merge is of two pieces. Copy the file again from its "
                "source.",
            )
            raise ModelError(template, path=path, where=_json(pair))
    return tuple((first, second) for first, second in pairs)


def _with_type(part: Any) -> Mapping[str, Any]:
    return part if isinstance(part, dict) else {"type": part}


def _content(value: Any) -> Any:
    return value.get("content") if isinstance(value, dict) else value


def _parts_of(template: Any) -> Any:
    """Return what a template puts one behind the other: its tokens, and A and B for the texts."""
    if not isinstance(template, list) or not all(isinstance(one, dict) for one in template):
        return template
    return [str(part.get("id")) for one in template for part in one.values() if isinstance(part, dict)]


def _expect(path: Path, markers: Markers, name: str, value: Any, allowed: tuple[Any, ...]) -> None:
    if not any(value == one and type(value) is type(one) for one in allowed):
        template = marked(
            "engine",
            "{path} does not cut texts as a {family} does: {name} is {value}, not {allowed}. Choose another "
            "model.",
        )
        said, family = " / ".join(map(_json, allowed)), markers.family
        raise ModelError(template, path=path, family=family, name=name, value=_json(value), allowed=said)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)[:80]
