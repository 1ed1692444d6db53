"""A short list of published BERTs to begin with, told without asking anybody; and which model that ships.

What stands here was so when it was written; a look at a model says how it is now.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.errors import marked
from engine.shipped import CHINESE_STARTER, STARTER
from engine.text.languages import CHINESE


@dataclass(frozen=True, slots=True)
class RecommendedModel:
    """A model to begin with. millions: of weights. language, good_for: marked."""

    name: str
    millions: float
    language: str
    licence: str
    good_for: str


_ENGLISH, _CHINESE = marked("engine", "English"), marked("engine", "Chinese")
_MANY, _GERMAN = marked("engine", "104 languages"), marked("engine", "German")

RECOMMENDED = (
    RecommendedModel(
        "google-bert/bert-base-uncased", 110, _ENGLISH, "apache-2.0",
        marked("engine", "The paper’s own model: any task on English text"),
    ),
    RecommendedModel(
        "google-bert/bert-base-cased", 108, _ENGLISH, "apache-2.0",
        marked("engine", "Names and parts of speech, where capital letters matter"),
    ),
    RecommendedModel(
        "google-bert/bert-base-chinese", 103, _CHINESE, "apache-2.0",
        marked("engine", "Any task on Chinese text, character by character"),
    ),
    RecommendedModel(
        "hfl/chinese-bert-wwm-ext", 103, _CHINESE, "apache-2.0",
        marked("engine", "Like bert-base-chinese, but from more text and with whole words masked"),
    ),
    RecommendedModel(
        "hfl/rbt3", 38, _CHINESE, "apache-2.0",
        marked("engine", "Three layers: Chinese tasks on a computer without a GPU"),
    ),
    RecommendedModel(
        "google-bert/bert-base-multilingual-cased", 178, _MANY, "apache-2.0",
        marked("engine", "Languages without a BERT of their own, and several at once"),
    ),
    RecommendedModel(
        "google/bert_uncased_L-2_H-128_A-2", 4.4, _ENGLISH, "apache-2.0",
        marked("engine", "BERT-tiny: for trying things out within a minute"),
    ),
    RecommendedModel(
        "google/bert_uncased_L-4_H-512_A-8", 28.8, _ENGLISH, "apache-2.0",
        marked("engine", "BERT-small: English tasks on a computer without a GPU"),
    ),
    RecommendedModel(
        "sentence-transformers/all-MiniLM-L6-v2", 22.7, _ENGLISH, "apache-2.0",
        marked("engine", "One vector for each sentence: maps, neighbours, similarity"),
    ),
    RecommendedModel(
        "BAAI/bge-small-zh-v1.5", 24, _CHINESE, "mit",
        marked("engine", "One vector for each Chinese sentence"),
    ),
    RecommendedModel(
        "dslim/bert-base-NER", 108, _ENGLISH, "mit",
        marked("engine", "Already trained to find persons, places and organisations"),
    ),
    RecommendedModel(
        "google-bert/bert-base-german-cased", 109, _GERMAN, "mit",
        marked("engine", "Any task on German text"),
    ),
)  # fmt: skip


def starters_for(script: str) -> tuple[str, ...]:
    """Return the names of the starter models to take for texts of a script: the English one last.

    Args: script: as `engine.text.languages` has them.
    """
    return (CHINESE_STARTER, STARTER) if script == CHINESE else (STARTER,)
