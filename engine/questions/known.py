"""All questions that have a command, in the order of `--help`."""

from __future__ import annotations

from typing import Any

from engine.questions.anatomy import TraceText
from engine.questions.attention import SeeAttention
from engine.questions.attribute import AttributeAnswer
from engine.questions.cloze import ForeseeTable
from engine.questions.embed import EmbedTable
from engine.questions.fill_mask import FillMask
from engine.questions.heads import WeighHeads
from engine.questions.layers import AskLayers
from engine.questions.next_sentence import NextSentence
from engine.questions.pairs import ComparePairs
from engine.questions.perplexity import MeasureSurprise
from engine.questions.question import Question
from engine.questions.rests_on import FindRestingWords
from engine.questions.templates import ScoreTemplates
from engine.questions.word_in_context import WordInContext

LOOKING_INSIDE: tuple[type[Question[Any]], ...] = (
    FillMask,
    NextSentence,
    SeeAttention,
    AttributeAnswer,
    EmbedTable,
    MeasureSurprise,
    WeighHeads,
    ForeseeTable,
    ComparePairs,
    ScoreTemplates,
    FindRestingWords,
    AskLayers,
    WordInContext,
    TraceText,
)
