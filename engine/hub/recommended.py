"""A short list of published encoders to begin with, told without asking anybody; and which model that ships.

What stands here was so when it was written; a look at a model says how it is now.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from engine.errors import marked
from engine.shipped import CHINESE_STARTER, STARTER
from engine.text.languages import CHINESE

MANY = "multilingual"
LANGUAGES = {  # as model cards call them
    "en": marked("engine", "English"),
    "zh": marked("engine", "Chinese"),
    "ar": marked("engine", "Arabic"),
    "bg": marked("engine", "Bulgarian"),
    "de": marked("engine", "German"),
    "el": marked("engine", "Greek"),
    "es": marked("engine", "Spanish"),
    "fr": marked("engine", "French"),
    "he": marked("engine", "Hebrew"),
    "id": marked("engine", "Indonesian"),
    "it": marked("engine", "Italian"),
    "ja": marked("engine", "Japanese"),
    "ko": marked("engine", "Korean"),
    "nl": marked("engine", "Dutch"),
    "pl": marked("engine", "Polish"),
    "pt": marked("engine", "Portuguese"),
    "ru": marked("engine", "Russian"),
    "sv": marked("engine", "Swedish"),
    "tr": marked("engine", "Turkish"),
    "uk": marked("engine", "Ukrainian"),
    "vi": marked("engine", "Vietnamese"),
    MANY: marked("engine", "Many languages"),
}


@dataclass(frozen=True, slots=True)
class RecommendedModel:
    """A model to begin with. family: as it is published. millions: of weights. language: of `LANGUAGES`.
    good_for: marked.
    """

    name: str
    family: str
    millions: float
    language: str
    licence: str
    good_for: str

    def fits(self, wanted: str, language: str) -> bool:
        """Whether it is meant by what was typed: part of its name, its family or its language.

        Args: wanted: in lower case. language: its own, as a person reads it.
        """
        return any(
            wanted in one.lower() for one in (self.name, self.family, LANGUAGES[self.language], language)
        )


RECOMMENDED = (
    RecommendedModel(
        "google-bert/bert-base-uncased", "BERT", 110, "en", "apache-2.0",
        marked("engine", "The paper’s own model: any task on English text"),
    ),
    RecommendedModel(
        "google-bert/bert-base-cased", "BERT", 108, "en", "apache-2.0",
        marked("engine", "Names and parts of speech, where capital letters matter"),
    ),
    RecommendedModel(
        "google-bert/bert-base-chinese", "BERT", 103, "zh", "apache-2.0",
        marked("engine", "Any task on Chinese text, character by character"),
    ),
    RecommendedModel(
        "hfl/chinese-bert-wwm-ext", "BERT", 103, "zh", "apache-2.0",
        marked("engine", "Like bert-base-chinese, but from more text and with whole words masked"),
    ),
    RecommendedModel(
        "hfl/rbt3", "BERT", 38, "zh", "apache-2.0",
        marked("engine", "Three layers: Chinese tasks on a computer without a GPU"),
    ),
    RecommendedModel(
        "hfl/chinese-roberta-wwm-ext", "BERT", 102, "zh", "apache-2.0",
        marked("engine", "RoBERTa-wwm-ext: a BERT trained as RoBERTa was, with whole words masked"),
    ),
    RecommendedModel(
        "hfl/chinese-macbert-base", "BERT", 102, "zh", "apache-2.0",
        marked("engine", "MacBERT: a BERT that learned with similar words in the place of [MASK]"),
    ),
    RecommendedModel(
        "hfl/chinese-lert-small", "BERT", 15, "zh", "apache-2.0",
        marked("engine", "LERT: a small BERT that also learned parts of speech and grammar"),
    ),
    RecommendedModel(
        "nghuyong/ernie-3.0-nano-zh", "ERNIE", 18, "zh", "apache-2.0",
        marked("engine", "Four layers: Chinese tasks on a computer without a GPU"),
    ),
    RecommendedModel(
        "nghuyong/ernie-3.0-base-zh", "ERNIE", 118, "zh", "apache-2.0",
        marked("engine", "Any task on Chinese text, from more and newer text than BERT’s"),
    ),
    RecommendedModel(
        "google-bert/bert-base-multilingual-cased", "BERT", 178, MANY, "apache-2.0",
        marked("engine", "Languages without a BERT of their own, and several at once"),
    ),
    RecommendedModel(
        "FacebookAI/xlm-roberta-base", "XLM-R", 278, MANY, "mit",
        marked("engine", "Any task in one of a hundred languages, or in several"),
    ),
    RecommendedModel(
        "jhu-clsp/mmBERT-small", "ModernBERT", 140, MANY, "mit",
        marked("engine", "mmBERT: newer than XLM-R, for more languages and texts of up to 8,192 pieces"),
    ),
    RecommendedModel(
        "almanach/camembert-base", "CamemBERT", 111, "fr", "mit",
        marked("engine", "Any task on French text"),
    ),
    RecommendedModel(
        "google/bert_uncased_L-2_H-128_A-2", "BERT", 4.4, "en", "apache-2.0",
        marked("engine", "BERT-tiny: for trying things out within a minute"),
    ),
    RecommendedModel(
        "google/bert_uncased_L-4_H-512_A-8", "BERT", 28.8, "en", "apache-2.0",
        marked("engine", "BERT-small: English tasks on a computer without a GPU"),
    ),
    RecommendedModel(
        "sentence-transformers/all-MiniLM-L6-v2", "BERT", 22.7, "en", "apache-2.0",
        marked("engine", "One vector for each sentence: maps, neighbours, similarity"),
    ),
    RecommendedModel(
        "sentence-transformers/all-mpnet-base-v2", "MPNet", 109, "en", "apache-2.0",
        marked("engine", "One vector for each English sentence: larger than all-MiniLM, and more exact"),
    ),
    RecommendedModel(
        "intfloat/multilingual-e5-small", "BERT", 118, MANY, "mit",
        marked("engine", "One vector for each sentence, in a hundred languages"),
    ),
    RecommendedModel(
        "Alibaba-NLP/gte-multilingual-base", "GTE", 305, MANY, "apache-2.0",
        marked("engine", "One vector for each text of up to 8,192 pieces, in seventy languages"),
    ),
    RecommendedModel(
        "BAAI/bge-small-zh-v1.5", "BERT", 24, "zh", "mit",
        marked("engine", "One vector for each Chinese sentence"),
    ),
    RecommendedModel(
        "FacebookAI/roberta-base", "RoBERTa", 125, "en", "mit",
        marked("engine", "Any task on English text, capital letters and emoji included"),
    ),
    RecommendedModel(
        "answerdotai/ModernBERT-base", "ModernBERT", 149, "en", "apache-2.0",
        marked("engine", "Long English texts and code: up to 8,192 pieces at once"),
    ),
    RecommendedModel(
        "jhu-clsp/ettin-encoder-17m", "ModernBERT", 16.8, "en", "mit",
        marked("engine", "Ettin: a small ModernBERT for a computer without a GPU"),
    ),
    RecommendedModel(
        "microsoft/deberta-v3-base", "DeBERTa", 184, "en", "mit",
        marked("engine", "Any task on English text but masked words: often the best of its size, and slow"),
    ),
    RecommendedModel(
        "microsoft/deberta-v3-xsmall", "DeBERTa", 71, "en", "mit",
        marked("engine", "A small DeBERTa-v3: English tasks without a GPU, but no masked words"),
    ),
    RecommendedModel(
        "microsoft/mdeberta-v3-base", "DeBERTa", 278, MANY, "mit",
        marked("engine", "mDeBERTa: any task but masked words, in one of a hundred languages, or in several"),
    ),
    RecommendedModel(
        "google/electra-small-discriminator", "ELECTRA", 13.5, "en", "apache-2.0",
        marked("engine", "English tasks on a computer without a GPU"),
    ),
    RecommendedModel(
        "albert/albert-base-v2", "ALBERT", 11.7, "en", "apache-2.0",
        marked("engine", "Any task on English text: twelve layers that share their weights"),
    ),
    RecommendedModel(
        "distilbert/distilbert-base-uncased", "DistilBERT", 66, "en", "apache-2.0",
        marked("engine", "Any task on English text, with half of BERT’s layers"),
    ),
    RecommendedModel(
        "dslim/bert-base-NER", "BERT", 108, "en", "mit",
        marked("engine", "Already trained to find persons, places and organisations"),
    ),
    RecommendedModel(
        "google-bert/bert-base-german-cased", "BERT", 109, "de", "mit",
        marked("engine", "Any task on German text"),
    ),
)  # fmt: skip


def model_for(languages: Collection[str]) -> str:
    """Return the first recommended model that reads some languages, called as model cards call them."""
    wanted = next(iter(languages)) if len(languages) == 1 else MANY
    found = {one.language: one.name for one in reversed(RECOMMENDED)}
    return found.get(wanted, found[MANY])


def starters_for(script: str) -> tuple[str, ...]:
    """Return the names of the starter models to take for texts of a script: the English one last.

    Args: script: as `engine.text.languages` has them.
    """
    return (CHINESE_STARTER, STARTER) if script == CHINESE else (STARTER,)
