"""Which tokenizer a model folder has, and what its files say: the one place that knows all kinds.

Everything read here may be damaged or hostile; see engine/text/vocabulary.py.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from engine.errors import ModelError, marked
from engine.files import MOST_VALUES, file_in, read_json_object
from engine.text.byte_fallback import MMBERT, ByteFallback
from engine.text.byte_level import MODERNBERT, ROBERTA, ByteLevel, Markers
from engine.text.read_unigram import FILES, is_unigram, unigram_of_file, unigram_of_rules
from engine.text.special_tokens import ExtraToken
from engine.text.tokenizer import Tokenizer
from engine.text.unigram import BLANK
from engine.text.vocabulary import (
    MAX_FILE_BYTES,
    MOST_MERGES,
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
_FALLBACK = {**_WHOLE, "byte_fallback": (True,), "fuse_unk": (True,), "unk_token": (MMBERT.unk,)}
_NFC = {"type": "NFC"}
_BLANKS = {"type": "Replace", "pattern": {"String": " "}, "content": BLANK}
_UNSPLIT = {  # as Gemma's has it: by then no text has a space
    "type": "Split",
    "pattern": {"String": " "},
    "behavior": "MergedWithPrevious",
    "invert": False,
}


def read_tokenizer(folder: Path | str) -> Tokenizer:
    """Return the tokenizer of a model folder, by its tokenizer.json, or else vocab.txt, or vocab.json and
    merges.txt, or a file of SentencePiece.

    Raises: ModelError: another kind, or damaged. DataError: a vocabulary that cannot be one.
    """
    folder = Path(folder)
    rules = read_rules(folder)
    if rules is not None and _is_bpe(rules):
        return (_fallback_of_rules if _falls_back(rules) else _byte_level_of_rules)(folder, rules)
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


def _falls_back(rules: Mapping[str, Any]) -> bool:
    """Whether pieces are of characters, and of bytes where there is none; else all are of bytes."""
    kind = _with_type(rules.get("pre_tokenizer")).get("type")
    return rules["model"].get("byte_fallback") is True and kind != "ByteLevel"


def _fallback_of_rules(folder: Path, rules: Mapping[str, Any]) -> ByteFallback:
    path, model, markers = folder / "tokenizer.json", rules["model"], MMBERT
    before, normalizer = rules.get("pre_tokenizer"), rules.get("normalizer")
    begins, splits = "never", False
    if isinstance(before, dict) and before.get("type") == "Metaspace":
        _expect(path, markers, "normalizer", normalizer, (_BLANKS, None))
        _expect(path, markers, "replacement", before.get("replacement"), (BLANK,))
        usual = "never" if before.get("add_prefix_space") is False else "always"  # as older files say it
        begins, splits = before.get("prepend_scheme", usual), before.get("split", True)
        _expect(path, markers, "prepend_scheme", begins, ("always", "never"))
        _expect(path, markers, "split", splits, (True, False))
    else:
        _expect(path, markers, "normalizer", normalizer, (_BLANKS,))
        _expect(path, markers, "pre_tokenizer", before, (_UNSPLIT, None))
    _check_template(path, markers, _with_type(rules.get("post_processor")))
    for name, allowed in _FALLBACK.items():
        _expect(path, markers, name, model.get(name), allowed)
    base, added = _pieces_of(folder, rules, markers, is_normalized=normalizer is not None)
    return ByteFallback(
        base,
        _merges(path, model["merges"], MOST_MERGES),
        begins == "always",
        added,
        splits=splits,
    )


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
        _check_template(path, markers, after)
    else:
        _expect(path, markers, "post_processor", after.get("type"), ("RobertaProcessing",))
        for name, wanted in (("cls", markers.cls), ("sep", markers.sep)):
            pair = after.get(name)
            _expect(path, markers, name, pair[0] if isinstance(pair, list) and pair else pair, (wanted,))
    for name, allowed in _WHOLE.items():
        _expect(path, markers, name, model.get(name), allowed)
    base, added = _pieces_of(folder, rules, markers, is_normalized=composes)
    return ByteLevel(
        base,
        _merges(path, model["merges"], most_tokens(folder)),
        before["add_prefix_space"],
        added,
        markers=markers,
        composes=composes,
    )


def _check_template(path: Path, markers: Markers, after: Mapping[str, Any]) -> None:
    """Refuse another way to put special tokens around a text, and around two, than these markers have."""
    single = [markers.cls, "A", markers.sep]
    for name, parts in (("single", single), ("pair", [*single, "B", markers.sep])):
        _expect(path, markers, name, _parts_of(after.get(name)), (parts,))


def _pieces_of(
    folder: Path, rules: Mapping[str, Any], markers: Markers, *, is_normalized: bool
) -> tuple[tuple[str, ...], tuple[ExtraToken, ...]]:
    """Return the pieces, and the tokens that are looked for in a text beside those that everybody has."""
    path = folder / "tokenizer.json"
    base = in_order(path, rules["model"].get("vocab"))
    added = read_added(path, rules.get("added_tokens") or [], base)
    known = set(base)
    check_size(len(base) + sum(token.content not in known for token in added), most_tokens(folder))
    if not is_normalized:  # the flag means nothing
        added = tuple(replace(token, normalized=False) for token in added)
    names = known & set(markers.named.values())
    return base, tuple(
        token for token in added if token.content not in names or token != markers.usual(token.content)
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


def _merges(path: Path, said: Any, most: int) -> tuple[tuple[str, str], ...]:
    """Return merges, which older files write with a space between the two pieces."""
    entries = said if isinstance(said, list) else [said]
    if len(entries) > most:
        template = marked("engine", "{path} joins {count} pairs of pieces; Cloze reads at most {most}.")
        raise ModelError(template, path=path, count=len(entries), most=most)
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
            "{path} does not cut texts as {family} does: {name} is {value}, not {allowed}. Choose another "
            "model.",
        )
        said, family = " / ".join(map(_json, allowed)), markers.family
        raise ModelError(template, path=path, family=family, name=name, value=_json(value), allowed=said)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)[:80]
