"""Fill the blank: what each member guesses, what it may see, and what it cannot do on this sentence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app import words
from app.pages.family.kinds.kind import (
    ANSWER,
    GAP,
    FamilyAnswer,
    FamilyKind,
    GivenQuestion,
    TypedExample,
    TypedQuestion,
    bars,
)
from app.pages.family.kinds.others import (
    about_words,
    head_of,
    member_cells,
    size_cells,
    size_heads,
    titles_of,
    waiting_or,
)
from app.plots.member_column import (
    BLANK,
    OTHER_SIDE,
    SEEN_BAG,
    SEEN_FILL,
    UNSEEN,
    FamilyLabels,
    MemberColumn,
    MemberScore,
    SeenWord,
    WordEntry,
)
from app.stories.story import FamilyTexts
from app.words import tr_engine, translate
from engine.family.members import ABOUT, ALL, LEFT, LIKENESS, NEAR, SIDES, About
from engine.family.other_guesses import MOST_DIGITS, ONE_PIECE, PER_WORD, READS
from engine.family.per_word import PerWord, Reads
from engine.family.questions.blank import BlankGuesses, FillBlank

MOST_QUOTED = 4  # words
_STOPS = ".,;:!?。，；：！？"


class BlankKind(FamilyKind[BlankGuesses]):
    """A sentence with a blank, and the right word."""

    key = "fill"
    fields = (ANSWER,)
    can_practice = True
    picks_members = True
    hides_limits = True
    takes_others = True

    @property
    def tab(self) -> tuple[str, str]:
        return translate("family", "Fill the blank"), translate("family", "Blank")

    @property
    def hint(self) -> str:
        return translate("family", "Click to put it into the blank")

    def begun(self, texts: FamilyTexts) -> TypedQuestion:
        return TypedQuestion(*texts.blanks[0])

    def examples(self, texts: FamilyTexts) -> tuple[TypedExample, ...]:
        return tuple(TypedExample(text, TypedQuestion(text, right)) for text, right in texts.blanks)

    def taken(self, question: str, word: str) -> str:
        """Return the sentence with a guess in its blank; it then ends with the next one."""
        gap = GAP if GAP in question else "[MASK]"
        filled = question.replace(gap, word, 1)
        if GAP in filled or "[MASK]" in filled:
            return filled
        tokens = filled.split(" ")
        after = next((n + 1 for n, token in enumerate(tokens) if token.strip(".,;") == word), len(tokens))
        if after < len(tokens):
            tail = tokens[after][len(tokens[after].rstrip(".,;")) :]
            tokens[after] = GAP + tail
        else:
            tokens.append(GAP)
        return " ".join(tokens)

    def caption(self, typed: TypedQuestion) -> tuple[str, str]:
        return typed.text, typed.answer.strip().lower()

    def question(self, given: GivenQuestion) -> FillBlank:
        right = given.typed.answer.strip()
        return FillBlank(given.folder, given.typed.text, right, bert=given.bert, others=given.others)

    def column(
        self, answer: FamilyAnswer[BlankGuesses], about: About, head: Mapping[str, Any]
    ) -> MemberColumn:
        found, right = answer.value, _right(answer)
        filled, shown = found.filled[about.name], found.limits.get(about.name)
        members, _ = found.per_word()
        cells = member_cells(about.name, found.sizes) if found.others else ()
        reached = per_word_cells(members.get(about.name), found)
        return MemberColumn(
            **{**head, "scores": (*cells, *reached)},
            seen=tr_engine(about.seen),
            words=seen_words(about, _read_by(answer, about), found.place),
            entries=tuple(
                WordEntry(one.word, one.value, bool(right) and one.word == right) for one in filled.guesses
            ),
            is_likeness=about.says == LIKENESS,
            rank="" if filled.rank is None else _ordinal(filled.rank),
            rank_of=translate("family", "of {count} words").format(count=words.number(found.num_words)),
            is_first=filled.rank == 1,
            why=_why(about, found.words, found.place),
            cannot=tr_engine(about.cannot),
            shown="" if shown is None else words.say(shown),
        )

    def other_columns(self, answer: FamilyAnswer[BlankGuesses]) -> tuple[MemberColumn, ...]:
        titles = titles_of([one.folder for one in answer.value.others])
        return tuple(_other_column(answer, place, title) for place, title in enumerate(titles))

    def other_notes(self, answer: FamilyAnswer[BlankGuesses]) -> tuple[str, ...]:
        found = answer.value
        if not found.others:
            return ()
        said = (ONE_PIECE, PER_WORD) if _reads(found) else (ONE_PIECE,)
        return tuple(map(tr_engine, said))

    def about_other(self, answer: FamilyAnswer[BlankGuesses], place: int) -> list[str]:
        one = answer.value.others[place]
        return about_words(one.about, one.folder, one.refusal or one.unlike)

    def reached(self, answer: FamilyAnswer[BlankGuesses], name: str) -> str:
        rank = answer.value.filled[name].rank
        return "" if rank is None else _ordinal(rank)

    def otherwise(self, answer: FamilyAnswer[BlankGuesses], given: str) -> str:
        own, right = answer.value.own, _right(answer)
        if own is None or own.rank is None or not right:
            return ""
        said = translate("family", "With {given}, this family’s BERT has “{word}” at {rank}.")
        return said.format(given=given, word=right, rank=_ordinal(own.rank))

    def labels(self, answer: FamilyAnswer[BlankGuesses]) -> FamilyLabels:
        right, found = _right(answer), answer.value
        rows = [(translate("family", "Perplexity per word"), tr_engine(READS[one])) for one in _reads(found)]
        return FamilyLabels(
            scores=(*size_heads(), *rows) if found.others else (),
            seen=(translate("family", "May see"), translate("family", "of the sentence")),
            says=(translate("family", "Guesses"), bars()),
            rank=translate("family", "“{word}” is").format(word=right) if right else "",
            why=translate("family", "Why"),
            shown=translate("family", "Shown here"),
            legend=(translate("family", "probability"), translate("family", "similarity")),
        )


def _right(answer: FamilyAnswer[BlankGuesses]) -> str:
    assert isinstance(answer.question, FillBlank)
    return answer.question.right.lower()


def _reads(found: BlankGuesses) -> list[Reads]:
    """Return what is lost of a word, of each row of perplexities; those that lose most first."""
    members, others = found.per_word()
    return sorted({one.reads for one in (*members.values(), *others.values())}, reverse=True)


def per_word_cells(reached: PerWord | None, found: BlankGuesses) -> tuple[MemberScore, ...]:
    """Return a perplexity in the row of those that read alike; nothing in the others."""
    return tuple(
        _per_word(reached, found.num_spaced)
        if reached is not None and reached.reads == one
        else MemberScore("")
        for one in _reads(found)
    )


def _per_word(reached: PerWord, num_spaced: int) -> MemberScore:
    """Return a perplexity, and over how many of so many words it is."""
    said = words.counted(reached.count, translate("family", "1 word"), translate("family", "{count} words"))
    if reached.count < num_spaced:
        said = translate("family", "{count} of {total} words").format(
            count=words.number(reached.count), total=words.number(num_spaced)
        )
    digits = 1 if reached.value < MOST_DIGITS else 0
    return MemberScore(words.decimal(reached.value, digits), said, short=said)


def _other_column(answer: FamilyAnswer[BlankGuesses], place: int, title: str) -> MemberColumn:
    """Return what a model that is no member says: it reads the sentence as it is written, from both sides."""
    found, right, about = answer.value, _right(answer), ABOUT["bert"]
    one, (_, reached) = found.others[place], found.per_word()
    kind, size = ("", None) if one.about is None else (one.about.family, one.about.size)
    rank = translate("family", "not one piece") if right and not one.is_one_piece else ""
    answered = bool(one.guesses)
    return MemberColumn(
        **head_of(title, one.about),
        seen=tr_engine(about.seen) if answered else "",
        words=seen_words(about, found.written, found.place) if answered else (),
        entries=tuple(
            WordEntry(guess.word, guess.value, bool(right) and guess.word.lower() == right)
            for guess in one.guesses
        ),
        text=waiting_or(one.refusal, is_whole=one.is_whole),
        rank=rank if one.rank is None else _ordinal(one.rank),
        rank_of=""
        if one.rank is None
        else translate("family", "of {count} words").format(count=words.number(found.num_words)),
        is_first=one.rank == 1,
        why=_why(about, found.words, found.place) if answered else "",
        scores=(*size_cells(kind, size), *per_word_cells(reached.get(place), found)),
    )


def seen_words(about: About, tokens: tuple[str, ...], place: int) -> tuple[SeenWord, ...]:
    """Return the words of a sentence as a member sees them, the blank at its place."""
    return tuple(
        SeenWord("" if number == place else token, BLANK if number == place else _seen(about, number, place))
        for number, token in enumerate(tokens)
    )


def _read_by(answer: FamilyAnswer[BlankGuesses], about: About) -> tuple[str, ...]:
    """Return the words as a member reads them: another BERT knows words that the family does not."""
    found = answer.value
    if about.name != "bert" or answer.bert is None:
        return found.words
    pairs = zip(found.words, found.written, strict=True)
    return tuple(written.lower() if word == "[UNK]" else word for word, written in pairs)


def _why(about: About, tokens: tuple[str, ...], place: int) -> str:
    """Return why a member guesses what it does: what it has read of this sentence."""
    read = [number for number in range(len(tokens)) if number != place]
    seen = [number for number in read if _seen(about, number, place) != UNSEEN]
    left = _quoted([tokens[number] for number in seen if number < place], is_end=True)
    unread = _quoted([tokens[number] for number in read if number not in seen])
    if about.sees == LEFT and not left:
        return translate("family", "Nothing is before the blank, so it has nothing to read.")
    if about.sees == LEFT and not unread:
        return translate("family", "Reads {left}, which is all there is.").format(left=left)
    if about.sees == LEFT:
        said = translate("family", "Reads {left} only. It never sees {unread}.")
        return said.format(left=left, unread=unread)
    if about.sees in (NEAR, ALL):
        said = translate("family", "Reads {count} words as a bag: their order is lost.")
        return said.format(count=words.number(len(seen)))
    if about.sees == SIDES:
        return translate("family", "Reads each side by itself: neither knows the other.")
    return translate("family", "Reads both sides together: every word helps to read every other.")


def _quoted(tokens: list[str], *, is_end: bool = False) -> str:
    """Return some words in quotation marks, at most so many of their beginning, or of their end."""
    if not any(token.strip(_STOPS) for token in tokens):
        return ""
    while tokens and not tokens[-1].strip(_STOPS):
        tokens = tokens[:-1]
    kept = tokens[-MOST_QUOTED:] if is_end else tokens[:MOST_QUOTED]
    joined = " ".join(kept)
    if len(kept) < len(tokens):
        joined = f"… {joined}" if is_end else f"{joined} …"
    return translate("family", "“{words}”").format(words=joined)


def _seen(about: About, number: int, place: int) -> str:
    is_near = not about.reach or abs(number - place) <= about.reach
    if not is_near or (about.sees == LEFT and number > place):
        return UNSEEN
    if about.sees in (NEAR, ALL):
        return SEEN_BAG
    return OTHER_SIDE if about.sees == SIDES and number > place else SEEN_FILL


def _ordinal(rank: int) -> str:
    return translate("family", "no. {rank}").format(rank=words.number(rank))
