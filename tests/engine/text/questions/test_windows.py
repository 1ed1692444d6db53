"""Windows show every piece of a passage, each decided once; answers are characters of the passage itself."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import ConfigError
from engine.events import result_of
from engine.text.questions.decoding import LONGEST_ANSWER, answer, answering, chances, longest_answer
from engine.text.questions.question import PassageTable
from engine.text.questions.windows import UNKNOWN, Windows, begins_of, cutting, owned_by, pieces_of
from engine.text.wordpiece import WordPiece
from tests.engine.read_at_once import read_questions

SMALL = WordPiece.from_tokens(
    ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "who", "?", "the", "norman", "##s", "came", "from", "cafe"]
    + ["france", ".", "in", "10", "##th", "century", "来", "自", "法", "国", "。", "##x"],
    lowercase=True,
)
PASSAGE = (
    "The Normans came from France. In the 10th century the Normans came from the café.  法国 来自 France."
)


def questions_of(folder: Path, *asked: tuple[str, str], passage: str = PASSAGE) -> PassageTable:
    """Return questions about one passage, each with its answer ("" for none)."""
    path = folder / "table.tsv"
    rows = "".join(f"{question}\t{passage}\t{right}\n" for question, right in asked)
    path.write_text("question\tcontext\tanswer\n" + rows, "utf-8")
    return read_questions(path)


def windows_of(questions: PassageTable, wordpiece: WordPiece = SMALL, **how: int) -> Windows:
    return result_of(cutting(questions, wordpiece, **how))[0]


def real(name: str) -> Path:
    folder = os.environ.get("CLOZE_DATA", "")
    if not folder or not (Path(folder) / name).is_file():
        pytest.skip("needs the real data: the environment variable CLOZE_DATA names no folder with " + name)
    return Path(folder) / name


def decided_by_hand(begins: list[int], num_pieces: int, room: int) -> list[int]:
    """Return the window of each piece as run_squad describes it, piece by piece."""
    found = []
    for piece in range(num_pieces):
        best, most = -1, -1.0
        for window, begin in enumerate(begins):
            stop = min(begin + room, num_pieces)
            if begin <= piece < stop:
                score = min(piece - begin, stop - 1 - piece) + 0.01 * (stop - begin)
                if score > most:
                    best, most = window, score
        found.append(best)
    return found


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 300), st.integers(1, 60), st.integers(1, 80))
def test_every_piece_is_decided_in_the_one_window_with_most_context(
    pieces: int, room: int, stride: int
) -> None:
    begins = begins_of(pieces, room, stride)
    owned = owned_by(begins, pieces, room)
    decided = [w for w, (first, stop) in enumerate(owned.tolist()) for _ in range(first, stop)]
    assert decided == decided_by_hand(begins.tolist(), pieces, room)
    assert begins[-1] + room >= pieces and (len(begins) == 1 or begins[-2] + room < pieces)


def test_windows_begin_a_stride_apart_and_overlap_by_half_at_least() -> None:
    assert begins_of(500, 370, 128).tolist() == [0, 128, 256]
    assert begins_of(500, 370, 1000).tolist() == [0, 185]
    assert begins_of(370, 370, 128).tolist() == [0]


@settings(max_examples=60, deadline=None)
@given(st.text(st.sampled_from("The Nörmäns café x10th.法国\u0301\u200d\t\n“”😀İß\x00")))
def test_spans_are_of_the_same_pieces_in_order_and_within_the_text(text: str) -> None:
    ((ids, spans),) = SMALL.encode_spans([text])
    assert ids.tolist() == SMALL.encode_ids([text])[0].tolist()
    assert (spans >= 0).all() and (spans <= len(text)).all() and (spans[:, 0] <= spans[:, 1]).all()
    assert (np.diff(spans[:, 0]) >= 0).all() and (np.diff(spans[:, 1]) >= 0).all()


def test_a_window_is_the_question_and_a_stretch_of_the_passage_with_its_target(tmp_path: Path) -> None:
    windows = windows_of(questions_of(tmp_path, ("Who?", "café")), max_length=17, stride=5, max_question=2)
    assert windows.lengths.max() == 17 and (windows.num_a == 4).all()
    spans = windows.spans_of(0)
    for window in windows.of(0):
        tokens = windows.input_ids[windows.bounds[window] : windows.bounds[window + 1]]
        assert [SMALL.tokens[one] for one in tokens[:4]] == ["[CLS]", "who", "?", "[SEP]"]
        assert tokens[-1] == SMALL.sep_id
        first, last = windows.targets[window]
        if first:
            pieces = windows.first[window] + windows.targets[window] - 4
            assert PASSAGE[spans[pieces[0], 0] : spans[pieces[1], 1]] == "café"
            assert SMALL.tokens[tokens[first]] == "cafe" and first == last
    assert 0 < (windows.targets[:, 0] > 0).sum() < len(windows)


def test_no_answer_is_cls_and_an_unknown_or_too_long_one_is_not_taught(tmp_path: Path) -> None:
    asked = questions_of(tmp_path, ("Who?", ""), ("Who?", PASSAGE[:60]), ("Who?", "France"))
    windows, notes = result_of(cutting(asked, SMALL, max_length=15, stride=4, max_question=3))
    assert (windows.targets[list(windows.of(0))] == 0).all()
    assert (windows.targets[list(windows.of(1))] == UNKNOWN).all()
    assert (windows.targets[list(windows.of(2))] >= 0).all()
    assert [str(note) for note in notes] == [
        "1 answers are longer than what a window shows of the passage. They are not "
        "learned. Raise max_length."
    ]


def test_only_the_questions_asked_are_cut_and_rows_name_them(tmp_path: Path) -> None:
    asked = questions_of(tmp_path, ("Who?", "France"), ("Who?", "Normans"), ("Who?", "café"))
    windows = windows_of(asked, asked=[2, 0])  # type: ignore[arg-type]
    assert windows.rows.tolist() == [2, 0] and windows.num_questions == 2
    assert len(windows_of(asked, asked=[])) == 0  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("how", "said"), [({"max_length": 20}, "max_length is 20"), ({"stride": 0}, "stride is 0")]
)
def test_windows_without_room_are_refused(how: dict[str, int], said: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=said):
        windows_of(questions_of(tmp_path, ("Who?", "France")), **how)


def scores_of(windows: Windows, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=len(windows.input_ids)), rng.normal(size=len(windows.input_ids))


def all_pairs(windows: Windows, start: np.ndarray, end: np.ndarray, longest: int) -> list[tuple[float, str]]:
    """Return every stretch that may be an answer with its score, the best first, counted one by one."""
    spans, found = windows.spans_of(0), dict[str, float]()
    for window in windows.of(0):
        first, tokens = int(windows.first[window]), windows.shown(window)
        for begin in range(*windows.owned[window].tolist()):
            for last in range(begin, min(begin + longest, first + tokens.stop - tokens.start)):
                text = PASSAGE[spans[begin, 0] : spans[last, 1]]
                score = start[tokens.start + begin - first] + end[tokens.start + last - first]
                found[text] = max(found.get(text, -np.inf), score)
    return sorted(((score, text) for text, score in found.items()), reverse=True)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("max_length", [16, 23, 60])
def test_the_list_of_answers_is_the_best_of_all_pairs_and_holds_no_text_twice(
    seed: int, max_length: int, tmp_path: Path
) -> None:
    windows = windows_of(
        questions_of(tmp_path, ("Who?", "France")), max_length=max_length, stride=5, max_question=4
    )
    start, end = scores_of(windows, seed)
    found = answer(windows, 0, PASSAGE, start, end, with_none=True, most=12, longest=4)
    expected = all_pairs(windows, start, end, 4)[:12]
    assert [one.text for one in found.candidates] == [text for _, text in expected]
    np.testing.assert_allclose([one.score for one in found.candidates], [score for score, _ in expected])
    assert sum(one.probability for one in found.candidates) + found.none_probability == pytest.approx(1)
    assert all(PASSAGE[one.start : one.stop] == one.text == one.text.strip() for one in found.candidates)
    firsts = windows.bounds[:-1]
    assert found.none_score == (start[firsts] + end[firsts]).min()
    assert found.text(threshold=found.difference - 0.01) == ""
    assert found.text(threshold=found.difference) == found.candidates[0].text == found.text()


@pytest.mark.parametrize("with_none", [True, False])
def test_chances_over_a_passage_sum_to_one_and_come_from_the_window_that_decides(
    with_none: bool, tmp_path: Path
) -> None:
    windows = windows_of(questions_of(tmp_path, ("Who?", "France")), max_length=16, stride=5, max_question=4)
    start, end = scores_of(windows, 3)
    found = chances(windows, 0, start, end, with_none=with_none)
    assert len(found.start) == len(found.spans) == len(SMALL.encode_ids([PASSAGE])[0])
    assert found.start.sum() + found.none_start == pytest.approx(1)
    assert found.end.sum() + found.none_end == pytest.approx(1)
    assert (found.none_start == 0) is not with_none
    window = windows.of(0)[1]
    piece = int(windows.owned[window, 0])
    token = windows.shown(window).start + piece - int(windows.first[window])
    other = windows.shown(0).start
    assert found.start[piece] / found.start[0] == pytest.approx(np.exp(start[token] - start[other]))


def test_a_passage_without_pieces_has_no_answer(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"question": "Who?", "context": "\\u200d", "answers": []}\n')
    asked = read_questions(path)
    windows = windows_of(asked)
    found = answer(windows, 0, "\u200d", *scores_of(windows, 1), with_none=True)
    assert found.candidates == () and found.text() == "" and found.none_probability == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "vocab", "least"),
    [
        ("squad/xquad.en.json", "bert-base-uncased", 0.999),  # one answer ends within a number
        ("squad/xquad.en.json", "bert-base-cased", 0.999),
        ("squad/tiny-dev-v2.0.json", "bert-base-uncased", 1.0),
        ("cmrc2018/cmrc2018_trial.json", "bert-base-chinese", 0.99),
    ],
)
def test_scores_that_are_right_give_the_right_characters(name: str, vocab: str, least: float) -> None:
    questions = read_questions(real(name))
    wordpiece = WordPiece.from_vocab(real(f"vocabs/{vocab}-vocab.txt"))
    windows = windows_of(questions, wordpiece)
    start, end = np.zeros((2, len(windows.input_ids)))
    for scores, targets in ((start, windows.targets[:, 0]), (end, windows.targets[:, 1])):
        scores[(windows.bounds[:-1] + targets)[targets >= 0]] += 9
    right = total = 0
    for place, question in enumerate(questions.questions):
        if (windows.targets[list(windows.of(place))] == UNKNOWN).any():
            continue
        passage = questions.passage_of(question)
        found = answer(windows, place, passage, start, end, with_none=True, longest=400)
        text = found.text(threshold=0 if question.has_none else None)
        right += text in [one.text for one in question.answers or ()] or (not text and question.has_none)
        total += 1
        assert not text or (text[0] + text[-1]).strip() == text[0] + text[-1]
    assert right / total >= least and total >= 0.99 * len(questions.questions)


def test_pieces_of_an_answer_are_those_that_hold_one_of_its_characters() -> None:
    spans = np.array([[0, 3], [4, 10], [10, 11], [12, 16]], np.int32)
    assert pieces_of(spans, 4, 11) == (1, 2)
    assert pieces_of(spans, 5, 9) == (1, 1)
    assert pieces_of(spans, 3, 4) is None
    assert pieces_of(spans, 16, 20) is None


def test_all_questions_are_answered_in_their_order(tmp_path: Path) -> None:
    asked = questions_of(tmp_path, ("Who?", "France"), ("Who came?", "Normans"), ("Who?", "café"))
    windows = windows_of(asked, asked=[2, 0, 1], max_length=20, stride=5, max_question=4)  # type: ignore[arg-type]
    start, end = scores_of(windows, 5)
    found = result_of(answering(windows, asked, start, end, with_none=True))
    assert found == [answer(windows, place, PASSAGE, start, end, with_none=True) for place in range(3)]


def test_answers_may_be_longer_where_those_of_the_data_are(tmp_path: Path) -> None:
    passage = "came from France. " * 40
    short, long = passage[:9], passage[: 12 * 18].strip()
    usual = windows_of(questions_of(tmp_path, ("Who?", short), passage=passage))
    assert longest_answer(usual) == LONGEST_ANSWER
    other = windows_of(questions_of(tmp_path, ("Who?", short), ("Who?", long), passage=passage))
    assert longest_answer(other) == 12 * 4
    assert longest_answer(windows_of(questions_of(tmp_path, ("Who?", "")))) == LONGEST_ANSWER
