"""Exact match and F1 of answers to a file's questions, all told and for each question word.

The rule follows the language of the passages and whether questions may be without an answer, and is told with
the scores: numbers by different rules cannot be compared.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from engine.errors import DataError, Sentence, marked
from engine.text.questions.decoding import FoundAnswer
from engine.text.questions.no_answer import Threshold, choose_threshold
from engine.text.questions.question import PassageQuestion, PassageTable
from engine.text.questions.splitting import halves
from engine.train.answer_text import cmrc_exact, cmrc_f1, squad_exact, squad_f1, squad_normal

SQUAD_1, SQUAD_2, CMRC = "SQuAD 1.1", "SQuAD 2.0", "CMRC 2018"
OTHER = "other"  # the question word of a question without one

_LOOKED_AT = 200  # passages that show the language
_CHINESE = re.compile("[\u4e00-\u9fff]")
_JAPANESE = re.compile("[\u3040-\u30ff]")
_RULE = {
    SQUAD_1: marked(
        "engine", "Scored by the rule of SQuAD 1.1: words, without case, punctuation and articles."
    ),
    SQUAD_2: marked(
        "engine",
        "Scored by the rule of SQuAD 2.0: words, without case, punctuation and articles. "
        "Where the passage has no answer, giving none is right.",
    ),
    CMRC: marked(
        "engine",
        "Scored by the rule of CMRC 2018, because the passages are Chinese: characters, "
        "and F1 by the longest common stretch.",
    ),
}

# Of several in a question the first counts; where two begin at one place, the longer.
_ENGLISH = re.compile(r"\b(how (?:many|much)|how|whose|whom|who|when|where|why|which|what)\b", re.I)
_WHO = ("who", "whose", "whom")
_OF_CHINESE = {
    "为什么": "为什么 为何 为啥 何故 什么原因 因何",
    "何时": "什么时候 什么时间 什么时期 哪一年 哪年 哪一天 哪天 哪个时期 几月 几时 何时 何年 几年",
    "哪里": "什么地方 哪个地方 哪里 哪儿 何处 何地 哪个国家 哪个城市 哪些地区 哪个地区",
    "谁": "谁 什么人 哪位 何人 哪个人",
    "多少": "多少 多大 多长 多高 多久 多远 多深 多宽 多重 第几 几",
    "怎么": "怎么样 怎样 怎么 如何",
    "哪": "哪些 哪个 哪种 哪",
    "什么": "什么 啥 何",
}
_KEY_OF = {word: key for key, words in _OF_CHINESE.items() for word in words.split()}
_ASKING = re.compile("|".join(sorted(_KEY_OF, key=len, reverse=True)))


@dataclass(frozen=True, slots=True)
class AnswerScores:
    """Scores of Q questions, each 0..1.

    asked: (Q,) places in the questions. exact, f1: (Q,). has_answer: (Q,) bool, as the file says. words: (Q,)
    what each asks with, as `question_word`. rule: SQUAD_1, SQUAD_2 or CMRC.
    """

    rule: str
    asked: npt.NDArray[np.int64]
    exact: npt.NDArray[np.float64]
    f1: npt.NDArray[np.float64]
    has_answer: npt.NDArray[np.bool_]
    words: tuple[str, ...]

    @property
    def rule_sentence(self) -> Sentence:
        return rule_sentence(self.rule)

    def summary(self) -> dict[str, float]:
        """Return exact_match and f1; where some questions have no answer, both of either kind, too."""
        found = {"exact_match": _mean(self.exact), "f1": _mean(self.f1)}
        if not self.has_answer.all():
            for name, some in (("has_answer", self.has_answer), ("no_answer", ~self.has_answer)):
                if some.any():
                    found[f"{name}_exact_match"] = _mean(self.exact[some])
                    found[f"{name}_f1"] = _mean(self.f1[some])
        return found

    def by_word(self) -> dict[str, tuple[float, float, int]]:
        """Return exact match, F1 and how many questions for each question word, the commonest first."""
        words = np.array(self.words, object)
        names, counts = np.unique(words, return_counts=True)
        order = sorted(range(len(names)), key=lambda place: (-int(counts[place]), str(names[place])))
        found = {}
        for place in order:
            some = words == names[place]
            found[str(names[place])] = (_mean(self.exact[some]), _mean(self.f1[some]), int(counts[place]))
        return found


def score_answers(
    questions: PassageTable, asked: npt.NDArray[np.int64], answers: Sequence[str], rule: str = ""
) -> AnswerScores:
    """Compare answers with those of the file; questions of which it knows none are left out.

    Args:   asked: (Q,) places in the questions. answers: one for each, "" for "there is no answer". rule: ""
            chooses it.
    Raises: DataError if the file knows no answer to any of them.
    """
    rule = rule or rule_for(questions)
    known = [
        (place, question, answer)
        for place, answer in zip(asked.tolist(), answers, strict=True)
        if (question := questions.questions[place]).answers is not None
    ]
    if not known:
        template = marked("engine", "{path} holds no answers, so there is nothing to score.")
        raise DataError(template, path=questions.path)
    scores = np.array([score_one(question, answer, rule) for _, question, answer in known])
    return AnswerScores(
        rule,
        np.array([place for place, _, _ in known], np.int64),
        scores[:, 0],
        scores[:, 1],
        np.array([not question.has_none for _, question, _ in known]),
        tuple(question_word(question.text) for _, question, _ in known),
    )


def pick_threshold(
    questions: PassageTable, asked: npt.NDArray[np.int64], answered: Sequence[FoundAnswer], rule: str = ""
) -> Threshold:
    """Return the threshold of "no answer" with the best F1 on one half of some questions, told on the other.

    Args: asked: (Q,) places in the questions, whose answers are known. answered: one for each.
    """
    rule = rule or rule_for(questions)
    some = [questions.questions[place] for place in asked.tolist()]
    return choose_threshold(
        np.array([one.difference for one in answered]),
        np.array([score_one(one, found.text(), rule)[1] for one, found in zip(some, answered, strict=True)]),
        np.array([score_one(one, "", rule)[1] for one in some]),
        halves(questions, asked),
    )


def score_one(question: PassageQuestion, answer: str, rule: str) -> tuple[float, float]:
    """Return exact match and F1 of one answer, each by the right answer that fits it best."""
    right = [one.text for one in question.answers or ()]
    if rule == CMRC:
        right = right or [""]
        return max(cmrc_exact(one, answer) for one in right), max(cmrc_f1(one, answer) for one in right)
    if rule == SQUAD_2:
        right = [one for one in right if squad_normal(one)] or [""]
    exact = max((squad_exact(one, answer) for one in right), default=0.0)
    return exact, max((squad_f1(one, answer, empty_agrees=rule == SQUAD_2) for one in right), default=0.0)


def rule_for(questions: PassageTable) -> str:
    """Return the rule that fits: CMRC's for Chinese passages, else that of SQuAD 1.1 or, with questions that
    have no answer, 2.0.
    """
    step = -(-len(questions.passages) // _LOOKED_AT) or 1
    sample = "".join(passage.text[:1000] for passage in questions.passages[::step])
    letters = sum(map(str.isalpha, sample))
    if 2 * len(_CHINESE.findall(sample)) > letters and 20 * len(_JAPANESE.findall(sample)) < letters:
        return CMRC
    return SQUAD_2 if questions.num_without_answer else SQUAD_1


def rule_sentence(rule: str) -> Sentence:
    """Return what a rule compares."""
    return Sentence(_RULE[rule])


def question_word(question: str) -> str:
    """Return what a question asks with: who, how many, ...; 谁, 何时, ...; OTHER if it is neither."""
    if found := _ASKING.search(question):
        return _KEY_OF[found[0]]
    if found := _ENGLISH.search(question):
        word = " ".join(found[1].lower().split())
        return "who" if word in _WHO else word
    return OTHER


def _mean(values: npt.NDArray[np.float64]) -> float:
    return float(values.mean()) if len(values) else 0.0
