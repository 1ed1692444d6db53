"""All questions that have a command, in the order of `--help`."""

from __future__ import annotations

from typing import Any

from engine.questions.anatomy import TraceQuestion
from engine.questions.attention import AttentionQuestion
from engine.questions.attribute import AttributionQuestion
from engine.questions.cloze import ClozeQuestion
from engine.questions.embed import EmbeddingQuestion
from engine.questions.fill_mask import FillMaskQuestion
from engine.questions.heads import HeadsQuestion
from engine.questions.layers import LayersQuestion
from engine.questions.meanings import MeaningsQuestion
from engine.questions.next_sentence import NextSentenceQuestion
from engine.questions.pairs import PairsQuestion
from engine.questions.perplexity import SurpriseQuestion
from engine.questions.question import Question
from engine.questions.rests_on import RestingWordsQuestion
from engine.questions.templates import TemplatesQuestion
from engine.questions.word_in_context import WordInContextQuestion

LOOKING_INSIDE: tuple[type[Question[Any]], ...] = (
    FillMaskQuestion,
    NextSentenceQuestion,
    AttentionQuestion,
    AttributionQuestion,
    EmbeddingQuestion,
    SurpriseQuestion,
    HeadsQuestion,
    ClozeQuestion,
    PairsQuestion,
    TemplatesQuestion,
    RestingWordsQuestion,
    LayersQuestion,
    WordInContextQuestion,
    MeaningsQuestion,
    TraceQuestion,
)
