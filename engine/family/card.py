"""What a family reached: a table for a terminal, a card in Markdown with all questions to all members.

Perplexity from the left and pseudo-perplexity from both sides are two rows, and never one; both are of known
words, and what is foreseen beside them has rows of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from engine.errors import Sentence, bracketed, closed, listed, marked, per_cent, phrases, sentences, spanned
from engine.evaluation.statistics import p_words
from engine.family.blanks import BLANKS
from engine.family.curves import crossings, not_passed
from engine.family.members import ABOUT, PROBABILITY
from engine.family.scores import BOTH_SIDES, ENDS, FOLLOWS, FROM_LEFT, IN_BLANKS, KNOWN, UNKNOWN
from engine.family.senses import chance_of_nearest
from engine.family.verdicts import DOES_NOT, HOLDS, NO_VERDICT, OPEN, VERDICTS, JudgedClaim, judged_of
from engine.language import said, spoken
from engine.settings.family import FREQUENCIES
from engine.train.gains import aligned

CANNOT = "n/a"
INFORMED = marked(
    "engine",
    "BERT began with counts over the whole text, which took none of its minutes, so it is never called best.",
)
NOT_MEASURED = marked(
    "engine",
    "This family is from an earlier version: what its members reach before training was not measured.",
)
BY_FREQUENCY = marked("engine", "{members} began with the frequencies of words, everything else at random.")
RANDOM = marked("engine", "{members} began at random.")
_BY_FREQUENCY_THEN = ("nnlm", "elmo")  # in families of before, whose members did not begin alike
ONE_TRAINING = marked(
    "engine",
    "Each model was trained once. Intervals and p-values cover the texts that were "
    "drawn, not what another training of the same model would reach.",
)
SEVERAL_TRAININGS = marked(
    "engine",
    "Each model was trained {count} times, from different seeds. Claims cover the texts and the seeds. "
    "Scores and their intervals are of the first training.",
)
ONE_EACH = marked("engine", "one training each")


def starts(report: Mapping[str, Any]) -> list[Sentence]:
    """Return with what the members of a family began."""
    networks = [name for name in report["members"] if ABOUT[name].says == PROBABILITY and name != "ngram"]
    by_frequency, informed = list[str](), list[str]()
    if "starts" not in report:
        informed = ["bert"] if report.get("informed_start") and "bert" in networks else []
        by_frequency = [name for name in networks if name in _BY_FREQUENCY_THEN]
    elif report["starts"] == FREQUENCIES:
        by_frequency = networks
    rest = [name for name in report["members"] if name not in (*by_frequency, *informed, "ngram")]
    found = [Sentence(INFORMED)] if informed else []
    for template, names in ((BY_FREQUENCY, by_frequency), (RANDOM, rest)):
        if names:
            members = listed(ABOUT[name].said for name in names)
            found.append(Sentence(template, {"members": members}))
    return found if "starts" in report else [*found, Sentence(NOT_MEASURED)]


def trained_how_often(trainings: int) -> Sentence:
    """Return what the number of trainings means for figures."""
    return Sentence(SEVERAL_TRAININGS, {"count": trainings}) if trainings > 1 else Sentence(ONE_TRAINING)


def least_trainings(claims: Sequence[JudgedClaim]) -> int:
    """Return how often those models were trained that were trained least."""
    return min((one.claim.trainings for one in claims), default=1)


def is_of_one_training(found: JudgedClaim) -> bool:
    """Whether a verdict is about one training of each model."""
    return found.claim.trainings < 2 and found.verdict in (HOLDS, DOES_NOT)


def table(report: Mapping[str, Any]) -> list[str]:
    """Return a family's report as lines."""
    every = lines(report)
    first = [*[line for line in every if line.name == ON_BLANKS[0]]]
    first += [line for line in every if line not in first and not line.is_start][:2]
    rows: list[tuple[str, ...]] = [(*map(spoken, TABLE_HEAD), *(line.title for line in first))]
    for name in report["members"]:
        found = (line.cell(name) for line in first)
        rows.append(
            (spoken(ABOUT[name].said), str(ABOUT[name].year), *_figures(report["reached"][name]), *found)
        )
    claims = judged_of(report)
    notes = [str(trained_how_often(least_trainings(claims)))] if claims else []
    notes += map(str, starts(report))
    return [*aligned(rows), "", *claims_lines(claims), *notes]


MEMBER, WEIGHTS = marked("engine", "member"), marked("engine", "weights")
WORDS_READ, SECONDS = marked("engine", "words read"), marked("engine", "seconds")
TABLE_HEAD = MEMBER, marked("engine", "year"), WEIGHTS, WORDS_READ, SECONDS
FACTS_HEAD = MEMBER, marked("engine", "paper"), WEIGHTS, WORDS_READ, SECONDS
ON_BLANKS = (marked("engine", "Blanks filled"), marked("engine", "Perplexity, words in the blanks"))
ANALOGIES, NEXT_SENTENCE = marked("engine", "Analogies"), marked("engine", "Next sentence recognized")
SAME_SENSE = marked("engine", "Nearest sentence has the same sense")
UNREAD = marked("engine", "Blanks filled in another text")
UNREAD_IN_PRACTICE = marked("engine", "Blanks filled in another text, BERT as trained in practice")
PERCENT, RANKS = "%", "ρ"  # units: shares of 1, rank correlations; "" for any number


@dataclass(frozen=True, slots=True)
class CardLine:
    """One question to all members. name: marked. source: the file that it was asked from, "" for the text
    kept apart. scores: value, low, high and count of those that can be asked. is_less_better: perplexity.
    chance: what guessing without having learned reaches; None where that is not known. is_start: what the
    members reached before they were trained.
    """

    name: str
    source: str
    unit: str
    scores: Mapping[str, Mapping[str, Any]]
    is_less_better: bool = False
    left_out: int = 0
    chance: float | None = None
    is_start: bool = False

    @property
    def title(self) -> str:
        """What is asked, and when."""
        asked = spoken(self.name)
        return said(marked("engine", "{asked}, before training"), asked=asked) if self.is_start else asked

    @property
    def unlearned(self) -> tuple[str, ...]:
        """The members whose score after training is not surely better than before."""
        return tuple(name for name, one in self.scores.items() if not one.get("is_learned", True))

    def cell(self, name: str) -> str:
        """Return a member's score with its interval; "n/a" is a result too."""
        one = self.scores.get(name)
        if one is None:
            return CANNOT
        low, high = (self._digits(one[key]) for key in ("low", "high"))
        value = self._digits(one["value"])
        value = per_cent(value) if self.unit == PERCENT else value
        if self.is_start:
            same = [spoken(marked("engine", "no clear gain by training"))] if name in self.unlearned else []
            return phrases([value, *same])
        if one.get("trainings"):
            several = listed(map(self._digits, one["trainings"]))
            template = marked("engine", "{low} to {high}; trainings: {several}")
            return bracketed(value, said(template, low=low, high=high, several=several))
        return bracketed(value, spanned(low, high))

    def _digits(self, value: float) -> str:
        times, digits = (100.0, 1) if self.unit == PERCENT else (1.0, 2 if self.unit == RANKS else 1)
        return _shown(times * value, f".{digits}f")

    def never_best(self, name: str) -> CardLine:
        """Return this with a member that is not told to be best, since it had a head start."""
        if not self.is_best(name):
            return self
        return replace(self, scores={**self.scores, name: {**self.scores[name], "is_best": False}})

    def before(self) -> CardLine | None:
        """Return what the same members reached before they were trained; None where that is not known."""
        begun = {
            name: {**one, "value": one["start"], "is_best": False}
            for name, one in self.scores.items()
            if one.get("start") is not None
        }
        return replace(self, scores=begun, is_start=True) if begun else None

    def is_best(self, name: str) -> bool:
        """Whether a member is best or tied with it."""
        return bool(self.scores.get(name, {}).get("is_best"))


def lines(report: Mapping[str, Any]) -> list[CardLine]:
    """Return all questions that were asked of a family, those on the text kept apart first."""
    kept, chance = report["scores"], report.get("chance", {})
    left = marked("engine", "Perplexity, known words from the left")
    both = marked("engine", "Pseudo-perplexity, known words, both sides")
    foreseen = marked("engine", "Perplexity, all from the left, [UNK] and ends too")
    rest = (
        (IN_BLANKS, ON_BLANKS[1]),
        (UNKNOWN, marked("engine", "Perplexity, [UNK] from the left")),
        (ENDS, marked("engine", "Perplexity, ends of sentences from the left")),
    )
    found = [CardLine(ON_BLANKS[0], "", PERCENT, kept[BLANKS], chance=chance.get(BLANKS))]
    if KNOWN in kept:
        found.append(CardLine(left, "", "", kept[KNOWN], True))
    else:  # a family of before: its words were not told apart
        found.append(CardLine(foreseen, "", "", kept[FROM_LEFT], True))
    found.append(CardLine(both, "", "", kept[BOTH_SIDES], True))
    found += [CardLine(name, "", "", kept[key], True) for key, name in rest if kept.get(key)]
    if kept.get(FOLLOWS):
        found.append(CardLine(NEXT_SENTENCE, "", PERCENT, kept[FOLLOWS], chance=chance.get(FOLLOWS, 0.5)))
    found += [_asked_later(one) for one in report.get("questions", [])]
    if report.get("informed_start"):
        found = [line.never_best("bert") for line in found]
    return [line for one in found for line in (one, one.before()) if line is not None]


def _asked_later(one: Mapping[str, Any]) -> CardLine:
    """Return a question that was asked once the family had been trained."""
    chance = (
        0.0 if one["unit"] == RANKS else {SAME_SENSE: chance_of_nearest(), ANALOGIES: 0.0}.get(one["name"])
    )
    return CardLine(
        one["name"], one["source"], one["unit"], one["scores"], left_out=int(one["left_out"]), chance=chance
    )


def _shown(value: float, digits: str = ".3f") -> str:
    return f"{value:{digits}}".replace("-", "\u2212")


CLAIM = marked(
    "engine",
    "{verdict}: {claim} ({measure}: {first} and {second}, difference {difference}, 95 %: {low} to {high}, "
    "{count:,} texts)",
)
CLAIM_WITH_P = marked(
    "engine",
    "{verdict}: {claim} ({measure}: {first} and {second}, difference {difference}, 95 %: {low} to {high}, "
    "{count:,} texts; p {p} after Holm’s correction)",
)


def claims_lines(claims: Sequence[JudgedClaim]) -> Iterator[str]:
    """Yield each claim with its figures and verdict, a line each."""
    for found in claims:
        one = found.claim
        each = [spoken(ONE_EACH)] if is_of_one_training(found) else []
        values = {
            "verdict": phrases([spoken(_TITLES[found.verdict]), *each]),
            "claim": spoken(one.claim),
            "measure": spoken(one.measure),
            "first": _shown(one.first),
            "second": _shown(one.second),
            "difference": _shown(one.difference, "+.3f"),
            "low": _shown(one.low, "+.3f"),
            "high": _shown(one.high, "+.3f"),
            "count": one.count,
        }
        if found.p_value is None:
            line = said(CLAIM, **values)
        else:
            line = said(CLAIM_WITH_P, p=p_words(found.p_value), **values)
        yield line if found.reason is None else sentences([closed(line), str(found.reason)])


_ABOUT_TEXT = marked(
    "engine",
    "All were trained on {text}, {budget}, with one vocabulary of whole words. Every other word is [UNK] to "
    "each of them.",
)
_ABOUT_BEST = marked(
    "engine",
    "Intervals are 95 %. **Bold** are the best, and those that are not clearly worse. That is judged by a "
    "paired test over the same questions, with Holm’s correction over the members. A member that is not "
    "above chance, or no better than before training, is never bold.",
)
_ABOUT_SCORES = marked(
    "engine",
    "Perplexity from the left and pseudo-perplexity from both sides cannot be compared. One predicts a word "
    "from what comes before it, the other from all the rest. The words in the blanks are guessed by all "
    "members that give probabilities, each from what it may see, among the known words only.",
)
_ABOUT_MEMBERS = marked(
    "engine",
    "BERT reads pairs of sentences and masks 15 % of the words. GPT is the first one, with the norm after "
    "each sum. ELMo reads words where the paper reads characters. CBOW and skip-gram are gensim’s.",
)
_ABOUT_TABLE = marked(
    "engine",
    "Vectors are compared by their cosine, for words or for the mean over a sentence’s positions or words. "
    "A question with a word beyond the vocabulary is skipped. By chance, half of the next sentences are "
    "right, and 44 % of the senses. “n/a” is a result: the n-gram has no vectors, and a member that sees "
    "only one side has no pseudo-perplexity.",
)
_TITLES = {
    HOLDS: marked("engine", "Confirmed"),
    DOES_NOT: marked("engine", "Not confirmed here"),
    OPEN: marked("engine", "Inconclusive"),
    NO_VERDICT: marked("engine", "No verdict from this family"),
}


def card(report: Mapping[str, Any]) -> Iterator[str]:
    """Yield a family's card, in Markdown: what it learned from, all questions, which claims hold."""
    names = report["members"]
    yield from ("# " + said(marked("engine", "A family of {count} language models"), count=len(names)), "")
    trained = said(_ABOUT_TEXT, text=listed(report["text"]), budget=_budget(report))
    yield from (sentences([trained, spoken(_ABOUT_BEST), spoken(_ABOUT_SCORES)]), "")
    if machine := report.get("note") or report.get("machine"):
        yield from (said(marked("engine", "Trained on: {machine}."), machine=machine), "")
    yield from _table(tuple(map(spoken, FACTS_HEAD)), _facts(report))
    title = spoken(marked("engine", "All questions to all members"))
    yield from (f"## {title}", "", spoken(_ABOUT_TABLE), "")
    head = (spoken(marked("engine", "question")), *(ABOUT[name].said for name in names))
    rows = ((_asked(line), *(_marked(line, name) for name in names)) for line in lines(report))
    yield from _table(head, rows)
    yield from _crossings(report)
    yield from ("## " + spoken(marked("engine", "Claims and verdicts")), "")
    every = judged_of(report)
    yield from (str(trained_how_often(least_trainings(every))), "")
    for verdict in VERDICTS:
        claims = [one for one in every if one.verdict == verdict]
        if claims:
            yield from (f"### {spoken(_TITLES[verdict])}", "")
            yield from (f"- {line}" for line in claims_lines(claims))
            yield ""
    yield from (spoken(_ABOUT_MEMBERS), *map(str, starts(report)))


UNTIL_READ = marked(
    "engine", "each until it had read {words:,} words, or all there are if it reads none twice"
)
PASSED = marked("engine", "{above} fills more blanks than {below} from about {words:,.0f} words on.")
NOT_PASSED = marked(
    "engine",
    "BERT has not passed {above} with the {words:,} words that it read: it fills {share:.1f} %, {above} "
    "{above_share:.1f} %.",
)


def _budget(report: Mapping[str, Any]) -> str:
    """Return what each member was given, the same for all: minutes, or words to read."""
    if words := report.get("words_each"):
        return said(UNTIL_READ, words=words)
    if steps := report.get("steps_each"):
        return said(marked("engine", "each for {steps:,} steps"), steps=steps)
    return said(marked("engine", "each for up to about {minutes:.3g} minutes"), minutes=report["minutes"])


def _crossings(report: Mapping[str, Any]) -> Iterator[str]:
    """Yield from where on which member filled more blanks than another, by words read."""
    found, behind = crossings(report), not_passed(report)
    if not found and behind is None:
        return
    once = marked("engine", "Blanks filled, by words read")
    several = marked("engine", "Blanks filled, by words read, in the first training")
    yield from ("## " + spoken(several if report.get("trainings", 1) > 1 else once), "")
    for one in found:
        above, below = ABOUT[one.above].said, ABOUT[one.below].said
        yield "- " + said(PASSED, above=above, below=below, words=one.words)
    if behind is not None:
        shares = {"share": 100 * behind.share, "above_share": 100 * behind.above_share}
        yield "- " + said(NOT_PASSED, above=ABOUT[behind.above].said, words=behind.words, **shares)
    yield ""


def _facts(report: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    for name in report["members"]:
        yield ABOUT[name].said, ABOUT[name].paper, *_figures(report["reached"][name])


def _figures(reached: Mapping[str, Any]) -> tuple[str, str, str]:
    return f"{reached['weights']:,}", f"{reached['words_read']:,}", f"{reached['seconds']:.0f}"


def _marked(line: CardLine, name: str) -> str:
    return f"**{line.cell(name)}**" if line.is_best(name) else line.cell(name)


def _asked(line: CardLine) -> str:
    """Return what a question is, where it is from and over how many."""
    counts = [int(one["count"]) for one in line.scores.values()]
    many = f"{max(counts):,}" if counts else ""
    left = said(marked("engine", "{count:,} skipped"), count=line.left_out) if line.left_out else ""
    rest = phrases(part for part in (line.source, many, left) if part)
    return bracketed(line.title, rest) if rest else line.title


def _table(head: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> Iterator[str]:
    yield "| " + " | ".join(head) + " |"
    yield "|" + " --- |" * len(head)
    yield from ("| " + " | ".join(row) + " |" for row in rows)
    yield ""
