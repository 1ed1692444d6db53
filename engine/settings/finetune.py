"""Every setting of fine-tuning, once: form, command line, TOML file and refusal all read what stands here.

One frozen dataclass a group; config.py says what a config is. A setting that nobody reads is deleted.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from engine.errors import marked
from engine.settings import shared
from engine.settings.setting import declared, setting
from engine.settings.shared import DeviceConfig

SEEDS = 3  # of each way that is compared
USUAL_LENGTH = 128  # pieces of a text, where a task says nothing else
USUAL_LABELS, ALL_LABELS = 1000, 20_000  # that are learned unless a person says so; and that ever can be


@dataclass(frozen=True, kw_only=True)
class DataConfig:
    """Which tables, which columns, how they are read and cut."""

    data: str = setting("", marked("engine", "Data"), marked("engine", "The table to train on."), kind="path")
    validation_data: str = setting(
        "",
        marked("engine", "Validation data"),
        marked(
            "engine", "A held-out table by which the best checkpoint is picked. Empty: a share of the data."
        ),
        kind="path",
        advanced=True,
    )
    test_data: str = setting(
        "",
        marked("engine", "Test data"),
        marked("engine", "A table that is measured once, at the end. Empty: the test share, if any."),
        kind="path",
        advanced=True,
    )
    task: str = setting(
        "",
        marked("engine", "Task"),
        marked("engine", "What the model learns to predict. Empty: detected in the data, with the reason."),
        choices=(
            "",
            "classification",
            "token-labels",
            "multi-label",
            "regression",
            "questions",
            "multiple-choice",
            "correction",
        ),
        auto=marked("engine", "from the data"),
        kind="hidden",
    )
    text: str = setting(
        "",
        marked("engine", "Text"),
        marked("engine", "The column to read: its name or its 1-based number."),
        kind="column",
    )
    text_pair: str = setting(
        "",
        marked("engine", "Second text"),
        marked("engine", "A second column, for pairs of texts. Empty: single texts."),
        kind="column",
    )
    choices: str = setting(
        "",
        marked("engine", "Endings"),
        marked(
            "engine",
            "For multiple choice: the 2 to 9 columns of the endings, with commas between them. Empty: found "
            "by their names.",
        ),
        kind="hidden",
    )
    label: str = setting(
        "",
        marked("engine", "Label"),
        marked(
            "engine",
            "The column to predict. For several labels a row, name columns of 0 and 1 with "
            "commas between them. For correction, the column of right texts. Empty: found in the table.",
        ),
        kind="column",
    )
    answer_start: str = setting(
        "",
        marked("engine", "Start of the answer"),
        marked(
            "engine",
            "For questions: the column with the character of the passage at which the answer "
            "begins. Empty: found by its content. Without one, the answer is searched for in "
            "the passage.",
        ),
        kind="hidden",
    )
    scheme: str = setting(
        "",
        marked("engine", "Scheme of the tags"),
        marked(
            "engine",
            "For words with tags: how tags mark where an entity begins and ends. none: each "
            "tag counts on its own, as parts of speech do.",
        ),
        choices=("", "IOB1", "IOB2", "BIOES", "BILOU", "none"),
        auto=marked("engine", "detect"),
        kind="hidden",
    )
    sentence: str = setting(
        "",
        marked("engine", "Number of the text"),
        marked(
            "engine", "For tables with one word per row: the column that says which text a word belongs to."
        ),
        kind="hidden",
    )
    merge_labels: bool = setting(
        False,
        marked("engine", "Merge nearly equal labels"),
        marked(
            "engine",
            "Treat labels as one, in the most frequent spelling, if they differ only in "
            "case, white space, width or characters that look the same.",
        ),
        advanced=True,
        kind="hidden",
    )
    whole_labels: bool = setting(
        False,
        marked("engine", "Labels as written"),
        marked(
            "engine",
            "Treat each cell as one class of its own, even if it looks like several labels, "
            "such as a|b, or like tags of words. If off, such labels are refused.",
        ),
        advanced=True,
        kind="hidden",
    )
    max_labels: int = setting(
        USUAL_LABELS,
        marked("engine", "Most labels"),
        marked("engine", "The most different labels that are learned. A column with more is refused."),
        minimum=2,
        maximum=ALL_LABELS,
        advanced=True,
        kind="hidden",
    )
    recipe: str = setting(
        "",
        marked("engine", "Recipe"),
        marked(
            "engine",
            "Fixes that are applied when the data is read: rows excluded or relabelled, "
            "labels merged, duplicates kept in one split. The file itself stays unchanged.",
        ),
        advanced=True,
        kind="hidden",
    )
    encoding: str = declared(shared.ENCODING, "", kind="hidden")
    separator: str = setting(
        "",
        marked("engine", "Separator"),
        marked("engine", "What separates two cells: comma, tab, semicolon or bar."),
        choices=("", ",", "\t", ";", "|"),
        advanced=True,
        auto=marked("engine", "detect"),
        kind="hidden",
    )
    quoting: str = setting(
        "",
        marked("engine", "Quoting"),
        marked(
            "engine",
            'csv: "..." may hold separators and line breaks. backslash: the same, with a '
            "backslash before plain characters, as Spark and MySQL write. none: quotes are "
            "plain text.",
        ),
        choices=("", "csv", "none", "backslash"),
        advanced=True,
        auto=marked("engine", "detect"),
        kind="hidden",
    )
    header: str = setting(
        "",
        marked("engine", "Header"),
        marked(
            "engine",
            "Whether a line names the columns (yes, no), or the number of that line.",
        ),
        choices=("", "yes", "no"),
        or_number=True,
        advanced=True,
        auto=marked("engine", "detect"),
        kind="hidden",
    )
    sheet: str = setting(
        "",
        marked("engine", "Sheet"),
        marked(
            "engine",
            "Of a workbook the sheet, of a database the table: its name or 1-based number. Empty: the first "
            "with rows.",
        ),
        advanced=True,
        auto=marked("engine", "the first with rows"),
        kind="hidden",
    )
    validation_sheet: str = setting(
        "",
        marked("engine", "Validation sheet"),
        marked(
            "engine",
            "Of a workbook of validation data the sheet, of a database the table. Empty: as of the data.",
        ),
        advanced=True,
        auto=marked("engine", "same sheet"),
        kind="sheet",
    )
    test_sheet: str = setting(
        "",
        marked("engine", "Test sheet"),
        marked(
            "engine",
            "Of a workbook of test data the sheet, of a database the table. Empty: as of the data.",
        ),
        advanced=True,
        auto=marked("engine", "same sheet"),
        kind="sheet",
    )
    validation_share: float = setting(
        0.2,
        marked("engine", "Validation share"),
        marked("engine", "The share of rows held out for validation during training, drawn label by label."),
        minimum=0.0,
        maximum=0.9,
    )
    test_share: float = setting(
        0.0,
        marked("engine", "Test share"),
        marked("engine", "A further share that is measured once, at the end, with the best checkpoint."),
        minimum=0.0,
        maximum=0.9,
        advanced=True,
    )
    split_seed: int = setting(
        42,
        marked("engine", "Split seed"),
        marked("engine", "The same seed draws the same rows. It is separate from the training seed."),
        minimum=0,
        maximum=2**31 - 1,
        advanced=True,
    )
    max_length: int = setting(
        0,
        marked("engine", "Maximum length"),
        marked(
            "engine",
            "Pieces kept of each text, special tokens included. Longer texts are "
            "truncated, but passages with questions, tagged texts and texts to be corrected are read in "
            "windows of this length. 0: 128, for questions 384.",
        ),
        minimum=0,
        maximum=8192,
        auto=marked("engine", "by task"),
    )
    stride: int = setting(
        128,
        marked("engine", "Stride"),
        marked(
            "engine",
            "For questions: how many pieces each window of a long passage begins after "
            "the one before. At most half of what it shows, so that windows overlap.",
        ),
        minimum=1,
        maximum=8192,
        advanced=True,
        kind="hidden",
    )
    max_question: int = setting(
        64,
        marked("engine", "Max question length"),
        marked("engine", "For questions: pieces of a question. The rest of a longer one is not read."),
        minimum=1,
        maximum=8192,
        advanced=True,
        kind="hidden",
    )
    masked_share: float = setting(
        0.2,
        marked("engine", "Masked share"),
        marked(
            "engine",
            "For correction: the share of right pieces that are masked in training, drawn again in each "
            "step. Without masks a model learns to copy, and corrects only what it has seen (Wu et al. "
            "2023). 0: none.",
        ),
        minimum=0.0,
        maximum=0.9,
        advanced=True,
        kind="hidden",
    )
    truncation: str = setting(
        "longest_first",
        marked("engine", "Truncation"),
        marked(
            "engine",
            "What is kept of a text that is too long: its head, or its head and tail. For "
            "pairs, longest_first truncates the longer text first.",
        ),
        choices=("longest_first", "head", "head_tail"),
        advanced=True,
    )

    @property
    def apart(self) -> dict[str, str]:
        """The files of their own, by the name of the part that they are."""
        files = {"validation": self.validation_data, "test": self.test_data}
        return {name: path for name, path in files.items() if path}

    @property
    def drawn(self) -> tuple[float, float]:
        """The shares for validation and test that are drawn from the data itself."""
        return (
            0.0 if self.validation_data else self.validation_share,
            0.0 if self.test_data else self.test_share,
        )

    @property
    def how(self) -> dict[str, str]:
        """How its tables are read, by name, as `reading_table` takes it."""
        return {name: getattr(self, name) for name in ("encoding", "separator", "quoting", "header", "sheet")}

    def how_of(self, part: str) -> dict[str, str]:
        """How the table of a part is read: "validation" and "test" may have a sheet of their own."""
        sheets = {"validation": self.validation_sheet, "test": self.test_sheet}
        return {**self.how, "sheet": sheets.get(part, "") or self.sheet}


@dataclass(frozen=True, kw_only=True)
class ModelConfig:
    """Which model to start from."""

    model: str = setting(
        "",
        marked("engine", "Model"),
        marked("engine", "A model folder, or new:PRESET (tiny, mini, small, medium, base, large)."),
        kind="path",
    )
    vocab: str = setting(
        "",
        marked("engine", "Vocabulary"),
        marked("engine", "A vocab.txt, for a model that starts from random weights."),
        kind="path",
        advanced=True,
    )
    lowercase: str = declared(shared.LOWERCASE, "", auto=marked("engine", "by vocabulary"))
    hidden_dropout: float = declared(shared.HIDDEN_DROPOUT, 0.1)
    attention_dropout: float = declared(shared.ATTENTION_DROPOUT, 0.0)


@dataclass(frozen=True, kw_only=True)
class AdaptConfig:
    """How much of the model learns, how fast each layer, and what a rare label counts."""

    way: str = setting(
        "fine-tuning",
        marked("engine", "Method"),
        marked(
            "engine",
            "How the model is trained. Below 50 examples a label, auto chooses by cross-validation. "
            "regression: on mean vectors of the frozen encoder. contrastive: the encoder is trained on pairs "
            "first (Tunstall et al. 2022).",
        ),
        choices=("fine-tuning", "auto", "regression", "contrastive"),
    )
    take: str = setting(
        "",
        marked("engine", "Method to take"),
        marked(
            "engine",
            "With the method auto: the method to take, whatever cross-validation finds. Only it and the "
            "regression are judged.",
        ),
        choices=("", "regression", "contrastive", "fine-tuning"),
        kind="hidden",
    )
    encoder: str = setting(
        "fine-tuned",
        marked("engine", "Encoder"),
        marked(
            "engine",
            "Whether the whole model learns, or only pooler and classifier, with a frozen "
            "encoder. Frozen is quicker and usually less accurate (Devlin et al. 2019, "
            "section 5.3; Peters et al. 2019).",
        ),
        choices=("fine-tuned", "frozen"),
        advanced=True,
    )
    frozen_layers: int = setting(
        0,
        marked("engine", "Frozen layers"),
        marked(
            "engine",
            "How many of the first layers stay frozen, together with the embeddings, which "
            "saves time and memory. Training only the last quarter reached 90 % of the "
            "quality in Lee et al. 2019. 0: all layers learn.",
        ),
        minimum=0,
        maximum=1024,
        advanced=True,
    )
    layer_mix: bool = setting(
        False,
        marked("engine", "Mix of layers"),
        marked(
            "engine",
            "Let the classifier read a learned mix of all layers instead of the last one, as "
            "Peters et al. 2018 did with ELMo. It helps most with a frozen encoder. Other "
            "tools do not know it.",
        ),
        advanced=True,
    )
    pooling: str = setting(
        "",
        marked("engine", "Pooling"),
        marked(
            "engine",
            "What a text classifier reads: the first token, [CLS], as in Devlin et al. 2019, "
            "or the mean of all tokens, which works better with a frozen encoder (Reimers "
            "and Gurevych 2019). first_last: that mean after the embeddings, too, which helps "
            "where single words decide. Other tools do not know the means.",
        ),
        choices=("", "mean", "first_last"),
        auto=marked("engine", "[CLS]"),
        advanced=True,
    )
    layer_decay: float = setting(
        1.0,
        marked("engine", "Rate of lower layers"),
        marked(
            "engine",
            "Each layer learns at this multiple of the rate of the layer above. Below 1, "
            "lower layers keep more of what they know. 0.95 was best in Sun et al. 2019, "
            "after Howard and Ruder 2018. 1: one rate for all.",
        ),
        minimum=0.01,
        maximum=1.0,
        advanced=True,
    )
    new_layers: int = setting(
        0,
        marked("engine", "New layers"),
        marked(
            "engine",
            "How many of the last layers, with the pooler, start from random weights. What "
            "they learned in pretraining can hinder when rows are few and runs fail by "
            "chance (Zhang et al. 2021). 0: none.",
        ),
        minimum=0,
        maximum=1024,
        advanced=True,
    )
    rare_labels: str = setting(
        "",
        marked("engine", "Rare labels"),
        marked(
            "engine",
            "Give rare labels more weight (weighted), or repeat their examples within an "
            "epoch, ten times at most. The model then finds rare labels more often, and "
            "confuses common ones with them more often.",
        ),
        choices=("", "weighted", "repeated"),
        auto=marked("engine", "as they are"),
        advanced=True,
    )
    label_smoothing: float = setting(
        0.0,
        marked("engine", "Label smoothing"),
        marked(
            "engine",
            "How much of each answer is spread over all labels. 0.1, as in Szegedy et al. "
            "2016, makes probabilities less extreme. 0: the label as it is.",
        ),
        minimum=0.0,
        maximum=0.5,
        advanced=True,
    )


@dataclass(frozen=True, kw_only=True)
class TrainingConfig:
    """How the weights move."""

    learning_rate: float | None = declared(shared.LEARNING_RATE, None)
    batch_size: int = setting(
        32,
        marked("engine", "Batch size"),
        marked("engine", "Examples in every step. 16 and 32 are usual."),
        minimum=1,
        maximum=65536,
    )
    num_epochs: int = setting(
        3,
        marked("engine", "Epochs"),
        marked("engine", "How often each example is seen. 3 or 4 are usual."),
        minimum=1,
        maximum=10000,
    )
    least_steps: int = setting(
        0,
        marked("engine", "Steps at least"),
        marked(
            "engine",
            "Add epochs until the run has so many steps. An epoch of few rows has next to none, and a run of "
            "few steps fails by chance (Mosbach et al. 2021). 0: as many as the epochs give.",
        ),
        minimum=0,
        maximum=10**6,
        unit=marked("engine", "steps"),
        auto=marked("engine", "by epochs"),
        advanced=True,
    )
    minutes: float = setting(
        0.0,
        marked("engine", "Minutes"),
        marked(
            "engine",
            "Fit as many of these epochs as possible into so many minutes. The speed is "
            "measured first, and the learning rate reaches its end in time. 0: all epochs.",
        ),
        minimum=0.0,
        maximum=1e6,
        auto=marked("engine", "no limit"),
        advanced=True,
    )
    embedding_rate: float = setting(
        1.0,
        marked("engine", "Rate of word embeddings"),
        marked(
            "engine",
            "The learning rate of word embeddings, as a multiple. Each word occurs in few "
            "steps, so on few rows a small model learns at 10 what its words say about labels. "
            "0: word embeddings stay frozen.",
        ),
        minimum=0.0,
        maximum=1000.0,
        advanced=True,
    )
    warmup_ratio: float = declared(shared.WARMUP_RATIO, 0.1)
    weight_decay: float = declared(shared.WEIGHT_DECAY, 0.01)
    seed: int = declared(shared.SEED, 42)
    gradient_accumulation_steps: int = setting(
        1,
        marked("engine", "Accumulation"),
        marked(
            "engine", "Batches accumulated before the weights change: a larger batch without more memory."
        ),
        minimum=1,
        maximum=4096,
        advanced=True,
    )
    max_gradient_norm: float = declared(shared.MAX_GRADIENT_NORM, 1.0)
    early_stopping_patience: int = setting(
        0,
        marked("engine", "Early stopping"),
        marked("engine", "Stop after this many evaluations without a better result. 0: never."),
        minimum=0,
        maximum=1000,
        auto=marked("engine", "never"),
        advanced=True,
    )
    evaluate_every_steps: int = setting(
        0,
        marked("engine", "Evaluate every"),
        marked("engine", "Steps between two evaluations on the validation data. 0: after each epoch."),
        minimum=0,
        maximum=10**9,
        unit=marked("engine", "steps"),
        auto=marked("engine", "each epoch"),
        advanced=True,
    )
    checkpoint_every_steps: int = declared(shared.CHECKPOINT_EVERY_STEPS, 500)
    kept_weights: int = declared(shared.KEPT_WEIGHTS, 0)


@dataclass(frozen=True, kw_only=True)
class FineTuneConfig:
    """Everything a fine-tuning run needs to be repeated."""

    data: DataConfig = DataConfig()
    model: ModelConfig = ModelConfig()
    adapt: AdaptConfig = AdaptConfig()
    training: TrainingConfig = TrainingConfig()
    device: DeviceConfig = field(default_factory=DeviceConfig)


@dataclass(frozen=True)
class ComparisonConfig:
    """What a comparison of ways to adapt needs to be begun. own: the settings that its runs have alike."""

    own: FineTuneConfig
    seeds: int = SEEDS
