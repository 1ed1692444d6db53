"""What is said of these models, and whether one family shows it.

A claim is a difference with its interval. A verdict takes all claims together: by Holm's correction one false
verdict among them all is as rare as one alone would be. None is given where it is known why the difference
says nothing: a member has not learned yet, or the same difference was there before training.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from engine.errors import Sentence, marked
from engine.evaluation.statistics import SURE, holm
from engine.family.members import ABOUT
from engine.family.reached import LEAST_LOG, LEAST_RANK, LEAST_SHARE
from engine.train.metrics import NORMAL_95

HOLDS, DOES_NOT, OPEN, NO_VERDICT = "holds", "does not hold", "cannot be told", "no verdict"
VERDICTS = (HOLDS, DOES_NOT, OPEN, NO_VERDICT)  # in the order in which they are told

FILLED = marked("engine", "share of blanks filled")
LOGS = marked("engine", "mean log-probability")
RANKED = marked("engine", "rank correlation")
ANSWERED = marked("engine", "share of correct answers")
LEAST = {FILLED: LEAST_SHARE, LOGS: LEAST_LOG, RANKED: LEAST_RANK, ANSWERED: LEAST_SHARE}


@dataclass(frozen=True, slots=True)
class Statement:
    """What is said. measure: what is compared. first, second: whose, the same member's two ways too. short:
    the same in a line.
    """

    text: str
    measure: str
    first: str
    second: str
    short: str

    @property
    def is_between(self) -> bool:
        """Whether two members are compared."""
        return self.first != self.second


IN_A_ROW = Statement(
    marked(
        "engine",
        "Of two blanks in a row, the second is predicted better once the first is "
        "filled. Guessing both at once, independently, loses something.",
    ),
    *(LOGS, "bert", "bert"),
    marked("engine", "Filling two blanks independently loses something"),
)
RAW_CLS = Statement(
    marked("engine", "The raw [CLS] is a poor sentence vector. The mean over BERT’s positions is better."),
    *(RANKED, "bert", "bert"),
    marked("engine", "BERT’s mean vector beats its [CLS] vector"),
)
TUNED = Statement(
    marked("engine", "Fine-tuning all of BERT answers more than its frozen vectors."),
    *(ANSWERED, "bert", "bert"),
    marked("engine", "Fine-tuned BERT beats its own frozen vectors"),
)
FROZEN = Statement(
    marked("engine", "BERT’s frozen vectors answer more than averaged word vectors (skip-gram)."),
    *(ANSWERED, "bert", "skipgram"),
    marked("engine", "BERT’s frozen vectors beat averaged skip-gram vectors"),
)
COUNTED = Statement(
    marked("engine", "BERT fine-tuned answers more than counting pairs of words (n-gram)."),
    *(ANSWERED, "bert", "ngram"),
    marked("engine", "Fine-tuned BERT beats counted word pairs"),
)
BOTH_SIDES = (
    Statement(
        marked("engine", "Both sides at once (BERT) fill more blanks than each side alone (ELMo)."),
        *(FILLED, "bert", "elmo"),
        marked("engine", "Both sides at once beat each side alone (ELMo)"),
    ),
    Statement(
        marked("engine", "Both sides at once (BERT) fill more blanks than the left side alone (GPT)."),
        *(FILLED, "bert", "gpt"),
        marked("engine", "Both sides at once beat the left side alone (GPT)"),
    ),
)
OVER_AVERAGES = (
    Statement(
        marked("engine", "The mean over BERT’s positions says more than averaged word vectors (NNLM)."),
        *(RANKED, "bert", "nnlm"),
        marked("engine", "BERT’s mean vector beats averaged NNLM vectors"),
    ),
    Statement(
        marked("engine", "The mean over BERT’s positions says more than averaged word vectors (CBOW)."),
        *(RANKED, "bert", "cbow"),
        marked("engine", "BERT’s mean vector beats averaged CBOW vectors"),
    ),
    Statement(
        marked("engine", "The mean over BERT’s positions says more than averaged word vectors (skip-gram)."),
        *(RANKED, "bert", "skipgram"),
        marked("engine", "BERT’s mean vector beats averaged skip-gram vectors"),
    ),
    Statement(
        marked("engine", "The mean over BERT’s positions says more than averaged word vectors (GloVe)."),
        *(RANKED, "bert", "glove"),
        marked("engine", "BERT’s mean vector beats averaged GloVe vectors"),
    ),
)
SAID = {one.text: one for one in (IN_A_ROW, RAW_CLS, TUNED, FROZEN, COUNTED, *BOTH_SIDES, *OVER_AVERAGES)}
_EARLIER = {  # what older reports say, and what is said now
    "Two blanks in a row: the second is foreseen better once the first is filled, so guessing both at once, "
    "each for itself, loses something.": IN_A_ROW.text,
    "Two blanks in a row: the second is predicted better once the first is filled, so guessing both at once, "
    "each for itself, loses something.": IN_A_ROW.text,
    "The raw [CLS] is a poor vector of a sentence: the mean of BERT's places is better.": RAW_CLS.text,
    **{
        one.text.replace("mean over BERT’s positions says", "mean of BERT's places tells"): one.text
        for one in OVER_AVERAGES
    },
    "share of texts answered rightly": ANSWERED,
}


@dataclass(frozen=True, slots=True)
class ClaimStart:
    """The difference that a claim is about before any training, and its interval. unmoved: members that
    answer these questions no better after it.
    """

    difference: float
    low: float
    high: float
    unmoved: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim, and what was found: one figure less another, over so many texts. measure: what of. p_value:
    how often chance alone makes as much of a difference, in which texts were drawn and, where there were
    several trainings, in how these went. start: None where it is not known.
    """

    claim: str
    measure: str
    first: float
    second: float
    difference: float
    low: float
    high: float
    count: int
    p_value: float
    start: ClaimStart | None = None
    trainings: int = 1


@dataclass(frozen=True, slots=True)
class JudgedClaim:
    """A claim and its verdict. p_value: corrected for all claims; None without a verdict. reason: why there
    is none, or why it is not a clearer one; None where the figures say it.
    """

    claim: Claim
    verdict: str
    p_value: float | None = None
    reason: Sentence | None = None


def judged(claims: Sequence[Claim], *, informed: bool, at_start: Collection[str] = ()) -> list[JudgedClaim]:
    """Return claims with their verdicts, in the same order.

    Args: informed: whether BERT began with what counting tells. at_start: members that guess hardly better
    than the frequencies of words do.
    """
    withheld = [_withheld(one, informed, at_start) for one in claims]
    asked = [one for one, reason in zip(claims, withheld, strict=True) if reason is None]
    corrected = iter(holm([one.p_value for one in asked]).tolist())
    return [
        _verdict(one, next(corrected), len(asked))
        if reason is None
        else JudgedClaim(one, NO_VERDICT, None, reason)
        for one, reason in zip(claims, withheld, strict=True)
    ]


def judged_of(report: Mapping[str, Any]) -> list[JudgedClaim]:
    """Return the claims of a family's report, judged anew: verdicts of before are not taken over."""
    return judged(
        [_read(one) for one in report.get("claims", [])],
        informed=bool(report.get("informed_start")),
        at_start=report.get("at_start", ()),
    )


def document_of(found: Sequence[JudgedClaim]) -> list[dict[str, Any]]:
    """Return judged claims as JSON can hold them."""
    return [
        {
            **asdict(one.claim),
            "verdict": one.verdict,
            "corrected_p_value": one.p_value,
            "reason": None if one.reason is None else str(one.reason),
        }
        for one in found
    ]


def _read(one: Mapping[str, Any]) -> Claim:
    names = ("first", "second", "difference", "low", "high", "count")
    given = {name: one[name] for name in names}
    given |= {name: _said_now(one[name]) for name in ("claim", "measure")}
    p_value, start = one.get("p_value"), one.get("start")
    return Claim(
        **given,
        p_value=_p_value(one) if p_value is None else float(p_value),
        start=None if start is None else ClaimStart(**{**start, "unmoved": tuple(start["unmoved"])}),
        trainings=int(one.get("trainings", 1)),
    )


def _said_now(text: str) -> str:
    """Return the words of today for those of a report, however old."""
    return _EARLIER.get(text, text).replace("'", "’")


def _p_value(one: Mapping[str, Any]) -> float:
    """Return what the interval of an older report says."""
    error = (one["high"] - one["low"]) / (2 * NORMAL_95)
    return math.erfc(abs(one["difference"]) / error / math.sqrt(2)) if error > 0 else 1.0


def _withheld(one: Claim, informed: bool, at_start: Collection[str]) -> Sentence | None:
    """Return why a claim gets no verdict."""
    said, start = SAID.get(one.claim), one.start
    if informed and (said is None or said.is_between):
        return Sentence(
            marked(
                "engine",
                "Only BERT began with counts over the whole text, which may explain the whole difference.",
            ),
            {},
        )
    sides = () if said is None else (said.first, said.second)
    slow = next((name for name in sides if name in at_start), None)
    if slow is not None:
        template = marked(
            "engine",
            "By perplexity, {member} is less than twice as good as word frequencies: it has not learned "
            "enough.",
        )
        return Sentence(template, {"member": ABOUT[slow].said})
    if start is None:
        return Sentence(
            marked("engine", "What the models answer before training was not measured for this family."), {}
        )
    if start.unmoved:
        template = marked("engine", "{member} answers these questions no better than before training.")
        return Sentence(template, {"member": ABOUT[start.unmoved[0]].said})
    if (start.low > 0 and one.difference > 0) or (start.high < 0 and one.difference < 0):
        return Sentence(
            marked("engine", "The models show this difference before any training, so it is no result."), {}
        )
    return None


def _verdict(one: Claim, p_value: float, count: int) -> JudgedClaim:
    least = LEAST.get(one.measure, 0.0)
    if abs(one.difference) < least:
        template = marked("engine", "A difference below {least:g} is too small for a verdict.")
        return JudgedClaim(one, OPEN, p_value, Sentence(template, {"least": least}))
    if one.low <= 0 <= one.high:
        return JudgedClaim(one, OPEN, p_value)
    if p_value >= SURE:
        template = marked(
            "engine", "Among {count} claims, chance alone too often gives one as clear as this."
        )
        return JudgedClaim(one, OPEN, p_value, Sentence(template, {"count": count}))
    return JudgedClaim(one, HOLDS if one.difference > 0 else DOES_NOT, p_value)
