"""What Cloze does with each family of models, beside `transformers`: the cells of a table.

A capability asks both for the same, each with its own tokenizer, and gives the largest difference. Where
Cloze refuses, the cell is its sentence. Tokenizers are published files where CLOZE_DATA has them.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from torch import Tensor

from engine.errors import UserError
from engine.events import result_of
from engine.export.heads import INPUTS
from engine.export.onnx import GRAPH, exporting
from engine.export.runtime import open_session
from engine.inspect.anatomy.vectors import trace
from engine.inspect.attention.weights import detail, look
from engine.inspect.attribution.gradients import GRADIENT, INTEGRATED, attribute
from engine.inspect.attribution.path import curtis_places, curtis_weights
from engine.inspect.attribution.target import LABELS as LABEL
from engine.inspect.attribution.target import Target
from engine.inspect.loaded_model import LoadedModel
from engine.inspect.masked.probe import probe
from engine.model.heads import HeadedEncoder, QuestionAnswering, SequenceClassifier, TokenClassifier
from engine.model.weights import load_encoder, load_headed, save_model
from engine.text.read_tokenizer import read_tokenizer
from engine.text.tokenizer import Tokenizer
from tests.engine.model.family_cases import Case, made, randomize, reopened
from tests.fakes import LABELS

PAIRS = (("The good film — a café?", "A play, 今天!"), ("a bad play", "film"))
GAPPED = "the [MASK] play, a film"
_POOLER = frozenset({"pooler.dense.weight", "pooler.dense.bias"})
NAME = "DIR"  # of each model's folder, so that a sentence is the same everywhere


@dataclass(frozen=True)
class Cell:
    """difference: the largest, as `_apart` has it; NaN where refused. said: the refusal. is_own: whether what
    was saved is compared with what Cloze opens again, as transformers has no such class.
    """

    difference: float = float("nan")
    said: str = ""
    is_own: bool = False


class FamilyFolders:
    """Folders of a case, each made once; what both make of `PAIRS`. Args: data: published files, or None."""

    def __init__(self, case: Case, root: Path, data: Path | None = None) -> None:
        self.case, self.root, self._data = case, root, data
        self._made: dict[str, Any] = {}

    @cached_property
    def tokenizer(self) -> Tokenizer:
        """Cloze's, of the published file where it is there."""
        if self._data is None or not self.case.file:
            return self.case.tokenizer()
        path, folder = self._data / self.case.file, self.root / "published"
        folder.mkdir(parents=True)
        (folder / "config.json").write_text(json.dumps({"model_type": self.case.model_type}))
        if path.suffix == ".txt":  # ERNIE's has a second column, the ids
            tokens = [line.partition("\t")[0] for line in path.read_text(encoding="utf-8").split("\n")]
            (folder / "vocab.txt").write_text("\n".join(tokens), encoding="utf-8")
        else:
            name = path.name.replace("test_sentencepiece.", "sentencepiece.bpe.")
            (folder / name).write_bytes(path.read_bytes())
        return read_tokenizer(folder)

    @cached_property
    def own_tokenizer(self) -> Any:
        """The one that transformers opens in a folder of this case."""
        return transformers.AutoTokenizer.from_pretrained(self.made("Model")[0])

    def made(self, kind: str) -> tuple[Path, Any]:
        """Return a folder with a random model of a class, and the model."""
        if kind not in self._made:
            folder, ending = self.place(kind), self.case.kinds.get(kind, kind)
            head = {"num_labels": len(LABELS)} if "Classification" in kind else {}
            self._made[kind] = folder, made(folder, self.case, ending, self.tokenizer, **head)
        found: tuple[Path, Any] = self._made[kind]
        return found

    def encoder(self) -> tuple[Path, Any]:
        """Return the folder of an encoder alone, and the part of it that is read."""
        folder, model = self.made("Model")
        return folder, getattr(model, self.case.half) if self.case.half else model

    @cached_property
    def subject(self) -> LoadedModel:
        """The encoder, opened to be looked into."""
        return LoadedModel.open(self.encoder()[0], "cpu")

    def classifier(self) -> tuple[Path, Any]:
        """Return a folder with a classifier of texts and what transformers has there: one that was published,
        or, where Cloze does not read that, a new one on the same encoder.
        """
        folder, theirs = self.made(_ending(SequenceClassifier))
        try:
            load_headed(folder, SequenceClassifier)
        except UserError:
            folder, _ = self.with_new(SequenceClassifier)
            theirs = reopened(folder, self.saved_as, _ending(SequenceClassifier))
        return folder, theirs

    def with_new(self, head: type[HeadedEncoder]) -> tuple[Path, HeadedEncoder]:
        """Return Cloze's encoder under a new head, all weights random, and where it was saved."""
        ours, _ = load_headed(self.encoder()[0], head, LABELS if head.has_labels else ())
        randomize(ours)
        return self.saved(ours, f"New{_ending(head)}"), ours

    def saved(self, model: Any, name: str) -> Path:
        """Return where a model of Cloze's was saved."""
        folder = self.place(f"saved-{name}")
        save_model(folder, model, self.tokenizer, {})
        return folder

    def place(self, name: str) -> Path:
        """Return where a folder is to be."""
        return self.root / name / NAME

    @property
    def saved_as(self) -> str:
        return self.case.saved_as or self.case.stem

    def ask(self, model: Any, *texts: Any, **wanted: Any) -> Any:
        """Return what a model of transformers gives for texts; by default for `PAIRS`."""
        asked = texts or tuple(map(list, zip(*PAIRS, strict=True)))
        given = self.own_tokenizer(*asked, padding=True, return_tensors="pt")
        known = inspect.signature(model.forward).parameters
        return model(**{name: one for name, one in given.items() if name in known}, **wanted)

    def batch(self, tokenizer: Tokenizer | None = None) -> tuple[Tensor, Tensor, Tensor]:
        """Return ids, segments and mask (B, T) of `PAIRS` as Cloze reads them."""
        encodings = [(tokenizer or self.tokenizer).encode(*pair) for pair in PAIRS]
        longest = max(len(one.input_ids) for one in encodings)
        rows = torch.zeros((3, len(encodings), longest), dtype=torch.long)
        for number, one in enumerate(encodings):
            values = (one.input_ids, one.token_type_ids, one.attention_mask)
            rows[:, number, : len(one.input_ids)] = torch.tensor(values)
        ids, types, mask = rows.unbind(0)
        return ids, types, mask

    def largest(self, ours: Tensor, theirs: Tensor) -> float:
        """Return the largest difference, where text is: of (B, T, ...), of (B, H, T, T), or of (B, C)."""
        real = self.batch()[2].bool()
        if theirs.ndim == 4:
            ours, theirs = ours.transpose(1, 2), theirs.transpose(1, 2)
        read = slice(None) if theirs.ndim == 2 else real
        assert ours.shape == theirs.shape
        return _apart(ours[read], theirs[read])


def opens(folders: FamilyFolders) -> Cell:
    """The hidden states of all layers, of a padded batch."""
    folder, theirs = folders.encoder()
    ours, report = load_encoder(folder)
    assert not report.missing and (folders.case.half or not report.unexpected)
    wanted = folders.ask(theirs, output_hidden_states=True).hidden_states
    found = ours(*folders.batch(), output_hidden_states=True).hidden_states
    return Cell(max(folders.largest(*pair) for pair in zip(found, wanted, strict=True)))


def saved_back(folders: FamilyFolders) -> Cell:
    """The last hidden states of what Cloze saves, opened by transformers as its family and by Cloze again."""
    folder, theirs = folders.encoder()
    ours, _ = load_encoder(folder)
    saved = folders.saved(ours, "Model")
    lacking = frozenset() if ours.pooler is not None else _POOLER
    again, wanted = reopened(saved, folders.saved_as, "Model", lacking), folders.ask(theirs).last_hidden_state
    back, _ = load_encoder(saved)
    states = folders.ask(again).last_hidden_state, back(*folders.batch()).last_hidden_state
    return Cell(max(folders.largest(one, wanted) for one in states))


def masked_words(folders: FamilyFolders) -> Cell:
    """The scores of all words at each token, before and after saving; the log-probabilities of guesses."""
    folder, theirs = folders.made("ForMaskedLM")
    subject = LoadedModel.open(folder, "cpu")
    model, wanted, own = subject.masked_head(), folders.ask(theirs).logits, folders.own_tokenizer
    again = reopened(folders.saved(model, "ForMaskedLM"), folders.saved_as, "ForMaskedLM")
    found = model.logits(model(*folders.batch()).hidden).view(wanted.shape)
    guesses = probe(subject, GAPPED, top_k=3).answers[0].guesses
    text = GAPPED.replace("[MASK]", own.mask_token)
    logs = (
        folders.ask(theirs, text).logits[0, own(text)["input_ids"].index(own.mask_token_id)].log_softmax(-1)
    )
    apart = [abs(guess.log_probability - float(logs[guess.ids[0]])) for guess in guesses]
    return Cell(max(*apart, *(folders.largest(one, wanted) for one in (found, folders.ask(again).logits))))


def classify(folders: FamilyFolders) -> Cell:
    """The scores of three labels for each text, before and after saving."""
    return _under(folders, SequenceClassifier)


def label_words(folders: FamilyFolders) -> Cell:
    """The scores of three tags for each token, before and after saving."""
    return _under(folders, TokenClassifier)


def questions(folders: FamilyFolders) -> Cell:
    """The scores of beginning and of ending at each token, before and after saving."""
    return _under(folders, QuestionAnswering)


def attention(folders: FamilyFolders) -> Cell:
    """All maps of a padded batch, and of a pair with one head in detail, beside eager attention."""
    (_, theirs), subject, pair = folders.encoder(), folders.subject, PAIRS[0]
    wanted = folders.ask(theirs, output_attentions=True).attentions
    found = subject.bert(*folders.batch(), output_attentions=True).attentions
    seen, there = look(subject, *pair), folders.ask(theirs, *pair, output_attentions=True).attentions
    segments = [word.segment for word in seen.words]
    assert segments == sorted(segments) and {*segments} == {0, 1}
    apart = [folders.largest(*one) for one in zip(found, wanted, strict=True)]
    apart.append(_apart(seen.attentions, torch.cat(there)))
    with suppress(UserError):  # where query and keys alone do not make the weights
        apart.append(_apart(detail(subject, seen, 1, 2, 3).weights, there[1][0, 2, 3]))
    return Cell(max(apart))


@torch.enable_grad()
def attribution(folders: FamilyFolders) -> Cell:
    """Scores of a label's log-odds: gradient × input, and integrated gradients, which have to be complete.

    The gradients beside them go through transformers, at the same points between [MASK]s and the text.
    """
    folder, theirs = folders.classifier()
    subject, target = LoadedModel.open(folder, "cpu"), Target(question=LABEL)
    found = {
        method: result_of(attribute(subject, *PAIRS[0], target=target, method=method))
        for method in (INTEGRATED, GRADIENT)
    }
    whole = found[INTEGRATED]
    assert whole.is_complete
    words, gradients = _gradients(folders, theirs, whole.asked.answers[0], curtis_places(whole.steps))
    way = (gradients * (words[-1] - words[0])).sum(-1)  # (steps + 1, T)
    wanted = [torch.tensor(curtis_weights(whole.steps)) @ way.double(), (gradients[-1] * words[-1]).sum(-1)]
    scores = [found[method].pieces for method in (INTEGRATED, GRADIENT)]
    return Cell(_apart(np.stack(scores), np.stack(wanted)))


def step_by_step(folders: FamilyFolders) -> Cell:
    """The softmax of every head and what the last layer gives."""
    found = trace(folders.subject, *PAIRS[0])
    there = folders.ask(folders.encoder()[1], *PAIRS[0], output_attentions=True)
    apart = [_apart(found["T"], there.last_hidden_state[0])]
    apart += [_apart(found[f"layer.{n}.softmax"], one[0]) for n, one in enumerate(there.attentions, 1)]
    return Cell(max(apart))


def onnx(folders: FamilyFolders) -> Cell:
    """The scores of three labels by onnxruntime, of ids by the tokenizer that is beside the graph."""
    folder, theirs = folders.classifier()
    out = folders.place("onnx")
    result_of(exporting(folder, out, [text for pair in PAIRS for text in pair]))
    ids, types, mask = folders.batch(read_tokenizer(out))
    given = dict(zip(INPUTS, (ids.numpy(), mask.numpy(), types.numpy()), strict=True))
    (scores,) = open_session(out / GRAPH).run(None, given)
    return Cell(folders.largest(torch.from_numpy(scores), folders.ask(theirs).logits))


CAPABILITIES: Mapping[str, Callable[[FamilyFolders], Cell]] = {
    "opens": opens,
    "saved back": saved_back,
    "masked words": masked_words,
    "classify": classify,
    "label words": label_words,
    "questions": questions,
    "attention": attention,
    "attribution": attribution,
    "step by step": step_by_step,
    "ONNX": onnx,
}
OF_WEIGHTS = ("opens", "saved back", "masked words", "classify", "label words", "questions", "attention")
LIMIT = 1e-5  # of every cell


@torch.no_grad()
def cell_of(folders: FamilyFolders, capability: str) -> Cell:
    """Return one cell."""
    try:
        return CAPABILITIES[capability](folders)
    except UserError as refusal:
        return Cell(said=re.sub(rf"{re.escape(str(folders.root))}\S*/{NAME}\b", NAME, str(refusal)))


def _apart(ours: Any, theirs: Any) -> float:
    """Return the largest difference, as a share of the largest number where that is above 1.

    Not to be asked of numbers so small that no difference could be large.
    """
    here, there = np.asarray(ours), np.asarray(theirs)
    assert here.shape == there.shape and there.std() > 1e-3
    return float(np.abs(here - there).max() / max(1.0, np.abs(there).max()))


def _ending(head: type[HeadedEncoder]) -> str:
    """Return how a head's class ends in any family."""
    return head.architecture.removeprefix("Bert")


def _under(folders: FamilyFolders, head: type[HeadedEncoder]) -> Cell:
    """Compare a head of transformers' own, before and after saving; a new one where it has no such class."""
    ending = _ending(head)
    if hasattr(transformers, folders.case.stem + ending):
        folder, theirs = folders.made(ending)
        ours, _ = load_headed(folder, head)
        again = reopened(folders.saved(ours, ending), folders.saved_as, ending)
        found, wanted = (ours(*folders.batch()), _scores(folders.ask(again))), _scores(folders.ask(theirs))
        return Cell(max(folders.largest(one, wanted) for one in found))
    folder, ours = folders.with_new(head)
    if is_own := not hasattr(transformers, folders.saved_as + ending):
        wanted = load_headed(folder, head)[0](*folders.batch())
    else:
        wanted = _scores(folders.ask(reopened(folder, folders.saved_as, ending)))
    return Cell(folders.largest(ours(*folders.batch()), wanted), is_own=is_own)


def _scores(output: Any) -> Tensor:
    """Return (B, C) or (B, T, C)."""
    if "logits" in output:
        return output.logits  # type: ignore[no-any-return]
    return torch.stack([output.start_logits, output.end_logits], -1)


def _gradients(folders: FamilyFolders, theirs: Any, answer: int, places: np.ndarray) -> tuple[Tensor, Tensor]:
    """Return (P, T, E) word vectors at places from [MASK]s, 0, to a text, 1; a label's gradients by them."""
    own, table = folders.own_tokenizer, theirs.get_input_embeddings()
    (ids,) = own(*PAIRS[0], return_tensors="pt")["input_ids"]
    special = torch.tensor([own.cls_token_id, own.sep_token_id, own.pad_token_id, own.mask_token_id])
    text = table.weight[ids].detach()  # (T, E)
    start = torch.where(torch.isin(ids, special)[:, None], text, table.weight[own.mask_token_id].detach())
    shares = torch.tensor(places, dtype=torch.float32)[:, None, None]
    words = torch.lerp(start, text, shares).requires_grad_()
    hook = table.register_forward_hook(lambda *_: words)
    logits = folders.ask(theirs, *([one] * len(places) for one in PAIRS[0])).logits  # (P, C)
    hook.remove()
    others = torch.arange(logits.shape[-1]) != answer
    odds = logits[:, answer] - logits[:, others].logsumexp(-1)
    return words.detach(), torch.autograd.grad(odds.sum(), words)[0]
