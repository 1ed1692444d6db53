"""Every setting of pretraining; see config.py for what a group is."""

from __future__ import annotations

from dataclasses import dataclass, field

from engine.errors import ConfigError, marked
from engine.settings.finetune import DeviceConfig
from engine.settings.setting import setting


@dataclass(frozen=True, kw_only=True)
class TextConfig:
    """Which text, how it is read, what is kept apart."""

    text: str = setting(
        "",
        marked("engine", "Text"),
        marked(
            "engine",
            "Text files or folders to learn from, one a line: plain, .gz, .xz, or a table with a column.",
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
            "paragraphs: a paragraph a line, a blank line between documents. sentences: a sentence a line, "
            "a blank line between documents. lines: every line is a document.",
        ),
        choices=("", "paragraphs", "sentences", "lines"),
        auto=marked("engine", "detect"),
        advanced=True,
    )
    encoding: str = setting(
        "",
        marked("engine", "Encoding"),
        marked("engine", "How bytes become characters, such as utf-8 or gb18030."),
        auto=marked("engine", "detect"),
        advanced=True,
    )
    drop_repeated: bool = setting(
        False,
        marked("engine", "Drop repeated lines"),
        marked(
            "engine",
            "Leave out lines that repeat an earlier one but for case, spaces and digits. Thousands of "
            "repeats are the classic cause of a loss that does not fall.",
        ),
    )
    validation_text: str = setting(
        "",
        marked("engine", "Validation text"),
        marked("engine", "Text kept apart to measure on. Empty: a share of the documents."),
        kind="path",
        advanced=True,
    )
    validation_share: float = setting(
        0.01,
        marked("engine", "Validation share"),
        marked("engine", "The share of the text, in whole documents, that is kept apart to measure on."),
        minimum=0.0,
        maximum=0.5,
        advanced=True,
    )
    validation_tokens: int = setting(
        65536,
        marked("engine", "Validation tokens"),
        marked("engine", "At most this many tokens are measured at each look at the held-out text."),
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
        marked("engine", "A published vocab.txt. Empty: one is learned from the text."),
        kind="path",
    )
    vocab_size: int = setting(
        8192,
        marked("engine", "Vocabulary size"),
        marked("engine", "WordPieces to learn from the text. More pieces cut words less and cost time."),
        minimum=128,
        maximum=1_000_000,
    )
    lowercase: str = setting(
        "",
        marked("engine", "Lower case"),
        marked("engine", "Whether text is lower-cased before it is cut into WordPieces."),
        choices=("", "yes", "no"),
        auto=marked("engine", "yes for a new vocabulary"),
        advanced=True,
    )
    trim_vocab: int = setting(
        0,
        marked("engine", "Trim vocabulary to"),
        marked(
            "engine",
            "Keep only this many of the model's WordPieces, those that the text uses most, with their "
            "embeddings; every single character stays. 0: keep all.",
        ),
        minimum=0,
        maximum=1_000_000,
        auto=marked("engine", "keep all"),
        advanced=True,
    )
    informed_start: bool = setting(
        True,
        marked("engine", "Informed start"),
        marked(
            "engine",
            "A new model's weights begin with what counting tells: how frequent words are, which words stand "
            "near each other, heads that look at neighbours. Off: at random, as BERT was published.",
        ),
        advanced=True,
    )
    max_positions: int = setting(
        512,
        marked("engine", "Positions"),
        marked("engine", "Positions that a new model has: the longest text it can ever read."),
        minimum=8,
        maximum=8192,
        advanced=True,
    )
    hidden_dropout: float = setting(
        0.0,
        marked("engine", "Dropout"),
        marked(
            "engine",
            "The share of values switched off at random in each layer. BERT was published with 0.1; a small "
            "model that sees its text a few times learns faster without.",
        ),
        minimum=0.0,
        maximum=0.9,
        advanced=True,
    )
    attention_dropout: float = setting(
        0.0,
        marked("engine", "Attention dropout"),
        marked(
            "engine",
            "Dropout on attention weights. 0 lets the fused attention kernels run, which are faster; "
            "BERT was published with 0.1.",
        ),
        minimum=0.0,
        maximum=0.9,
        advanced=True,
    )


@dataclass(frozen=True, kw_only=True)
class ObjectiveConfig:
    """What is masked, what is asked, how long the examples are."""

    mask_rate: float = setting(
        0.15,
        marked("engine", "Masked share"),
        marked("engine", "The share of tokens that the model has to find. BERT: 15 %."),
        minimum=0.01,
        maximum=0.9,
    )
    mask_share: float = setting(
        0.8,
        marked("engine", "Shown as [MASK]"),
        marked("engine", "Of the chosen tokens, the share that is replaced by [MASK]. BERT: 80 %."),
        minimum=0.0,
        maximum=1.0,
        advanced=True,
    )
    random_share: float = setting(
        0.1,
        marked("engine", "Shown as a random token"),
        marked(
            "engine",
            "Of the chosen tokens, the share that is replaced by a random one. BERT: 10 %. The rest is shown "
            "as it is.",
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
            "piece: single WordPieces, as BERT. word: all pieces of a word. ngram: up to a few words "
            "together. span: stretches of words, as SpanBERT. term: words of your own list first.",
        ),
        choices=("piece", "word", "ngram", "span", "term"),
    )
    max_ngram: int = setting(
        3,
        marked("engine", "Longest n-gram"),
        marked("engine", "Words masked together at most, when the unit is ngram."),
        minimum=1,
        maximum=10,
        advanced=True,
    )
    terms: str = setting(
        "",
        marked("engine", "Terms"),
        marked("engine", "A text file with a term a line, when the unit is term."),
        kind="path",
        advanced=True,
    )
    dynamic_masking: bool = setting(
        True,
        marked("engine", "Dynamic masking"),
        marked("engine", "Choose other tokens each time a text comes round, instead of the same."),
        advanced=True,
    )
    next_sentence: bool = setting(
        True,
        marked("engine", "Next sentence"),
        marked(
            "engine",
            "Also ask whether a second text follows the first; half the time it comes from another document. "
            "Pairs are cut to fit, so going through the text once shows a part of it: some 87 % of its "
            "WordPieces at a length of 128, 73 % at 64, 43 % at 32. Off: all of it, once.",
        ),
    )
    max_length: int = setting(
        128,
        marked("engine", "Maximum length"),
        marked("engine", "WordPieces of an example, special tokens included."),
        minimum=8,
        maximum=8192,
    )
    start_length: int = setting(
        0,
        marked("engine", "First length"),
        marked(
            "engine",
            "Examples start at this length and double up to the maximum, for models that start at random: "
            "short ones teach nearest neighbours first. 0: the maximum from the start.",
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


@dataclass(frozen=True, kw_only=True)
class BudgetConfig:
    """How long, and how the weights move."""

    minutes: float = setting(
        0.0,
        marked("engine", "Minutes"),
        marked("engine", "Train this long; the learning rate follows the clock. Pauses do not count."),
        minimum=0.0,
        maximum=1e6,
    )
    steps: int = setting(
        0,
        marked("engine", "Steps"),
        marked("engine", "Train this many steps. Minutes, steps, tokens: give one of the three."),
        minimum=0,
        maximum=10**9,
    )
    tokens: int = setting(
        0,
        marked("engine", "Tokens"),
        marked("engine", "Train on this many tokens."),
        minimum=0,
        maximum=10**13,
    )
    batch_tokens: int = setting(
        2048,
        marked("engine", "Tokens a step"),
        marked("engine", "Tokens in every step, whatever the memory: they are worked off in parts."),
        minimum=64,
        maximum=10**8,
    )
    learning_rate: float | None = setting(
        None,
        marked("engine", "Learning rate"),
        marked("engine", "How far each step moves the weights at its peak. Small models want more."),
        minimum=1e-8,
        maximum=1.0,
        auto=marked("engine", "by the model's size"),
    )
    warmup_ratio: float = setting(
        0.05,
        marked("engine", "Warm-up"),
        marked("engine", "The share of the budget over which the learning rate climbs to its peak."),
        minimum=0.0,
        maximum=1.0,
        advanced=True,
    )
    weight_decay: float = setting(
        0.01,
        marked("engine", "Weight decay"),
        marked("engine", "A pull of all weights towards zero; biases and layer norms are left out."),
        minimum=0.0,
        maximum=1.0,
        advanced=True,
    )
    adam_beta2: float = setting(
        0.98,
        marked("engine", "Adam beta 2"),
        marked("engine", "How long the optimizer remembers the size of gradients. BERT: 0.999."),
        minimum=0.5,
        maximum=0.99999,
        advanced=True,
    )
    max_gradient_norm: float = setting(
        1.0,
        marked("engine", "Gradient clipping"),
        marked("engine", "Longer gradients are scaled down to this length. 0: never."),
        minimum=0.0,
        maximum=1e6,
        auto=marked("engine", "never"),
        advanced=True,
    )
    seed: int = setting(
        42,
        marked("engine", "Seed"),
        marked("engine", "Fixes what is random: new weights, order, masks and dropout. Same seed, same run."),
        minimum=0,
        maximum=2**31 - 1,
    )
    evaluations: int = setting(
        20,
        marked("engine", "Evaluations"),
        marked("engine", "Looks at the held-out text over the whole run; a checkpoint is kept at each."),
        minimum=1,
        maximum=10000,
        advanced=True,
    )
    checkpoint_every_steps: int = setting(
        500,
        marked("engine", "Checkpoint every"),
        marked("engine", "Steps between two checkpoints; one is also written at each evaluation."),
        minimum=1,
        maximum=10**9,
        unit=marked("engine", "steps"),
        advanced=True,
    )
    kept_weights: int = setting(
        8,
        marked("engine", "Keep weights along the way"),
        marked(
            "engine",
            "Copies of the weights over the run, in half precision, for looking at how it learned. 0: none.",
        ),
        minimum=0,
        maximum=100,
        advanced=True,
    )
    pins: str = setting(
        "",
        marked("engine", "Pinned sentences"),
        marked(
            "engine",
            "Sentences to watch while it learns, one a line, the word to guess in brackets: The capital of "
            "France is [Paris].",
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
            given=", ".join(given) or "-",
        )
