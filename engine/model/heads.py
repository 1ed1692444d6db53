"""The small heads that turn what BERT found into an answer.

A head for fine-tuning is an `HeadedEncoder`: which published class it is, which of names.PARTS it adds, and
what is said of a model that has it, or lacks it. HEADS names all whose published class tells that a model
was fine-tuned; MaskedWords is the one that a pretrained model has too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from engine.errors import marked
from engine.model.attention import Read
from engine.model.bert import Bert, firsts_of
from engine.model.config import FIRST_LAST, BertConfig
from engine.model.kernels import ROW_MULTIPLE, Dropout, exact, linear, linear_cross_entropy
from engine.text.batch import Batch, Bounds

# B examples, N tokens of all examples packed, M chosen tokens, D hidden_size, V words of the vocabulary,
# E embedding_width, which is D in BERT


class LayerMix(nn.Module):
    """A learned mean of what all layers give: a softmax weight each, and a scale.

    Source: Peters et al. 2018, equation 1 (ELMo).
    """

    def __init__(self, num_states: int) -> None:
        super().__init__()
        self.weights = nn.Parameter(torch.zeros(num_states))
        self.scale = nn.Parameter(torch.ones(1))

    def forward(self, states: Sequence[Tensor]) -> Tensor:
        """Return (..., D), of the weights' type. Args: states: of the embeddings and each layer, (..., D)."""
        every = torch.stack(tuple(states)).to(self.weights.dtype)  # (L + 1, ..., D)
        return self.scale * torch.einsum("l,l...d->...d", self.weights.softmax(0), every)


class HeadedEncoder(nn.Module):
    """An encoder under one small head, as fine-tuning trains it.

    Where config.json says layer_mix, the head reads a mix of all layers, not the last one.
    """

    architecture: ClassVar[str]  # the published class, as config.json names it
    tag: ClassVar[str]  # how Hugging Face calls what it does
    outputs: ClassVar[tuple[str, ...]] = ("logits",)  # as the published class calls them
    does: ClassVar[str]  # marked: what a model answers that has it; of its labels there are {count}
    missing: ClassVar[str]  # marked: what is said where it has to be there and is not
    has_labels: ClassVar[bool] = False  # whether its rows are labels, by name
    parts: ClassVar[tuple[str, ...]]  # of names.PARTS, which a model to start from may lack
    reads_firsts: ClassVar[bool]  # whether it reads each example's first token alone
    reads_meaning: ClassVar[bool] = True  # whether an encoder for whole texts, if a folder has one, is read

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.config = config
        self.bert = Bert(config, with_pooler="pooler" in self.parts_of(config))
        self.mix = LayerMix(config.num_hidden_layers + 1) if config.layer_mix else None

    @classmethod
    def parts_of(cls, config: BertConfig) -> tuple[str, ...]:
        """Return the `parts` that a model of this shape has, the head itself last."""
        lacking = {"pooler"} if config.pooling == FIRST_LAST and config.family.straight is None else set()
        lacking |= set() if config.layer_mix else {"layer_mix"}
        parts = tuple(part for part in cls.parts if part not in lacking)
        is_passed = config.family.tokens_pass_pooler and "pooler" not in cls.parts
        return ("pooler", *parts) if is_passed else parts


def on_batch(model: nn.Module, batch: Batch, rows: Tensor | None = None) -> Tensor:
    """Return what an `HeadedEncoder`, or what wraps it, gives for a packed batch.

    Args: rows: of a head over tokens, those that are answered for; None: all.
    """
    ids: Any = batch.input_ids
    return model(  # type: ignore[no-any-return]
        ids,
        batch.token_type_ids,
        position_ids=batch.position_ids,
        bounds=batch.bounds,
        states=batch.states,
        **({} if rows is None else {"rows": rows}),
    )


@dataclass(frozen=True, slots=True)
class Unit:
    """In what a head answers: so many standard deviations from a mean, both in the unit of the table."""

    mean: float
    sd: float


PLAIN = Unit(0.0, 1.0)  # the unit of the table itself


class SequenceClassifier(HeadedEncoder):
    """Scores of labels for a text or a pair of texts: dropout and one linear layer on the pooled output.

    What they mean, `config.problem_type` says: one label, several, or a number. What is pooled is the first
    token's hidden state or, where config.json says pooling, the mean of all tokens'. "first_last": beside it
    the linear layer reads their mean after the embeddings, which knows the words themselves best.
    Source: Devlin et al. 2019, section 4.1; the published BertForSequenceClassification. Li et al. 2020 take
    the first and the last layer.
    """

    architecture = "BertForSequenceClassification"
    tag = "text-classification"
    does = marked("engine", "{count} labels")
    does_of: ClassVar[Mapping[str, str]] = {  # where config.problem_type says that scores mean other things
        "multi_label_classification": marked("engine", "any of {count} labels"),
        "regression": marked("engine", "a number"),
    }
    missing = marked(
        "engine", "{folder} holds no classifier. Fine-tune it first, or choose a fine-tuned model."
    )
    has_labels = True
    num_scores: ClassVar[int] = 0  # 0: one of each label
    parts = ("pooler", "layer_mix", "classifier")
    reads_firsts = True

    def __init__(self, config: BertConfig) -> None:
        super().__init__(config)
        self.dropout = _dropout(config, self.bert)
        self.classifier = nn.Linear(config.read_width, self.num_scores or len(config.id2label))
        self.unit = PLAIN  # of numbers that it learns

    @property
    def own_head(self) -> dict[str, Tensor]:
        """The head's weights by name, as it answers in the unit of the table and not in SDs from a mean."""
        with torch.no_grad():
            weight, bias = self.classifier.weight.double(), self.classifier.bias.double()
            bias = bias * self.unit.sd + self.unit.mean
            return {
                "classifier.weight": (weight * self.unit.sd).float(),
                "classifier.bias": bias.float(),
            }

    def take_unit(self, unit: Unit) -> None:
        """Make of a head that answers in the unit of a table one that answers in SDs from a mean."""
        weight, bias = self.classifier.weight, self.classifier.bias
        with torch.no_grad():
            weight.copy_(weight.double() / unit.sd)
            bias.copy_((bias.double() - unit.mean) / unit.sd)

    def forward(self, *args: Any, states: Tensor | None = None, **kwargs: Any) -> Tensor:
        """Take what `Bert` takes; return logits (B, C).

        Args: states: as `Bert` takes them; where all layers are frozen, (B, R), what `read_states` gives; of
              a mix (B, L + 1, D), each example's first token at every layer.
        """
        if self.config.pooling and states is not None and self.bert.num_frozen == len(self.bert.layers):
            return self.of_firsts(states.split(self.config.hidden_size, -1))
        if self.config.pooling:
            return self.of_firsts(self.means(*args, states=states, **kwargs))
        if self.mix is None:
            found = self.bert(*args, states=states, rows=Read.FIRSTS, **kwargs)
            return exact(self.classifier, self.dropout(found.pooled_output))
        if states is not None:
            return self.of_firsts(states.unbind(1))
        found = self.bert(*args, output_hidden_states=True, rows=Read.FIRSTS, **kwargs)
        return self.of_firsts(firsts_of(found.hidden_states, kwargs.get("bounds")))

    def read_states(self, batch: Batch) -> Tensor:
        """Return (B, R) what is read of each example of a packed batch. No gradients flow.

        R: D, and twice that with the embeddings' mean, which comes first.
        """
        with torch.no_grad():
            if not self.config.pooling:
                return self.bert.frozen_states(batch).index_select(0, batch.bounds.firsts)
            return torch.cat(self.means_of(batch), -1)

    def means_of(self, batch: Batch) -> list[Tensor]:
        """Return what `means` gives for a packed batch."""
        places, bounds = batch.position_ids, batch.bounds
        return self.means(batch.input_ids, batch.token_type_ids, position_ids=places, bounds=bounds)

    def means(
        self,
        *args: Any,
        states: Tensor | None = None,
        bounds: Bounds | None = None,
        **kwargs: Any,
    ) -> list[Tensor]:
        """Return (B, D) the mean of each text's hidden states of the last layer, and before it, where that is
        read too, of the embeddings. Args: as `Bert` takes them.
        """
        has_both = self.config.pooling == FIRST_LAST
        found = self.bert(*args, states=states, bounds=bounds, output_hidden_states=has_both, **kwargs)
        read = [found.last_hidden_state]
        if has_both:
            read.insert(0, found.hidden_states[0])
        if bounds is not None:
            return [_means(hidden, bounds) for hidden in read]
        mask = kwargs.get("attention_mask", args[2] if len(args) > 2 else None)
        weights = torch.ones(read[-1].shape[:2], device=read[-1].device) if mask is None else mask
        weights = weights.to(read[-1].dtype)[..., None]
        return [(hidden * weights).sum(1) / weights.sum(1) for hidden in read]

    def of_firsts(self, firsts: Sequence[Tensor]) -> Tensor:
        """Return logits (B, C).

        Args: firsts: (B, D) what the embeddings and each layer gave for the first token, or the mean of all
              tokens where that is read. The last one alone does, and the first where the pooling wants it.
        """
        read = _passed(self.bert, firsts[-1] if self.mix is None else self.mix(firsts))
        if self.config.pooling == FIRST_LAST:
            read = torch.cat([read, firsts[0].to(read.dtype)], -1)
        return exact(self.classifier, self.dropout(read))


def _means(hidden: Tensor, bounds: Bounds) -> Tensor:
    """Return (B, D) the mean of each example of the hidden states (N, D) of a packed batch."""
    lengths = bounds.offsets.diff()
    numbers = torch.arange(len(bounds), device=hidden.device)
    examples = numbers.repeat_interleave(lengths, output_size=bounds.num_tokens)
    sums = hidden.new_zeros(len(bounds), hidden.shape[-1]).index_add(0, examples, hidden[: len(examples)])
    return sums / lengths[:, None].to(sums.dtype)


class MultipleChoice(SequenceClassifier):
    """The score of an ending after a text: dropout and one linear layer with one output on the pooled output.

    Source: Devlin et al. 2019, section 4.4; the published BertForMultipleChoice.
    """

    architecture = "BertForMultipleChoice"
    tag = "multiple-choice"
    does = marked("engine", "the right one of several endings")
    does_of: ClassVar[Mapping[str, str]] = {}
    missing = marked(
        "engine", "{folder} holds no head for endings. Fine-tune it first, or choose a fine-tuned model."
    )
    has_labels = False
    num_scores = 1


class TokenClassifier(HeadedEncoder):
    """Scores of tags for tokens: dropout and one linear layer on the last hidden state. It has no pooler.

    Source: Devlin et al. 2019, section 4.1 and 5.3; the published BertForTokenClassification.
    """

    architecture = "BertForTokenClassification"
    tag = "token-classification"
    does = marked("engine", "{count} tags of words")
    missing = marked(
        "engine", "{folder} holds no head for tags. Fine-tune it first, or choose a fine-tuned model."
    )
    has_labels = True
    parts = ("layer_mix", "classifier")
    reads_firsts = False

    def __init__(self, config: BertConfig) -> None:
        super().__init__(config)
        self.dropout = _dropout(config, self.bert)
        self.classifier = nn.Linear(config.hidden_size, len(config.id2label))

    def forward(self, *args: Any, **kwargs: Any) -> Tensor:
        """Take what `Bert` takes; return logits (B, T, C), or (M, C) of the rows (M,) of a packed batch."""
        return exact(self.classifier, self.dropout(_token_states(self, *args, **kwargs)))


class QuestionAnswering(HeadedEncoder):
    """Where an answer begins and ends: two scores a token, one linear layer on the last hidden state.

    Source: Devlin et al. 2019, section 4.2; the published BertForQuestionAnswering.
    """

    architecture = "BertForQuestionAnswering"
    tag, outputs = "question-answering", ("start_logits", "end_logits")
    does = marked("engine", "answers to questions")
    missing = marked(
        "engine", "{folder} holds no head for questions. Fine-tune it first, or choose a fine-tuned model."
    )
    parts = ("layer_mix", "answers")
    reads_firsts = False

    def __init__(self, config: BertConfig) -> None:
        super().__init__(config)
        self.answers = nn.Linear(config.hidden_size, 2)

    def forward(self, *args: Any, **kwargs: Any) -> Tensor:
        """Take what `Bert` takes; return (B, T, 2), the scores of beginning and of ending at each token, or
        (N, 2) of a packed batch.
        """
        return exact(self.answers, _token_states(self, *args, **kwargs))


class VocabularyHead(nn.Module):
    """What scores every word of the vocabulary, by the word embeddings themselves.

    Source: Devlin et al. 2019, section 3.1; BertLMPredictionHead of `transformers`.
    """

    bert: Bert

    def add_head(self, config: BertConfig) -> None:
        """Make the layers before the words, and the bias of each word."""
        self.transform, self.activation, self.norm = config.family.guessing(config)
        self.bias = nn.Parameter(torch.zeros(config.vocab_size))

    def read(self, states: Tensor) -> Tensor:
        """Return what `logits` takes, (M, E), of the encoder's hidden states (M, D) of chosen tokens."""
        return self.norm(self.activation(self.transform(states)))  # type: ignore[no-any-return]

    def logits(self, hidden: Tensor) -> Tensor:
        """Return the score of every word. Args: hidden: (M, E) from `forward`. Returns: (M, V)."""
        return linear(hidden, self.bert.embeddings.word.weight, self.bias)

    def masked_loss(self, hidden: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
        """Return the summed cross-entropy, 0-d, and how many words were guessed right, 0-d int64.

        Args: hidden: (M, E) from `forward`. targets: (M,) int64, the words that belong there.
        """
        return linear_cross_entropy(hidden, self.bert.embeddings.word.weight, self.bias, targets)


class MaskedWords(HeadedEncoder, VocabularyHead):
    """The word that belongs in the place of each token: the masked-word head, asked of tokens that are shown.

    A folder of it is that of a pretrained model: that it was fine-tuned, its cloze.json says, which names
    `task`. It reads by the layers that guess words, whatever encoder for whole texts the folder has.
    Source: the published BertForMaskedLM.
    """

    architecture = "BertForMaskedLM"
    task: ClassVar[str] = "correction"
    tag = "fill-mask"
    does = marked("engine", "corrected texts")
    missing = marked(
        "engine", "{folder} holds no masked-word head. Fine-tune it first, or choose a fine-tuned model."
    )
    parts = ("masked_word",)
    reads_firsts = False
    reads_meaning = False

    def __init__(self, config: BertConfig) -> None:
        super().__init__(config)
        self.add_head(config)

    @classmethod
    def parts_of(cls, config: BertConfig) -> tuple[str, ...]:
        return cls.parts

    def forward(self, *args: Any, **kwargs: Any) -> Tensor:
        """Take what `Bert` takes; return what `logits` and `masked_loss` take: (B, T, E), or (M, E) of the
        rows (M,) of a packed batch.
        """
        return self.read(_token_states(self, *args, **kwargs))


_KINDS = (SequenceClassifier, MultipleChoice, TokenClassifier, QuestionAnswering)
HEADS: dict[str, type[HeadedEncoder]] = {head.architecture: head for head in _KINDS}  # by published class


def _dropout(config: BertConfig, bert: Bert) -> Dropout:
    share = config.classifier_dropout
    return Dropout(config.hidden_dropout_prob if share is None else share, bert.noise)


def _token_states(
    model: HeadedEncoder,
    *args: Any,
    rows: Tensor | None = None,
    states: Tensor | None = None,
    **kwargs: Any,
) -> Tensor:
    """Return the hidden states that a head over tokens reads: all, or those of some rows, (M, D).

    Where the family's heads over tokens have a pooler, it is what the pooler makes of them.
    """
    bert = model.bert
    if states is not None and bert.num_frozen == len(bert.layers):
        return _passed(bert, states if rows is None else states.index_select(0, rows))
    wanted = rows if rows is None else torch.cat([rows, rows.new_zeros(-len(rows) % ROW_MULTIPLE)])
    is_mixed = model.mix is not None
    found = bert(*args, rows=wanted, states=states, output_hidden_states=is_mixed, **kwargs)
    hidden: Tensor = found.last_hidden_state
    if model.mix is not None:
        below = found.hidden_states[:-1]
        hidden = model.mix([*(below if wanted is None else (_some(one, wanted) for one in below)), hidden])
    return _passed(bert, hidden if rows is None else hidden[: len(rows)])


def _passed(bert: Bert, states: Tensor) -> Tensor:
    return states if bert.pooler is None else bert.pool(states)


def _some(hidden: Tensor, rows: Tensor) -> Tensor:
    return hidden.index_select(0, rows)


@dataclass(slots=True)
class PreTrainingOutput:
    """What the two heads of pretraining found.

    hidden: (M, E), what `logits` and `masked_loss` take, of the chosen tokens. next_sentence: (B, 2) logits,
    0 for a second segment that follows the first, 1 for a random one; (0, 2) of an encoder without a pooler.
    states: if wanted, what `Bert` gives as its hidden_states.
    """

    hidden: Tensor
    next_sentence: Tensor
    states: tuple[Tensor, ...] | None = None


class PreTraining(VocabularyHead):
    """BERT with the heads it is pretrained with: masked words, and whether B follows A.

    The vocabulary's product uses the word embeddings themselves, and is computed for chosen tokens alone.
    Source: Devlin et al. 2019, section 3.1; the published BertForPreTraining.
    """

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.config = config
        has_next = config.family.has_next_sentence
        self.bert = Bert(config, with_pooler=has_next)
        self.add_head(config)
        if has_next:
            self.next_sentence = nn.Linear(config.hidden_size, 2)

    def forward(
        self,
        input_ids: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        position_ids: Tensor | None = None,
        *,
        masked: Tensor | None = None,
        inputs_embeds: Tensor | None = None,
        bounds: Bounds | None = None,
        head_mask: Tensor | None = None,
        output_hidden_states: bool = False,
    ) -> PreTrainingOutput:
        """Take what `Bert` takes, padded or packed.

        Args: masked: (M,) int64, rows of the tokens counted through (B, T) or (N,); None for all of them.
        """
        rows = None if masked is None or bounds is None else _wanted(bounds, masked)
        found = self.bert(
            input_ids,
            token_type_ids,
            attention_mask,
            position_ids,
            inputs_embeds=inputs_embeds,
            bounds=bounds,
            head_mask=head_mask,
            rows=rows,
            output_hidden_states=output_hidden_states,
        )
        chosen = found.last_hidden_state.flatten(0, -2)  # (B * T, D) or (N, D)
        if masked is not None:
            chosen = chosen.index_select(0, masked) if rows is None else _after_firsts(chosen, bounds, masked)
        pooled = found.pooled_output
        return PreTrainingOutput(
            hidden=self.read(chosen),
            next_sentence=chosen.new_zeros(0, 2) if pooled is None else exact(self.next_sentence, pooled),
            states=found.hidden_states,
        )


def _wanted(bounds: Bounds, masked: Tensor) -> Tensor:
    """Return the rows that the heads read: each example's first, the chosen ones, and some to fill up."""
    filler = -(len(bounds) + len(masked)) % ROW_MULTIPLE  # so that shapes come back
    return torch.cat([bounds.firsts, masked, masked.new_zeros(filler)])


def _after_firsts(hidden: Tensor, bounds: Bounds | None, masked: Tensor) -> Tensor:
    assert bounds is not None
    return hidden[len(bounds) : len(bounds) + len(masked)]


def start_bias(model: PreTraining, counts: Tensor) -> None:
    """Let a new model guess words by their frequency: each word's bias becomes the log of its share.

    Spares the first steps of learning just that. Every word counts once more than it was seen, so that one
    never seen, as special tokens are, has a small share and no infinite bias.

    Args: counts: (V,), how often each word stands in the text; 0 for what is never to be guessed.
    """
    seen = counts.to(torch.float64) + 1.0
    with torch.no_grad():
        model.bias.copy_((seen / seen.sum()).log())
