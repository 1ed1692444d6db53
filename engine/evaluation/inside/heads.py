"""What the heads of a model are worth over many texts: how much each matters, and what goes without some.

Importance is how fast the loss changes with a head's share, at its full share: the mean over texts of the
absolute derivative, from one pass forward and one backward. It ranks heads; it is not what switching one off
costs, which `heads_off` measures.
Source: Michel et al. 2019, Are Sixteen Heads Really Better than One?, sections 2.3 and 4.1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from engine.errors import ModelError, UserError, marked
from engine.evaluation.inside.texts import EncodedText, hidden_places
from engine.evaluation.statistics import Difference, compared, compared_hits, share_of
from engine.events import Progress, Steps
from engine.inspect.attention.weights import Switches, check_switches, explained_memory
from engine.inspect.loaded_model import LoadedModel

# B texts of a batch, T tokens of the longest, L layers, H heads, E texts in all

HIDDEN_SHARE = 0.15  # of a text's tokens, hidden at once, as in pretraining
TOKENS_AT_ONCE = 512

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False, slots=True)
class ImportanceTable:
    """How much each head matters. values, low, high: (L, H), the mean over texts and its 95 % interval.

    asks: "labels", the loss is that of the true label, or of the model's own where a text has none; or
    "masked_words", that of hidden words. num_texts: E.
    """

    values: Numbers
    low: Numbers
    high: Numbers
    asks: str
    num_texts: int

    def ranked(self) -> list[tuple[int, int]]:
        """Return (layer, head) from 0, the most important first."""
        layers, heads = np.unravel_index(
            np.argsort(-self.values, axis=None, kind="stable"), self.values.shape
        )
        return list(zip(layers.tolist(), heads.tolist(), strict=True))


@dataclass(frozen=True, eq=False, slots=True)
class HeadsOff:
    """What a model scores with all heads and without some, on the same texts.

    asks: "labels" or "masked_words". before, after: the share of right labels, or of right hidden words.
    difference: after less before. rows: of the table, (E,). right_before, right_after: (E,) bool, for labels;
    the share of a text's hidden words that is right, for words. num_asked: texts, or hidden words.
    """

    asks: str
    before: float
    after: float
    difference: Difference
    rows: npt.NDArray[np.int64]
    right_before: Numbers
    right_after: Numbers
    num_asked: int
    num_off: int


def what_is_asked(subject: LoadedModel, texts: Sequence[EncodedText], *, with_labels: bool) -> str:
    """Return what a model is asked over texts: its labels where it has some, else hidden words.

    Args: with_labels: the true ones are needed. Raises: ModelError; UserError where a text has none.
    """
    if subject.labels:
        if with_labels and any(text.label is None for text in texts):
            template = marked("engine", "To score the answers, choose the column of the labels.")
            raise UserError(template)
        return "labels"
    if subject.has_masked_words:
        return "masked_words"
    template = marked(
        "engine",
        "The model {name} has neither labels nor a masked-word head, so the effect of "
        "its heads cannot be measured. Choose another model.",
    )
    raise ModelError(template, name=subject.name)


def importance(
    subject: LoadedModel, texts: Sequence[EncodedText], *, seed: int = 0
) -> Steps[ImportanceTable]:
    """Return how much each head matters; yields Progress.

    Args: seed: of which words are hidden, where a model has no labels.
    Raises: ModelError where the model answers nothing; UserError where memory does not suffice.
    """
    asks = what_is_asked(subject, texts, with_labels=False)
    asked = _Asked(subject, texts, asks, seed)
    shape = subject.config.num_hidden_layers, subject.config.num_attention_heads
    slopes = np.empty((len(texts), *shape))
    for done, part in asked.parts():
        yield Progress(stage=marked("engine", "Weighing heads"), done=done, total=len(texts))
        slopes[part] = asked.slopes(part)
    yield Progress(stage=marked("engine", "Weighing heads"), done=len(texts), total=len(texts))
    mean = slopes.mean(0)
    half = np.zeros(shape)
    if len(texts) > 1:
        from scipy import stats  # here: it takes long to import

        half = stats.t.ppf(0.975, len(texts) - 1) * slopes.std(0, ddof=1) / np.sqrt(len(texts))
    return ImportanceTable(mean, np.maximum(mean - half, 0.0), mean + half, asks, len(texts))


def heads_off(
    subject: LoadedModel, texts: Sequence[EncodedText], on: Switches, *, seed: int = 0
) -> Steps[HeadsOff]:
    """Score a model with all heads and with those that stay on; yields Progress.

    Args: on: (L, H) bool, False for heads that are off. seed: of which words are hidden.
    Raises: ModelError, UserError as `what_is_asked`.
    """
    check_switches(subject.config, on)
    asks = what_is_asked(subject, texts, with_labels=True)
    asked = _Asked(subject, texts, asks, seed)
    hits = np.zeros((2, len(texts)))
    for done, part in asked.parts():
        yield Progress(stage=marked("engine", "Turning heads off"), done=done, total=len(texts))
        hits[0, part] = asked.hits(part, None)
        hits[1, part] = asked.hits(part, on)
    yield Progress(stage=marked("engine", "Turning heads off"), done=len(texts), total=len(texts))
    counts = asked.counts
    if asks == "labels":
        difference = compared_hits(hits[0] > 0, hits[1] > 0)
    else:
        difference = compared(np.stack([hits[0], counts], 1), np.stack([hits[1], counts], 1), share_of)
    before, after = (float(one.sum() / counts.sum()) for one in hits)
    return HeadsOff(
        asks=asks,
        before=before,
        after=after,
        difference=difference,
        rows=np.array([text.example.row for text in texts], np.int64),
        right_before=hits[0] / counts,
        right_after=hits[1] / counts,
        num_asked=int(counts.sum()),
        num_off=int((~np.asarray(on, bool)).sum()),
    )


class _Asked:
    """Texts and what is asked of each: a label, or the words at its hidden places."""

    def __init__(self, subject: LoadedModel, texts: Sequence[EncodedText], asks: str, seed: int) -> None:
        self._subject, self._texts, self._asks = subject, texts, asks
        self.places: list[tuple[int, ...]] = [()] * len(texts)
        if asks == "masked_words":
            self.places = hidden_places(texts, HIDDEN_SHARE, seed)
        self.counts = np.array([len(places) or 1 for places in self.places])  # (E,), answers of each text
        self._answers = [text.label for text in texts]

    def parts(self) -> Iterator[tuple[int, list[int]]]:
        """Yield how many are done, and the places of texts of nearly one length."""
        part, done = list[int](), 0
        for place in sorted(range(len(self._texts)), key=lambda one: -len(self._texts[one])):
            if part and (len(part) + 1) * len(self._texts[part[0]]) > TOKENS_AT_ONCE:
                yield done, part
                done, part = done + len(part), []
            part.append(place)
        yield done, part

    def slopes(self, part: list[int]) -> Numbers:
        """Return (B, L, H), the absolute slope of each text's loss by the share of each head."""
        config = self._subject.config
        shape = (config.num_hidden_layers, len(part), config.num_attention_heads, 1)
        with explained_memory(len(self._texts[part[0]])), torch.enable_grad(), self._subject.computing():
            shares = torch.ones(shape, device=self._subject.device, requires_grad=True)
            logits, places = self._logits(part, shares)
            loss = nn.functional.cross_entropy(logits, self._targets(part, logits), reduction="none")
            counts = torch.tensor(self.counts[part], device=loss.device)
            (slopes,) = torch.autograd.grad((loss / counts[places]).sum(), shares)
        return slopes[..., 0].abs().transpose(0, 1).double().cpu().numpy()  # type: ignore[no-any-return]

    def hits(self, part: Sequence[int], on: Switches | None) -> Numbers:
        """Return (B,), how many answers to each text are right."""
        with explained_memory(len(self._texts[part[0]])), torch.inference_mode(), self._subject.computing():
            shares = None
            if on is not None:
                shares = torch.tensor(on, dtype=torch.float32, device=self._subject.device)
            logits, places = self._logits(part, shares)
            right = (logits.argmax(-1) == self._targets(part, logits)).double()
            found = torch.zeros(len(part), dtype=torch.float64, device=right.device)
            return found.index_add(0, places, right).cpu().numpy()  # type: ignore[no-any-return]

    def _logits(self, part: Sequence[int], shares: Tensor | None) -> tuple[Tensor, Tensor]:
        """Return (Q, C) scores, one for a label or one for each hidden word, and (Q,), whose they are.

        Args: shares: (L, H) or (L, B, H, 1), of the heads.
        """
        subject, length = self._subject, len(self._texts[part[0]])
        ids = np.zeros((3, len(part), length), np.int64)  # padded ids, types and what is read
        for row, one in enumerate(part):
            encoding = self._texts[one].encoding
            filled = np.array(encoding.input_ids)
            if self.places[one]:
                filled[list(self.places[one])] = subject.wordpiece.mask_id
            ids[0, row, : len(filled)], ids[1, row, : len(filled)] = filled, encoding.token_type_ids
            ids[2, row, : len(filled)] = 1
        given = [torch.tensor(one, device=subject.device) for one in ids]
        if self._asks == "labels":
            logits = subject.label_head()(*given, head_mask=shares)
            return logits.float(), torch.arange(len(part), device=subject.device)
        flat = [row * length + place for row, one in enumerate(part) for place in self.places[one]]
        model, masked = subject.masked_head(), torch.tensor(flat, device=subject.device)
        logits = model.logits(model(*given, masked=masked, head_mask=shares).hidden)
        return logits.float()[:, : subject.wordpiece.vocab_size], masked // length

    def _targets(self, part: Sequence[int], logits: Tensor) -> Tensor:
        """Return (Q,), the true answers; the model's own label where a text has none."""
        if self._asks == "labels":
            own = logits.argmax(-1).tolist()
            known = [self._answers[one] for one in part]
            given = [mine if true is None else true for true, mine in zip(known, own, strict=True)]
        else:
            texts = [(self._texts[one].encoding.input_ids, self.places[one]) for one in part]
            given = [ids[place] for ids, places in texts for place in places]
        return torch.tensor(given, device=logits.device)
