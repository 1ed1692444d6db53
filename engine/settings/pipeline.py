"""Every setting of a pipeline: domain text, task text, a table; config.py says what a config is."""

from __future__ import annotations

from dataclasses import dataclass, field

from engine.errors import marked
from engine.settings.finetune import AdaptConfig, DataConfig, TrainingConfig
from engine.settings.setting import declared, setting
from engine.settings.shared import BATCH_TOKENS, LEARNING_RATE, TRIM_VOCAB, DeviceConfig


@dataclass(frozen=True, kw_only=True)
class StagesConfig:
    """Which model, what it is pretrained on further, for how long, and how often each stage is fine-tuned."""

    model: str = setting(
        "",
        marked("engine", "Model"),
        marked("engine", "The folder of the model that the first stage starts from."),
        kind="path",
    )
    domain_text: str = setting(
        "",
        marked("engine", "Domain text"),
        marked("engine", "Text files or folders from the domain, one per line. Empty: no such stage."),
        kind="path",
    )
    domain_column: str = setting(
        "",
        marked("engine", "Column of the domain text"),
        marked("engine", "The column to read when the domain text is a table."),
        advanced=True,
    )
    domain_minutes: float = setting(
        0.0,
        marked("engine", "Minutes on domain text"),
        marked("engine", "Pretrain for so many minutes on it. Give either minutes or steps."),
        minimum=0.0,
        maximum=1e6,
    )
    domain_steps: int = setting(
        0,
        marked("engine", "Steps on domain text"),
        marked("engine", "Pretrain for so many steps on it."),
        minimum=0,
        maximum=10**9,
    )
    task_text: str = setting(
        "",
        marked("engine", "Task text"),
        marked(
            "engine",
            "Text files or folders that resemble the task’s own texts, one per line. Empty: "
            "the texts of the training rows, and only those.",
        ),
        kind="path",
    )
    task_column: str = setting(
        "",
        marked("engine", "Column of the task text"),
        marked("engine", "The column to read when the task text is a table."),
        advanced=True,
    )
    task_minutes: float = setting(
        0.0,
        marked("engine", "Minutes on task text"),
        marked("engine", "Pretrain for so many minutes on it. Neither minutes nor steps: no such stage."),
        minimum=0.0,
        maximum=1e6,
    )
    task_steps: int = setting(
        0,
        marked("engine", "Steps on task text"),
        marked("engine", "Pretrain for so many steps on it."),
        minimum=0,
        maximum=10**9,
    )
    trim_vocab: int = declared(
        TRIM_VOCAB,
        0,
        help=marked(
            "engine",
            "Keep only this many of the model’s pieces when pretraining begins, those that its text uses "
            "most. The base stage keeps them all. 0: keep all.",
        ),
    )
    next_sentence: bool = setting(
        True,
        marked("engine", "Next sentence"),
        marked(
            "engine",
            "Also ask, during pretraining, whether a second text follows the first. It is only asked if most "
            "documents have several sentences and the model has a part for it.",
        ),
        advanced=True,
    )
    batch_tokens: int = declared(
        BATCH_TOKENS, 4096, help=marked("engine", "Tokens in each step of pretraining."), advanced=True
    )
    pretraining_rate: float | None = declared(
        LEARNING_RATE,
        None,
        label=marked("engine", "Learning rate of pretraining"),
        help=marked("engine", "How far each step of pretraining moves the weights, at its peak."),
        advanced=True,
    )
    held_out_share: float = setting(
        0.05,
        marked("engine", "Share of text held out"),
        marked(
            "engine",
            "The share of each text, in whole documents, on which the masked-word loss is "
            "measured before and after.",
        ),
        minimum=0.001,
        maximum=0.5,
        advanced=True,
    )
    seeds: int = setting(
        3,
        marked("engine", "Seeds"),
        marked("engine", "Fine-tuning runs for each stage: with the training seed, the next one, and so on."),
        minimum=1,
        maximum=100,
    )


@dataclass(frozen=True, kw_only=True)
class PipelineConfig:
    """Everything a pipeline needs to be repeated; data, adapt and training are those of its fine-tuning."""

    stages: StagesConfig = StagesConfig()
    data: DataConfig = field(default_factory=DataConfig)
    adapt: AdaptConfig = field(default_factory=AdaptConfig)
    training: TrainingConfig = field(default_factory=TrainingConfig)
    device: DeviceConfig = field(default_factory=DeviceConfig)
