"""What a page shows is kept as plain values, and shown again to the last number; a bad state is one
sentence.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app import words
from app.pages.anatomy.page import AnatomyPage
from app.pages.attention.page import AttentionPage
from app.pages.attention.state import AttentionComparison
from app.pages.data.page import DataPage
from app.pages.data.state import ColumnOrder, DataState
from app.pages.embeddings.page import EmbeddingsPage
from app.pages.evaluate.page import EvaluatePage
from app.pages.evaluate.state import LONG, EvaluateState, Listing
from app.pages.family.kinds.kind import TypedQuestion
from app.pages.family.page import FamilyPage
from app.pages.finetune.page import FineTunePage
from app.pages.models.page import ModelsPage
from app.pages.models.state import TABS, ModelsState, PlannedModel
from app.pages.predict.page import PredictPage
from app.pages.predict.state import PredictedFile, PredictState
from app.pages.pretrain.page import PretrainPage
from app.pages.probe.masked_text import MaskedText
from app.pages.probe.page import LAYERS, NEXT, TEMPLATES, WORDS, ProbePage
from app.pages.run.state import RunPageState
from app.pages.runs.page import RunsPage
from app.pages.runs.state import RunsState
from app.pages.stated_page import StatedPage
from app.pages.tokenizer.page import TokenizerPage
from app.pages.tokenizer.state import TokenizerState
from app.plots.figure_files import picture_bytes
from app.session import Session
from app.shipped import shipped_family
from app.work.page_state import SceneValues, state_of, values_of
from app.work.text_filter import ANSWER, ANY, COLUMN, DIFFER, Filter
from engine.errors import UserError
from engine.inspect.anatomy.changes import PassSettings
from engine.model.arithmetic import HeadsConfig
from engine.model.config import BertConfig
from engine.questions.how_read import ReadSettings
from engine.questions.labelled import LabelledTexts
from engine.settings.config import to_toml
from engine.settings.finetune import FineTuneConfig
from engine.settings.pretrain import PretrainConfig
from engine.train.comparison import SETTINGS
from engine.train.run.runs import CONFIG, document_of
from tests.app.hand import ShowPage, come_to_rest
from tests.engine.made_runs import made_run
from tests.engine.tiny_runs import reviews, write_table
from tests.fakes import model_folder
from tests.looks.looking_scenes import PAIR, SENTENCE, classifier, language_model, wordpiece

JUNK: tuple[Any, ...] = (
    None,
    "no such thing",
    -7,
    10**12,
    0.5,
    True,
    [],
    [[1]],
    [["a", "b", 3]],
    {},
    {"kind": 1},
)


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("models")
    return language_model(folder / "one"), language_model(folder / "two", seed=5)


@pytest.fixture
def rest(session: Session, qtbot: QtBot) -> Callable[[], None]:
    return partial(come_to_rest, session, qtbot)


def seen(page: Any) -> list[Any]:
    """Return what a person sees: every picture with its numbers and its caption, to the last pixel."""
    focus = page.window().focusWidget()
    if focus is not None:
        focus.clearFocus()
    figures = page.figures_shown()
    return [
        (one.title, one.caption, one.numbers(), picture_bytes(one.canvas(), ".png", None, 96))
        for one in figures
    ]


def comes_again(
    page: Any, change: Callable[[], None], rest: Callable[[], None], *, to_the_pixel: bool = True
) -> SceneValues:
    """Keep what a page shows, change everything, show what was kept: it is the same."""
    rest()
    state = page.as_scene()
    kept, before = replace(state, values=json.loads(json.dumps(dict(state.values)))), seen(page)
    change()
    rest()
    assert page.as_scene() != kept
    page.show_scene(kept)
    rest()
    assert page.is_state_shown
    assert page.as_scene() == kept
    again = seen(page)
    assert [one[:3] for one in again] == [one[:3] for one in before]
    assert again == before or not to_the_pixel
    return kept


def is_robust(page: Any, kept: SceneValues, rest: Callable[[], None]) -> None:
    """Show a state with each value missing, and with junk in its place: refused in one sentence, or shown."""
    for name in kept.values:
        missing = {key: value for key, value in kept.values.items() if key != name}
        bad = [missing, *({**kept.values, name: junk} for junk in JUNK)]
        for values in bad:
            try:
                page.show_scene(replace(kept, values=values))
            except UserError as error:
                assert words.say_error(error).endswith(("Cloze.", "."))
        with pytest.raises(UserError):
            page.show_scene(replace(kept, values=missing))
    rest()
    page.show_scene(kept)
    rest()
    assert page.as_scene() == kept


@pytest.mark.slow
def test_probe_shows_again_what_was_kept(
    show_page: ShowPage[ProbePage], models: tuple[Path, Path], rest: Callable[[], None]
) -> None:
    page = show_page(ProbePage)
    page.inspector.choose(models[0])
    page.inspector.set_text(SENTENCE)
    rest()
    page.choose_top(10)
    page.draft.set_by_pieces(True)
    page.draft.go(MaskedText(SENTENCE, "", (1,), (5,)))
    page.draft.set_beside(models[1])
    rest()
    page.words_view.cards[0].field.setText("river")
    page.words_view.cards[0].field.returnPressed.emit()

    def change() -> None:
        page.inspector.choose(models[1])
        page.inspector.set_text(*PAIR)
        page.draft.set_beside(None)
        page.draft.set_by_pieces(False)
        page.choose_top(6)
        page.tabs.setCurrentIndex(NEXT)

    kept = comes_again(page, change, rest)
    assert kept.models == {"model": models[0], "beside": models[1]}
    assert kept.values["own"] == [[0, "river"]] and "river" in page.words_view.cards[0].yours.text()
    is_robust(page, kept, rest)

    page.tabs.setCurrentIndex(LAYERS)
    rest()
    page.layers_view.gaps.setCurrentIndex(1)
    page.layers_view.gaps.activated.emit(1)
    assert comes_again(page, change, rest).values["gap"] == 1
    page.tabs.setCurrentIndex(TEMPLATES)
    page.templates_view.put("the {bank|river} was [MASK]", "old, steep", "corrected")
    again = comes_again(page, lambda: page.templates_view.put("she has [MASK]", "", "probability"), rest)
    assert again.values["template"] == ["the {bank|river} was [MASK]", "old, steep", "corrected"]


@pytest.mark.slow
def test_what_needs_a_table_is_not_kept_and_says_so(
    show_page: ShowPage[ProbePage], models: tuple[Path, Path], rest: Callable[[], None]
) -> None:
    page = show_page(ProbePage)
    page.inspector.choose(models[0])
    rest()
    for tab in ("Over a table", "Beat BERT"):
        place = next(n for n in range(page.tabs.count()) if page.tabs.tabText(n) == tab)
        page.tabs.setCurrentIndex(place)
        with pytest.raises(UserError) as refused:
            page.as_scene()
        assert str(refused.value).endswith(".")
    page.tabs.setCurrentIndex(WORDS)
    assert page.as_scene().text


@pytest.mark.slow
def test_attention_shows_again_what_was_kept(
    show_page: ShowPage[AttentionPage], models: tuple[Path, Path], rest: Callable[[], None]
) -> None:
    page = show_page(AttentionPage)
    page.inspector.choose(models[0])
    page.inspector.set_text(*PAIR)
    rest()
    page.choose_head(2, 1)
    page.add_head(0, 3)
    page.switch_heads()
    page.change("specials", "hide")
    page.change("block", "ab")
    page.change("top_share", 0.8)
    page.show_picture("arcs")
    page.picture.pictures["arcs"].set_line(True)
    page.heads.sort_by("entropy")
    page.lock(4)

    def change() -> None:
        page.inspector.choose(models[1])
        page.inspector.set_text(SENTENCE)
        page.switch_all_on()
        page.choose_head(1, 1)
        for name, value in (("specials", "show"), ("block", "all"), ("top_share", 1.0)):
            page.change(name, value)
        page.picture.pictures["arcs"].set_line(False)
        page.show_picture("query_key")
        page.heads.sort_as("position", is_listed=False, is_ascending=False)

    kept = comes_again(page, change, rest)
    assert kept.values["heads"] == [[3, 2], [1, 4]] and kept.values["off"] == [[1, 4], [3, 2]]
    is_robust(page, kept, rest)

    page.compare(AttentionComparison("model", folder=models[1], name="two"))
    assert comes_again(page, change, rest).models["other"] == models[1]
    page.end_comparison()
    page.show_picture("attribution")
    page.attribution.choices.measure.setCurrentIndex(1)
    page.attribution.choices.measure.activated.emit(1)
    rest()
    comes_again(page, change, rest)
    page.show_picture("query_key")
    comes_again(page, lambda: page.show_picture("heads"), rest)


@pytest.mark.slow
def test_anatomy_shows_again_what_was_kept(
    show_page: ShowPage[AnatomyPage], models: tuple[Path, Path], rest: Callable[[], None]
) -> None:
    page = show_page(AnatomyPage)
    page.inspector.choose(models[0])
    page.inspector.set_text(*PAIR)
    rest()
    changes = PassSettings(
        scales=(((2, 3), 0.0),), no_residual=frozenset({(1, "attention")}), positions=((4, 9),)
    )
    page._go(page.walk.at("mixed").changed(layer=2, head=3, piece=5).with_number("head", 2))
    page._change(changes)

    def change() -> None:
        page.inspector.choose(models[1])
        page.inspector.set_text(SENTENCE)
        page._change(PassSettings())
        page._go(page.walk.at("feed_forward").changed(layer=1, head=1, piece=1, numbers=(-1, -1, -1)))

    kept = comes_again(page, change, rest)
    assert (kept.values["step"], kept.values["layer"], kept.values["head"]) == ("mixed", 2, 3)
    assert page.walk.changes == changes
    is_robust(page, kept, rest)
    page.show_scene(replace(kept, values={**kept.values, "layer": 9}))  # the model has three
    rest()
    assert "do not have" in page.banner.text() and page.is_state_shown


@pytest.mark.slow
def test_the_tokenizer_shows_again_what_was_kept(
    show_page: ShowPage[TokenizerPage], models: tuple[Path, Path], rest: Callable[[], None], tmp_path: Path
) -> None:
    page = show_page(TokenizerPage)
    page.bar.choose(models[0])
    second = tmp_path / "second.txt"
    second.write_text("\n".join(wordpiece().tokens[:-20]) + "\n", encoding="utf-8")
    page.bar.choose_second(second)
    page.session.inspector.set_text(*PAIR)
    rest()
    page.text_view.take_state(TokenizerState(Path(), None, *PAIR, "match", 6, 11, "head", "maximum"))

    def change() -> None:
        page.bar.choose(models[1])
        page.bar.choose_second(None)
        page.session.inspector.set_text(SENTENCE, "")
        page.text_view.take_state(TokenizerState(Path(), None, *PAIR, "frame", 2, 40, "longest_first", ""))

    kept = comes_again(page, change, rest)
    assert kept.values["row"] == 6 and kept.models == {"vocabulary": models[0], "second": second}
    is_robust(page, kept, rest)
    page.show_view("table")
    with pytest.raises(UserError, match="table"):
        page.as_scene()


@pytest.mark.slow
def test_embeddings_show_again_what_was_kept_wherever_the_table_is_not(
    show_page: ShowPage[EmbeddingsPage],
    models: tuple[Path, Path],
    rest: Callable[[], None],
    tmp_path: Path,
    qtbot: QtBot,
) -> None:
    table = tmp_path / "banks.csv"
    rows = [f"the {'bank' if n % 2 else 'river'} was {'old ' * (n % 5 + 1)},{'ab'[n % 2]}" for n in range(14)]
    table.write_text("text,label\n" + "\n".join(rows) + "\n", encoding="utf-8")
    page = show_page(EmbeddingsPage)
    page.session.data.open(table)
    qtbot.waitUntil(lambda: page.session.data.roles is not None and page.session.data.roles.label == "label")
    page.inspector.choose(models[0])
    rest()
    page.vectors_card.put("cls", 2)
    page.ask("texts")
    rest()
    page.views.choose_place(3)

    def change() -> None:
        page.inspector.choose(models[1])
        page.vectors_card.put("mean", 0)
        page.source_card.show_topics()
        page.views.show_view("similarity")

    kept = comes_again(page, change, rest)
    assert kept.values["point"] == 3 and kept.values["group"] == "label" and len(kept.values["texts"]) == 14
    is_robust(page, kept, rest)

    page.views.setCurrentWidget(page.views.pair_card)
    page.views.pair_card.set_other(models[1])
    rest()
    assert len(page.views.pair_card.plot.numbers()) == 15
    both = comes_again(page, change, rest)
    assert both.models == {"model": models[0], "other": models[1]}
    page.source_card.show_senses()
    page.views.setCurrentWidget(page.views.layers_card)
    comes_again(page, change, rest)
    page.ask("word")
    page.views.choose_place(2)
    followed = comes_again(page, change, rest)
    assert (followed.values["tab"], followed.values["point"]) == ("paths", 2)


@pytest.mark.slow
def test_the_family_shows_again_what_was_kept(
    show_page: ShowPage[FamilyPage], models: tuple[Path, Path], rest: Callable[[], None]
) -> None:
    family = shipped_family()
    if family is None:
        pytest.skip("no family ships with this build")
    page = show_page(FamilyPage)
    rest()
    page.choose_kind("fill")
    page.more.chosen.emit(None)  # all side by side, as scenes show them that do not say who is shown
    page.training.buttons["given"].click()
    page.take(TypedQuestion("The capital of France is ____.", "paris"))

    def change() -> None:
        page.choose_kind("write")
        page.question.setText("He is")
        page.ask()

    kept = comes_again(page, change, rest)
    assert kept.models == {"family": family} and kept.values["answer"] == "paris"
    is_robust(page, kept, rest)
    page.more.chosen.emit(("gpt",))
    page.training.buttons["practice"].click()
    three = comes_again(page, change, rest)
    assert three.values["members"] == "first,gpt" and three.values["practice"]
    page.choose_others(models)
    others = comes_again(page, change, rest)
    assert others.models == {"family": family, "other 1": models[0], "other 2": models[1]}
    page.choose_kind("senses")
    page.sentences.setPlainText("The bank of the river.\n\nThe bank gave money.")
    comes_again(page, change, rest)
    for kind in ("see", "follows", "results", "claims"):
        page.choose_kind(kind)
        exact = kind != "results"  # whose axes are laid out anew
        assert comes_again(page, change, rest, to_the_pixel=exact).values["kind"] == kind
    for kind in ("task", "files"):
        page.choose_kind(kind)
        with pytest.raises(UserError, match="table"):
            page.as_scene()


@pytest.mark.slow
def test_a_state_waits_for_its_page_to_be_seen(
    session: Session, models: tuple[Path, Path], qtbot: QtBot, rest: Callable[[], None]
) -> None:
    page = AnatomyPage(session)
    qtbot.addWidget(page)
    walk = {
        "step": "sum",
        "layer": 1,
        "head": 1,
        "piece": 2,
        "key": -1,
        "vector": "",
        "numbers": [-1, -1, -1],
    }
    changes: dict[str, Any] = {"scales": [], "no_residual": [], "positions": [], "segments": []}
    values = {**walk, "answer": "", "said": -1, "target": "", "changes": changes}
    page.show_scene(SceneValues(values, {"model": models[0]}, SENTENCE))
    rest()
    assert not page.is_state_shown
    page.show()
    rest()
    assert page.is_state_shown and page.walk.step == "sum" and isinstance(page.rows, QWidget)


# --- pages that no lecture keeps


def stays_itself(page: StatedPage[Any], rest: Callable[[], None]) -> None:
    """Show what is shown through JSON after a blank state, then a stranger's states: the same, or refused."""
    kept = values_of(page.state)
    written = replace(kept, values=json.loads(json.dumps(dict(kept.values))))
    page.show_state(page.state_kind())
    rest()
    page.show_state(state_of(page.state_kind, written))
    rest()
    assert page.is_state_shown and values_of(page.state) == kept
    for name in written.values:
        missing = {key: value for key, value in written.values.items() if key != name}
        with pytest.raises(UserError, match=f"“{name}”"):
            state_of(page.state_kind, replace(written, values=missing))
        for junk in JUNK:
            try:
                page.show_state(
                    state_of(page.state_kind, replace(written, values={**written.values, name: junk}))
                )
            except UserError as error:
                assert words.say_error(error).endswith(".")
        rest()
    page.show_state(state_of(page.state_kind, written))
    rest()
    assert values_of(page.state) == kept


def look_at_runs(page: RunsPage, rest: Callable[[], None], tmp_path: Path) -> None:
    for number in range(4):
        films = {"seed": number % 2, "num_epochs": 2 + number // 2}
        made_run(page.session.runs.root, "films", number=number, rows=200, right=150 + number, **films)
    page.refresh()
    rest()
    first, second = page.shown.rows[:2]
    page.show_state(
        RunsState(
            search="films",
            data=first.facts.data,
            sort="time",
            is_descending=False,
            unfolded=frozenset({second.key}),
            ticked=(second.key, first.key),
        )
    )
    rest()
    assert page.state.ticked == (second.key, first.key) and page.search.text() == "films"


def look_at_weights(page: ModelsPage, rest: Callable[[], None], tmp_path: Path) -> None:
    page.open_folder(str(language_model(tmp_path / "here")))
    rest()
    page.tabs.setCurrentIndex(TABS.index("heads"))
    assert page.state == ModelsState(model=tmp_path / "here", tab="heads")


def plan_a_model(page: ModelsPage, rest: Callable[[], None], tmp_path: Path) -> None:
    page.plan_card.plan("small")
    page.plan_card.fields["V"].setValue(8_000)
    page.plan_card.recount()
    page.show_get()
    rest()
    assert page.state.plan is not None and page.state.plan.config.vocab_size == 8_000


def look_at_a_run(page: FineTunePage, rest: Callable[[], None], tmp_path: Path) -> None:
    path = made_run(page.session.runs.root, "films", steps=13)
    page.show_run(path)
    rest()
    assert page.state == RunPageState(run=path) and page.charts.loss.num_points == 13


def made_pretraining(root: Path) -> Path:
    path = root / "20261120-090000-story"
    path.mkdir(parents=True)
    (path / CONFIG).write_text(document_of(PretrainConfig()))
    return path


def look_at_a_pretraining(page: PretrainPage, rest: Callable[[], None], tmp_path: Path) -> None:
    path = made_pretraining(page.session.runs.root)
    page.show_run(path)
    rest()
    assert page.state == RunPageState(run=path) and page.run_card.isVisible()


def look_at_a_comparison(page: FineTunePage, rest: Callable[[], None], tmp_path: Path) -> None:
    folder = tmp_path / "20261120-090000-compare-films"
    folder.mkdir()
    (folder / SETTINGS).write_text("seeds = 3\n" + to_toml(FineTuneConfig()))
    page.setup.compare.chosen.emit(folder)
    rest()
    assert page.state == RunPageState(comparison=folder) and page.comparison.go_on_button.isVisible()


def look_at_texts(page: EvaluatePage, rest: Callable[[], None], tmp_path: Path) -> None:
    rows = [(text, label, ("web", "book")[number % 2]) for number, (text, label) in enumerate(reviews(30, 8))]
    table = write_table(tmp_path / "more.csv", rows, "words,kind,source")
    labels = ("bad", "good")
    model, other = (model_folder(tmp_path / name, labels=labels) for name in ("one", "two"))
    filters = Filter(DIFFER, (ANY,)), Filter(COLUMN, ("source", "web")), Filter(ANSWER, (1, -1))
    texts = LabelledTexts(data=str(table), text="words", label="kind", how=ReadSettings(separator=","))
    page.show_state(EvaluateState(model, texts, beside=other, by="confidence", sure="threshold"))
    rest()
    assert page.both is not None and page.by.stack.currentIndex() == 1
    page.texts.show_listing(Listing((), "GOOD", LONG))
    rest()
    page.texts.toggle_row(2)
    rest()
    place = page.state.place
    assert place >= 0 and page.texts.detail is not None
    state = page.state
    page.show_state(replace(state, by="slice", listing=Listing(filters, "o", LONG)))
    rest()
    assert page.texts.listing.filters == filters and page.refusal.text() == "" and page.by.found is not None
    page.show_state(state)
    rest()
    assert page.state == state and page.texts.detail is not None


def predict_texts(page: PredictPage, rest: Callable[[], None], tmp_path: Path) -> None:
    path = tmp_path / "films.csv"
    path.write_bytes("said;note;kind\ncafé film;x;film\nnotes;y;play\n".encode("cp1252"))
    page.set_model(classifier(tmp_path / "classifier"))
    page.open_file(path)
    rest()
    page.text_card.set_texts("the bank was old")
    columns = {"text": ("note",)}  # others than are found, and no right labels
    page.show_state(PredictState(file=PredictedFile(path, ReadSettings(encoding="cp1251"), columns)))
    rest()
    assert page.state.texts == ("the bank was old",) and page.file_card.text_box.currentText() == "note"
    assert page.file_card.encoding_box.currentText() == "cp1251" and page.run_button.isEnabled()


def open_films(page: DataPage, rest: Callable[[], None], tmp_path: Path) -> Path:
    path = tmp_path / "films.csv"
    rows = [f"a {'long ' * (n % 3)}film about number {n},{'good' if n % 2 else 'bad'}" for n in range(30)]
    rows += ["A LONG FILM about number 1!,good"]  # nearly a copy of line 3
    path.write_text("text,label\n" + "\n".join(rows) + "\n", encoding="utf-8")
    page.session.data.open(path)
    rest()
    return path


def look_at_rows(page: DataPage, rest: Callable[[], None], tmp_path: Path) -> None:
    path = open_films(page, rest, tmp_path)
    page.labels_card.chosen.emit("good")
    rest()
    page.table_card.search.setText("long")
    page.table_card.order_by("text", "long")
    rest()
    assert page.state == DataState(path, "long", ColumnOrder("text", "long"), label="good")
    assert page.table_card.model.rowCount() == 11


def look_at_a_finding(page: DataPage, rest: Callable[[], None], tmp_path: Path) -> None:
    path = open_films(page, rest, tmp_path)
    remark = next(text for text in page.advice.texts() if "near-duplicate" in text)
    page.show_state(DataState(remark=remark))
    rest()
    assert page.found_card.isVisible() and page.state == DataState(path, remark=remark)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "look"),
    [
        (RunsPage, look_at_runs),
        (ModelsPage, look_at_weights),
        (ModelsPage, plan_a_model),
        (FineTunePage, look_at_a_run),
        (FineTunePage, look_at_a_comparison),
        (PretrainPage, look_at_a_pretraining),
        (EvaluatePage, look_at_texts),
        (PredictPage, predict_texts),
        (DataPage, look_at_rows),
        (DataPage, look_at_a_finding),
    ],
    ids=[
        *("runs", "models", "models-planned", "finetune", "finetune-compared", "pretrain", "evaluate"),
        *("predict", "data", "data-finding"),
    ],
)
def test_a_page_is_its_state(
    kind: Callable[[Session], Any],
    look: Callable[[Any, Callable[[], None], Path], None],
    show_page: ShowPage[Any],
    rest: Callable[[], None],
    tmp_path: Path,
) -> None:
    page = show_page(kind)
    rest()
    blank = page.state
    page.show_state(page.state_kind())
    rest()
    assert page.is_state_shown and page.state == blank
    look(page, rest, tmp_path)
    stays_itself(page, rest)


def test_runs_that_are_still_to_be_read_are_waited_for(
    session: Session, qtbot: QtBot, rest: Callable[[], None]
) -> None:
    for number in range(2):
        made_run(session.runs.root, "films", number=number, learning_rate=1e-3 * (number + 1))
    page = RunsPage(session)
    qtbot.addWidget(page)
    page.show()
    rest()
    keys = tuple(one.key for one in page.shown.rows)
    again = RunsPage(session)
    qtbot.addWidget(again)
    again.show_state(RunsState(ticked=keys, data="of another computer"))
    assert not again.is_state_shown
    again.show()
    rest()
    assert again.is_state_shown and again.state == RunsState(ticked=keys)


def test_a_model_that_is_not_here_is_refused_in_place(
    show_page: ShowPage[ModelsPage], rest: Callable[[], None], tmp_path: Path
) -> None:
    page = show_page(ModelsPage)
    rest()
    before = page.state
    page.show_state(ModelsState(model=tmp_path / "gone"))
    rest()
    assert page.is_state_shown and page.state == before and page.banner.text().endswith(".")


@pytest.mark.parametrize("kind", [FineTunePage, PretrainPage])
def test_a_run_that_is_no_run_of_its_page_is_refused_to_a_link_and_passed_over_at_a_start(
    kind: Callable[[Session], Any], show_page: ShowPage[Any], rest: Callable[[], None], tmp_path: Path
) -> None:
    page = show_page(kind)
    rest()
    other = made_run(tmp_path, "films") if kind is PretrainPage else made_pretraining(tmp_path)
    torn = made_run(tmp_path, "torn", number=1)
    (torn / CONFIG).write_text("torn")
    for path in (other, torn, tmp_path / "gone"):
        page.restore_state(RunPageState(run=path))
        rest()
        assert page.is_state_shown and page.state == RunPageState() and page.failure.text() == ""
        page.show_state(RunPageState(run=path))
        rest()
        assert page.is_state_shown and page.state == RunPageState() and page.failure.text().endswith(".")
        page.failure.hide()


def test_a_model_that_cannot_be_asked_is_refused_in_place_and_what_is_typed_stays(
    show_page: ShowPage[PredictPage], rest: Callable[[], None], tmp_path: Path
) -> None:
    page = show_page(PredictPage)
    page.show_state(PredictState(classifier(tmp_path / "classifier"), ("an old bank",)))
    rest()
    page.show_state(PredictState(tmp_path, file=PredictedFile(tmp_path / "gone.csv")))
    rest()
    assert page.is_state_shown and str(tmp_path) in page.model_card.refusal.text()
    assert "gone.csv" in page.file_card.refusal.text() and page.state.texts == ("an old bank",)


def test_what_the_open_table_has_not_is_refused_in_place_and_what_is_coming_is_waited_for(
    show_page: ShowPage[DataPage], rest: Callable[[], None], tmp_path: Path
) -> None:
    page = show_page(DataPage)
    path = open_films(page, rest, tmp_path)
    for state, name in (
        (DataState(tmp_path / "other.csv"), "table"),
        (DataState(order=ColumnOrder("gone")), "order"),
        (DataState(label="odd"), "label"),
        (DataState(remark="Nothing says so."), "remark"),
    ):
        page.show_state(state)
        assert page.is_state_shown and f"“{name}”" in page.banner.text()
        assert page.state == DataState(path)
    other = tmp_path / "plays.csv"
    other.write_text("text,label\n" + "a play,good\na dull play,bad\n" * 9, encoding="utf-8")
    page.session.data.open(other)
    page.show_state(DataState(other, label="bad"))
    assert not page.is_state_shown
    rest()
    assert page.state == DataState(other, label="bad") and page.table_card.model.rowCount() == 9


def test_nothing_larger_is_planned_than_can_be_typed() -> None:
    config = replace(BertConfig.preset("tiny"), num_hidden_layers=97)
    state = ModelsState(plan=PlannedModel.of(config, HeadsConfig()), tab="weights")
    with pytest.raises(UserError, match="“plan”"):
        state_of(ModelsState, values_of(state))
