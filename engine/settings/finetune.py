"""Every setting, once: form, command line, TOML file and refusal all read the metadata given here.

One frozen dataclass a group; names are unique across groups, so that `--set name=value` needs no path.
A setting that nobody reads is deleted.
"""

from __future__ import annotations

import dataclasses
import difflib
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

import tomli_w

from engine.errors import ConfigError, UserError, marked
from engine.files import read_regular
from engine.settings.setting import check, convert, setting, settings_of

SCHEMA_VERSION = 1
MOST_TOML = 2**20  # bytes of a file of settings; real ones have some thousand
MOST_REASON = 100  # characters of foreign text in a sentence


@dataclass(frozen=True, kw_only=True)
class DataConfig:
    """Which tables, which columns, how they are read and cut."""

    data: str = setting(
        "", marked("engine", "Data"), marked("engine", "The table to learn from."), kind="path"
    )
    validation_data: str = setting(
        "",
        marked("engine", "Validation data"),
        marked("engine", "A table kept apart to choose the best moment by. Empty: a share of the data."),
        kind="path",
        advanced=True,
    )
    test_data: str = setting(
        "",
        marked("engine", "Test data"),
        marked("engine", "A table that is looked at once, at the end. Empty: the test share, if any."),
        kind="path",
        advanced=True,
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
    label: str = setting(
        "", marked("engine", "Label"), marked("engine", "The column to be predicted."), kind="column"
    )
    merge_labels: bool = setting(
        False,
        marked("engine", "Merge nearly equal labels"),
        marked(
            "engine",
            "Whether labels that differ only in case, white space, width or characters that look alike are "
            "learned as one, in the commonest spelling.",
        ),
        advanced=True,
        kind="hidden",
    )
    whole_labels: bool = setting(
        False,
        marked("engine", "Labels as they stand"),
        marked(
            "engine",
            "Whether labels that look like several in one, such as a|b, or like tags of words are classes of "
            "their own; else they are refused.",
        ),
        advanced=True,
        kind="hidden",
    )
    encoding: str = setting(
        "",
        marked("engine", "Encoding"),
        marked("engine", "How bytes become characters, such as utf-8 or gb18030."),
        advanced=True,
        auto=marked("engine", "detect"),
        kind="hidden",
    )
    separator: str = setting(
        "",
        marked("engine", "Separator"),
        marked("engine", "What stands between two cells: comma, tab, semicolon or bar."),
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
            'Whether "..." may hold separators and line breaks (csv), also with a backslash before what is '
            "plain text (backslash, as Spark and MySQL write), or quotes are plain text (none).",
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
            "Whether a line names the columns (yes, no), or the number of the line that does.",
        ),
        choices=("", "yes", "no"),
        or_number=True,
        advanced=True,
        auto=marked("engine", "detect"),
        kind="hidden",
    )
    validation_share: float = setting(
        0.2,
        marked("engine", "Validation share"),
        marked("engine", "The share of rows kept apart, drawn label by label, to measure on while training."),
        minimum=0.0,
        maximum=0.9,
    )
    test_share: float = setting(
        0.0,
        marked("engine", "Test share"),
        marked("engine", "A further share that is looked at once, with the best checkpoint, at the end."),
        minimum=0.0,
        maximum=0.9,
        advanced=True,
    )
    split_seed: int = setting(
        42,
        marked("engine", "Split seed"),
        marked("engine", "The same seed draws the same rows. Kept apart from the training seed."),
        minimum=0,
        maximum=2**31 - 1,
        advanced=True,
    )
    max_length: int = setting(
        128,
        marked("engine", "Maximum length"),
        marked("engine", "WordPieces kept of each text, special tokens included; longer texts are cut."),
        minimum=3,
        maximum=8192,
    )
    truncation: str = setting(
        "longest_first",
        marked("engine", "Cutting"),
        marked(
            "engine",
            "What is kept of a text that is too long: its head, or its head and tail; of a pair, "
            "longest_first cuts the longer text first.",
        ),
        choices=("longest_first", "head", "head_tail"),
        advanced=True,
    )


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
    lowercase: str = setting(
        "",
        marked("engine", "Lower case"),
        marked("engine", "Whether text is lower-cased before it is cut into WordPieces."),
        choices=("", "yes", "no"),
        advanced=True,
        auto=marked("engine", "as the vocabulary is"),
    )
    hidden_dropout: float = setting(
        0.1,
        marked("engine", "Dropout"),
        marked("engine", "The share of values switched off at random in each layer, against overfitting."),
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
class TrainingConfig:
    """How the weights move."""

    learning_rate: float | None = setting(
        None,
        marked("engine", "Learning rate"),
        marked("engine", "How far each step moves the weights at its peak. Small models want more."),
        minimum=1e-8,
        maximum=1.0,
        auto=marked("engine", "by the model's size"),
    )
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
        marked("engine", "How often every example is seen. 3 or 4 are usual."),
        minimum=1,
        maximum=10000,
    )
    warmup_ratio: float = setting(
        0.1,
        marked("engine", "Warm-up"),
        marked("engine", "The share of all steps over which the learning rate climbs to its peak."),
        minimum=0.0,
        maximum=1.0,
    )
    weight_decay: float = setting(
        0.01,
        marked("engine", "Weight decay"),
        marked("engine", "A pull of all weights towards zero; biases and layer norms are left out."),
        minimum=0.0,
        maximum=1.0,
    )
    seed: int = setting(
        42,
        marked("engine", "Seed"),
        marked("engine", "Fixes what is random: new weights, order and dropout. Same seed, same run."),
        minimum=0,
        maximum=2**31 - 1,
    )
    gradient_accumulation_steps: int = setting(
        1,
        marked("engine", "Accumulation"),
        marked("engine", "Batches gathered before the weights move: a larger batch without more memory."),
        minimum=1,
        maximum=4096,
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
        marked("engine", "Steps between two looks at the validation data. 0: after each epoch."),
        minimum=0,
        maximum=10**9,
        unit=marked("engine", "steps"),
        auto=marked("engine", "each epoch"),
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
        0,
        marked("engine", "Keep weights along the way"),
        marked(
            "engine",
            "Copies of the weights over the run, in half precision, for looking at how it learned. 0: none.",
        ),
        minimum=0,
        maximum=100,
        advanced=True,
    )


@dataclass(frozen=True, kw_only=True)
class DeviceConfig:
    """Where it runs and how much it takes at once; none of it changes what a step means."""

    device: str = setting(
        "auto",
        marked("engine", "Device"),
        marked("engine", "Where to compute: auto takes a GPU when there is one."),
        choices=("auto", "cpu", "cuda"),
        advanced=True,
    )
    precision: str = setting(
        "auto",
        marked("engine", "Precision"),
        marked(
            "engine",
            "auto: bfloat16 on a GPU that has it, float32 elsewhere. A CPU that has bfloat16 multiplies "
            "twice as fast with it, to three digits.",
        ),
        choices=("auto", "float32", "bfloat16"),
        advanced=True,
    )
    compile: bool = setting(
        False,
        marked("engine", "Compile"),
        marked(
            "engine",
            "On a GPU, let PyTorch fuse the small operations of each layer: the first steps take a minute "
            "longer, the others less. Without effect on a CPU, where it gains little.",
        ),
        advanced=True,
    )
    num_threads: int = setting(
        0,
        marked("engine", "Threads"),
        marked("engine", "Processor threads to compute with. 0: one for each core."),
        minimum=0,
        maximum=1024,
        auto=marked("engine", "all cores"),
        advanced=True,
    )
    micro_batch_tokens: int = setting(
        0,
        marked("engine", "Tokens at once"),
        marked(
            "engine", "A step is worked off in parts of at most this many tokens. 0: chosen for the device."
        ),
        minimum=0,
        maximum=10**7,
        auto=marked("engine", "by the device"),
        advanced=True,
    )


@dataclass(frozen=True, kw_only=True)
class FineTuneConfig:
    """Everything a fine-tuning run needs to be repeated."""

    data: DataConfig = DataConfig()
    model: ModelConfig = ModelConfig()
    training: TrainingConfig = TrainingConfig()
    device: DeviceConfig = DeviceConfig()


Config = TypeVar("Config", bound=Any)  # FineTuneConfig, or another dataclass of such groups


def values_of(config: Any) -> dict[str, Any]:
    """Return all settings flat, name -> value."""
    return {name: value for group in _groups(config).values() for name, value in vars(group).items()}


def with_values(config: Config, values: dict[str, Any]) -> Config:
    """Return `config` with some settings replaced and all of them checked.

    Args: values: name -> value; a string is read as the field's type ("3e-5", "" for an empty default).
    Raises: ConfigError naming the field: unknown name, wrong type, outside its limits or choices.
    """
    groups = _groups(config)
    homes = {name: key for key, group in groups.items() for name in settings_of(group)}
    changes: dict[str, dict[str, Any]] = {key: {} for key in groups}
    for name, value in values.items():
        if name not in homes:
            raise ConfigError(
                marked("engine", "There is no setting named {field}. The nearest names are: {names}."),
                field=name,
                names=difflib.get_close_matches(name[:MOST_REASON], homes, 5, 0.0),
            )
        group = groups[homes[name]]
        if settings_of(group)[name].or_number and type(value) is int:  # a number, not in quotes
            value = str(value)
        changes[homes[name]][name] = convert(name, value, get_type_hints(type(group))[name])
    new = {key: dataclasses.replace(groups[key], **changes[key]) for key in groups}
    for group in new.values():
        check(group)
    return dataclasses.replace(config, **new)  # type: ignore[no-any-return]


def to_toml(config: Any) -> str:
    """Return the complete config as TOML, schema version first; an empty optional value is left out."""
    document: dict[str, Any] = {"schema_version": SCHEMA_VERSION}
    for key, group in _groups(config).items():
        document[key] = {name: value for name, value in vars(group).items() if value is not None}
    return tomli_w.dumps(document)


def from_toml(path: Path) -> dict[str, Any]:
    """Return the flat settings in a TOML file, grouped or not.

    Raises: ConfigError if it cannot be read, is not TOML, or is of a newer schema.
    """
    try:
        document = tomllib.loads(read_regular(path, most=MOST_TOML).decode())
    except (UserError, ValueError, RecursionError) as error:
        raise ConfigError(
            marked("engine", "{path} cannot be read as settings: {reason}."),
            field="config",
            path=path,
            reason=str(error).rstrip(".") if isinstance(error, UserError) else str(error)[:MOST_REASON],
        ) from error
    version = document.pop("schema_version", SCHEMA_VERSION)
    if not isinstance(version, int) or version > SCHEMA_VERSION:
        raise ConfigError(
            marked(
                "engine", "{path} was written by a newer Cloze (schema {version}). Update Cloze to read it."
            ),
            field="config",
            path=path,
            version=version,
        )
    flat: dict[str, Any] = {}
    for key, value in document.items():
        flat.update(value if isinstance(value, dict) else {key: value})
    return flat


def _groups(config: Any) -> dict[str, Any]:
    return {f.name: getattr(config, f.name) for f in dataclasses.fields(config)}
