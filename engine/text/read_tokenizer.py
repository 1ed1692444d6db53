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
from engine.text.byte_level import SPECIAL_NAMES, ByteLevel, usual
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


def read_wordpiece(folder: Path | str) -> WordPiece:
    """Return the tokenizer of a model that is to be pretrained further, or a smaller one of it.

    Raises: as `read_tokenizer`; ModelError, too, where it is no WordPiece: a text for pretraining is cut, and
    its words masked, in BERT's way alone.
    """
    found = read_tokenizer(folder)
    if not isinstance(found, WordPiece):
        template = marked(
            "engine",
            "The model in {path} does not split texts into WordPieces, so Cloze cannot pretrain it further. "
            "Fine-tune it, or choose a BERT.",
        )
        raise ModelError(template, path=folder)
    return found


def _is_bpe(rules: Mapping[str, Any]) -> bool:
    model = rules.get("model")
    return isinstance(model, dict) and model.get("type", "BPE") == "BPE" and "merges" in model


def _byte_level_of_rules(folder: Path, rules: Mapping[str, Any]) -> ByteLevel:
    path, model, before = folder / "tokenizer.json", rules["model"], rules.get("pre_tokenizer")
    _expect(path, "normalizer", rules.get("normalizer"), (None,))
    before = before if isinstance(before, dict) else {"type": before}
    _expect(path, "pre_tokenizer", before.get("type"), ("ByteLevel",))
    _expect(path, "use_regex", before.get("use_regex", True), (True,))
    _expect(path, "add_prefix_space", before.get("add_prefix_space"), (False, True))
    after = rules.get("post_processor")
    after = after if isinstance(after, dict) else {"type": after}
    _expect(path, "post_processor", after.get("type"), ("RobertaProcessing",))
    for name in ("cls", "sep"):
        pair = after.get(name)
        _expect(path, name, pair[0] if isinstance(pair, list) and pair else pair, _named(f"{name}_token"))
    for name, allowed in _WHOLE.items():
        _expect(path, name, model.get(name), allowed)
    base = in_order(path, model.get("vocab"))
    added = read_added(path, rules.get("added_tokens") or [], base)
    known = set(base)
    most = most_tokens(folder)
    check_size(len(base) + sum(token.content not in known for token in added), most)
    merges = model["merges"] if isinstance(model["merges"], list) else [model["merges"]]
    added = tuple(replace(token, normalized=False) for token in added)  # there is no normalizer
    own = tuple(token for token in added if token != usual(token.content))
    return ByteLevel(base, _merges(path, merges, most), before["add_prefix_space"], own)


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
        _expect(said, "add_prefix_space", begins, (False, True))
        for key, name in SPECIAL_NAMES.items():
            value = config.get(key)
            _expect(said, key, value.get("content") if isinstance(value, dict) else value, (None, name))
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


def _named(key: str) -> tuple[str]:
    return (SPECIAL_NAMES[key],)


def _expect(path: Path, name: str, value: Any, allowed: tuple[Any, ...]) -> None:
    if not any(value == one and type(value) is type(one) for one in allowed):
        template = marked(
            "engine",
            "{path} is not of a RoBERTa: {name} is {value}, not {allowed}. Choose another model.",
        )
        said = " / ".join(map(_json, allowed))
        raise ModelError(template, path=path, name=name, value=_json(value), allowed=said)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)[:80]
