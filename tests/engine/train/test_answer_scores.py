"""Exact match and F1 equal what the published scripts count: by hand, on random texts and on real files."""

from __future__ import annotations

import json
import os
import random
import re
import string
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from engine.errors import DataError
from engine.text.questions.decoding import Candidate, FoundAnswer
from engine.text.questions.question import Answer, PassageQuestion, QuestionPlace
from engine.train.answer_scores import (
    CMRC,
    SQUAD_1,
    SQUAD_2,
    pick_threshold,
    question_word,
    rule_for,
    score_answers,
    score_one,
)
from engine.train.answer_text import cmrc_exact, cmrc_f1, cmrc_words, latin_words, squad_f1, squad_normal
from tests.engine.read_at_once import read_questions


def real(name: str) -> Path:
    folder = os.environ.get("CLOZE_DATA", "")
    if not folder or not (Path(folder) / name).is_file():
        pytest.skip("needs the real data: the environment variable CLOZE_DATA names no folder with " + name)
    return Path(folder) / name


def question_with(*right: str) -> PassageQuestion:
    return PassageQuestion(
        "q", "Who?", 0, tuple(Answer(text, 0, len(text)) for text in right), QuestionPlace(line=1)
    )


# The reference: words counted with lists alone, in another way than the engine's.


def words_by_hand(text: str) -> list[str]:
    kept = "".join(char for char in text.lower() if char not in string.punctuation)
    words = re.split(r"\b(?:an|a|the)\b", kept)
    return [word for part in words for word in part.split()]


def squad_by_hand(right: list[str], answer: str, version: int) -> tuple[float, float]:
    if version == 2:
        right = [one for one in right if words_by_hand(one)] or [""]
    scores = []
    for one in right:
        expected, found = words_by_hand(one), words_by_hand(answer)
        left, shared = list(expected), 0
        for word in found:
            if word in left:
                left.remove(word)
                shared += 1
        if version == 2 and (not expected or not found):
            f1 = 1.0 if expected == found else 0.0
        else:
            f1 = 2 * shared / (len(expected) + len(found)) if shared else 0.0
        scores.append((float(expected == found), f1))
    return max(exact for exact, _ in scores), max(f1 for _, f1 in scores)


def stretches(words: list[str], length: int) -> set[tuple[str, ...]]:
    return {tuple(words[place : place + length]) for place in range(len(words) - length + 1)}


def cmrc_by_hand(right: list[str], answer: str) -> tuple[float, float]:
    marks = "-:_*^/\\~`+=，。：？！“”；’《》·、「」（）－～『』"
    scores = []
    for one in right:
        same = {"".join(char for char in text.lower().strip() if char not in marks) for text in (one, answer)}
        exact = float(len(same) == 1)
        a, b = cmrc_words(one), cmrc_words(answer)
        shared = 0
        while stretches(a, shared + 1) & stretches(b, shared + 1):
            shared += 1
        scores.append((exact, 2 * shared / (len(a) + len(b)) if shared else 0.0))
    return max(exact for exact, _ in scores), max(f1 for _, f1 in scores)


# right answers, answer: exact match and F1 by SQuAD 1.1, by 2.0. Counted by hand.
# fmt: off
GOLDEN: list[tuple[list[str], str, tuple[float, float], tuple[float, float]]] = [
    (["France"], "France", (1, 1), (1, 1)),
    (["the France."], "A france", (1, 1), (1, 1)),
    (["in the 10th century"], "10th century", (0, 0.8), (0, 0.8)),
    (["Denver Broncos", "The Broncos"], "Broncos", (1, 1), (1, 1)),
    (["a b b"], "b b b", (0, 0.8), (0, 0.8)),
    (["France"], "", (0, 0), (0, 0)),
    (["The"], "a", (1, 0), (1, 1)),  # 2.0 takes what has no words for no answer, on both sides
    (["its the an"], "it's, the; an", (1, 1), (1, 1)),
    (["1,000.5"], "10005", (1, 1), (1, 1)),
    (["theatre"], "the atre", (0, 0), (0, 0)),
    (["“France”"], "France", (0, 0), (0, 0)),
    (["well-known"], "well known", (0, 0), (0, 0)),
]
CHINESE: list[tuple[list[str], str, float, float]] = [
    (["踢爆"], "踢爆", 1, 1),
    (["踢爆。"], "《踢爆》", 1, 1),
    (["1546年9月"], "1546年", 0, 2 / 3),  # 1546 年 9 月 and 1546 年: 2 of 4 and of 2
    (["泰国的首都曼谷"], "首都的曼谷", 0, 2 * 2 / 12),
    (["Nexon公司"], "nexon", 0, 2 * 1 / 4),
    (["4分钟", "四分钟"], "四分钟内", 0, 6 / 7),
    (["约0.304平方公里。"], "0.304平方公里", 0, 10 / 11),  # 约 0.304 平 方 公 里 and five of them
    (["甲乙丙丁"], "甲戊丙丁", 0, 0.5),  # the longest stretch, not all that is shared
    (["海"], "山", 0, 0),
    (["……"], "", 0, 0),  # CMRC's marks do not hold this one
]
# fmt: on


@pytest.mark.parametrize(("right", "answer", "first", "second"), GOLDEN)
def test_squad_scores_equal_those_counted_by_hand(
    right: list[str], answer: str, first: tuple[float, float], second: tuple[float, float]
) -> None:
    assert score_one(question_with(*right), answer, SQUAD_1) == pytest.approx(first)
    assert score_one(question_with(*right), answer, SQUAD_2) == pytest.approx(second)


@pytest.mark.parametrize(("right", "answer", "exact", "f1"), CHINESE)
def test_chinese_scores_equal_those_counted_by_hand(
    right: list[str], answer: str, exact: float, f1: float
) -> None:
    assert score_one(question_with(*right), answer, CMRC) == pytest.approx((exact, f1))


def test_where_the_passage_has_no_answer_only_none_is_right() -> None:
    for rule in (SQUAD_2, CMRC):
        assert score_one(question_with(), "", rule) == (1, 1)
        assert score_one(question_with(), "France", rule) == (0, 0)


ATOMS = [
    "a",
    "the",
    "an",
    "The",
    "b",
    "c",
    "d's",
    "1,000",
    "3.5%",
    " ",
    " ",
    "\u00a0",
    "-",
    ".",
    "“",
    "étude",
    "A",
]
HAN = [
    "来",
    "自",
    "法",
    "国",
    "，",
    "。",
    "《",
    "》",
    "·",
    "Nexon",
    "5",
    "3.5",
    " ",
    "-",
    "%",
    "(",
    ")",
    "’",
    "…",
]


def texts(atoms: list[str], count: int, seed: int) -> list[str]:
    rng = random.Random(seed)
    return ["".join(rng.choice(atoms) for _ in range(rng.randint(0, 9))) for _ in range(count)]


def test_squad_scores_of_random_texts_equal_a_reference_of_its_own() -> None:
    right, answers = texts(ATOMS, 3000, 1), texts(ATOMS, 1000, 2)
    for place, answer in enumerate(answers):
        some = right[3 * place : 3 * place + 1 + place % 3]
        for rule, version in ((SQUAD_1, 1), (SQUAD_2, 2)):
            found = score_one(question_with(*some), answer, rule)
            assert found == pytest.approx(squad_by_hand(some, answer, version)), (some, answer, rule)


def test_cmrc_scores_of_random_texts_equal_a_reference_of_its_own() -> None:
    right, answers = texts(HAN, 2000, 3), texts(HAN, 1000, 4)
    for place, answer in enumerate(answers):
        some = [one for one in right[2 * place : 2 * place + 2] if cmrc_words(one)]
        if some:
            found = score_one(question_with(*some), answer, CMRC)
            assert found == pytest.approx(cmrc_by_hand(some, answer)), (some, answer)


# What NLTK's word tokenizer makes of each, written down from it.
TREEBANK = {
    "he's can't o'neil": "he 's ca n't o'neil",
    "(jean pierre), u.s. 1,000.5 $3": "( jean pierre ) , u.s. 1,000.5 $ 3",
    "hello... a.b.": "hello ... a.b .",
    "q&a; x<y>[z]": "q & a ; x < y > [ z ]",
    '"macropus eugenii"': "`` macropus eugenii ''",
    "2.5%": "2.5 %",
    "x,y , 3,4": "x , y , 3,4",
    "1950年5月": "1950年5月",
    "what?!@#": "what ? ! @ #",
    "gonna cannot": "gon na can not",
    "st. john's": "st. john 's",
    "don't'": "do n't '",
    "'tis so": "' tis so",
    "10:30": "10:30",
}


@pytest.mark.parametrize("text", TREEBANK)
def test_words_between_chinese_characters_are_divided_as_the_treebank_does(text: str) -> None:
    assert latin_words(text) == TREEBANK[text].split()


def made_up(right: str, passage: str, rng: random.Random) -> str:
    """Return an answer as a model may give it: right, shifted, too long, elsewhere or none."""
    start = max(0, passage.find(right) + rng.randint(-4, 4))
    shapes: list[Callable[[], str]] = [
        lambda: right,
        lambda: passage[start : start + len(right) + rng.randint(-3, 9)],
        lambda: "",
        lambda: passage[(at := rng.randrange(len(passage))) : at + rng.randint(1, 30)],
        lambda: f"the {right.upper()}.",
    ]
    return rng.choice(shapes)()


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["squad/xquad.en.json", "squad/tiny-dev-v2.0.json", "cmrc2018/cmrc2018_trial.json"]
)
def test_scores_of_made_up_answers_on_real_files_equal_the_reference(name: str) -> None:
    questions, rng = read_questions(real(name)), random.Random(7)
    asked = np.arange(len(questions.questions))
    answers = [
        made_up((one.answers or (Answer("Normandy", 0, 8),))[0].text, questions.passage_of(one), rng)
        for one in questions.questions
    ]
    found = score_answers(questions, asked, answers)
    expected = []
    # the right answers are read from the file itself, whatever the reader made of them
    by_id = dict(zip((one.id for one in questions.questions), answers, strict=True))
    for article in json.loads(real(name).read_text("utf-8"))["data"]:
        for paragraph in article["paragraphs"]:
            for one in paragraph["qas"]:
                if one["id"] not in by_id:
                    continue  # two of CMRC's questions are empty
                right = [each["text"] for each in one["answers"]]
                if name.startswith("cmrc"):
                    expected.append(cmrc_by_hand(right, by_id[one["id"]]))
                else:
                    version = 2 if "v2" in name else 1
                    expected.append(squad_by_hand(right, by_id[one["id"]], version))
    np.testing.assert_allclose(np.stack([found.exact, found.f1], 1), expected, atol=1e-12)
    assert found.rule == {"sq": SQUAD_2 if "v2" in name else SQUAD_1, "cm": CMRC}[name[:2]]
    assert 0.2 < found.summary()["exact_match"] < found.summary()["f1"] < 1 or "tiny" in name
    if "v2" in name:
        has = found.has_answer
        assert found.summary()["no_answer_f1"] == pytest.approx(found.f1[~has].mean())
        assert found.summary()["has_answer_exact_match"] == pytest.approx(found.exact[has].mean())


def test_the_rule_follows_the_language_and_is_told(tmp_path: Path) -> None:
    def rule(context: str, answer: str) -> str:
        path = tmp_path / "a.jsonl"
        row = {"question": "q?", "context": context, "answers": [answer] if answer else []}
        other = {"question": "r?", "context": context + " 2", "answers": ["2"]}
        path.write_text(json.dumps(row) + "\n" + json.dumps(other), "utf-8")
        return rule_for(read_questions(path))

    assert rule("诺曼人来自法国 (France)，后来去了英国。", "法国") == CMRC
    assert rule("The Normans (诺曼人) came from France.", "France") == SQUAD_1
    assert rule("The Normans came from France.", "") == SQUAD_2
    assert rule("ノルマン人はフランスから来た。", "フランス") == SQUAD_1


def test_answers_that_are_not_known_are_not_scored(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("question,context\nWho?,The Normans\n")
    with pytest.raises(DataError, match="holds no answers"):
        score_answers(read_questions(path), np.arange(1), ["x"])


@pytest.mark.parametrize(
    ("question", "word"),
    [
        ("Who led the team?", "who"),
        ("By whom was it led?", "who"),
        ("How many points did who score?", "how many"),
        ("How  long is it?", "how"),
        ("In which year, and where?", "which"),
        ("What's it made of?", "what"),
        ("Name the showman.", "other"),
        ("是谁捐献的？", "谁"),
        ("什么时候被任命？", "何时"),
        ("位于什么地方？", "哪里"),
        ("为什么会被杀？", "为什么"),
        ("约是多少？", "多少"),
        ("第几代？", "多少"),
        ("如何进行？", "怎么"),
        ("有哪些？", "哪"),
        ("What乐队的什么歌？", "什么"),
    ],
)
def test_a_question_belongs_to_the_word_it_asks_with(question: str, word: str) -> None:
    assert question_word(question) == word


def test_scores_by_question_word_count_each_question_once() -> None:
    questions = read_questions(real("squad/xquad.en.json"))
    asked = np.arange(len(questions.questions))
    found = score_answers(
        questions, asked, [one.answers[0].text for one in questions.questions if one.answers]
    )
    words = found.by_word()
    assert sum(count for _, _, count in words.values()) == len(asked)
    assert [count for _, _, count in words.values()] == sorted(
        (count for count in Counter(found.words).values()), reverse=True
    )
    assert words["how many"][:2] == (1.0, 1.0)


def test_normal_forms_and_marks_are_those_of_the_scripts() -> None:
    assert squad_normal(" The  U.S.A. and an Apple-pie ") == "usa and applepie"
    assert squad_f1("a", "the", empty_agrees=False) == 0.0
    assert cmrc_exact("A-B：《C》", "abc") == 1.0
    assert cmrc_words("“Nexon”的……5%。") == ["nexon", "的", "……5", "%"]
    assert cmrc_f1("", "") == 1.0


def test_the_threshold_that_is_picked_tells_questions_without_an_answer_from_the_others() -> None:
    questions = read_questions(real("squad/tiny-dev-v2.0.json"))
    asked, answered = np.arange(len(questions.questions)), []
    for one in questions.questions:
        right = one.answers[0].text if one.answers else "Normandy"
        none = 7.0 if one.has_none else 1.0
        answered.append(FoundAnswer((Candidate(right, 0, len(right), 4.0, 0.5),), none, 0.5))
    found = pick_threshold(questions, asked, answered)
    assert (found.chosen, found.reported) == (1.0, 1.0) and -3 < found.value < 3
    assert found.num_chosen + found.num_reported == 14 and found.num_chosen > 0 < found.num_reported
