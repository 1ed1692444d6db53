"""The line that "Copy as command" gives on the Probe page: it asks what the open tab shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from app.pages.probe.draft import ProbeDraft
from app.pages.probe.masked_text import with_masks
from app.words import translate
from engine.inspect.masked.grid import TemplateSettings
from engine.questions.cloze import ClozeQuestion
from engine.questions.fill_mask import FillMaskQuestion
from engine.questions.layers import LayersQuestion
from engine.questions.next_sentence import NextSentenceQuestion
from engine.questions.pairs import PairsQuestion
from engine.questions.perplexity import SurpriseQuestion
from engine.questions.templates import TemplatesQuestion


@dataclass(frozen=True, slots=True)
class CommandOffer:
    """A line and what it prints, or why there is none."""

    line: str = ""
    said: str = ""
    lacking: str = ""


def words_offer(draft: ProbeDraft, top_k: int) -> CommandOffer:
    """Return the line that guesses the hidden words, which stand as [MASK] in the texts."""
    about, masked = draft.about, draft.masked
    if about is None or masked is None:
        return CommandOffer(lacking=draft.refusal or translate("probe", "Mask a word first."))
    text, pair = with_masks(draft.question, masked, every_piece=True)
    read = about.wordpiece.encode(text, pair if draft.question.pair is not None else None)
    if tuple(read.input_ids) != masked.input_ids:
        return CommandOffer(
            lacking=translate(
                "probe", "A piece within a word is masked, which a text cannot say. Mask whole words."
            )
        )
    texts = (text, pair if draft.question.pair is not None else None)
    said = translate("probe", "The command prints the guesses for each [MASK].")
    return CommandOffer(FillMaskQuestion(about.named, *texts, top_k=top_k).command(), said)


def surprise_offer(draft: ProbeDraft) -> CommandOffer:
    """Return the line that measures each piece of the sentence."""
    about, encoding = draft.about, draft.encoding
    if about is None or encoding is None or not draft.words:
        return CommandOffer(lacking=draft.refusal or translate("probe", "Type a sentence first."))
    if about.wordpiece.mask_id in encoding.input_ids:
        return CommandOffer(lacking=translate("probe", "Replace [MASK] with a word first."))
    texts = (draft.question.text, draft.question.pair)
    said = translate("probe", "The command prints each piece’s probability, and the pseudo-perplexity.")
    return CommandOffer(SurpriseQuestion(about.named, *texts).command(), said)


def next_offer(draft: ProbeDraft) -> CommandOffer:
    """Return the line that says whether B follows A."""
    about, question = draft.about, draft.question
    if about is None or draft.refusal or question.pair is None:
        return CommandOffer(lacking=draft.refusal or translate("probe", "Type a second sentence in B first."))
    said = translate("probe", "The command prints whether B follows A, and the model’s confidence.")
    return CommandOffer(NextSentenceQuestion(about.named, question.text, question.pair).command(), said)


def templates_offer(
    draft: ProbeDraft, requests: Sequence[TemplateSettings], file: Path | None
) -> CommandOffer:
    """Return the line that scores a template, or those of a file."""
    if draft.about is None or not requests:
        return CommandOffer(lacking=translate("probe", "There are no scores yet."))
    model, targets = draft.about.named, requests[0].targets
    said = translate("probe", "The command prints the score of each word in each sentence.")
    if file is not None:
        return CommandOffer(TemplatesQuestion(model, data=file).command(), said)
    if any("|" in target for target in targets):
        return CommandOffer(
            lacking=translate("probe", "In a command | separates the words, so none of them may contain it.")
        )
    template = requests[0].template.text
    asked = TemplatesQuestion(model, template=template, targets="|".join(targets))
    return CommandOffer(asked.command(), said)


def over_table_offer(asked: ClozeQuestion | PairsQuestion | None) -> CommandOffer:
    """Return the line that asks the same of every text of the open table."""
    if asked is None:
        return CommandOffer(lacking=translate("probe", "Choose a question first."))
    if isinstance(asked, PairsQuestion):
        said = translate("probe", "The command prints how often the first sentence is more likely.")
    else:
        said = translate("probe", "The command prints how many words are predicted, and how well.")
    return CommandOffer(asked.command(), said)


def layers_offer(draft: ProbeDraft) -> CommandOffer:
    """Return the line that asks each layer for the hidden words."""
    about, masked, question = draft.about, draft.masked, draft.question
    if about is None or masked is None:
        return CommandOffer(lacking=draft.refusal or translate("probe", "Mask a word first."))
    if question.pieces:
        return CommandOffer(
            lacking=translate("probe", "A piece within a word is masked. The command masks whole words.")
        )
    hide = tuple(number + 1 for number in question.words)
    said = translate("probe", "The command prints what each layer would guess, and the rank of the original.")
    return CommandOffer(LayersQuestion(about.named, question.text, question.pair, hide=hide).command(), said)
