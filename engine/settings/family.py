"""The settings of a family: which members learn from one text, how large they are, how long each learns.

A member's own run has the same settings, with itself as the only member and its share of the minutes.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from engine.errors import ConfigError, marked
from engine.settings.pretrain import BudgetConfig, TextConfig
from engine.settings.setting import setting
from engine.settings.shared import DeviceConfig

FREQUENCIES, NO_START = STARTS = ("frequencies", "none")
MEMBERS = ("ngram", "nnlm", "cbow", "skipgram", "glove", "elmo", "gpt", "bert")  # the oldest first


@dataclass(frozen=True, kw_only=True)
class MembersConfig:
    """Who learns, and how large."""

    members: str = setting(
        ",".join(MEMBERS),
        marked("engine", "Members"),
        marked(
            "engine",
            "Which members to train, with commas between them: ngram, nnlm, cbow, skipgram, "
            "glove, elmo, gpt, bert.",
        ),
        kind="hidden",
    )
    words: int = setting(
        10_000,
        marked("engine", "Words"),
        marked(
            "engine",
            "The most frequent words of the text are the vocabulary of all members. Every "
            "other word is [UNK] to each of them.",
        ),
        minimum=100,
        maximum=60_000,
    )
    most_counted: int = setting(
        2**24,
        marked("engine", "Words counted"),
        marked("engine", "The most words of the text that the n-gram counts. Each takes some bytes."),
        minimum=1000,
        maximum=2**26,
        advanced=True,
    )
    width: int = setting(
        128,
        marked("engine", "Width"),
        marked("engine", "Numbers in the vector of a word or of a position, a multiple of 8."),
        minimum=8,
        maximum=1024,
    )
    layers: int = setting(
        2,
        marked("engine", "Layers"),
        marked("engine", "Layers of ELMo, GPT and BERT."),
        minimum=1,
        maximum=24,
    )
    starts: str = setting(
        FREQUENCIES,
        marked("engine", "Start"),
        marked(
            "engine",
            "What all networks know before training. frequencies: each guesses words by how often "
            "the text has them. none: nothing.",
        ),
        choices=STARTS,
    )
    informed_start: bool = setting(
        False,
        marked("engine", "Informed start of BERT"),
        marked(
            "engine",
            "Only in families of earlier versions: BERT alone began with counts over the text.",
        ),
        kind="hidden",
    )
    trainings: int = setting(
        1,
        marked("engine", "Trainings"),
        marked(
            "engine",
            "Train each member so many times, each time from another seed. One training does not show "
            "what another would reach; three or more do. Two do not.",
        ),
        minimum=1,
        maximum=20,
    )
    length: int = setting(
        64,
        marked("engine", "Words at a time"),
        marked("engine", "How many words ELMo, GPT and BERT read at once."),
        minimum=8,
        maximum=512,
    )


@dataclass(frozen=True, kw_only=True)
class FamilyConfig:
    """Everything a family, or one of its members, needs to be trained again."""

    family: MembersConfig = MembersConfig()
    # short: all of a member's minutes are meant for learning
    text: TextConfig = field(default_factory=lambda: TextConfig(validation_tokens=8192))
    budget: BudgetConfig = field(default_factory=lambda: BudgetConfig(batch_tokens=1024, evaluations=10))
    device: DeviceConfig = field(default_factory=DeviceConfig)


def members_of(config: FamilyConfig) -> tuple[str, ...]:
    """Return the names of the members, the oldest first. Raises: ConfigError."""
    named = [name.strip().lower() for name in config.family.members.split(",") if name.strip()]
    unknown = [name for name in named if name not in MEMBERS]
    if unknown or not named:
        raise ConfigError(
            marked("engine", "There is no member {name!r} of the family. Choose among: {names}."),
            field="members",
            name=unknown[0] if unknown else "",
            names=list(MEMBERS),
        )
    return tuple(name for name in MEMBERS if name in named)
