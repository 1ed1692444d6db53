"""Numbers over many texts, beside the same asked text by text, by finite differences, and by scipy."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy import stats
from torch.nn.functional import cross_entropy

from engine.commands.command_line import main
from engine.errors import DataError, ModelError, UserError
from engine.evaluation.inside.cloze import cloze
from engine.evaluation.inside.contrasts import by_flipping, contrasts
from engine.evaluation.inside.heads import heads_off, importance
from engine.evaluation.inside.pairs import minimal_pairs
from engine.evaluation.inside.texts import EncodedText, finding_texts, hidden_places
from engine.evaluation.inside.words import resting_words
from engine.events import result_of
from engine.inspect.attention.ablation import outcome
from engine.inspect.attention.head_measures import over_table
from engine.inspect.attribution.gradients import attribute
from engine.inspect.attribution.target import Target
from engine.inspect.loaded_model import LoadedModel
from engine.inspect.masked.grid import TemplateSettings, score_templates
from engine.inspect.masked.perplexity import AND_AFTER, pseudo_perplexity
from engine.inspect.masked.template import Template
from engine.model.weights import save_model
from engine.text.roles import Roles
from engine.text.table import Table, read_table
from tests.fakes import LABELS, model_folder, tiny_pretraining, tiny_wordpiece

ROWS = [
    "good film playing",
    "bad play !",
    "good bad film film",
    "a bad good play",
    "film",
    "playing good ! bad",
]


@pytest.fixture(scope="module")
def classifier(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    return LoadedModel.open(model_folder(tmp_path_factory.mktemp("classifier")), device="cpu")


@pytest.fixture(scope="module")
def language(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    folder = tmp_path_factory.mktemp("language")
    save_model(folder, tiny_pretraining(), tiny_wordpiece(), {})
    return LoadedModel.open(folder, device="cpu")


@pytest.fixture
def table(tmp_path: Path) -> Table:
    lines = [f"{text},{LABELS[place % len(LABELS)]}" for place, text in enumerate(ROWS)]
    (tmp_path / "texts.csv").write_text("\n".join(["text,label", *lines]) + "\n", encoding="utf-8")
    return read_table(tmp_path / "texts.csv")


def texts_of(subject: LoadedModel, table: Table) -> list[EncodedText]:
    return result_of(finding_texts(subject, table, Roles("text", "", "label" if subject.labels else "")))


def loss_with(subject: LoadedModel, text: EncodedText, shares: torch.Tensor) -> float:
    with torch.inference_mode(), subject.computing():
        ids = torch.tensor([text.encoding.input_ids])
        logits = subject.label_head()(ids, head_mask=shares)
        return float(cross_entropy(logits.double(), torch.tensor([text.label])))


def test_importance_is_the_mean_absolute_slope_of_the_loss_by_each_head(
    classifier: LoadedModel, table: Table
) -> None:
    texts, step = texts_of(classifier, table), 3e-2
    found = result_of(importance(classifier, texts))
    for layer, head in ((0, 2), (1, 0), (1, 2)):
        slopes = []
        for text in texts:
            ends = []
            for sign in (1, -1):
                shares = torch.ones(2, 3)
                shares[layer, head] += sign * step
                ends.append(loss_with(classifier, text, shares))
            slopes.append(abs(ends[0] - ends[1]) / (2 * step))
        assert found.values[layer, head] == pytest.approx(np.mean(slopes), rel=0.02, abs=1e-4)
        low, high = stats.t.interval(0.95, 5, np.mean(slopes), stats.sem(slopes))
        assert found.high[layer, head] == pytest.approx(high, rel=0.03, abs=1e-3)
        assert found.low[layer, head] == pytest.approx(max(0.0, low), rel=0.03, abs=1e-3)
    best = found.ranked()[0]
    assert found.values[best] == found.values.max() and found.asks == "labels"


def test_what_is_right_without_some_heads_is_what_each_text_answers_without_them(
    classifier: LoadedModel, table: Table
) -> None:
    texts, on = texts_of(classifier, table), np.ones((2, 3), bool)
    on[0, 1] = on[1] = False
    found = result_of(heads_off(classifier, texts, on))
    for place, text in enumerate(texts):
        for heads, right in ((None, found.right_before), (on, found.right_after)):
            shares = outcome(classifier, text.example.text, on=heads).classes
            best = max(range(len(shares)), key=lambda one: shares[one][1])
            assert right[place] == (best == text.label)
    assert found.num_off == 4 and found.difference.value == pytest.approx(found.after - found.before)
    nothing = result_of(heads_off(classifier, texts, np.ones((2, 3), bool)))
    assert nothing.difference.value == 0 and nothing.difference.p_value == 1


def test_a_model_that_guesses_words_is_weighed_by_hidden_ones(language: LoadedModel, table: Table) -> None:
    texts = texts_of(language, table)
    found = result_of(importance(language, texts, seed=3))
    assert found.asks == "masked_words" and (found.values > 0).all()
    off = result_of(heads_off(language, texts, np.zeros((2, 3), bool), seed=3))
    assert off.num_asked == sum(map(len, hidden_places(texts, 0.15, 3)))


def test_labels_are_needed_to_tell_right_answers(classifier: LoadedModel, table: Table) -> None:
    texts = result_of(finding_texts(classifier, table, Roles("text")))
    assert result_of(importance(classifier, texts)).num_texts == len(ROWS)  # its own answers will do
    with pytest.raises(UserError, match="choose the column of the labels"):
        result_of(heads_off(classifier, texts, np.zeros((2, 3), bool)))


def test_a_file_is_foreseen_as_each_of_its_texts(language: LoadedModel, table: Table) -> None:
    found = result_of(cloze(language, texts_of(language, table)))
    alone = [result_of(pseudo_perplexity(language, text)) for text in ROWS]
    assert found.perplexities.tolist() == pytest.approx([one.perplexity for one in alone], rel=1e-4)
    scores = [score for one in alone for score in one.scores]
    assert found.accuracy == np.mean([score.rank == 1 for score in scores])
    assert found.accuracy_among == np.mean([score.rank <= 5 for score in scores])
    mean = sum(score.log_probability for score in scores) / len(scores)
    assert found.perplexity == pytest.approx(math.exp(-mean), rel=1e-4)
    low, high = found.perplexity_interval or (0, 0)
    assert low < found.perplexity < high


def test_of_two_sentences_the_one_with_the_larger_sum_of_logs_is_likelier(
    language: LoadedModel, tmp_path: Path
) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text("a,b\ngood film,bad playing\nfilm,film\nbad film !,good\n,good\n", encoding="utf-8")
    found = result_of(minimal_pairs(language, read_table(path), "a", "b"))
    for place, pair in enumerate((("good film", "bad playing"), ("bad film !", "good"))):
        alone = [result_of(pseudo_perplexity(language, text, within_words=AND_AFTER)) for text in pair]
        assert found.logs[place].tolist() == pytest.approx([one.log_likelihood for one in alone], abs=1e-3)
    assert found.rows.tolist() == [0, 2] and sorted(found.left_out) == [1, 3]
    assert "Line 3 has the same sentence twice." in str(found.left_out[1])
    with pytest.raises(DataError, match="two columns"):
        result_of(minimal_pairs(language, read_table(path), "a", "a"))


def test_a_words_share_is_the_mean_of_its_shares_in_the_texts_that_hold_it(
    classifier: LoadedModel, language: LoadedModel, table: Table
) -> None:
    texts, label = texts_of(classifier, table), LABELS[1]
    found = result_of(resting_words(classifier, texts, label, method="gradient_x_input"))
    shares = []
    for text in ROWS:
        target = Target(question="labels", answer=label)
        one = result_of(attribute(classifier, text, target=target, method="gradient_x_input"))
        own = [score for word, score in zip(one.words, one.word_scores, strict=True) if word.text == "film"]
        shares += [sum(own)] if own else []
    film = next(one for one in found.words if one.word == "film")
    assert film.texts == len(shares) == 3 and film.mean == pytest.approx(np.mean(shares), rel=1e-5)
    assert [one.mean for one in found.words] == sorted((one.mean for one in found.words), reverse=True)
    with pytest.raises(ModelError, match="not a classifier"):
        result_of(resting_words(language, texts, label))


@pytest.mark.parametrize("count", [2, 7, 12])
def test_flipping_signs_is_scipys_permutation_test(count: int) -> None:
    values = np.random.default_rng(count).normal(0.4, 1, count)
    test = stats.permutation_test(
        (values,), lambda one, axis: one.mean(axis), permutation_type="samples", n_resamples=np.inf
    )
    assert by_flipping(values) == pytest.approx(test.pvalue)
    many = np.random.default_rng(0).normal(0.25, 1, 60)
    assert by_flipping(many) == pytest.approx(stats.ttest_1samp(many, 0).pvalue, abs=0.02)


def test_alternatives_are_set_against_each_other_within_each_template(language: LoadedModel) -> None:
    requests = [
        TemplateSettings(Template.parse(text), ("film", "play"))
        for text in ("{good|bad} [MASK]", "a {good|bad} [MASK] !", "{good|bad} [MASK] {film|play}")
    ]
    grids = result_of(score_templates(language, requests))
    found = {one.target: one for one in contrasts(grids)}
    apart = []
    for grid in grids:
        logs = {
            cell.options: row[0].score.log_probability
            for cell, row in zip(grid.cells, grid.scores, strict=True)
        }
        others = {options[1:] for options in logs}
        apart.append(np.mean([logs["good", *rest] - logs["bad", *rest] for rest in others]))
    assert found["film"].mean == pytest.approx(np.mean(apart)) and found["film"].templates == 3
    assert found["film"].spread == pytest.approx(np.std(apart, ddof=1))
    assert found["film"].p_value >= by_flipping(np.array(apart))  # two words were tried


def test_where_heads_look_says_how_sure_a_mean_is_and_what_goes_to_the_same_word(
    classifier: LoadedModel, table: Table
) -> None:
    found = result_of(over_table(classifier, table, Roles("text")))
    half = found.half_interval("entropy")
    assert half.shape == (2, 3) and (half > 0).all()
    assert (found.values["same"] > 0).all() and (found.values["same"] < 0.2).all()  # one text of six repeats


@pytest.mark.parametrize(
    ("command", "keys"),
    [
        (["heads", "--label", "label", "--off", "1.2"], {"texts", "asks", "heads", "off"}),
        (
            ["rests-on", "--label", LABELS[0], "--method", "gradient_x_input"],
            {"label", "texts", "residual", "words"},
        ),
    ],
)
def test_a_classifiers_numbers_are_printed_and_written(
    command: list[str],
    keys: set[str],
    classifier: LoadedModel,
    table: Table,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    given = ["--model", str(classifier.folder), "--data", str(table.path), "--text", "text"]
    assert main([command[0], *given, *command[1:], "--json", "--out", str(tmp_path / "out.csv")]) == 0
    assert set(json.loads(capsys.readouterr().out)) == keys
    assert read_table(tmp_path / "out.csv").num_rows
    assert main([command[0], *given, *command[1:]]) == 0
    assert capsys.readouterr().out.count("\n") > 2


def test_a_language_models_numbers_are_printed_and_written(
    language: LoadedModel, table: Table, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "templates.csv").write_text(
        "template,targets\n{good|bad} [MASK],film|play\n{good|bad} [MASK] !,film|play\n", encoding="utf-8"
    )
    model, data = ["--model", str(language.folder)], ["--data", str(table.path)]
    asked = {
        "cloze_accuracy": ["cloze", *model, *data, "--text", "text"],
        "first_likelier": ["pairs", *model, *data, "--first", "text", "--second", "label"],
        "contrasts": ["templates", *model, "--data", str(tmp_path / "templates.csv")],
    }
    for key, line in asked.items():
        assert main([*line, "--json", "--out", str(tmp_path / f"{key}.csv")]) == 0
        assert key in json.loads(capsys.readouterr().out)
        assert read_table(tmp_path / f"{key}.csv").num_rows
        assert main(line) == 0
        assert capsys.readouterr().out.count("\n") > 1
