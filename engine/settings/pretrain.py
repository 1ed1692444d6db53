"""Every setting of pretraining; config.py says what a config is."""

from __future__ import annotations

from dataclasses import dataclass, field

from engine.errors import ConfigError, marked
from engine.settings import shared
from engine.settings.setting import declared, setting
from engine.settings.shared import DeviceConfig


@dataclass(frozen=True, kw_only=True)
class TextConfig:
    """Which text, how it is read, what is kept apart."""

    text: str = setting(
        "",
        marked("engine", "Text"),
        marked(
            "engine",
            "Text files or folders to train on, one per line: plain, .gz, .xz, or a table with a column.",
        ),
        kind="path",
    )
    column: str = setting(
        "",
        marked("engine", "Column"),
        marked("engine", "The column to read when the text is a table."),
        kind="column",
        advanced=True,
    )
    layout: str = setting(
        "",
        marked("engine", "Layout"),
        marked(
            "engine",
            "paragraphs: one paragraph per line, a blank line between documents. sentences: "
            "one sentence per line, a blank line between documents. lines: every line is a "
            "document.",
        ),
        choices=("", "paragraphs", "sentences", "lines"),
        auto=marked("engine", "detect"),
        advanced=True,
    )
    encoding: str = declared(shared.ENCODING, "")
    drop_repeated: bool = setting(
        False,
        marked("engine", "Drop repeated lines"),
        marked(
            "engine",
            "Exclude lines that repeat an earlier one except for case, spaces and digits. "
            "Thousands of repeats are the classic reason why a loss does not fall.",
        ),
    )
    validation_text: str = setting(
        "",
        marked("engine", "Validation text"),
        marked("engine", "Text held out to measure on. Empty: a share of the documents."),
        kind="path",
        advanced=True,
    )
    validation_share: float = setting(
        0.01,
        marked("engine", "Validation share"),
        marked("engine", "The share of the text, in whole documents, that is held out for validation."),
        minimum=0.0,
        maximum=0.5,
        advanced=True,
    )
    validation_tokens: int = setting(
        65536,
        marked("engine", "Validation tokens"),
        marked("engine", "The most tokens that are measured at each evaluation."),
        minimum=128,
        maximum=10**9,
        advanced=True,
    )
    segmenter: str = setting(
        "",
        marked("engine", "Chinese words"),
        marked("engine", "Find Chinese words with a dictionary, so that whole words can be masked."),
        choices=("", "jieba"),
        auto=marked("engine", "by character"),
        advanced=True,
    )


@dataclass(frozen=True, kw_only=True)
class StartConfig:
    """Which model and vocabulary to start from."""

    model: str = setting(
        "new:mini",
        marked("engine", "Model"),
        marked(
            "engine",
            "new:SIZE for random weights (tiny, mini, small, medium, base, large, or layers x width such as "
            "6x384), or the folder of a model to train further.",
        ),
        kind="path",
    )
    vocab: str = setting(
        "",
        marked("engine", "Vocabulary"),
        marked("engine", "A published vocab.txt. Empty: a vocabulary is made from the text."),
        kind="path",
    )
    vocab_size: int = setting(
        8192,
        marked("engine", "Vocabulary size"),
        marked("engine", "WordPieces to make from the text. More pieces split words less, but cost time."),
        minimum=128,
        maximum=1_000_000,
    )
    lowercase: str = declared(shared.LOWERCASE, "", auto=marked("engine", "yes for a new vocabulary"))
    trim_vocab: int = declared(shared.TRIM_VOCAB, 0)
    informed_start: bool = setting(
        True,
        marked("engine", "Informed start"),
        marked(
            "engine",
            "A new model’s weights begin with counts over the text: word frequencies, words "
            "that occur close together, heads that look at neighbours. Off: at random, as "
            "BERT was published.",
        ),
        advanced=True,
    )
    max_positions: int = setting(
        512,
        marked("engine", "Positions"),
        marked("engine", "Positions of a new model: the longest text that it can ever read."),
        minimum=8,
        maximum=8192,
        advanced=True,
    )
    hidden_dropout: float = declared(
        shared.HIDDEN_DROPOUT,
        0.0,
        help=marked(
            "engine",
            "The share of values dropped at random in each layer. BERT was published with "
            "0.1. A small model that sees its text a few times learns faster without.",
        ),
    )
    attention_dropout: float = declared(shared.ATTENTION_DROPOUT, 0.0)


@dataclass(frozen=True, kw_only=True)
class ObjectiveConfig:
    """What is masked, what is asked, how long the examples are."""

    mask_rate: float = setting(
        0.15,
        marked("engine", "Masked share"),
        marked("engine", "The share of tokens that the model has to guess. BERT: 15 %."),
        minimum=0.01,
        maximum=0.9,
    )
    mask_share: float = setting(
        0.8,
        marked("engine", "Shown as [MASK]"),
        marked("engine", "Of the chosen tokens, the share replaced by [MASK]. BERT: 80 %."),
        minimum=0.0,
        maximum=1.0,
        advanced=True,
    )
    random_share: float = setting(
        0.1,
        marked("engine", "Shown as a random token"),
        marked(
            "engine",
            "Of the chosen tokens, the share replaced by a random token. BERT: 10 %. The "
            "rest is shown unchanged.",
        ),
        minimum=0.0,
        maximum=1.0,
        advanced=True,
    )
    mask_unit: str = setting(
        "piece",
        marked("engine", "Masked unit"),
        marked(
            "engine",
            "piece: single pieces, as in BERT. word: all pieces of a word. ngram: up to "
            "a few words together. span: stretches of words, as in SpanBERT. term: words "
            "from your own list first.",
        ),
        choices=("piece", "word", "ngram", "span", "term"),
    )
    max_ngram: int = setting(
        3,
        marked("engine", "Longest n-gram"),
        marked("engine", "The most words that are masked together, if the unit is ngram."),
        minimum=1,
        maximum=10,
        advanced=True,
    )
    terms: str = setting(
        "",
        marked("engine", "Terms"),
        marked("engine", "A text file with one term per line, if the unit is term."),
        kind="path",
        advanced=True,
    )
    dynamic_masking: bool = setting(
        True,
        marked("engine", "Dynamic masking"),
        marked("engine", "Mask other tokens each time a text comes round, instead of the same ones."),
        advanced=True,
    )
    next_sentence: bool = setting(
        True,
        marked("engine", "Next sentence"),
        marked(
            "engine",
            "Also ask whether a second text follows the first. Half the time it comes from "
            "another document. Pairs are truncated to fit, so one pass over the text shows "
            "only part of it. At a length of 128 it shows about 87 % of the pieces, at "
            "64 about 73 %, at 32 about 43 %. Off: all of it, once, and masked words are learned "
            "faster: after 25 minutes on two cores, mini had a loss of 3.19 and not 3.45.",
        ),
    )
    max_length: int = setting(
        128,
        marked("engine", "Maximum length"),
        marked("engine", "Pieces of an example, special tokens included."),
        minimum=8,
        maximum=8192,
    )
    start_length: int = setting(
        0,
        marked("engine", "First length"),
        marked(
            "engine",
            "For models that start at random: examples start at this length and double up to "
            "the maximum. Short ones teach close neighbours first. 0: the maximum from the "
            "start.",
        ),
        minimum=0,
        maximum=8192,
        auto=marked("engine", "the maximum"),
        advanced=True,
    )
    growth_share: float = setting(
        0.3,
        marked("engine", "Growing share"),
        marked("engine", "The share of the budget over which examples grow to the maximum length."),
        minimum=0.0,
        maximum=1.0,
        advanced=True,
    )
    teacher: str = setting(
        "",
        marked("engine", "Teacher"),
        marked(
            "engine",
            "The folder of a model whose reading of the text is learned as well. It helps "
            "where guessing words would make a model forget. Let a sentence encoder that is "
            "trained further be its own teacher. The teacher has the same width, and takes a "
            "third more time.",
        ),
        kind="path",
        auto=marked("engine", "none"),
        advanced=True,
    )
    teacher_weight: float = setting(
        1.0,
        marked("engine", "Weight of the teacher"),
        marked(
            "engine",
            "How much the distance from the teacher counts against the masked words. More "
            "keeps more of what the teacher knows, but slows learning of words.",
        ),
        minimum=0.0,
        maximum=1000.0,
        advanced=True,
    )


@dataclass(frozen=True, kw_only=True)
class BudgetConfig:
    """How long, and how the weights move."""

    minutes: float = setting(
        0.0,
        marked("engine", "Minutes"),
        marked("engine", "Train this long. The learning rate follows the clock, and pauses do not count."),
        minimum=0.0,
        maximum=1e6,
    )
    steps: int = setting(
        0,
        marked("engine", "Steps"),
        marked("engine", "Train for so many steps. Give one of minutes, steps and tokens."),
        minimum=0,
        maximum=10**9,
    )
    tokens: int = setting(
        0,
        marked("engine", "Tokens"),
        marked("engine", "Train on so many tokens."),
        minimum=0,
        maximum=10**13,
    )
    batch_tokens: int = declared(shared.BATCH_TOKENS, 2048)
    learning_rate: float | None = declared(shared.LEARNING_RATE, None)
    warmup_ratio: float = declared(
        shared.WARMUP_RATIO,
        0.05,
        help=marked("engine", "The share of the budget over which the learning rate climbs to its peak."),
        advanced=True,
    )
    weight_decay: float = declared(shared.WEIGHT_DECAY, 0.01, advanced=True)
    adam_beta2: float = setting(
        0.98,
        marked("engine", "Adam beta 2"),
        marked("engine", "How long the optimizer remembers the size of gradients. BERT: 0.999."),
        minimum=0.5,
        maximum=0.99999,
        advanced=True,
    )
    max_gradient_norm: float = declared(shared.MAX_GRADIENT_NORM, 1.0)
    seed: int = declared(
        shared.SEED,
        42,
        help=marked(
            "engine",
            "Fixes what is random: new weights, order, masks and dropout. The same seed gives the same run.",
        ),
    )
    evaluations: int = setting(
        20,
        marked("engine", "Evaluations"),
        marked(
            "engine", "Evaluations on the held-out text over the whole run. A checkpoint is kept at each."
        ),
        minimum=1,
        maximum=10000,
        advanced=True,
    )
    checkpoint_every_steps: int = declared(shared.CHECKPOINT_EVERY_STEPS, 500)
    kept_weights: int = declared(shared.KEPT_WEIGHTS, 8)
    pins: str = setting(
        "",
        marked("engine", "Pinned sentences"),
        marked(
            "engine",
            "Sentences to watch during training, one per line, with the word to guess in "
            "brackets: The capital of France is [Paris].",
        ),
        kind="hidden",
    )


@dataclass(frozen=True, kw_only=True)
class PretrainConfig:
    """Everything a pretraining run needs to be repeated."""

    text: TextConfig = TextConfig()
    start: StartConfig = StartConfig()
    objective: ObjectiveConfig = ObjectiveConfig()
    budget: BudgetConfig = BudgetConfig()
    device: DeviceConfig = field(default_factory=DeviceConfig)


def check_budget(budget: BudgetConfig) -> None:
    """Refuse none or several of minutes, steps and tokens. Raises: ConfigError."""
    given = [name for name in ("minutes", "steps", "tokens") if getattr(budget, name)]
    if len(given) != 1:
        raise ConfigError(
            marked(
                "engine", "Say how long to train: give one of minutes, steps and tokens (given: {given})."
            ),
            field=given[1] if given else "minutes",
            given=given or "-",
        )
