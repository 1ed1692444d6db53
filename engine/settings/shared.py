"""The settings that several kinds of run have: said once here, and given a place and a default by each group.

A group takes one with `declared`, and says what differs there, such as a default or an explanation.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.errors import marked
from engine.settings.setting import Setting, setting

ENCODING = Setting(
    label=marked("engine", "Encoding"),
    help=marked("engine", "How bytes become characters, such as utf-8 or gb18030."),
    auto=marked("engine", "detect"),
    advanced=True,
)
LOWERCASE = Setting(
    label=marked("engine", "Lower case"),
    help=marked("engine", "Whether text is lower-cased before it is split into pieces."),
    choices=("", "yes", "no"),
    advanced=True,
)
HIDDEN_DROPOUT = Setting(
    label=marked("engine", "Dropout"),
    help=marked("engine", "The share of values dropped at random in each layer, against overfitting."),
    minimum=0.0,
    maximum=0.9,
    advanced=True,
)
ATTENTION_DROPOUT = Setting(
    label=marked("engine", "Attention dropout"),
    help=marked(
        "engine",
        "Dropout on attention weights. 0 allows the fused attention kernels, which are "
        "faster. BERT was published with 0.1.",
    ),
    minimum=0.0,
    maximum=0.9,
    advanced=True,
)
TRIM_VOCAB = Setting(
    label=marked("engine", "Trim vocabulary to"),
    help=marked(
        "engine",
        "Keep only this many of the model’s pieces, those that the text uses most, "
        "with their embeddings. Every single character stays. 0: keep all.",
    ),
    minimum=0,
    maximum=1_000_000,
    auto=marked("engine", "keep all"),
    advanced=True,
)
BATCH_TOKENS = Setting(
    label=marked("engine", "Tokens a step"),
    help=marked("engine", "Tokens in each step, whatever the memory. A step is processed in parts."),
    minimum=64,
    maximum=10**8,
)
LEARNING_RATE = Setting(
    label=marked("engine", "Learning rate"),
    help=marked("engine", "How far each step moves the weights, at its peak. Small models need more."),
    minimum=1e-8,
    maximum=1.0,
    auto=marked("engine", "by model size"),
)
WARMUP_RATIO = Setting(
    label=marked("engine", "Warm-up"),
    help=marked("engine", "The share of all steps over which the learning rate climbs to its peak."),
    minimum=0.0,
    maximum=1.0,
)
WEIGHT_DECAY = Setting(
    label=marked("engine", "Weight decay"),
    help=marked("engine", "A pull of all weights towards zero, except biases and layer norms."),
    minimum=0.0,
    maximum=1.0,
)
MAX_GRADIENT_NORM = Setting(
    label=marked("engine", "Gradient clipping"),
    help=marked("engine", "Longer gradients are scaled down to this length. 0: never."),
    minimum=0.0,
    maximum=1e6,
    auto=marked("engine", "never"),
    advanced=True,
)
SEED = Setting(
    label=marked("engine", "Seed"),
    help=marked(
        "engine", "Fixes what is random: new weights, order and dropout. The same seed gives the same run."
    ),
    minimum=0,
    maximum=2**31 - 1,
)
CHECKPOINT_EVERY_STEPS = Setting(
    label=marked("engine", "Checkpoint every"),
    help=marked("engine", "Steps between two checkpoints. One is also written at each evaluation."),
    minimum=1,
    maximum=10**9,
    unit=marked("engine", "steps"),
    advanced=True,
)
KEPT_WEIGHTS = Setting(
    label=marked("engine", "Keep intermediate weights"),
    help=marked(
        "engine",
        "Copies of the weights during the run, in half precision, to see how it learned. 0: none.",
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
        marked("engine", "Where to compute. auto uses a GPU if there is one."),
        choices=("auto", "cpu", "cuda"),
        advanced=True,
    )
    precision: str = setting(
        "auto",
        marked("engine", "Precision"),
        marked(
            "engine",
            "auto: bfloat16 on a GPU that has it, and on a CPU where a short measurement "
            "finds it at least 1.2 times as fast. Elsewhere: float32. bfloat16 has three "
            "digits, float32 seven. Weights are always kept in float32.",
        ),
        choices=("auto", "float32", "bfloat16"),
        advanced=True,
    )
    kernels: str = setting(
        "auto",
        marked("engine", "Matrix products"),
        marked(
            "engine",
            "What multiplies float32 matrices on a CPU: torch itself, or the library oneDNN. "
            "auto: the faster one, by a measurement of a second. The last digits differ "
            "between the two.",
        ),
        choices=("auto", "torch", "oneDNN"),
        advanced=True,
    )
    compile: bool = setting(
        False,
        marked("engine", "Compile"),
        marked(
            "engine",
            "On a GPU, let PyTorch fuse the small operations of each layer. The first steps "
            "take a minute longer, the others less. Without effect on a CPU, where it gains "
            "little.",
        ),
        advanced=True,
    )
    num_threads: int = setting(
        0,
        marked("engine", "Threads"),
        marked("engine", "Processor threads to use. 0: one per core."),
        minimum=0,
        maximum=1024,
        auto=marked("engine", "all cores"),
        advanced=True,
    )
    micro_batch_tokens: int = setting(
        0,
        marked("engine", "Tokens at once"),
        marked(
            "engine", "A step is processed in parts of at most this many tokens. 0: chosen for the device."
        ),
        minimum=0,
        maximum=10**7,
        auto=marked("engine", "by device"),
        advanced=True,
    )
