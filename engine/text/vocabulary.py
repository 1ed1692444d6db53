"""What a model folder says of its WordPieces: vocab.txt, tokenizer.json, tokenizer_config.json.

MPNet's are BERT's with other special tokens, with which its vocabulary begins: that tells the two apart.

Everything read here may be damaged or hostile. Only these file names in the folder itself are opened, never a
path that a file names; sizes are capped; nothing reaches the `tokenizers` library before it was looked at.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from engine.errors import DataError, ModelError, Sentence, UserError, marked
from engine.files import MOST_VALUES, file_in, read_json_object, read_regular
from engine.text.special_tokens import ExtraToken, SpecialNames

MASK = "[MASK]"  # the one special token that a vocabulary may lack: it can still classify
BERT = SpecialNames("[PAD]", "[UNK]", "[CLS]", "[SEP]", MASK, 1, True, "BertTokenizer")
MPNET = SpecialNames("<pad>", "[UNK]", "<s>", "</s>", "<mask>", 2, False, "MPNetTokenizer")
MAX_FILE_BYTES = 48 * 2**20  # the largest published vocab.txt has 5 MB; a tokenizer.json, mmBERT's, 34
MOST_TOKENS = 600_000  # the largest published vocabulary has 501,153
MOST_MERGES = 700_000  # mmBERT's has 580,604
_MOST_ADDED = 1_000  # characters of one added token
_MOST_ADDED_IN_ALL = 1_000_000  # characters: what finds them in a text takes 60 bytes for each
_VALUES_OF_ADDED = 400_000  # in tokenizer.json: eight for each of 50,000
_NOT_A_PIECE = re.compile(r"\[.*\]|<.*>", re.DOTALL)
_PLAIN_CLASSES = re.compile(
    r"((Bert|DistilBert|Electra|MobileBert|ConvBert|MPNet|PreTrained)Tokenizer(Fast)?|TokenizersBackend)"
)
ANY_CLASS = ("PreTrainedTokenizerFast", "TokenizersBackend")  # these take tokenizer.json as it is
_FLAGS = {
    "do_lower_case": "lowercase",
    "strip_accents": "strip_accents",
    "tokenize_chinese_chars": "handle_chinese_chars",
}


@dataclass(frozen=True)
class Vocabulary:
    """What the files say: tokens by id, how text is cleaned, tokens added, and what a person should know."""

    base: tuple[str, ...] = field(repr=False)
    lowercase: bool
    strip_accents: bool | None = None  # None: when lower-casing
    chinese_chars: bool = True
    added: tuple[ExtraToken, ...] = ()
    notes: tuple[Sentence, ...] = field(default=(), compare=False)

    @property
    def names(self) -> SpecialNames:
        """What the special tokens are called."""
        return names_of(self.base)

    def said(self) -> tuple[Any, ...]:
        """Return all of that, in this order."""
        return tuple(getattr(self, one.name) for one in fields(Vocabulary))


def names_of(tokens: Sequence[str]) -> SpecialNames:
    """Return what a vocabulary calls its special tokens."""
    return MPNET if tuple(tokens[:3]) == (MPNET.cls, MPNET.pad, MPNET.sep) else BERT


def usual(name: str, names: SpecialNames = BERT) -> ExtraToken:
    """Return a special token as it is looked for in a text: MPNet's mask takes the space before it."""
    return ExtraToken(name, lstrip=name == MPNET.mask == names.mask)


def vocabulary_of(tokens: Sequence[str], lowercase: bool | None) -> Vocabulary:
    """Return the vocabulary of bare tokens; `lowercase` None: guessed from their capitals, with a note."""
    if lowercase is not None:
        return Vocabulary(tuple(tokens), lowercase)
    if any(token != token.lower() for token in tokens if not _NOT_A_PIECE.fullmatch(token)):
        note = marked("engine", "The vocabulary has capital letters, so text keeps its capitals and accents.")
        return Vocabulary(tuple(tokens), False, notes=(Sentence(note),))
    note = marked("engine", "The vocabulary has no capital letters, so text is lower-cased.")
    return Vocabulary(tuple(tokens), True, notes=(Sentence(note),))


def read_vocab(path: Path, most: int = MOST_TOKENS) -> list[str]:
    """Return the tokens of a vocab.txt in order. Raises: DataError; ModelError if it has more of them."""
    # "\n" alone ends a line: bert-base-chinese holds U+2028 as a token, which splitlines() would split at.
    text = read_text(path, DataError).removesuffix("\n")
    check_size(text.count("\n") + 1, most)
    return [line.removesuffix("\r") for line in text.split("\n")]


def read_rules(folder: Path) -> dict[str, Any] | None:
    """Return what stands in a folder's tokenizer.json; None where there is none. Raises: ModelError."""
    path = file_in(folder, "tokenizer.json")
    most_values = most_tokens(folder) + 3 * MOST_MERGES + _VALUES_OF_ADDED + MOST_VALUES
    if path is None:
        return None
    return read_json_object(
        path, most=MAX_FILE_BYTES, most_values=most_values, writable=True, kind=ModelError
    )


def read_folder(folder: Path, rules: dict[str, Any] | None) -> Vocabulary:
    """Return what a model folder says; see `WordPiece.from_folder`. Args: rules: as `read_rules` gives them.

    Raises: ModelError, DataError.
    """
    config = _read_config(file_in(folder, "tokenizer_config.json"))
    vocab, most = file_in(folder, "vocab.txt"), most_tokens(folder)
    if rules is not None:
        found = _from_rules(folder / "tokenizer.json", rules, vocab, config, most)
        _check_names(folder, config, found.names)
        return found
    if vocab is None:
        raise ModelError(
            marked(
                "engine",
                "There is no tokenizer.json and no vocab.txt in {path}. Choose a BERT model’s folder.",
            ),
            path=folder,
        )
    name = config.get("tokenizer_class") or "BertTokenizer"
    if not _PLAIN_CLASSES.fullmatch(name):
        raise ModelError(
            marked(
                "engine", "The model in {path} splits text with {name}; Cloze reads BERT’s own WordPiece."
            ),
            path=folder,
            name=name,
        )
    tokens, twice = _last_counts(read_vocab(vocab, most))
    read = vocabulary_of(tokens, config.get("do_lower_case"))
    _check_names(folder, config, read.names)
    return replace(
        read,
        strip_accents=config.get("strip_accents"),
        chinese_chars=config.get("tokenize_chinese_chars") is not False,
        notes=(*read.notes, *twice, *notes_beside(folder)),
    )


_ONE_IN, _MOST_NAMED = 1_000, 5  # tokens, of which one may stand twice; of which so many are named
_TWICE = marked(
    "engine", "The vocabulary holds a token twice ({names}). As in transformers, the last one counts."
)


def _last_counts(tokens: list[str]) -> tuple[list[str], tuple[Sentence, ...]]:
    """Return tokens of which very few stand twice, as one of ERNIE 3.0's does, told apart, and a note of it.

    As in `transformers` the last of the two is found in texts; the other one only keeps its number.
    """
    last = {token: number for number, token in enumerate(tokens)}
    twice = [number for number, token in enumerate(tokens) if last[token] != number]
    if len(twice) * _ONE_IN > len(tokens):  # it is told of where the tokens are looked at
        return tokens, ()
    told = list(tokens)
    for number in twice:
        told[number] = f"[unused {tokens[number]} {number}]"
    names = [tokens[number] for number in twice[:_MOST_NAMED]]
    return told, (Sentence(_TWICE, {"names": names}),) if twice else ()


def notes_beside(folder: Path) -> tuple[Sentence, ...]:
    """Return what to know of a folder without a tokenizer.json: tokens that are added elsewhere are not."""
    if not (folder / "added_tokens.json").is_file():
        return ()
    note = marked(
        "engine", "added_tokens.json is ignored: Cloze reads added tokens from tokenizer.json only."
    )
    return (Sentence(note),)


def check_tokens(tokens: Sequence[str], ids: dict[str, int]) -> None:
    """Refuse tokens that cannot be a vocabulary of WordPieces. Args: ids: token -> last place.

    Raises: DataError.
    """
    if not any(tokens):
        raise DataError(
            marked("engine", "The vocabulary is empty. A vocab.txt holds one WordPiece on each line.")
        )
    if len(ids) < len(tokens):
        number = next(number for number, token in enumerate(tokens) if ids[token] != number)
        raise DataError(
            marked(
                "engine",
                "The vocabulary holds {token!r} twice, in lines {line} and {again}. Each "
                "WordPiece may occur once. Use the vocab.txt that came with the model.",
            ),
            token=tokens[number],
            line=number + 1,
            again=ids[tokens[number]] + 1,
        )
    if broken := [token for token in tokens if "\n" in token or "\r" in token]:
        raise DataError(
            marked(
                "engine", "The vocabulary’s token {token!r} holds a line break, which no vocab.txt can hold."
            ),
            token=broken[0],
        )
    needed = names_of(tokens).needed
    if missing := [name for name in needed if name not in ids]:
        template = marked("engine", "The vocabulary lacks {missing}. This kind of model needs {needed}.")
        raise DataError(template, missing=list(missing), needed=list(needed))


def most_tokens(folder: Path) -> int:
    """Return how many tokens the model beside a vocabulary knows, so that no larger one is built."""
    try:
        path = file_in(folder, "config.json")
        size = read_json_object(path, kind=ModelError).get("vocab_size") if path else None
    except ModelError:
        return MOST_TOKENS  # it is told of where the model is read
    return min(size, MOST_TOKENS) if type(size) is int and size > 0 else MOST_TOKENS


TOO_MANY = marked(
    "engine",
    "The vocabulary has {count} pieces, but the model knows {known}. They do not "
    "belong together. Use the vocabulary that came with the model.",
)


def check_size(count: int, most: int) -> None:
    if count > most:
        too_many = marked("engine", "The vocabulary has {count} pieces; Cloze reads at most {known}.")
        raise ModelError(too_many if most == MOST_TOKENS else TOO_MANY, count=count, known=most)


def _read_config(path: Path | None) -> dict[str, Any]:
    """Return tokenizer_config.json, {} if there is none, after a look at all that we use of it."""
    if path is None:
        return {}
    config = read_json_object(path, kind=ModelError)
    for name in _FLAGS:
        _expect(path, name, config.get(name), None, True, False)
    if not isinstance(config.get("tokenizer_class"), str | None):
        _expect(path, "tokenizer_class", config["tokenizer_class"], "BertTokenizer")
    return config


def _check_names(folder: Path, config: dict[str, Any], names: SpecialNames) -> None:
    """Refuse a tokenizer_config.json that calls special tokens otherwise than the vocabulary does."""
    for name, token in names.named.items():
        value = config.get(name)
        value = value.get("content") if isinstance(value, dict) else value
        _expect(folder / "tokenizer_config.json", name, value, None, token)


def _from_rules(
    path: Path, rules: dict[str, Any], vocab: Path | None, config: dict[str, Any], most: int
) -> Vocabulary:
    model, cleaning = (
        _part(path, rules, "model", "WordPiece"),
        _part(path, rules, "normalizer", "BertNormalizer"),
    )
    _part(path, rules, "pre_tokenizer", "BertPreTokenizer")
    _expect(path, "unk_token", model.get("unk_token"), "[UNK]")
    _expect(path, "continuing_subword_prefix", model.get("continuing_subword_prefix"), "##")
    base = in_order(path, model.get("vocab"))
    check_size(len(base), most)
    added = read_added(path, rules.get("added_tokens") or [], base, names_of(base))
    flags, notes = _read_flags(path, cleaning, config)
    known = set(base)
    tokens = base + tuple(token.content for token in added if token.content not in known)
    check_size(len(tokens), most)
    notes += _notes_on_rules(cleaning, model, config)
    if vocab is not None and (other := tuple(read_vocab(vocab))) not in (base, tokens):
        note = marked(
            "engine",
            "vocab.txt ({num_other} tokens) and tokenizer.json ({num_tokens} tokens) "
            "disagree. tokenizer.json is used.",
        )
        notes.append(Sentence(note, {"num_other": len(other), "num_tokens": len(tokens)}))
    return Vocabulary(
        base,
        flags["do_lower_case"] is not False,
        flags["strip_accents"],
        flags["tokenize_chinese_chars"] is not False,
        added,
        tuple(notes),
    )


def _notes_on_rules(
    cleaning: Mapping[str, Any], model: Mapping[str, Any], config: Mapping[str, Any]
) -> Iterator[Sentence]:
    """Say what a folder asks of its tokenizer that BERT's does not do."""
    for name, part, usual in (("clean_text", cleaning, True), ("max_input_chars_per_word", model, 100)):
        if (value := part.get(name, usual)) != usual:
            note = marked(
                "engine", "tokenizer.json sets {name} to {value}. This is ignored, because BERT uses {usual}."
            )
            yield Sentence(note, {"name": name, "value": _json(value), "usual": _json(usual)})
    kind = config.get("tokenizer_class")
    if kind and not _PLAIN_CLASSES.fullmatch(kind):
        note = marked(
            "engine",
            "tokenizer_config.json names {name}, but tokenizer.json has a WordPiece model, and is used.",
        )
        yield Sentence(note, {"name": kind})


def _part(path: Path, rules: dict[str, Any], name: str, kind: str) -> dict[str, Any]:
    part = rules.get(name)
    if name == "model" and isinstance(part, dict) and "merges" not in part:
        part = {"type": kind, **part}  # files before 2020 do not name the model's type
    _expect(path, name, part.get("type") if isinstance(part, dict) else part, kind)
    return part if isinstance(part, dict) else {}


def _read_flags(
    path: Path, cleaning: dict[str, Any], config: dict[str, Any]
) -> tuple[dict[str, bool | None], list[Sentence]]:
    """Return tokenizer_config.json's flags where it has them, else tokenizer.json's; notes if they differ."""
    flags, notes = {}, []
    for name, inner in _FLAGS.items():
        value = flags[name] = cleaning.get(inner)
        _expect(path, inner, value, None, True, False)
        said = config.get(name, value)
        if (said is None and name != "strip_accents") or config.get("tokenizer_class") in ANY_CLASS:
            continue
        if said != value:
            flags[name] = said
            note = marked(
                "engine",
                "tokenizer_config.json sets {name} to {said}, tokenizer.json to {value}. The first is used.",
            )
            notes.append(Sentence(note, {"name": name, "said": _json(said), "value": _json(value)}))
    return flags, notes


def read_added(
    path: Path, entries: Any, base: tuple[str, ...], names: SpecialNames = BERT
) -> tuple[ExtraToken, ...]:
    """Return the added tokens, the usual special ones left out; those not in `base` must follow it."""
    ids = {token: number for number, token in enumerate(base)}
    added: list[tuple[int, ExtraToken]] = []
    for entry in entries if isinstance(entries, list) else [entries]:
        content = entry.get("content") if isinstance(entry, dict) else None
        if not isinstance(content, str) or not 0 < len(content) <= _MOST_ADDED:
            raise _damaged(path, _json(entry))
        for flag in ("special", "normalized", "single_word", "lstrip", "rstrip"):
            _expect(path, f"{content} {flag}", entry.setdefault(flag, False), True, False)
        number = entry.pop("id", None)
        if type(number) is not int or ids.setdefault(content, number) != number:
            raise _damaged(path, content)
        token = ExtraToken(**{key: entry[key] for key in ExtraToken.__slots__})
        is_usual = token == usual(content, names) and content in names.named.values()
        if not is_usual or number >= len(base):
            added.append((number, token))
    in_order(path, ids)
    if sum(len(token.content) for _, token in added) > _MOST_ADDED_IN_ALL:
        template = marked("engine", "The added tokens in {path} have more than {most} characters in all.")
        raise ModelError(template, path=path, most=_MOST_ADDED_IN_ALL)
    return tuple(token for _, token in sorted(added, key=lambda pair: pair[0]))


def in_order(path: Path, ids: Any) -> tuple[str, ...]:
    """Return the tokens of token -> id in the order of ids, which must be 0, 1, 2 and so on."""
    if not isinstance(ids, dict) or not all(type(number) is int for number in ids.values()):
        raise _damaged(path, "vocab")
    tokens = sorted(ids, key=ids.__getitem__)
    for number, token in enumerate(tokens):
        if ids[token] != number:
            raise _damaged(path, f"{token} {ids[token]}")
    return tuple(tokens)


def _damaged(path: Path, where: str) -> ModelError:
    return ModelError(
        marked(
            "engine",
            "{path} is damaged near {where}: every token needs its own number, from 0 "
            "without a gap. Copy the file again from its source.",
        ),
        path=path,
        where=where[:80],
    )


def _expect(path: Path, name: str, value: Any, *allowed: Any) -> None:
    if not any(value == one and type(value) is type(one) for one in allowed):
        raise ModelError(
            marked(
                "engine",
                "{path} is not of a BERT WordPiece model: {name} is {value}, not {allowed}. "
                "Choose another model.",
            ),
            path=path,
            name=name,
            value=_json(value),
            allowed=" / ".join(_json(one) for one in allowed if one is not None),
        )


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)[:80]


def read_text(path: Path, kind: type[UserError]) -> str:
    if not os.path.lexists(path):
        raise kind(marked("engine", "There is no file {path}."), path=path)
    try:
        return read_regular(path, most=MAX_FILE_BYTES, kind=kind).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise kind(
            marked(
                "engine", "{path} is not UTF-8 (byte {position}). Save it as UTF-8, or choose another file."
            ),
            path=path,
            position=error.start,
        ) from error
