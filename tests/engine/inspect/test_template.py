"""Templates: how they are read, what their cells score, and tables of them in and out."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from engine.errors import DataError, UserError
from engine.events import result_of
from engine.inspect.loaded_model import LoadedModel
from engine.inspect.masked.grid import TemplateSettings, TemplateTable, score_templates
from engine.inspect.masked.masked import mask
from engine.inspect.masked.probe import probe, score_words
from engine.inspect.masked.template import Template
from engine.inspect.masked.template_table import read_templates, write_grids
from engine.model.weights import save_model
from engine.text.table import read_table
from tests.fakes import tiny_pretraining, tiny_wordpiece


@pytest.fixture(scope="module")
def subject(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    path = tmp_path_factory.mktemp("template") / "model"
    save_model(path, tiny_pretraining(seed=3), tiny_wordpiece(), {"task": "pretraining"})
    return LoadedModel.open(path)


def grid_of(subject: LoadedModel, text: str, *targets: str, top_k: int = 10) -> TemplateTable:
    (grid,) = result_of(
        score_templates(subject, [TemplateSettings(Template.parse(text), targets)], top_k=top_k)
    )
    return grid


def log_of(subject: LoadedModel, text: str, target: str) -> float:
    """Return what a word has in a text's last gap."""
    masked = mask(subject.about, text)
    return score_words(subject, masked, len(masked.gaps) - 1, [target])[0].log_probability


def test_groups_multiply_and_the_last_changes_fastest() -> None:
    template = Template.parse("{he|she} {very |}likes [MASK]")
    assert template.groups == (("he", "she"), ("very ", ""))
    assert [cell.text for cell in template.cells()] == [
        "he very likes [MASK]",
        "he likes [MASK]",
        "she very likes [MASK]",
        "she likes [MASK]",
    ]
    third = list(template.cells())[2]
    assert [third.text[start:stop] for start, stop in third.spans] == ["she", "very "]
    assert Template.parse("it is [MASK]").num_cells == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{he|she} works", r"needs one \[MASK\]"),
        ("[MASK] and [MASK]", r"needs one \[MASK\]"),
        ("{a|[MASK]} b", r"needs one \[MASK\]"),
        ("{he|she works as a [MASK]", "an unmatched brace"),
        ("{he|{she|it}} is [MASK]", "an unmatched brace"),
        ("{} is [MASK]", "has empty braces"),
        ("{a|b|c|d|e|f|g|h|i|j}" * 4 + "[MASK]", "makes 10000 sentences, and at most 5000"),
    ],
)
def test_a_template_that_cannot_be_read_is_refused(text: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        Template.parse(text)


def test_a_corrected_score_is_the_log_minus_that_with_the_alternatives_masked(subject: LoadedModel) -> None:
    grid = grid_of(subject, "a {film|playing} is [MASK]", "good", "bad", "playing")
    assert grid.are_given and grid.targets == ("good", "bad", "playing")
    for cell, row in zip(grid.cells, grid.scores, strict=True):
        hidden = "[MASK]" if cell.options == ("film",) else "[MASK] [MASK]"  # one for each piece
        for target, found in zip(grid.targets, row, strict=True):
            log, prior = log_of(subject, cell.text, target), log_of(subject, f"a {hidden} is [MASK]", target)
            assert found.score.log_probability == pytest.approx(log, abs=1e-5)
            assert found.prior is not None and found.prior.log_probability == pytest.approx(prior, abs=1e-5)
            assert found.corrected == pytest.approx(log - prior, abs=1e-5)
    assert grid.scores[0][2].score.is_product and grid.scores[0][2].score.has_own_pass


def test_a_mark_beside_an_alternative_is_not_masked_in_its_prior(subject: LoadedModel) -> None:
    found = grid_of(subject, "a {good|bad}! [MASK]", "film").scores[0][0]
    assert found.prior is not None
    assert found.prior.log_probability == pytest.approx(log_of(subject, "a [MASK]! [MASK]", "film"), abs=1e-5)


def test_the_gap_may_stand_before_the_alternatives_or_without_any(subject: LoadedModel) -> None:
    grid = grid_of(subject, "[MASK] is a {film|play}", "i", "x")
    assert [[found.corrected is not None for found in row] for row in grid.scores] == [[True, True]] * 2
    alone = grid_of(subject, "a [MASK]", "film")
    assert alone.scores[0][0].prior is None and alone.scores[0][0].corrected is None


def test_without_targets_the_columns_are_the_likeliest_guesses(subject: LoadedModel) -> None:
    grid = grid_of(subject, "{a|b} is [MASK]", top_k=3)
    guesses = [probe(subject, cell.text, top_k=3).answers[0].guesses for cell in grid.cells]
    assert not grid.are_given and set(grid.targets) == {g.word for row in guesses for g in row}
    best = [max(row[column].score.probability for row in grid.scores) for column in range(len(grid.targets))]
    assert best == sorted(best, reverse=True)
    assert grid.scores[0][grid.targets.index(guesses[0][0].word)].score.rank == 1


def test_what_is_too_much_or_cannot_be_spelled_is_refused(subject: LoadedModel) -> None:
    with pytest.raises(UserError, match="cannot spell '漢'"):
        grid_of(subject, "{a|b} [MASK]", "漢")
    with pytest.raises(UserError, match="reads at most 41"):
        grid_of(subject, "{a|b} [MASK]" + " c" * 40, "a")
    many = TemplateSettings(Template.parse("{" + "|".join(map(str, range(2000))) + "} [MASK]"), ("a",) * 26)
    with pytest.raises(UserError, match="up to 52000 scores, and at most 50000"):
        result_of(score_templates(subject, [many]))


@pytest.mark.parametrize("separator", [",", "\t", ";"])
def test_templates_come_from_a_table_and_scores_go_into_one(
    separator: str, subject: LoadedModel, tmp_path: Path
) -> None:
    text = '"{a|b}, playing, is [MASK]"' if separator == "," else "{a|b}, playing, is [MASK]"
    rows = [f"template{separator}targets", f"{text}{separator}good|bad", f"[MASK] film{separator}"]
    (tmp_path / "in.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    requests = read_templates(tmp_path / "in.csv")
    assert [request.targets for request in requests] == [("good", "bad"), ()]
    assert [request.line for request in requests] == [2, 3]
    grids = result_of(score_templates(subject, requests, top_k=2))
    write_grids(tmp_path / "out.csv", grids)
    table = read_table(tmp_path / "out.csv", separator=",", header="yes")
    assert table.num_rows == 4 + 2
    first = table.frame.iloc[0]
    found = grids[0].scores[0][0]
    assert (first["alternative 1"], first["sentence"], first["target"]) == (
        "a",
        "a, playing, is [MASK]",
        "good",
    )
    assert float(first["probability"]) == pytest.approx(found.score.probability, rel=1e-4)
    assert float(first["corrected"]) == pytest.approx(found.corrected, abs=1e-5)
    assert int(first["rank"]) == found.score.rank and first["pieces"] == "1"
    last = table.frame.iloc[-1]
    assert (last["alternative 1"], last["prior"], last["corrected"]) == ("", "", "")
    assert math.isclose(float(last["probability"]), grids[1].scores[0][1].score.probability, rel_tol=1e-4)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["template,targets", "[MASK] a,b", "no gap,b"], r"line 3: The template 'no gap' needs one \[MASK\]"),
        (["template,targets", "[MASK] a,b,c"], "Line 2 has 3 columns; the header has 2"),
        (["text,targets", "[MASK] a,b"], "has no column named template"),
    ],
)
def test_a_table_that_cannot_be_read_names_its_line(lines: list[str], said: str, tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    with pytest.raises(DataError, match=said):
        read_templates(tmp_path / "in.csv")


def test_a_word_that_cannot_be_spelled_names_its_line(subject: LoadedModel, tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("template,targets\na [MASK],film\na [MASK],漢\n", encoding="utf-8")
    with pytest.raises(DataError, match="Line 3: This model’s vocabulary cannot spell '漢'"):
        result_of(score_templates(subject, read_templates(tmp_path / "in.csv")))
