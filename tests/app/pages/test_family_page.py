"""The page Family: all members answer, a guess fills the blank, a refusal is said, a family is trained."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QPushButton, QToolButton
from pytestqt.qtbot import QtBot

from app.pages.family import requests
from app.pages.family.kinds.claims import ClaimsKind
from app.pages.family.kinds.kind import FamilyAnswer, TypedQuestion
from app.pages.family.page import FamilyPage
from app.pages.family.scores import cell
from app.pages.family.state import FamilyState
from app.pages.family.train_dialog import TrainDialog
from app.plots.member_column import MemberColumn
from app.remembered import keep_state, kept_state
from app.session import Session
from app.shipped import shipped_family, starter_model
from engine.family.card import lines
from engine.family.questions.claims import Claims
from engine.family.train import read_report, train_family
from engine.family.verdicts import BOTH_SIDES, Claim, ClaimStart
from engine.model.heads import PreTraining
from engine.model.weights import save_model
from engine.settings.config import values_of
from engine.settings.family import FamilyConfig
from engine.text.wordpiece import WordPiece
from engine.train.pretraining import setup as pretraining_setup
from tests.app.hand import ShowPage
from tests.engine.family.conftest import family_config
from tests.engine.tiny_texts import write_text
from tests.fakes import scramble, tiny_config

KINDS = (
    ("animal", "cat", "fish"),
    ("animal", "dog", "milk"),
    ("ship", "ship", "port"),
    ("ship", "boat", "sea"),
)
MEMBERS = "ngram,nnlm,glove,gpt,bert"


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("family")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(pretraining_setup, "default_store_root", lambda: folder / "tokens")
        config = family_config(write_text(folder / "text.txt", 60), members=MEMBERS, steps=2)
        for _ in train_family(config, folder / "runs" / "20260101-000000-family"):
            pass
        yield folder / "runs"


@pytest.fixture(autouse=True)
def nothing_in_the_box(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the families be those that are made here."""
    monkeypatch.setattr(requests, "shipped_families", tuple)
    monkeypatch.setattr(requests, "model_named", lambda _name: None)


@pytest.fixture
def page(session: Session, show_page: ShowPage[Any], trained: Path, qtbot: QtBot) -> FamilyPage:
    session.runs.set_root(trained)
    shown: FamilyPage = show_page(FamilyPage)
    qtbot.waitUntil(lambda: shown.box.count() > 0, timeout=20_000)
    shown.choose_kind("fill")
    shown.more.chosen.emit(None)  # all side by side
    shown.take(TypedQuestion("the ____ eats fish .", "cat"))
    qtbot.waitUntil(lambda: shown.answered is not None, timeout=20_000)
    return shown


def test_every_member_has_a_column_and_says_who_may_see_what(page: FamilyPage, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: len(page.columns.columns) == 5)
    columns = {column.name: column for column in page.columns.columns}
    assert [*columns] == ["n-gram", "NNLM", "GloVe", "GPT", "BERT"]
    assert columns["GloVe"].is_likeness and not columns["BERT"].is_likeness
    assert [one.kind for one in columns["GPT"].words] == ["fill", "blank", "unseen", "unseen", "unseen"]
    assert all(column.rank.startswith("no. ") for column in columns.values())
    assert "“eats fish”" in columns["GPT"].why and "bag" in columns["GloVe"].why
    assert not page.columns.labels.cannot and not page.columns.labels.shown  # behind a click on a name


def test_a_click_on_a_guess_fills_the_blank_and_asks_for_the_next_word(
    page: FamilyPage, qtbot: QtBot
) -> None:
    page.columns.entry_chosen.emit("cat")
    assert page.question.text() == "the cat ____ fish ."
    qtbot.waitUntil(lambda: page.answered is not None and page.answered.value.place == 2, timeout=20_000)


def test_the_words_stay_when_the_tab_changes_and_each_tab_is_answered(page: FamilyPage, qtbot: QtBot) -> None:
    for kind, text in (("write", "the cat"), ("nearest", "cat"), ("senses", "cat")):
        page.choose_kind(kind)
        page.question.setText(text)
        page.sentences.setPlainText("the cat eats fish .\n\nthe dog sees the cat .\nthe cow is here .")
        page.ask()
        qtbot.waitUntil(
            lambda: page.answered is not None and page.answered.question == page.asked,
            timeout=20_000,
        )
    likeness = {column.name: len(column.entries) for column in page.columns.columns}
    assert likeness == {"n-gram": 0, "NNLM": 1, "GloVe": 1, "GPT": 3, "BERT": 3}
    planes = {column.name: [len(plane) for plane in column.planes] for column in page.columns.columns}
    assert planes["NNLM"] == [2] and planes["BERT"] == [2, 2, 2]  # the sentence without the word is left out
    assert [dot.group for dot in page.columns.columns[-1].planes[0]] == [0, 1]
    page.choose_kind("analogy")
    page.question.setText("cat dog king")
    page.ask()
    qtbot.waitUntil(lambda: page.answered is not None, timeout=20_000)
    assert [len(column.entries) for column in page.columns.columns] == [0, 6, 6, 6, 6]
    page.choose_kind("claims")
    qtbot.waitUntil(lambda: page.pictures.claims.plot.num_rows > 0)
    page.choose_kind("see")
    assert page.question.text() == "the ____ eats fish ."  # as the blank's, whose sentence it shares


def test_a_question_without_a_blank_is_refused_in_words(page: FamilyPage, qtbot: QtBot) -> None:
    page.question.setText("the cat eats fish .")
    page.ask()
    qtbot.waitUntil(lambda: page.banner.isVisible(), timeout=20_000)


def ask_of(page: FamilyPage, qtbot: QtBot, kind: str) -> None:
    page.choose_kind(kind)
    page.ask()
    qtbot.waitUntil(
        lambda: page.kind.key == kind and page.answered is not None and not page._asked.is_asking,
        timeout=30_000,
    )


def test_what_a_member_cannot_is_shown_by_an_example_that_was_asked_of_it(
    page: FamilyPage, qtbot: QtBot
) -> None:
    shown = {column.name: column.shown for column in page.columns.columns}
    assert "Without “eats fish”" in shown["n-gram"] and "its guess is the same" in shown["GPT"]
    assert "Backwards, “fish eats ____ the”" in shown["GloVe"]
    place = page.columns.rect_of((-1, 2)).center().toPoint()  # the name over the third column
    qtbot.mouseClick(page.columns, Qt.MouseButton.LeftButton, pos=place)
    assert page.note.title_label.text() == "GloVe" and "Backwards" in page.note.text.text()
    page.note.close_button.click()
    assert page.note.title_label.text() == "Is that fair?"


def test_a_scene_moves_the_columns_up_to_the_row_that_it_speaks_of(page: FamilyPage, qtbot: QtBot) -> None:
    page.pictures.area.setFixedHeight(200)
    state, bar = page.as_scene(), page.pictures.area.verticalScrollBar()
    page.show_scene(replace(state, values={**state.values, "row": "shown"}))
    qtbot.waitUntil(lambda: bar.value() > 0)
    assert page.columns.end_of("shown") <= bar.value() + page.pictures.area.viewport().height()
    assert page.as_scene().values["row"] == "shown"
    assert "row" not in state.values
    plain = {name: one for name, one in state.values.items() if name not in ("members", "practice")}
    page.show_scene(replace(state, values=plain))  # as of a lecture made before these were kept
    assert page.is_state_shown and page.draft.members == () and not page.draft.practice


@pytest.mark.slow
def test_what_takes_a_while_is_said_to_be_under_way(
    page: FamilyPage, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = Event()

    def slow(*asked: Any) -> Any:
        held.wait(60)
        return (yield from requests.ask(*asked))

    monkeypatch.setattr("app.pages.family.page.ask", slow)
    page._forget()
    page.take(TypedQuestion("the ____ sees fish .", "dog"))
    qtbot.waitUntil(lambda: page.banner.isVisible() and "asking it" in page.banner.text())
    held.set()
    qtbot.waitUntil(lambda: page.answered is not None and page.banner.isHidden())


def test_files_about_words_are_answered_with_intervals_and_others_refused(
    page: FamilyPage, tmp_path: Path, qtbot: QtBot
) -> None:
    page.choose_kind("files")
    assert not page.columns.columns and page.action.button.isVisible()
    (tmp_path / "pairs.txt").write_text("cat dog 9\ncat ship 1\ncow sea 2\ncat gnu 3\n", encoding="utf-8")
    (tmp_path / "four.txt").write_text("cat dog ship boat\n", encoding="utf-8")
    page.take_files(page.kind, [str(tmp_path / "pairs.txt"), str(tmp_path / "four.txt")])
    qtbot.waitUntil(lambda: len(page.columns.labels.scores) == 4)
    first, before = page.columns.labels.scores[:2]
    assert first == ("pairs.txt", "ρ of 3, 1 skipped") and before[0] == "Before training"
    cells = {column.name: column.scores for column in page.columns.columns}
    assert not cells["n-gram"][0].text and cells["BERT"][0].interval == "−1.00 to 1.00"
    (tmp_path / "prose.txt").write_text("a cat and a dog\n", encoding="utf-8")
    page.take_files(page.kind, [str(tmp_path / "prose.txt")])
    qtbot.waitUntil(lambda: "holds no questions about words" in page.banner.text())


def test_only_bert_is_asked_whether_a_sentence_follows(page: FamilyPage, qtbot: QtBot) -> None:
    page.choose_kind("follows")
    page.question.setText("the cat eats fish .")
    page.second.setText("the dog sees the sea .")
    ask_of(page, qtbot, "follows")
    columns = {column.name: column for column in page.columns.columns}
    assert sum(one.value for one in columns["BERT"].entries) == pytest.approx(1.0)
    assert columns["GPT"].cannot and not columns["GPT"].entries


def test_results_tell_sizes_scores_and_losses_of_one_kind_together(page: FamilyPage, qtbot: QtBot) -> None:
    ask_of(page, qtbot, "results")
    assert page.answered is not None
    rows = [said for said, _ in page.columns.labels.scores]
    assert rows[:3] == ["Weights", "Words read", "Time"] and len(page.columns.labels.scores) == len(
        set(page.columns.labels.scores)
    )
    below = {below for said, below in page.columns.labels.scores if said == "Perplexity"}
    kinds = ("known words", "ends of sentences")  # no word of this text is unknown
    assert below == {"words in the blanks", *(f"{kind} from the left" for kind in kinds)}
    pseudo = ("Pseudo-perplexity", "known words, both sides")
    place = page.columns.labels.scores.index(pseudo)
    assert page.columns.labels.scores[place + 1] == ("Before training", ", ".join(pseudo))
    before = {column.name: column.scores[place + 1] for column in page.columns.columns}
    assert [name for name, one in before.items() if one.text] == ["BERT"]
    learning = page.pictures.learning
    assert learning.isVisible() and learning.kinds.current == "blanks"  # all members have that curve
    head, *looks = learning.blanks_by_words.numbers()
    assert head[1:] == [f"{name} blanks filled" for name in ("n-gram", "NNLM", "GloVe", "GPT", "BERT")]
    read = page.answered.report["reached"]["nnlm"]["words_read"]
    assert read in [row[0] for row in looks if row[2] != ""]  # words, where the axis has their logs
    learning.kinds.buttons["next"].click()
    head = learning.by_words.numbers()[0]
    assert head == ["words read", "n-gram loss", "NNLM loss", "GPT loss"]
    learning.kinds.buttons["hidden"].click()
    assert learning.by_seconds.numbers()[0] == ["seconds", "BERT loss"]


def test_scores_are_dots_the_best_first_and_nobody_at_chance_is_bold(page: FamilyPage, qtbot: QtBot) -> None:
    ask_of(page, qtbot, "results")
    page.pictures.one_button.click()
    scores = page.pictures.scores
    assert scores.isVisible() and page.figures_shown()[0] is scores.plot
    for place in range(scores.box.count()):
        scores.box.setCurrentIndex(place)
        scores.box.chosen.emit(place)
        values = [row.value for row in scores.plot.rows if row.value is not None]
        assert values in (sorted(values), sorted(values, reverse=True)) and len(scores.plot.rows) == 5
        chance = scores.plot.chance
        assert chance is None or all(row.low > chance for row in scores.plot.rows if row.is_best)
    scores.all_button.click()
    assert page.columns.isVisible()


def test_left_and_right_turn_the_scenes_and_stop_at_the_ends(page: FamilyPage, qtbot: QtBot) -> None:
    page.tabs.buttons["fill"].setFocus()
    seen = []
    for key in (*[Qt.Key.Key_Right] * 4, *[Qt.Key.Key_Left] * 5):
        qtbot.keyClick(page.focusWidget() or page, key)
        seen.append(page.kind.key)
    assert seen[:4] == ["senses", "results", "claims", "claims"]
    assert seen[4:] == ["results", "senses", "fill", "see", "see"]


def test_three_are_shown_at_first_and_a_click_adds_another(
    session: Session, show_page: ShowPage[Any], trained: Path, qtbot: QtBot
) -> None:
    session.runs.set_root(trained)
    shown: FamilyPage = show_page(FamilyPage)
    qtbot.waitUntil(lambda: len(shown.pictures.seen.rows) == 3, timeout=20_000)
    assert [row.name for row in shown.pictures.seen.rows] == ["n-gram", "GloVe", "BERT"]  # one of each age
    shown.choose_kind("fill")
    shown.take(TypedQuestion("the ____ eats fish .", "cat"))
    qtbot.waitUntil(lambda: len(shown.columns.columns) == 3, timeout=20_000)
    add = shown.more.findChild(QPushButton, "family_add_gpt")
    assert add is not None and "GPT" in add.text()
    add.click()
    assert [column.name for column in shown.columns.columns] == ["n-gram", "GloVe", "GPT", "BERT"]
    shown.more.all_button.click()
    assert len(shown.columns.columns) == 5


def test_without_a_family_the_page_leads_to_training(
    session: Session, show_page: ShowPage[Any], tmp_path: Path, qtbot: QtBot
) -> None:
    session.runs.set_root(tmp_path)
    shown: FamilyPage = show_page(FamilyPage)
    qtbot.waitUntil(lambda: "No family" in shown.empty.label.text())
    dialog = TrainDialog(session, shown)
    qtbot.addWidget(dialog)
    box = dialog.findChild(QCheckBox, "family_member_gpt")
    assert not dialog.start.isEnabled()
    elsewhere = {"text", "column", "members", "minutes", "tokens", "steps", "pins", "informed_start"}
    assert {*dialog.form.names, *elsewhere} == {*values_of(FamilyConfig())}  # as the command
    dialog.text.choose([tmp_path / "text.txt"])
    box.setChecked(False)
    dialog.form.set_values({"starts": "none", "words": 300, "trainings": 3})
    assert "Equal minutes" in dialog.said.text() and dialog.said.text().count("1.1") == 1  # of 24, for 7 x 3
    dialog.budget.put({"tokens": 2_000_000})
    dialog.budget.edited.emit()
    assert "Equal words" in dialog.said.text() and "2,000,000" in dialog.said.text()
    with qtbot.waitSignal(dialog.wanted) as heard:
        qtbot.mouseClick(dialog.start, Qt.MouseButton.LeftButton)
    config = heard.args[0]
    assert isinstance(config, FamilyConfig) and "gpt" not in config.family.members
    assert (config.family.words, config.family.starts, config.family.trainings) == (300, "none", 3)
    assert (config.budget.tokens, config.budget.minutes) == (2_000_000, 0)
    shown.train(config)  # the text is not there: the refusal ends the training, and is said
    qtbot.waitUntil(lambda: not session.training.is_running, timeout=20_000)
    qtbot.waitUntil(lambda: shown.progress.isVisible() and "text.txt" in shown.progress.text())


@pytest.mark.slow
def test_the_open_table_is_learned_by_every_member(
    page: FamilyPage, session: Session, tmp_path: Path, qtbot: QtBot
) -> None:
    page.choose_kind("task")
    qtbot.waitUntil(page.banner.isVisible)  # no table is open yet
    rows = [f"the {word} sees the {other} .,{label}" for label, word, other in KINDS for _ in range(10)]
    (tmp_path / "rows.csv").write_text("\n".join(["text,label", *rows]) + "\n", encoding="utf-8")
    session.data.open(tmp_path / "rows.csv")
    assert session.wait_idle()
    page.ask()
    page.stop()  # before there is an answer: it can be asked again
    assert page.action.button.text() == "Ask" and not page.action.button.isHidden()
    page.action.button.click()
    qtbot.waitUntil(lambda: page.answered is not None, timeout=30_000)
    columns = {column.name: column for column in page.columns.columns}
    assert [name for name, one in columns.items() if not one.scores[0].text] == [
        "n-gram"
    ]  # it has no vectors
    _, before, bayes = page.columns.labels.scores
    assert before[0] == "Before training" and bayes[0] == "Naive Bayes over pairs of words"
    assert [name for name, one in columns.items() if one.scores[2].text] == ["n-gram"]
    assert float(columns["n-gram"].scores[2].text) == 100
    qtbot.waitUntil(
        lambda: page.action.button.isVisible() and page.action.button.text() == "Fine-tune all as well"
    )
    page.action.button.click()
    qtbot.waitUntil(
        lambda: page.answered is not None and len(page.answered.value.fine_tuned or {}) == 5, timeout=60_000
    )
    tuned = {column.name: column.scores[2].text for column in page.columns.columns}
    assert not tuned.pop("n-gram") and all(0 <= float(one) <= 100 for one in tuned.values())


def test_the_page_writes_every_score_of_the_box_as_its_card_does() -> None:
    folder = shipped_family()
    assert folder is not None
    report = read_report(folder)
    asked, names = lines(report), report["members"]
    assert len(asked) > 10
    for line in asked:
        for name in names:
            shown, written = (
                text.replace("−", "-").rstrip(",")
                for text in (cell(line, name).text, line.cell(name).partition(" ")[0])
            )
            same_digits = len(shown.partition(".")[2]) == len(written.partition(".")[2])
            told = (shown or "n/a") == written if same_digits or not shown else True
            assert told and (not shown or abs(float(shown) - float(written)) <= 0.55), (line.name, name)


def test_without_the_starter_the_switch_is_off_and_says_why(page: FamilyPage) -> None:
    practice = page.training.buttons["practice"]
    assert not practice.isEnabled() and "not in this build" in practice.toolTip()
    assert "not in this build" in page.note.text.text() and page.training.current == "given"


@pytest.mark.slow
@pytest.mark.skipif(shipped_family() is None or starter_model() is None, reason="this build lacks them")
def test_the_first_sentence_is_one_on_which_reading_both_sides_can_be_seen(
    session: Session, show_page: ShowPage[Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, qtbot: QtBot
) -> None:
    monkeypatch.undo()  # the family of the box
    session.runs.set_root(tmp_path)
    shown: FamilyPage = show_page(FamilyPage)
    shown.choose_kind("fill")
    qtbot.waitUntil(lambda: shown.answered is not None and len(shown.columns.columns) == 3, timeout=60_000)
    assert shown.answered is not None
    found = shown.answered.value
    assert found.filled["bert"].rank == 1 and shown.training.current == "practice"
    left = [found.filled[name].rank for name in ("ngram", "nnlm", "gpt")]
    assert all(found.own.rank < rank for rank in left) and found.own.rank > 1
    note = shown.note.text.text()
    assert f"no. {found.own.rank}" in note and "36 M WordPieces" in note and "all-MiniLM-L6-v2" in note
    shown.training.buttons["given"].click()
    qtbot.waitUntil(lambda: shown.answered is not None and shown.answered.value.own is None, timeout=60_000)
    assert "18 minutes" in shown.training.buttons["given"].text() and "62.0 M words" in shown.note.text.text()
    state = shown.as_scene()
    assert state.values["members"] == "first" and "practice" not in state.values


def test_a_verdict_of_one_training_says_so_and_one_of_several_does_not() -> None:
    start, kind = ClaimStart(0.0, -0.01, 0.01, ()), ClaimsKind()
    for trainings, head in (
        (1, "2.5 minutes and one training each"), (3, "2.5 minutes and 3 trainings each"),
    ):  # fmt: skip
        said = BOTH_SIDES[0]
        claim = Claim(said.text, said.measure, 0.5, 0.3, 0.2, 0.1, 0.3, 500, 0.001, start, trainings)
        report = {"members": ["elmo", "bert"], "starts": "frequencies", "claims": [asdict(claim)]}
        answer = FamilyAnswer(Claims(Path()), ("elmo", "bert"), report, [])
        (row,) = kind.claim_rows(answer)
        assert row.verdict == "Confirmed" and ("about one training each" in row.whole) == (trainings == 1)
        assert head in kind.headline(answer, "2.5 minutes") and not kind.reasons(answer)
        assert ("trained once" in kind.notes(answer)) == (trainings == 1)


def test_a_text_is_continued_by_words_that_are_drawn_and_drawn_again(page: FamilyPage, qtbot: QtBot) -> None:
    def written() -> list[str]:
        return [column.text for column in page.columns.columns]

    page.choose_kind("write")
    page.question.setText("the cat")
    page.temperature.setValue(1.5)
    page.seed.setValue(1)
    ask_of(page, qtbot, "write")
    first = written()
    page.action.button.click()
    qtbot.waitUntil(lambda: page.answered is not None and page.answered.question.seed == 2, timeout=20_000)
    assert page.seed.value() == 2 and written() != first
    assert page.asked is not None and "--temperature 1.5 --seed 2" in page.asked.command()
    state = page.state
    page.seed.setValue(1)
    page.show_state(state)
    assert page.seed.value() == 2 and page.temperature.value() == 1.5


@pytest.mark.skipif(shipped_family() is None, reason="this build has no family in the box")
def test_the_claims_of_the_box_are_counted_and_stand_by_verdict() -> None:
    folder, kind = shipped_family(), ClaimsKind()
    assert folder is not None
    answer = FamilyAnswer(Claims(folder), ("ngram", "bert"), read_report(folder), [])
    rows = kind.claim_rows(answer)
    verdicts = [row.verdict for row in rows]
    order = ["Confirmed", "Not confirmed here", "Inconclusive", "No verdict"]
    assert verdicts == sorted(verdicts, key=order.index)
    said = kind.headline(answer, "2.5")
    for verdict, words in zip(order, ("confirmed", "not confirmed", "inconclusive", "without"), strict=True):
        count = verdicts.count(verdict)
        assert (f"{count} {words}" in said) == bool(count)
    shown = " ".join(row.whole + row.interval + row.said for row in rows) + kind.notes(answer)
    assert "-0." not in shown and "informed_start" not in shown and "−0." in shown


@pytest.fixture
def another(tmp_path: Path) -> Path:
    """A small BERT of other WordPieces."""
    model = PreTraining(tiny_config(vocab_size=9))
    scramble(model)
    words = ["cat", "dog", "the", "."]
    cut = WordPiece.from_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words], lowercase=True)
    save_model(tmp_path / "another", model.eval(), cut, {"task": "pretraining"})
    return tmp_path / "another"


def add_others(page: FamilyPage, qtbot: QtBot, *folders: Path) -> list[MemberColumn]:
    """Put models next to the members, and return their columns once they have answered."""
    page.choose_others(folders)
    assert page.action.button.text() == "Stop" and page.action.button.isVisible()
    page.stop()
    assert page.action.button.isHidden()
    page.ask()
    qtbot.waitUntil(
        lambda: (
            page.answered is not None
            and len(page.answered.value.others) == len(folders)
            and page.answered.is_whole
        ),
        timeout=30_000,
    )
    return [one for one in page.columns.columns if one.caption == "Added"]


def test_a_model_that_is_added_has_a_column_with_its_size_its_guesses_and_how_well_it_foresees_words(
    page: FamilyPage, another: Path, qtbot: QtBot
) -> None:
    assert not page.columns.labels.scores  # a family alone is shown as before
    (column,) = add_others(page, qtbot, another)
    assert (column.name, column.year, len(column.entries)) == ("another", "2018", 4)
    assert column.rank.startswith("no. ") and {one.word for one in column.entries} == {
        "cat",
        "dog",
        "the",
        ".",
    }
    heads = [said for said, _ in page.columns.labels.scores]
    assert heads == ["Kind of model", "Weights", "Vocabulary", "Perplexity per word"]
    cells = {one.name: [cell.text for cell in one.scores] for one in page.columns.columns}
    assert cells["another"][0] == "BERT" and cells["another"][2] == "9" and cells["another"][3]
    assert cells["GPT"][3] and not cells["GloVe"][3]  # which gives no probabilities
    assert "words of one piece" in page.note.text.text()
    page.columns.member_chosen.emit("another")
    assert page.note.title_label.text() == "another" and "Devlin et al. 2018" in page.note.text.text()
    assert "9 (WordPieces). It reads words without capitals or accents." in page.note.text.text()
    assert ("Other models", "another") in page.columns.caption
    assert page.asked is not None and page.asked.command().endswith(f"--beside {another}")
    page.choose_kind("senses")
    page.question.setText("cat")
    page.sentences.setPlainText("the cat .\n\nthe dog . cat")
    ask_of(page, qtbot, "senses")
    planes = {one.name: len(one.planes) for one in page.columns.columns}
    assert planes["another"] == planes["BERT"] == 3 and page.columns.columns[-1].scores[0].text == "BERT"
    page.choose_kind("nearest")
    assert page.others.isHidden()
    page.choose_kind("fill")
    chip = page.others.findChild(QToolButton, "family_other_0")
    assert chip is not None and "another" in chip.text()
    chip.click()
    qtbot.waitUntil(lambda: page.answered is not None and not page.answered.value.others, timeout=20_000)
    assert len(page.columns.columns) == 5 and not page.columns.labels.scores


def test_a_model_that_cannot_be_asked_says_why_in_its_column_and_the_others_stay(
    page: FamilyPage, another: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "config.json").write_text("{", encoding="utf-8")
    gone = tmp_path / "gone" / "another"
    bad, nowhere, good = add_others(page, qtbot, tmp_path / "other", gone, another)
    assert bad.text.endswith(".") and nowhere.text.endswith(".") and not bad.entries and not nowhere.entries
    assert good.entries and not good.text and (nowhere.name, good.name) == ("another", "another (2)")
    assert all(one.entries for one in page.columns.columns[:5])


def test_added_models_are_kept_with_the_page_and_one_that_is_gone_is_named(
    page: FamilyPage, another: Path, session: Session, tmp_path: Path, qtbot: QtBot
) -> None:
    lost = shutil.copytree(another, tmp_path / "lost")
    add_others(page, qtbot, another, lost)
    keep_state(session.settings, "family", page.state)
    page.choose_others(())
    shutil.rmtree(lost)
    state = kept_state(session.settings, "family", FamilyState)
    assert state is not None and state.others.folders == (another,)
    page.show_state(state)
    qtbot.waitUntil(
        lambda: page.answered is not None and len(page.answered.value.others) == 1, timeout=20_000
    )
    assert page.others.gone.isVisible() and "lost" in page.others.gone.text()
    page.choose_others((another,))
    assert page.others.gone.isHidden()


def test_blanks_of_a_text_are_asked_of_added_models_too_and_can_be_stopped(
    page: FamilyPage, another: Path, trained: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    page.choose_kind("text-blanks")
    assert page.action.button.text() == "Choose a text…" and not page.columns.columns
    page.choose_others((another,))
    page.take_files(page.kind, [str(trained.parent / "text.txt")])
    qtbot.waitUntil(lambda: page.answered is not None and page.answered.is_whole, timeout=60_000)
    columns = {column.name: column for column in page.columns.columns}
    rows = [said for said, _ in page.columns.labels.scores]
    assert rows[:3] == ["Blanks filled", "Before training", "More than BERT"] and "p" in rows
    added = columns["another"]
    assert added.scores[0].interval and added.scores[2].text and added.scores[3].text
    assert 0 < float(added.scores[4].text) < 100  # fish is no piece of it
    page.take_files(page.kind, [str(write_text(tmp_path / "more.txt", 60, seed=4))])
    page.stop()
    assert page.action.button.text() == "Choose a text…" and page.answered is not None
    (tmp_path / "short.txt").write_text("the cat .\n", encoding="utf-8")
    page.take_files(page.kind, [str(tmp_path / "short.txt")])
    qtbot.waitUntil(lambda: "short.txt" in page.banner.text(), timeout=20_000)
