"""What is asked of a model when words are to account for its answer: a label, a hidden word, next sentence.

`Target` is the wish, `TargetOnText` what became of it on one text: the ids that are read, and where the
answer is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from engine.errors import Sentence, UserError, marked
from engine.inspect.loaded_model import LoadedModel, looking
from engine.model.info import temperature_in
from engine.text.batch import Bounds
from engine.text.tokenizer import Encoding
from engine.text.words import Word

# B copies of one text, T tokens, D hidden_size, P places that are asked for (1, or the pieces of a hidden
# word), C answers that are possible: labels, words of the vocabulary, or the two of next sentence

MASKED_WORDS, NEXT_SENTENCE, LABELS = (
    "masked_words",
    "next_sentence",
    "labels",
)  # as `LoadedModel.require` has it
FOLLOWS, RANDOM = "follows", "random"  # the answers to NEXT_SENTENCE, in the order of its two logits
LOG_ODDS, PROBABILITY = "log_odds", "probability"
MEASURES = {
    LOG_ODDS: marked("engine", "Log-odds"),
    PROBABILITY: marked("engine", "Probability"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """An answer of a model.

    question: "labels", "masked_words" or "next_sentence". answer: a label, a word, or "follows" / "random";
    "" for the answer that the model gives by itself. against: a second answer, whose share is taken off; ""
    for all other answers together. place: of a masked word, its position among the tokens, [CLS] is 0; None
    for the first [MASK]. Where another word stands there, the whole of it is hidden and asked for: "" is then
    the word itself.
    """

    question: str
    answer: str = ""
    against: str = ""
    place: int | None = None


@dataclass(frozen=True, eq=False, slots=True)
class TargetOnText:
    """A target on one text, ready to be asked again and again.

    target: its answers are filled in. input_ids: as the model reads them. places: P positions of [MASK], or
    none. answers, against: the numbers of the answers, one for each place; `against` may be none. word: the
    word that was hidden for this, or None.
    """

    target: Target
    input_ids: tuple[int, ...]
    token_type_ids: tuple[int, ...]
    places: tuple[int, ...]
    answers: tuple[int, ...]
    against: tuple[int, ...]
    word: Word | None

    @property
    def sentence(self) -> Sentence:
        """What is asked, in words."""
        target = self.target
        values = {"answer": _shown(target, target.answer), "against": _shown(target, target.against)}
        if target.against and target.question == NEXT_SENTENCE:
            return Sentence(marked("engine", "{answer} rather than {against}"), values)
        if target.against:
            return Sentence(marked("engine", "“{answer}” rather than “{against}”"), values)
        if target.question == LABELS:
            return Sentence(marked("engine", "the label “{answer}”"), values)
        if target.question == NEXT_SENTENCE:
            return Sentence(marked("engine", "{answer}"), values)
        if self.word is not None:
            return Sentence(marked("engine", "the masked word “{answer}”"), values)
        return Sentence(marked("engine", "“{answer}” at [MASK]"), values)


def settle(subject: LoadedModel, encoding: Encoding, words: Sequence[Word], target: Target) -> TargetOnText:
    """Return what is asked of this text: answers that were left open are those that the model gives.

    Raises: ModelError: the model lacks the head. UserError: no such label, a word that does not fit a
    [MASK], no second text, no [MASK].
    """
    subject.require(target.question)
    ids = list(encoding.input_ids)
    places: tuple[int, ...] = ()
    word: Word | None = None
    if target.question == MASKED_WORDS:
        places, word = _masked(subject, encoding, words, target.place)
        assert subject.wordpiece.mask_id is not None
        for place in places:
            ids[place] = subject.wordpiece.mask_id
    if target.question == NEXT_SENTENCE and 1 not in encoding.token_type_ids:
        raise UserError(marked("engine", "Whether B follows A takes two texts. Type the second one."))
    asked = TargetOnText(target, tuple(ids), tuple(encoding.token_type_ids), places, (), (), word)
    answers = _numbers(subject, asked, target.answer) or _own(subject, asked, encoding)
    against = _numbers(subject, asked, target.against)
    if answers == against:
        raise UserError(marked("engine", "An answer cannot be compared with itself. Choose another one."))
    named = replace(
        target,
        answer=_name(subject, target, answers),
        against=_name(subject, target, against) if against else "",
    )
    return replace(asked, target=named, answers=answers, against=against)


def logits_of(subject: LoadedModel, asked: TargetOnText, words: Tensor) -> Tensor:
    """Return (B, P, C), the scores of all answers. Args: words: (B, T, D), word embeddings of B copies."""
    count, length = words.shape[:2]
    bounds = Bounds([length] * count, words.device)  # packed, so that the last layer computes few tokens
    rows = words.flatten(0, 1)  # (B * T, D)
    types = torch.tensor(asked.token_type_ids * count, device=words.device)
    if asked.target.question == LABELS:
        head = subject.label_head()
        logits: Tensor = head(inputs_embeds=rows, token_type_ids=types, bounds=bounds)
        return logits[:, None] / temperature_in(subject.info)
    masked = torch.tensor(
        [copy * length + place for copy in range(count) for place in asked.places],
        dtype=torch.long,
        device=words.device,
    )
    language = subject.language
    assert language is not None
    found = language(inputs_embeds=rows, token_type_ids=types, bounds=bounds, masked=masked)
    if asked.target.question == NEXT_SENTENCE:
        return found.next_sentence[:, None]  # type: ignore[no-any-return]
    return language.logits(found.hidden).view(count, len(asked.places), -1)


def measured(logits: Tensor, asked: TargetOnText, measure: str) -> Tensor:
    """Return (B,), how strongly the model answers so.

    log_odds: log p - log(1 - p), and against another answer log p - log q. probability: p, or p - q. Of a
    word of several pieces p is the product over them, each guessed without seeing the others.

    Args: logits: (B, P, C) as `logits_of` gives them.
    """
    logs = logits.log_softmax(-1)
    log_p = _picked(logs, asked.answers)
    if measure == PROBABILITY:
        return log_p.exp() - (_picked(logs, asked.against).exp() if asked.against else 0.0)
    if asked.against:
        return log_p - _picked(logs, asked.against)
    if len(asked.answers) > 1:
        return log_p - torch.log(-torch.expm1(log_p.clamp(max=-1e-7)))  # 1 - p, also where p is nearly 0 or 1
    others = torch.ones(logits.shape[-1], dtype=torch.bool, device=logits.device)
    others[asked.answers[0]] = False
    return log_p - logs[:, 0, others].logsumexp(-1)


def _picked(logs: Tensor, answers: Sequence[int]) -> Tensor:
    """Return (B,), the summed logarithms of one answer for each place. Args: logs: (B, P, C)."""
    places = torch.arange(len(answers), device=logs.device)
    return logs[:, places, torch.tensor(answers, device=logs.device)].sum(-1)


def _masked(
    subject: LoadedModel, encoding: Encoding, words: Sequence[Word], place: int | None
) -> tuple[tuple[int, ...], Word | None]:
    """Return the positions that are asked for, and the word that has to be hidden for it."""
    mask_id = subject.wordpiece.mask_id
    if place is None:
        if mask_id not in encoding.input_ids:
            template = marked(
                "engine", "The text has no [MASK]. Write [MASK] in place of a word, or mask one."
            )
            raise UserError(template)
        return (encoding.input_ids.index(mask_id),), None
    if 0 <= place < len(encoding.input_ids) and encoding.input_ids[place] == mask_id:
        return (place,), None
    for word in words:
        if place in word.pieces:
            return word.pieces, word
    raise UserError(marked("engine", "Token {place} is not a word of the text. Choose another."), place=place)


def _numbers(subject: LoadedModel, asked: TargetOnText, answer: str) -> tuple[int, ...]:
    """Return the numbers of an answer, one for each place; none for "". Raises: UserError."""
    question = asked.target.question
    if not answer:
        return ()
    if question == MASKED_WORDS:
        return _pieces_of(subject, answer, len(asked.places))
    choices = subject.labels if question == LABELS else (FOLLOWS, RANDOM)
    if answer not in choices:
        template = marked("engine", "{answer!r} is not an answer of this model; it can be one of: {choices}.")
        raise UserError(template, answer=answer[:80], choices=list(choices))
    if len(choices) < 2:
        raise UserError(
            marked("engine", "The model knows only one label, so nothing supports or opposes it.")
        )
    return (choices.index(answer),)


def _pieces_of(subject: LoadedModel, answer: str, num_places: int) -> tuple[int, ...]:
    wordpiece = subject.wordpiece
    ids = wordpiece.ids_of_word(answer)
    if len(ids) != num_places and num_places == 1 and answer in wordpiece.tokens:
        ids = [wordpiece.tokens.index(answer)]  # a piece by its name, such as ##ing
    if not ids or wordpiece.unk_id in ids:
        raise UserError(
            marked("engine", "The vocabulary cannot spell {answer!r}. Choose another word."),
            answer=answer[:80],
        )
    if len(ids) != num_places:
        template = marked(
            "engine",
            "{answer!r} is split into {count} pieces; the mask here is for {places}. Choose another word.",
        )
        raise UserError(template, answer=answer[:80], count=len(ids), places=num_places)
    return tuple(ids)


def _own(subject: LoadedModel, asked: TargetOnText, encoding: Encoding) -> tuple[int, ...]:
    """Return the model's own answer; of a word that was hidden, the word itself where it can be spelled."""
    if asked.word is not None:
        original = tuple(encoding.input_ids[place] for place in asked.places)
        if subject.wordpiece.unk_id not in original:
            return original
    if asked.target.question == LABELS and len(subject.labels) < 2:
        return _numbers(subject, asked, subject.labels[0])  # refuses
    with looking(subject) as device:
        ids = torch.tensor([asked.input_ids], device=device)
        logits = logits_of(subject, asked, subject.bert.embeddings.word(ids))[0]  # (P, C)
        if asked.target.question == MASKED_WORDS:
            logits = logits[:, : subject.wordpiece.vocab_size]
        if asked.target.against:  # the best of the others
            for place, number in enumerate(_numbers(subject, asked, asked.target.against)):
                logits[place, number] = -torch.inf
        return tuple(logits.argmax(-1).tolist())


def _name(subject: LoadedModel, target: Target, numbers: tuple[int, ...]) -> str:
    if target.question == LABELS:
        return subject.labels[numbers[0]]
    if target.question == NEXT_SENTENCE:
        return (FOLLOWS, RANDOM)[numbers[0]]
    return subject.wordpiece.as_word(numbers)


def _shown(target: Target, answer: str) -> Sentence | str:
    if target.question != NEXT_SENTENCE:
        return answer
    follows, random = marked("engine", "B follows A"), marked("engine", "B does not follow A")
    return Sentence(follows if answer == FOLLOWS else random)
