"""Chinese words are looked at whole: hidden, guessed, found in sentences, and given one score."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import pytest
import torch

from engine.events import result_of
from engine.inspect.attribution.gradients import attribute
from engine.inspect.attribution.target import Target
from engine.inspect.embeddings.contexts import embed_word, find_word
from engine.inspect.loaded_model import LoadedModel
from engine.inspect.masked.game import deal
from engine.inspect.masked.joint import fill_jointly
from engine.inspect.masked.masked import mask
from engine.inspect.masked.probe import probe, score_words
from engine.model.weights import save_model
from engine.text.wordpiece import WordPiece
from tests.fakes import TOKENS, tiny_pretraining

SAID = "因为下雨，所以我们没有去。"
MORE = tuple(dict.fromkeys(SAID + "银行苹果树"))
WORD = 3  # 所以
PLACES = (6, 7)  # of its pieces


@pytest.fixture
def subject(tmp_path: Path, chinese_words: None) -> LoadedModel:
    tokens = [*TOKENS, *MORE]
    model = tiny_pretraining(vocab_size=len(tokens))
    save_model(tmp_path / "model", model, WordPiece.from_tokens(tokens, lowercase=True))
    return LoadedModel.open(tmp_path / "model", device="cpu")


def test_a_chinese_word_is_hidden_as_one_gap(subject: LoadedModel) -> None:
    masked = mask(subject.about, SAID, words=[WORD])
    (gap,) = masked.gaps
    assert (gap.text, gap.places, gap.is_word, gap.is_chinese_word) == ("所以", PLACES, True, True)
    assert [masked.input_ids[place] for place in PLACES] == [subject.wordpiece.mask_id] * 2


def test_a_character_of_it_can_still_be_hidden_alone(subject: LoadedModel) -> None:
    (gap,) = mask(subject.about, SAID, pieces=[PLACES[1]]).gaps
    assert (gap.text, gap.is_word, gap.is_chinese_word) == ("以", False, False)


def test_without_a_segmenter_a_character_is_the_word(tmp_path: Path, chinese_characters: None) -> None:
    tokens = [*TOKENS, *MORE]
    cut = WordPiece.from_tokens(tokens, lowercase=True)
    save_model(tmp_path / "model", tiny_pretraining(vocab_size=len(tokens)), cut)
    (gap,) = mask(LoadedModel.open(tmp_path / "model").about, SAID, words=[5]).gaps
    assert gap.text == "所" and not gap.is_chinese_word


def test_its_guesses_are_the_likeliest_words_of_all_each_character_seeing_those_before(
    subject: LoadedModel,
) -> None:
    answer = probe(subject, SAID, words=[WORD], top_k=7).answers[0]
    masked = mask(subject.about, SAID, words=[WORD])
    ideographs = [token for token in MORE if token not in "，。"]
    every = ["".join(pair) for pair in itertools.product(ideographs, repeat=2)]
    scores = sorted(score_words(subject, masked, 0, every), key=lambda one: -(one.in_turn or 0))
    assert [guess.word for guess in answer.guesses] == [one.word for one in scores[:7]]
    for guess, score in zip(answer.guesses, scores, strict=False):
        assert guess.probability == pytest.approx(score.in_turn, rel=1e-4)


def test_its_first_character_has_the_share_that_the_model_gives_it(subject: LoadedModel) -> None:
    answer = probe(subject, SAID, words=[WORD], top_k=1).answers[0]
    ids = list(subject.about.encode(SAID).input_ids)
    assert subject.language is not None
    best, log = answer.guesses[0], 0.0
    for place in PLACES:
        ids[place] = subject.wordpiece.mask_id or 0
    for place, number in zip(PLACES, best.ids, strict=True):
        with torch.no_grad():
            hidden = subject.language(torch.tensor([ids])).hidden
            log += float(subject.language.logits(hidden)[place].log_softmax(-1)[number])
        ids[place] = number
    assert best.log_probability == pytest.approx(log, abs=1e-4)


def test_what_stood_there_is_judged_as_the_guesses_are(subject: LoadedModel) -> None:
    answer = probe(subject, SAID, words=[WORD], top_k=5).answers[0]
    original = answer.original
    assert answer.is_in_turn and original is not None and original.in_turn is not None
    assert answer.probability_of(original) == pytest.approx(original.in_turn)
    words = [guess.word for guess in answer.guesses]
    assert answer.rank_of(original) == (words.index("所以") + 1 if "所以" in words else 0)
    assert str(answer.explanation_of(original)).startswith("2 characters (所 以), filled in from left")


def test_an_english_word_of_several_pieces_is_judged_as_before(subject: LoadedModel) -> None:
    answer = probe(subject, "good playing film", words=[1], top_k=3).answers[0]
    assert not answer.is_in_turn and answer.original is not None
    assert answer.probability_of(answer.original) == answer.original.probability
    assert answer.rank_of(answer.original) == answer.original.rank


def test_words_that_fill_a_text_together_are_of_chinese_characters(subject: LoadedModel) -> None:
    masked = mask(subject.about, SAID, words=[1, WORD])
    joint = result_of(fill_jointly(subject, masked, top_k=4, whole_words=True))
    assert joint.fillings
    for filling in joint.fillings:
        assert all(len(word) == 2 and set(word) <= set(MORE) - set("，。") for word in filling.words)


@pytest.mark.parametrize(
    ("word", "sentence", "found"),
    [
        ("苹果", "我们没有苹果。", [(4, 6)]),
        ("苹果", "苹果树和苹果公司", [(0, 2), (4, 6)]),
        ("果树", "苹果树", [(1, 3)]),
        ("国人", "中国人民", []),
        ("行", "银行", []),
        ("行", "银行行", [(2, 3)]),
        ("中国人民", "在中国人民", [(1, 5)]),
        ("bank", "我们的 bank 银行 banks", [(4, 8)]),
    ],
)
def test_a_word_is_found_where_it_is_one(
    subject: LoadedModel, word: str, sentence: str, found: list[tuple[int, int]]
) -> None:
    _ids, places = find_word(subject.wordpiece, word, sentence, 40)
    assert [(place.start, place.stop) for place in places] == found


def test_the_vector_of_a_word_is_the_mean_of_its_characters(subject: LoadedModel) -> None:
    found = result_of(embed_word(subject, "所以", [SAID]))
    assert found.places[0].pieces == PLACES
    ids = torch.tensor([subject.about.encode(SAID).input_ids])
    with torch.no_grad():
        hidden = subject.bert(ids, torch.zeros_like(ids)).last_hidden_state
    expected = hidden.reshape(-1, hidden.shape[-1])[list(PLACES)].mean(0)
    torch.testing.assert_close(torch.from_numpy(found.vectors[-1, 0]), expected, rtol=0, atol=1e-5)


def test_the_score_of_a_word_is_the_sum_of_its_characters(subject: LoadedModel) -> None:
    found = result_of(attribute(subject, SAID, target=Target(question="masked_words", place=PLACES[0])))
    texts = [word.text for word in found.words]
    assert "没有" in texts and "没" not in texts
    word = found.words[texts.index("没有")]
    share = float(found.word_scores[texts.index("没有")])
    assert share == pytest.approx(math.fsum(found.pieces[list(word.pieces)].tolist()), abs=1e-6)


def test_the_game_hides_whole_chinese_words(subject: LoadedModel) -> None:
    texts = [f"{SAID[:-1]}{more}。" for more in ("银行", "苹果", "我们", "苹果树", "下雨")]
    rounds = deal(subject.about, texts, seed=1, count=3)
    assert any(len(one.answer) > 1 for one in rounds)
    assert all(one.answer != "们" and one.answer != "以" for one in rounds)
