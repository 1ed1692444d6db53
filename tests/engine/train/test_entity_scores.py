"""Scores of entities equal conlleval.pl's and seqeval's strict mode; each error has its kind and its place.

conlleval.pl (2004-01-26) was run on what `taggings` makes; the hashes are of all that it printed.
"""

from __future__ import annotations

import hashlib
import os
import random
from pathlib import Path

import pytest

from engine.train.entity_scores import EntityError, EntityScores, lenient_spans, score_entities
from tests.engine.read_at_once import read_tagged

LETTERS = {"IOB1": "OBI", "IOB2": "OBI", "BIOES": "OBIES", "BILOU": "OBILU"}
CONLLEVAL = {
    "IOB1": "227fb7f46b7e498bf012ddb0dcffd289e3327036b5eac60faa8b85811c3a600a",
    "IOB2": "26490792f522eaea01544318f9b86257d99d742044f14faa5bea344236969483",
    "BIOES": "6b6b5bbc52cd582d2d25c014fa719076410e2f0dc0fc0bf47e1ae7469ccc5308",
    "BILOU": "4d11e0d13f0e51b660092ec216a0fef792fc8994e8732fc5152df5d52aa068f8",
}
STRICT = (
    "347fa48e554d03f06d43acd0dc70a536a8c22d1be7008cd0190f984f6250df99"  # seqeval 1.2.2 agreed on all 1,000
)
Tags = list[list[str]]


def taggings(scheme: str, number: int) -> tuple[Tags, Tags]:
    """Return true and predicted tags at random, valid or not; the same on every machine."""
    rng = random.Random(f"{scheme} {number}")

    def pick(items: str | tuple[str, ...]) -> str:
        return items[int(rng.random() * len(items))]

    def tag() -> str:
        letter = pick(LETTERS[scheme])
        return "O" if letter == "O" else f"{letter}-{pick(('PER', 'LOC', 'X-Y'))}"

    true = [[tag() for _ in range(1 + int(rng.random() * 9))] for _ in range(1 + int(rng.random() * 6))]
    return true, [[one if rng.random() < 0.6 else tag() for one in text] for text in true]


def as_conlleval(scores: EntityScores) -> str:
    """Return scores as conlleval.pl prints them."""
    all_of = scores.overall
    said = f"processed {scores.num_tokens} tokens with {all_of.support} phrases; found: {all_of.predicted} "
    said += f"phrases; correct: {all_of.correct}.\naccuracy: {100 * scores.token_accuracy:6.2f}%; "
    said += f"precision: {100 * all_of.precision:6.2f}%; recall: {100 * all_of.recall:6.2f}%; "
    said += f"FB1: {100 * all_of.f1:6.2f}\n"
    for kind, one in scores.per_type.items():
        said += f"{kind:>17}: precision: {100 * one.precision:6.2f}%; recall: {100 * one.recall:6.2f}%; "
        said += f"FB1: {100 * one.f1:6.2f}  {one.predicted}\n"
    return said


def digest(scheme: str, mode: str) -> str:
    found = hashlib.sha256()
    for number in range(1000):
        found.update(as_conlleval(score_entities(*taggings(scheme, number), mode)).encode())
    return found.hexdigest()


@pytest.mark.parametrize("scheme", LETTERS)
def test_a_thousand_random_taggings_score_as_conlleval_scores_them(scheme: str) -> None:
    assert digest(scheme, "conlleval") == CONLLEVAL[scheme]


def test_a_thousand_random_taggings_score_strictly_as_seqeval_scores_them() -> None:
    assert digest("IOB2", "strict") == STRICT


def test_one_random_tagging_is_what_perl_printed() -> None:
    assert as_conlleval(score_entities(*taggings("IOB2", 0))) == GOLDEN


GOLDEN = """\
processed 3 tokens with 2 phrases; found: 1 phrases; correct: 1.
accuracy:  66.67%; precision: 100.00%; recall:  50.00%; FB1:  66.67
              LOC: precision: 100.00%; recall: 100.00%; FB1: 100.00  1
              PER: precision:   0.00%; recall:   0.00%; FB1:   0.00  0
"""

DATA = os.environ.get("CLOZE_DATA")
PRINTED = {
    "ground_truth.txt": """\
processed 961 tokens with 459 phrases; found: 539 phrases; correct: 371.
accuracy:  84.08%; precision:  68.83%; recall:  80.83%; FB1:  74.35
             ADJP: precision:   0.00%; recall:   0.00%; FB1:   0.00  1
             ADVP: precision:  45.45%; recall:  62.50%; FB1:  52.63  11
               NP: precision:  64.98%; recall:  78.63%; FB1:  71.16  317
               PP: precision:  83.18%; recall:  98.89%; FB1:  90.36  107
             SBAR: precision:  66.67%; recall:  33.33%; FB1:  44.44  3
               VP: precision:  69.00%; recall:  79.31%; FB1:  73.80  100
""",
    "ground_truth_inv.txt": """\
processed 961 tokens with 459 phrases; found: 487 phrases; correct: 262.
accuracy:  84.08%; precision:  53.80%; recall:  57.08%; FB1:  55.39
                B: precision:  57.68%; recall:  56.97%; FB1:  57.32  241
                I: precision:  50.00%; recall:  57.21%; FB1:  53.36  246
""",
}


@pytest.mark.skipif(not DATA, reason="CLOZE_DATA names no folder of real data")
@pytest.mark.parametrize("name", PRINTED)
def test_conllevals_own_files_score_as_it_prints_them(name: str) -> None:
    texts = (Path(str(DATA)) / "entity_f1" / name).read_text().strip().split("\n\n")
    rows = [[line.split() for line in text.splitlines()] for text in texts]
    true, predicted = ([[row[place] for row in text] for text in rows] for place in (-2, -1))
    assert as_conlleval(score_entities(true, predicted)) == PRINTED[name]


def test_each_error_has_its_kind_and_its_place() -> None:
    true = [["B-PER", "I-PER", "O", "B-LOC", "O", "B-ORG", "I-ORG"], ["B-LOC", "O", "O", "B-PER", "O"]]
    predicted = [["B-PER", "O", "O", "B-ORG", "O", "O", "B-LOC"], ["B-LOC", "O", "B-MISC", "O", "O"]]
    scores = score_entities(true, predicted)
    assert scores.errors == (
        EntityError(0, "boundary", (0, 2, "PER"), (0, 1, "PER")),
        EntityError(0, "type", (3, 4, "LOC"), (3, 4, "ORG")),
        EntityError(0, "boundary and type", (5, 7, "ORG"), (6, 7, "LOC")),
        EntityError(1, "invented", None, (2, 3, "MISC")),
        EntityError(1, "missed", (3, 4, "PER"), None),
    )
    assert list(scores.num_errors.values()) == [1, 1, 1, 1, 1]
    assert scores.types == ("LOC", "MISC", "ORG", "PER")
    assert scores.confusion.tolist() == [
        [1, 0, 1, 0, 0], [0, 0, 0, 0, 0], [1, 0, 0, 0, 0], [0, 0, 0, 1, 1], [0, 1, 0, 0, 0],
    ]  # fmt: skip
    assert (scores.overall.correct, scores.overall.support, scores.overall.predicted) == (1, 5, 5)
    assert scores.per_type["LOC"].f1 == pytest.approx(0.5)
    assert scores.token_accuracy == pytest.approx(6 / 12)


def test_an_entity_stands_against_the_one_it_shares_most_words_with() -> None:
    true = [["B-A", "I-A", "I-A", "I-A", "B-B"]]
    predicted = [["B-A", "B-B", "I-B", "I-B", "I-B"]]
    errors = score_entities(true, predicted).errors
    assert [(one.kind, one.true, one.predicted) for one in errors] == [
        ("invented", None, (0, 1, "A")),
        ("boundary and type", (0, 4, "A"), (1, 5, "B")),
        ("missed", (4, 5, "B"), None),
    ]


def test_strict_takes_no_entity_that_begins_with_i_where_conlleval_does() -> None:
    tags = [["I-PER", "O", "B-PER", "I-LOC"]]
    assert score_entities(tags, tags, "strict").overall.support == 1
    assert score_entities(tags, tags).overall.support == 3


def test_nothing_scores_nothing() -> None:
    scores = score_entities([], [])
    assert (scores.overall.f1, scores.token_accuracy, scores.errors) == (0, 0, ())
    assert scores.confusion.tolist() == [[0]]
    assert score_entities([["O", "O"]], [["O", "O"]]).token_accuracy == 1


def test_tags_without_a_type_are_entities_of_one_that_has_no_name() -> None:
    scores = score_entities([["B", "I", "O", "B"]], [["B", "I", "O", "O"]])
    assert (scores.types, scores.confusion.tolist()) == (("",), [[1, 1], [0, 0]])


@pytest.mark.parametrize("scheme", ["IOB1", "IOB2"])
def test_a_file_is_read_to_the_entities_that_conlleval_sees_in_it(scheme: str, tmp_path: Path) -> None:
    texts = [text for number in range(200) for text in taggings(scheme, number)[0]]
    path = tmp_path / "random.conll"
    path.write_text("\n".join("".join(f"word {tag}\n" for tag in text) for text in texts))
    read = read_tagged(path, scheme=scheme)
    assert [list(text.entities) for text in read] == [lenient_spans(text) for text in texts]
    assert {repair.was[0] for repair in read.repairs} == {"IOB1": {"B"}, "IOB2": {"I"}}[scheme]
