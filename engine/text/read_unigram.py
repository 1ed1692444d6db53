"""What a model folder says of its Unigram pieces: tokenizer.json, or a file of SentencePiece alone.

Everything read here may be damaged or hostile; see engine/text/vocabulary.py.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from engine.errors import ModelError, Sentence, marked
from engine.files import damaged, file_in, read_json_object, read_regular
from engine.text.sentencepiece import CONTROL, MOST_BYTES, USER_DEFINED, check_charsmap, read_pieces
from engine.text.special_tokens import ExtraToken, SpecialNames
from engine.text.unigram import ALBERT, BLANK, DEBERTA, MOST_SCORE, RUNS, TYPED, XLM_R, Unigram
from engine.text.vocabulary import ANY_CLASS, check_size, most_tokens, notes_beside, read_added

FILES = ("sentencepiece.bpe.model", "spiece.model", "spm.model")  # of XLM-R and CamemBERT; ALBERT; DeBERTa
_KIND, _CAMEMBERT = "Unigram", "camembert"
_FIRST = {  # places in a file -> what stands there in the model, as fairseq numbered its pieces
    "xlm-r": (3, (("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0))),
    _CAMEMBERT: (
        1,
        (
            ("<s>NOTUSED", 0.0),
            ("<pad>", 0.0),
            ("</s>NOTUSED", 0.0),
            ("<unk>", 0.0),
            ("<unk>NOTUSED", -100.0),
        ),
    ),
}
_QUOTES = [{"type": "Replace", "pattern": {"String": mark * 2}, "content": '"'} for mark in "`'"]
_ACCENTS = [{"type": "NFKD"}, {"type": "StripAccents"}]
_LOWER = [{"type": "Lowercase"}]
_COMPOSES = [{"type": "Replace", "pattern": {"Regex": RUNS}, "content": " "}, {"type": "NFC"}]
_APART = {  # as it is written with bytes
    "type": "Split",
    "pattern": {"Regex": TYPED},
    "behavior": "MergedWithPrevious",
    "invert": False,
}
_BLANKS = [  # taken off by splitting at blanks, too
    {"type": "Strip", "strip_left": False, "strip_right": True},
    {"type": "Strip", "strip_left": True, "strip_right": True},
    *({"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": blank} for blank in (" ", BLANK)),
]


def is_unigram(rules: Mapping[str, Any]) -> bool:
    """Whether a tokenizer.json has scored pieces; old ones do not name the model's type."""
    model = rules.get("model")
    return isinstance(model, dict) and model.get("type", _KIND if "unk_id" in model else None) == _KIND


def unigram_of_rules(folder: Path, rules: Mapping[str, Any]) -> Unigram:
    """Return what a folder's tokenizer.json says. Raises: ModelError, DataError."""
    path, model, most = folder / "tokenizer.json", rules["model"], most_tokens(folder)
    _expect(path, "byte_fallback", model.get("byte_fallback"), False, True, None)
    _check_splitting(path, rules.get("pre_tokenizer"))
    names = _names_of(path, rules.get("post_processor"))
    base, scores = _pieces_of(path, model.get("vocab"), most)
    if names == ALBERT and DEBERTA.unk in base:
        names = DEBERTA
    if names.unk in base:
        _expect(path, "unk_id", model.get("unk_id"), base.index(names.unk))
    added = read_added(path, rules.get("added_tokens") or [], base)
    known = set(base)
    check_size(len(base) + sum(token.content not in known for token in added), most)
    steps = _steps_of(rules.get("normalizer"))
    composes = names == DEBERTA and steps[-2:] == _COMPOSES
    steps = steps[:-2] if composes else steps
    cleaning, notes = _cleaning_of(folder, names, steps)
    by_bytes, own = bool(model.get("byte_fallback")), _own(added, names, known)
    return Unigram(
        base, scores, names, _map_of(path, steps), *cleaning, by_bytes, composes, added=own, notes=notes
    )


def unigram_of_file(folder: Path, path: Path) -> Unigram:
    """Return what a file of SentencePiece says, its pieces numbered as the model beside it has them.

    Raises: ModelError, DataError.
    """
    data, most = read_regular(path, most=MOST_BYTES, kind=ModelError), most_tokens(folder)
    try:
        read = read_pieces(data, most)
    except ValueError as error:
        raise damaged(path, str(error)) from error
    names = DEBERTA if path.name == FILES[2] else ALBERT
    pieces = list(zip(read.pieces, read.scores, strict=True))
    if path.name == FILES[0]:
        left_out, first = _FIRST[_CAMEMBERT if _is_camembert(folder) else "xlm-r"]
        names, pieces = XLM_R, [*first, *pieces[left_out:], (XLM_R.mask, 0.0)]
    check_size(len(pieces), most)
    base, scores = tuple(piece for piece, _ in pieces), tuple(score for _, score in pieces)
    known = set(base)
    found = (one for one in zip(read.pieces, read.kinds, strict=True) if one[0] in known)
    added = [ExtraToken(piece, kind == CONTROL) for piece, kind in found if kind in (CONTROL, USER_DEFINED)]
    cleaning, _ = _cleaning_of(folder, names)
    if names == DEBERTA and names.mask not in known:
        added.append(ExtraToken(names.mask))  # behind the pieces
    own, notes = _own(added, names, known), notes_beside(folder)
    return Unigram(base, scores, names, read.charsmap, *cleaning, read.byte_fallback, added=own, notes=notes)


def numbers_texts(folder: Path) -> bool:
    """Whether a model is told which text of a pair is the second: not with XLM-R's pieces, whatever it is.

    Sentence encoders of many languages are BERTs with these pieces, by a class that numbers no texts.
    """
    try:
        return not str(_class_of(folder)).startswith(XLM_R.own_class)
    except ModelError:
        return True  # it is told of where the tokenizer is read


def _is_camembert(folder: Path) -> bool:
    kind = _class_of(folder) or _json_in(folder, "config.json").get("model_type")
    return str(kind).lower().startswith(_CAMEMBERT)


def _class_of(folder: Path) -> Any:
    """Return the class in `transformers` that a folder names; None where it names none."""
    names = ("tokenizer_config.json", "config.json")
    return next(filter(None, (_json_in(folder, name).get("tokenizer_class") for name in names)), None)


def _own(added: Iterable[ExtraToken], names: SpecialNames, known: set[str]) -> tuple[ExtraToken, ...]:
    """Return the tokens beside the special ones; blanks around any are dropped, whatever its flags say.

    Args: known: the pieces; a special token that is none of them is one of those behind them.
    """
    special = {*names.needed, names.mask}
    others = (token for token in added if token.content not in special & known)
    return tuple(
        ExtraToken(token.content) if token.content in special else replace(token, lstrip=False, rstrip=False)
        for token in others
    )


def _check_splitting(path: Path, said: Any) -> None:
    """Refuse another way to split than at blanks, each of them written as ▁ before a word."""
    parts = said.get("pretokenizers") if isinstance(said, dict) and said.get("type") == "Sequence" else [said]
    parts = parts if isinstance(parts, list) else [parts]
    if parts[:1] == [{"type": "WhitespaceSplit"}]:
        parts = parts[1:]
    if parts[-1:] == [_APART]:
        parts = parts[:-1]
    part = parts[0] if len(parts) == 1 and isinstance(parts[0], dict) else {"type": said}
    _expect(path, "pre_tokenizer", part.get("type"), "Metaspace")
    _expect(path, "replacement", part.get("replacement"), BLANK)
    _expect(path, "add_prefix_space", part.get("add_prefix_space", True), True)
    _expect(path, "prepend_scheme", part.get("prepend_scheme", "always"), "always")
    _expect(path, "split", part.get("split", True), True)


def _names_of(path: Path, said: Any) -> SpecialNames:
    """Return whose special tokens are put around a text and a pair."""
    if isinstance(said, dict) and said.get("type") == "RobertaProcessing":
        ends = [said.get(key) for key in ("cls", "sep")]
        names = [end[0] if isinstance(end, list) and end else end for end in ends]
        _expect(path, "post_processor", names, [XLM_R.cls, XLM_R.sep])
        return XLM_R
    found = [_put_together(said.get(key)) for key in ("single", "pair")] if isinstance(said, dict) else []
    for family in (XLM_R, ALBERT):
        single = [family.cls, "A", family.sep]
        if found == [single, [*single, *[family.sep] * (family.num_between - 1), "B", family.sep]]:
            return family
    _expect(path, "post_processor", found or said, "<s> A </s></s> B </s>", "[CLS] A [SEP] B [SEP]")
    raise AssertionError


def _put_together(template: Any) -> list[Any]:
    """Return the tokens and texts of a template by their names."""
    parts = template if isinstance(template, list) else []
    inner = (next(iter(part.values()), None) if isinstance(part, dict) else None for part in parts)
    return [part.get("id") if isinstance(part, dict) else None for part in inner]


def _pieces_of(path: Path, vocab: Any, most: int) -> tuple[tuple[str, ...], tuple[float, ...]]:
    entries = vocab if isinstance(vocab, list) else [vocab]
    check_size(len(entries), most)
    for entry in entries:
        is_pair = isinstance(entry, list) and len(entry) == 2 and isinstance(entry[0], str)
        if not is_pair or type(entry[1]) not in (int, float) or abs(entry[1]) > MOST_SCORE:
            template = marked(
                "engine",
                "{path} is damaged near {where}: each piece needs a score. Copy the file again from its "
                "source.",
            )
            raise ModelError(template, path=path, where=_json(entry))
    return tuple(entry[0] for entry in entries), tuple(float(entry[1]) for entry in entries)


def _steps_of(said: Any) -> list[Any]:
    """Return the steps in which text is cleaned, without those that splitting at blanks does too."""
    is_list = isinstance(said, dict) and said.get("type") == "Sequence"
    steps = said.get("normalizers") if is_list else [said] if said is not None else []
    return [step for step in (steps if isinstance(steps, list) else [steps]) if step not in _BLANKS]


def _map_of(path: Path, steps: list[Any]) -> bytes:
    """Return the map of characters; refuse steps that are not known, or in another order."""
    others, charsmap = list(steps), b""
    if others and isinstance(others[-1], dict) and others[-1].get("type") == "Precompiled":
        try:
            charsmap = base64.b64decode(str(others.pop().get("precompiled_charsmap") or ""), validate=True)
            check_charsmap(charsmap)
        except ValueError as error:
            reason = marked("engine", "its map of characters is damaged")
            raise damaged(path, reason) from error
    known = [step for part in (_QUOTES, _ACCENTS, _LOWER) if part[0] in others for step in part]
    if others != known:
        _expect(
            path, "normalizer", [one.get("type") for one in others if isinstance(one, dict)], "Precompiled"
        )
    return charsmap


def _cleaning_of(
    folder: Path, names: SpecialNames, steps: list[Any] | None = None
) -> tuple[tuple[bool, bool, bool], tuple[Sentence, ...]]:
    """Return whether text loses capitals and accents and gets plain quotes, and what to know of that.

    `transformers` takes pieces, scores and map from tokenizer.json, and cleans as a family's class does.
    Args: steps: as `_steps_of`; None where there is no tokenizer.json.
    """
    path, said = folder / "tokenizer_config.json", _json_in(folder, "tokenizer_config.json")
    for key, name in zip(("pad", "unk", "cls", "sep", "mask"), (*names.needed, names.mask), strict=True):
        value = said.get(f"{key}_token")
        _expect(path, f"{key}_token", value.get("content") if isinstance(value, dict) else value, None, name)
    own = tuple(part[0] in (steps or []) for part in (_LOWER, _ACCENTS, _QUOTES))
    kind = _class_of(folder) or names.own_class
    if steps is not None and kind in ANY_CLASS:
        return (own[0], own[1], own[2]), ()
    usual = False, False, False
    if names == DEBERTA:
        _expect(path, "split_by_punct", said.get("split_by_punct"), None, False)
        _expect(path, "do_lower_case", said.get("do_lower_case"), None, True, False)
        usual = said.get("do_lower_case") is True, False, False
    if names == ALBERT:
        for key in ("do_lower_case", "keep_accents"):
            _expect(path, key, said.get(key), None, True, False)
        usual = said.get("do_lower_case") is not False, said.get("keep_accents") is not True, True
    if steps is None or own == usual:
        return usual, ()
    note = marked("engine", "Text is cleaned as {name} does it, which is not as tokenizer.json says.")
    return usual, (Sentence(note, {"name": str(kind)}),)


def _json_in(folder: Path, name: str) -> dict[str, Any]:
    path = file_in(folder, name)
    return {} if path is None else read_json_object(path, kind=ModelError)


def _expect(path: Path, name: str, value: Any, *allowed: Any) -> None:
    if not any(value == one and type(value) is type(one) for one in allowed):
        template = marked(
            "engine",
            "{path} splits texts differently from the models that Cloze reads: {name} is {value}, not "
            "{allowed}. Choose another model.",
        )
        said = " / ".join(_json(one) for one in allowed if one is not None)
        raise ModelError(template, path=path, name=name, value=_json(value), allowed=said)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)[:80]
