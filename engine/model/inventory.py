"""What a model folder holds, part by part, told from the heads of its files: no weights are loaded.

It refuses what opening would refuse, but for values that are no numbers, which only reading finds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from engine.errors import Sentence, marked
from engine.files import reading
from engine.model import names
from engine.model.arithmetic import HeadsConfig
from engine.model.bert import Bert
from engine.model.config import BertConfig
from engine.model.families.family import Family
from engine.model.folder import StoredWeights, open_weights
from engine.model.heads import HEADS, HeadedEncoder, MaskedWords, QuestionAnswering, SequenceClassifier
from engine.model.own_encoder import encoder_of, open_encoder_weights
from engine.model.parts import part_of_weight
from engine.model.source import StoredModel
from engine.model.tensor_files import open_tensors
from engine.model.weights import head_of, read_config, tuned_head

ENCODER = "encoder"
LABELS = "labels"  # what a classifier answers, into which LoadedModel looks
PARTS = (ENCODER, "pooler", "masked_words", "next_sentence", "layer_mix", "classifier", "answers")
_PRETRAINED = {"masked_words": "masked_word", "next_sentence": "next_sentence"}  # our key -> names.PARTS
ANSWERS = {  # marked: what is said of each of `Inventory.answers`; of its labels there are {count}
    "masked_words": marked("engine", "masked words"),
    "next_sentence": marked("engine", "next sentence"),
    LABELS: SequenceClassifier.does,
    **SequenceClassifier.does_of,
    **{name: head.does for name, head in HEADS.items()},
    MaskedWords.architecture: MaskedWords.does,
}
_OWN_WORDS = marked("engine", "its own word weights")


@dataclass(frozen=True, slots=True)
class Leftover:
    """Stored weights that Cloze does not use. what: marked, what they are for; their name where unknown."""

    what: str
    num_weights: int


@dataclass(frozen=True, slots=True)
class Inventory:
    """What lies in a folder. counts: part, by its key -> weights, of the parts that can be used.

    refused: part -> why it is there but cannot be used. labels: of a classifier that can be used. num_again:
    weights that are stored a second time. kinds: how they are stored, as "float32". notes: of its
    family. encoder: the name of its own encoder for whole texts, "" where there is none; num_encoder: the
    weights that are that one's alone. corrects: whether its masked-word head was fine-tuned to correct texts.
    """

    config: BertConfig
    heads: HeadsConfig
    counts: Mapping[str, int]
    refused: Mapping[str, Sentence]
    labels: tuple[str, ...]
    leftovers: tuple[Leftover, ...]
    num_again: int
    kinds: tuple[str, ...]
    num_bytes: int
    notes: tuple[Sentence, ...] = ()
    encoder: str = ""
    num_encoder: int = 0
    corrects: bool = False

    @property
    def num_weights(self) -> int:
        """The weights that can be used, each counted once."""
        return sum(self.counts.values())

    def count_of(self, part: str) -> int:
        """Return the weights of one of PARTS."""
        if part != ENCODER:
            return self.counts.get(part, 0)
        return sum(count for key, count in self.counts.items() if key not in PARTS)

    @property
    def head(self) -> type[HeadedEncoder] | None:
        """The head that it was fine-tuned with; None where it was not."""
        if self.corrects:
            return MaskedWords
        if self.heads.answers:
            return QuestionAnswering
        return HEADS.get(head_of(self.config), SequenceClassifier) if self.heads.num_labels else None

    @property
    def task(self) -> str:
        """What it was fine-tuned for, by the published class and problem_type; "" where it was not."""
        if self.head is None:
            return ""
        is_other = issubclass(self.head, SequenceClassifier) and self.config.problem in self.head.does_of
        return self.config.problem if is_other else self.head.architecture

    @property
    def answers(self) -> tuple[str, ...]:
        """What it can be asked, of ANSWERS: "labels", or "masked_words", "next_sentence", as LoadedModel has
        it; or its `task`, into which LoadedModel does not look.
        """
        if self.task and not self.corrects:
            return (LABELS,) if self.task == SequenceClassifier.architecture else (self.task,)
        found = [self.task] if self.corrects else []
        if self.heads.masked_words:
            found.append("masked_words")
        if self.heads.next_sentence and self.heads.pooler:
            found.append("next_sentence")
        return tuple(found)


def take_stock(folder: Path, *, thorough: bool = True) -> Inventory:
    """Return what a model folder holds.

    Args:   thorough: look, too, whether word weights that are stored twice are the same; that reads them.
    Raises: ModelError: what opening the folder would be refused for.
    """
    config = read_config(folder)
    with open_weights(folder) as stored:
        source = StoredModel(stored, config)
        source.check(partial(Bert, with_pooler=False), config)
        head = HEADS.get(head_of(config))
        has_labels = head is None or head.has_labels
        labels, objection = source.labels(config if has_labels else replace(config, id2label=()))
        refused = {"classifier": objection} if objection else {}
        for key, part in _PRETRAINED.items():
            found = source.objection(part, config) if thorough else None
            if found is not None:
                refused[key] = found
        there = {key for key, part in _PRETRAINED.items() if source.has(part)} - refused.keys()
        pooler = source.has("pooler") and (head is None or "pooler" in head.parts_of(config))
        heads = HeadsConfig(
            pooler=pooler,
            masked_words="masked_words" in there,
            next_sentence="next_sentence" in there,
            num_labels=len(labels) if pooler or (head is not None and "classifier" in head.parts) else 0,
            layer_mix=config.layer_mix and source.has("layer_mix"),
            answers=source.has("answers"),
        )
        counts, again, others = _count(stored, source, heads, refused)
        stock = Inventory(
            config=config,
            heads=heads,
            counts=counts,
            refused=refused,
            labels=labels if heads.num_labels and has_labels else (),
            leftovers=_leftovers(others, source.family),
            num_again=again,
            kinds=_kinds(stored),
            num_bytes=_num_bytes(stored.files),
            notes=source.notes,
            corrects="masked_words" in there and tuned_head(folder, config) is MaskedWords,
        )
    encoder = encoder_of(folder)
    return _with_encoder(stock, folder, encoder) if encoder else stock


def _with_encoder(stock: Inventory, folder: Path, name: str) -> Inventory:
    """Return what lies in a folder that has an encoder of its own, too. Raises: ModelError."""
    with open_encoder_weights(folder) as stored:
        StoredModel(stored, stock.config).check(partial(Bert, with_pooler=False), stock.config)
        with open_tensors(stored.files[-1]) as own:
            count = sum(math.prod(info.shape) for info in own.infos.values())
        return replace(stock, encoder=name, num_encoder=count, num_bytes=_num_bytes(stored.files))


def _count(
    stored: StoredWeights, source: StoredModel, heads: HeadsConfig, refused: Mapping[str, Sentence]
) -> tuple[dict[str, int], int, dict[str, int]]:
    """Return the weights of each part, those that are stored again, and the others by name."""
    plain = {source.plain[name]: math.prod(info.shape) for name, info in stored.infos.items()}
    seconds = {second: first for first, second in names.SHARED.items()}
    counts: dict[str, int] = {}
    others: dict[str, int] = {}
    again = 0
    for name, count in plain.items():
        first = seconds.get(name, name)
        key = part_of_weight(first)
        if names.is_buffer(name) or source.is_added(name):
            continue
        if first != name and first in plain and "masked_words" not in refused:
            again += count
        elif (
            key is None
            or not heads.has(key)
            or source.family.described(name)[0]
            or (first != name and first in plain)
        ):
            others[name] = count
        else:
            counts[key] = counts.get(key, 0) + count
    return counts, again, others


def _leftovers(others: Mapping[str, int], family: Family) -> tuple[Leftover, ...]:
    """Return what is not used, gathered by what it is for; unknown weights one by one."""
    found: dict[str, int] = {}
    for name, count in others.items():
        what = _OWN_WORDS if name.startswith("cls.predictions.decoder.") else family.described(name)[0]
        what = what or _name_of_part(name) or name[:60]
        found[what] = found.get(what, 0) + count
    return tuple(Leftover(what, count) for what, count in found.items())


def _name_of_part(name: str) -> str:
    key = part_of_weight(name)
    return {
        "pooler": marked("engine", "pooler"),
        "masked_words": marked("engine", "masked-word head"),
        "next_sentence": marked("engine", "next-sentence head"),
        "classifier": marked("engine", "classifier"),
        "answers": marked("engine", "question answering"),
        "layer_mix": marked("engine", "mix of layers"),
    }.get(key or "", "")


def _kinds(stored: StoredWeights) -> tuple[str, ...]:
    kinds = {
        str(info.dtype).removeprefix("torch.") for info in stored.infos.values() if info.dtype is not None
    }
    return tuple(sorted(kind for kind in kinds if "float" in kind))


def _num_bytes(files: Iterable[Path]) -> int:
    total = 0
    for path in files:
        with reading(path):
            total += path.stat().st_size
    return total
