"""What pretraining refuses in a moment, before a run folder is made or time is spent."""

from __future__ import annotations

from pathlib import Path

from engine.errors import ConfigError, DataError, marked
from engine.model.config import BertConfig
from engine.model.weights import read_config
from engine.settings.pretrain import ObjectiveConfig, PretrainConfig, StartConfig, check_budget
from engine.text.read_tokenizer import read_tokenizer
from engine.text.tokenizer import Tokenizer
from engine.text.vocabulary import MASK
from engine.text.wordpiece import WordPiece
from engine.train.prepare import check_positions, check_rows, vocabulary_named
from engine.train.pretraining.setup import corpus_of, shape_of, terms_of
from engine.train.pretraining.teacher import check_teacher
from engine.train.ranks import Ranks

_LEAST_LENGTH = 8  # of an example; below, a pair would hold next to nothing


def check_quickly(config: PretrainConfig) -> None:
    """Refuse what can be refused in a moment. Raises: UserError."""
    check_budget(config.budget)
    check_objective(config.objective, shape_of(config.start))
    for places in (config.text.text, config.text.validation_text):
        if places or places is config.text.text:
            corpus = corpus_of(config, places)
            next(iter(corpus.documents()))  # one clear sentence for an empty file or a wrong encoding
    check_start(config.start)
    vocabulary = _vocabulary(config.start)
    if vocabulary is not None:
        check_separators(config.objective, vocabulary)
    check_teacher(config.objective, shape_of(config.start), vocabulary)


def check_ranks(config: PretrainConfig, ranks: Ranks) -> None:
    """Refuse steps that are too small to be shared among processes. Raises: ConfigError."""
    least = ranks.world_size * config.objective.max_length
    if ranks.world_size > 1 and config.budget.batch_tokens < least:
        raise ConfigError(
            marked(
                "engine",
                "{field} is {value}; {count} processes that share steps of texts of {length} pieces need "
                "at least {least}.",
            ),
            field="batch_tokens",
            value=config.budget.batch_tokens,
            count=ranks.world_size,
            length=config.objective.max_length,
            least=least,
        )


def check_objective(objective: ObjectiveConfig, shape: BertConfig) -> None:
    """Refuse an objective that cannot be, or that a model of this shape cannot have. Raises: ConfigError."""
    if objective.mask_share + objective.random_share > 1.0 + 1e-9:
        raise ConfigError(
            marked("engine", "mask_share and {field} are {total:.2f} together; they can be 1 at most."),
            field="random_share",
            total=objective.mask_share + objective.random_share,
        )
    terms_of(objective)
    check_positions(objective.max_length, shape)
    if 0 < objective.start_length < _LEAST_LENGTH:
        raise ConfigError(
            marked("engine", "{field} is {value}; it can be 0, for the maximum, or {least} and more."),
            field="start_length",
            value=objective.start_length,
            least=_LEAST_LENGTH,
        )
    if objective.next_sentence and not shape.family.has_next_sentence:
        template = marked(
            "engine",
            "Models of the family {family} have no part for next sentences, so they cannot learn them. Turn "
            "{field} off.",
        )
        raise ConfigError(template, field="next_sentence", family=shape.family.name)
    if objective.next_sentence and shape.type_vocab_size < 2:
        raise ConfigError(
            marked("engine", "The model knows only one segment, so it cannot read pairs. Turn {field} off."),
            field="next_sentence",
        )


def reads_pairs(shape: BertConfig) -> bool:
    """Whether a model of this shape can learn next sentences."""
    return shape.family.has_next_sentence and shape.type_vocab_size > 1


def check_separators(objective: ObjectiveConfig, tokenizer: Tokenizer) -> None:
    """Refuse pairs where a vocabulary does not join two texts as BERT does. Raises: ConfigError."""
    if objective.next_sentence and tokenizer.num_between != 1:
        template = marked(
            "engine",
            "The vocabulary puts {count} separators between two texts, and pairs for next sentences have one."
            " Turn {field} off.",
        )
        raise ConfigError(template, field="next_sentence", count=tokenizer.num_between)


def check_start(start: StartConfig) -> None:
    """Refuse a vocabulary that does not serve. Raises: ConfigError, DataError, ModelError."""
    if start.model.startswith("new:"):
        if start.vocab:
            check_vocabulary(vocabulary_named(start.vocab, start.lowercase), None, Path(start.vocab))
        return
    wordpiece = read_tokenizer(Path(start.model))
    check_vocabulary(wordpiece, read_config(Path(start.model)), Path(start.model))
    if start.vocab:
        check_same(WordPiece.from_vocab(Path(start.vocab), lowercase=wordpiece.lowercase), wordpiece)


def _vocabulary(start: StartConfig) -> Tokenizer | None:
    """Return the vocabulary that a run begins with; None where one is to be learned from the text."""
    if not start.model.startswith("new:"):
        return read_tokenizer(Path(start.model))
    return vocabulary_named(start.vocab, start.lowercase) if start.vocab else None


def check_vocabulary(wordpiece: Tokenizer, shape: BertConfig | None, path: Path) -> None:
    """Refuse a vocabulary without [MASK], or of another model. Raises: DataError, ModelError."""
    if wordpiece.mask_id is None:
        raise DataError(
            marked(
                "engine", "The vocabulary of {path} lacks {mask}, so no word can be masked. Choose another."
            ),
            path=path,
            mask=MASK,
        )
    if shape is not None:
        check_rows(shape, wordpiece)


def check_same(given: Tokenizer, own: Tokenizer) -> None:
    """Refuse a vocabulary that is not the model's. Raises: ConfigError."""
    if given.tokens != own.tokens:
        raise ConfigError(
            marked(
                "engine",
                "{field} names a vocabulary of {given} pieces, which is not the model’s own of {own}. Leave "
                "it empty to train the model further, or start from new:SIZE.",
            ),
            field="vocab",
            given=given.vocab_size,
            own=own.vocab_size,
        )
