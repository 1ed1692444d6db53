"""The commands that look inside: what lands in the files, what is printed, and mistakes in a sentence."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import numpy as np
import pytest

from engine.events import result_of
from engine.inspect.loaded_model import LoadedModel
from engine.inspect.masked.follows import follows
from engine.inspect.masked.lens import lens
from engine.inspect.masked.masked import mask
from engine.inspect.masked.perplexity import pseudo_perplexity
from engine.inspect.masked.probe import probe
from engine.model.model_name import ModelName
from engine.model.weights import save_model
from engine.questions.attention import AttentionQuestion
from engine.questions.fields import head_names
from engine.questions.writing import percent
from tests.engine.typed import Engine
from tests.fakes import LABELS, model_folder, tiny_pretraining, tiny_wordpiece


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with language/, labels/ (a classifier), texts.csv and asked.csv (templates)."""
    monkeypatch.chdir(tmp_path)
    save_model(tmp_path / "language", tiny_pretraining(), tiny_wordpiece())
    model_folder(tmp_path / "labels")
    (tmp_path / "texts.csv").write_text("text,kind\ngood film,a\n,b\nbad play !,b\n")
    (tmp_path / "asked.csv").write_text("template\n{good|bad} [MASK]\n")
    return tmp_path


def test_attention_writes_maps_and_states_that_fit_together(place: Path, engine: Engine) -> None:
    code, out, err = engine("attention", "--model", "language", "good film", "playing !", "--out", "a.npz")
    assert (code, out) == (0, "") and "a.npz" in err
    found = np.load("a.npz", allow_pickle=False)
    assert found["tokens"].tolist() == ["[CLS]", "good", "film", "[SEP]", "play", "##ing", "!", "[SEP]"]
    assert found["token_type_ids"].tolist() == [0] * 4 + [1] * 4
    assert found["attentions"].shape == (2, 3, 8, 8)
    assert found["hidden_states"].shape == (3, 8, 12)
    np.testing.assert_allclose(found["attentions"].sum(-1), 1.0, atol=1e-5)
    assert str(found["fingerprint"]) == LoadedModel.open(place / "language").fingerprint


def test_a_head_that_is_switched_off_changes_what_follows_it_and_nothing_before(
    place: Path, engine: Engine
) -> None:
    engine("attention", "--model", "language", "good film", "--out", "all.npz")
    engine("attention", "--model", "language", "good film", "--out", "off.npz", "--off", "1.2")
    all_on, off = np.load("all.npz"), np.load("off.npz")
    assert off["heads_on"].tolist() == [[True, False, True], [True] * 3]
    np.testing.assert_array_equal(all_on["attentions"][0], off["attentions"][0])
    assert np.abs(all_on["attentions"][1] - off["attentions"][1]).max() > 1e-4


@pytest.mark.slow
def test_what_a_head_that_is_off_changes_is_told_by_every_command_that_answers(
    place: Path, engine: Engine
) -> None:
    subject = LoadedModel.open(place / "language")
    on = np.ones((2, 3), bool)
    on[0, 1] = False
    asked = ("--model", "language", "--off", "1.2")
    found = json.loads(engine("fill-mask", *asked, "good [MASK]", "--json")[1])
    expected = probe(subject, "good [MASK]", top_k=5, on=on).answers[0].guesses
    assert [one["token"] for one in found[0]] == [guess.word for guess in expected]
    assert found[0][0]["probability"] == pytest.approx(expected[0].probability, abs=1e-6)
    said = json.loads(engine("next-sentence", *asked, "good", "film", "--json")[1])
    assert said["probability"] == pytest.approx(follows(subject, "good", "film", on=on).probability, abs=1e-6)
    assert said["probability"] != pytest.approx(follows(subject, "good", "film").probability, abs=1e-6)
    score = json.loads(engine("perplexity", *asked, "good film", "--json")[1])
    assert score["pseudo_perplexity"] == pytest.approx(
        result_of(pseudo_perplexity(subject, "good film", on=on)).perplexity, rel=1e-5
    )
    layers = json.loads(engine("layers", *asked, "good film", "--hide", "2", "--json")[1])
    seen = lens(subject, mask(subject.about, "good film", words=[1]), on=on).layers
    for one, (answer,) in zip(layers, seen, strict=True):
        assert one[0]["original"]["rank"] == answer.original.rank
        assert one[0]["guesses"][0]["probability"] == pytest.approx(answer.guesses[0].probability, abs=1e-6)


def test_mistakes_in_the_commands_that_go_through_the_layers_are_told_in_a_sentence(
    place: Path, engine: Engine
) -> None:
    code, _, err = engine("layers", "--model", "language", "good film", "--hide", "3")
    assert code == 2 and "--hide 3: this text has 2 words" in err
    code, _, err = engine("word-in-context", "--model", "language", "--word", "film", "--out", "w.npz")
    assert code == 2 and "either sentences or a table" in err and not Path("w.npz").exists()
    code, _, err = engine("word-in-context", "--model", "language", "--word", "x", "a film", "--out", "w.npz")
    assert code == 2 and "contains the word" in err and not Path("w.npz").exists()


def test_the_line_that_the_window_copies_is_the_command(place: Path, engine: Engine) -> None:
    off = head_names([(0, 2), (1, 0)])
    line = AttentionQuestion(
        ModelName(place / "language"), "good 'film'", out=Path("b.npz"), off=off
    ).command()
    words = shlex.split(line)
    assert words[:3] == ["python", "-m", "engine"]
    assert engine(*words[3:])[0] == 0
    assert np.load("b.npz")["heads_on"].tolist() == [[True, True, False], [False, True, True]]


def test_embed_writes_a_vector_for_each_row_with_a_text(place: Path, engine: Engine) -> None:
    words = ("--data", "texts.csv", "--text", "text", "--label", "kind", "--out", "e.npz")
    code, out, _ = engine("embed", "--model", "language", *words, "--pooling", "cls", "--layer", "1")
    assert (code, out) == (0, "")
    found = np.load("e.npz", allow_pickle=False)
    assert found["embeddings"].shape == (2, 12)
    assert found["rows"].tolist() == [0, 2]
    assert found["labels"].tolist() == ["a", "b"]
    engine("attention", "--model", "language", "bad play !", "--out", "a.npz")
    states = np.load("a.npz")["hidden_states"]
    np.testing.assert_allclose(found["embeddings"][1], states[1, 0], atol=1e-5)


@pytest.mark.slow
def test_attributions_are_printed_for_people_and_as_json_for_programs(place: Path, engine: Engine) -> None:
    for words in (
        ("labels", "good film", "--target", "odd"),
        ("language", "good [MASK] film", "--target", "mask", "--answer", "play"),
        ("language", "good", "bad film", "--target", "next"),
    ):
        code, out, err = engine("attribute", "--model", *words, "--json")
        said = json.loads(out)
        assert code == 0, err
        assert sum(said["piece_scores"]) == pytest.approx(said["sum"], abs=1e-5)
        assert said["residual"] <= 0.01
    code, out, _ = engine("attribute", "--model", "labels", "good film", "--target", "odd")
    assert code == 0 and "good" in out and "residual" in out


def test_masks_are_filled_together(place: Path, engine: Engine) -> None:
    code, out, _ = engine(
        "fill-mask", "--model", "language", "good [MASK] [MASK]", "--joint", "--json", "--top-k", "4"
    )
    fillings = json.loads(out)
    assert code == 0 and len(fillings) == 4
    assert all(len(filling["words"]) == 2 for filling in fillings)
    shares = [filling["probability"] for filling in fillings]
    assert shares == sorted(shares, reverse=True)


def test_templates_come_from_the_line_or_a_table_and_go_into_a_table(place: Path, engine: Engine) -> None:
    given = ("--template", "{good|bad} [MASK]", "--targets", "film|play")
    code, out, _ = engine("templates", "--model", "language", *given)
    assert code == 0 and out.count("film") == 2 and "compared with its prior" in out
    (place / "t.csv").write_text("template,targets\n{good|bad} [MASK],film|play\n[MASK] {a|b|c},good\n")
    code, out, _ = engine("templates", "--model", "language", "--data", "t.csv", "--out", "s.csv")
    assert (code, out) == (0, "")
    assert len((place / "s.csv").read_text().splitlines()) == 1 + 2 * 2 + 3


def test_pseudo_perplexity_scores_every_piece(place: Path, engine: Engine) -> None:
    code, out, _ = engine("perplexity", "--model", "language", "playing good", "--json")
    said = json.loads(out)
    assert code == 0 and [piece["piece"] for piece in said["pieces"]] == ["play", "##ing", "good"]
    logs = [np.log(piece["probability"]) for piece in said["pieces"]]
    assert said["pseudo_perplexity"] == pytest.approx(np.exp(-np.mean(logs)), rel=1e-5)


MISTAKES = {
    "no text": (["attention", "--model", "language", " ", "--out", "a.npz"], "There is no text to look at"),
    "too long": (["attention", "--model", "language", "a " * 50, "--out", "a.npz"], "reads at most 41"),
    "no folder": (["attention", "--model", "language", "a", "--out", "no/a.npz"], "There is no folder no"),
    "a folder": (["attention", "--model", "language", "a", "--out", "labels"], "labels is a folder"),
    "no such head": (
        ["attention", "--model", "language", "a", "--out", "a.npz", "--off", "3.1"],
        "layers 1 to 2 of 3 heads",
    ),
    "no model": (["attention", "--model", "nowhere", "a", "--out", "a.npz"], "There is no folder nowhere"),
    "nothing that can be read": (
        ["next-sentence", "--model", "language", "a", "\u200b"],
        "second text is empty",
    ),
    "too many": (
        ["fill-mask", "--model", "language", "--joint", "--top-k", "1000000", "[MASK] [MASK]"],
        "Ask for 100000 at most",
    ),
    "its own data": (
        ["templates", "--model", "language", "--data", "asked.csv", "--out", "asked.csv"],
        "asked.csv is the data itself",
    ),
    "no label": (["attribute", "--model", "labels", "a", "--target", "great"], ", ".join(LABELS)),
    "no classifier": (["attribute", "--model", "language", "a", "--target", "good"], "is not a classifier"),
    "no pair": (["attribute", "--model", "language", "a", "--target", "next"], "takes two texts"),
    "no column": (
        ["embed", "--model", "language", "--data", "texts.csv", "--text", "body", "--out", "e.npz"],
        "body",
    ),
    "half a head": (["attention", "--model", "language", "a", "--out", "a.npz", "--off", "1."], "--off 1."),
    "no mix": (
        ["embed", "--model", "language", "--data", "texts.csv", "--text", "text", "--out", "e.npz"]
        + ["--pooling", "mix"],
        "has learned no mix of its layers",
    ),
    "an answer to a label": (
        ["attribute", "--model", "labels", "a", "--target", "odd", "--answer", "good"],
        "--answer works only with --target mask",
    ),
    "no gap": (["templates", "--model", "language", "--template", "{a|b} c"], "[MASK]"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_costs_one_sentence_and_leaves_no_file(place: Path, engine: Engine, name: str) -> None:
    words, says = MISTAKES[name]
    before = sorted(place.rglob("*"))
    code, out, err = engine(*words)
    assert (code, out) == (2, "") and says in err and "Traceback" not in err, err
    assert err.rstrip().count("\n") == 0, err
    assert sorted(place.rglob("*")) == before
    assert (place / "asked.csv").read_text().startswith("template")


def test_a_share_that_is_not_all_is_not_printed_as_all() -> None:
    assert [percent(share) for share in (0.99967, 0.0001, 1.0, 0.0)] == ["99.97%", "0.01%", "100.0%", "0.0%"]


@pytest.mark.slow
def test_anatomy_writes_every_number_and_tells_what_a_change_does(place: Path, engine: Engine) -> None:
    asked = ("anatomy", "--model", "language", "good [MASK]", "playing !")
    code, out, err = engine(*asked, "--out", "a.npz")
    assert (code, out) == (0, "") and "a.npz" in err
    found = np.load("a.npz", allow_pickle=False)
    assert found["pieces"].tolist() == ["[CLS]", "good", "[MASK]", "[SEP]", "play", "##ing", "!", "[SEP]"]
    assert found["segments"].tolist() == [0] * 4 + [1] * 4
    assert found["layer.2.softmax"].shape == (3, 8, 8) and found["masked_word.logits"].shape == (8, 37)
    changed = json.loads(engine(*asked, "--scale", "1.2=0", "--no-residual", "2.attention", "--json")[1])
    answers = changed["ends"][0]["answers"]
    assert changed["ends"][0]["token"] == 2 and abs(answers[0]["before"] - answers[0]["now"]) > 1e-6
    weight = "bert.encoder.layer.0.attention.self.query.weight[1,2]"
    lesson = json.loads(engine(*asked, "--learn", "film", "--weight", weight, "--json")[1])["lesson"]
    assert lesson["after"] == pytest.approx(lesson["before"] - 0.1 * lesson["gradient"], abs=1e-6)
    wrong = ((("--scale", "1=2"), "LAYER.HEAD"), (("--learn", "film"), "Give both"), ((), "--out"))
    for flags, words in wrong:
        code, _out, err = engine(*asked, *flags)
        assert code != 0 and words in err
