"""The tour: what is lit, where the card stands, who has the keyboard, what a step waits for, what it says."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLineEdit, QMainWindow, QPushButton, QStackedWidget, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from app.look.widgets import Card
from app.main_window import MainWindow
from app.pages.run.state import RunPageState
from app.pages.tasks.classification.remarks import accuracy_words
from app.session import Session
from app.settings import AppSettings
from app.stories.known import story
from app.tour.card import place
from app.tour.guide import Guide, TourStep, Wait
from app.tour.steps import Tour
from app.words import number, probability
from tests.engine.made_runs import made_run
from tests.looks.looking_scenes import classifier, language_model
from tests.looks.pictures import clipped
from tests.looks.scenes import TWO, write_table

LEFT = Qt.MouseButton.LeftButton


class TwoPages(QMainWindow):
    """A window with a card on each of two pages."""

    def __init__(self) -> None:
        super().__init__()
        self.pages = {"one": QWidget(), "two": QWidget()}
        self.stack = QStackedWidget()
        self.fields: dict[str, QLineEdit] = {}
        for name, page in self.pages.items():
            card, field, other = Card(name), QLineEdit(), QPushButton("elsewhere")
            field.setObjectName(f"field_{name}")
            other.setObjectName(f"other_{name}")
            card.add(field)
            column = QVBoxLayout(page)
            column.addWidget(card)
            column.addStretch(1)
            column.addWidget(other)
            self.stack.addWidget(page)
            self.fields[name] = field
        self.setCentralWidget(self.stack)
        self.resize(900, 640)

    def show_page(self, key: str) -> None:
        self.stack.setCurrentWidget(self.pages[key])


@pytest.fixture
def pages(qtbot: QtBot) -> TwoPages:
    window = TwoPages()
    qtbot.addWidget(window)
    window.show()
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    return window


def guide(window: TwoPages, *steps: TourStep) -> Guide:
    both = (
        TourStep(key="a", page="one", target="field_one", title="First", words="Type here."),
        TourStep(key="b", page="two", target="field_two", title="Second", words="And here."),
    )
    return Guide(window, steps or both, page=lambda key: window.pages[key], show_page=window.show_page)


def rect_of(widget: QWidget, window: QWidget) -> QRect:
    return QRect(widget.mapTo(window, QPoint()), widget.size())


@pytest.mark.slow
def test_the_card_that_holds_the_widget_is_lit_on_whatever_page_and_at_any_size(
    pages: TwoPages, qtbot: QtBot
) -> None:
    tour = guide(pages)
    tour.start()
    for place_, name in enumerate(pages.pages):
        if place_:
            tour.next()
        assert pages.stack.currentWidget() is pages.pages[name]
        card = pages.fields[name].parentWidget()
        assert isinstance(card, Card) and tour.lit == rect_of(card, pages)
        for width in (1200, 700):
            pages.resize(width, 560)
            qtbot.waitUntil(lambda card=card: tour.lit == rect_of(card, pages))
            assert tour.rect() == pages.rect() and not tour.card.geometry().intersects(tour.lit)
    pages.fields["two"].parentWidget().setFixedWidth(300)
    qtbot.waitUntil(lambda: tour.lit.width() == 300)
    pages.resize(1100, 560)  # nothing moves, and yet there is more to dim
    qtbot.waitUntil(lambda: tour.mask().boundingRect() == pages.rect())
    pages.show_page("one")  # somebody else turned the page
    qtbot.waitUntil(lambda: tour.lit is None)
    pages.show_page("two")
    qtbot.waitUntil(lambda: tour.lit is not None)
    tour.leave()


def test_the_mouse_reaches_what_is_lit_and_nothing_else(pages: TwoPages) -> None:
    tour = guide(pages)
    tour.start()
    field, other = pages.fields["one"], pages.findChild(QPushButton, "other_one")
    assert pages.childAt(rect_of(field, pages).center()) is field
    assert pages.childAt(rect_of(other, pages).center()) is tour
    tour.leave()
    assert pages.childAt(rect_of(other, pages).center()) is other


def test_the_keyboard_stays_with_the_card_and_goes_back_where_it_was(pages: TwoPages, qtbot: QtBot) -> None:
    other = pages.findChild(QPushButton, "other_one")
    other.setFocus()
    tour = guide(pages)
    tour.start()
    assert pages.focusWidget() is tour.card.next_button
    seen = []
    for _ in range(4):
        qtbot.keyClick(pages.focusWidget(), Qt.Key.Key_Tab)
        seen.append(pages.focusWidget().objectName())
    assert seen == ["tour_leave", "tour_next"] * 2  # there is no way back yet
    other.setFocus()  # a page that takes it
    qtbot.waitUntil(lambda: pages.focusWidget() is tour.card.next_button)
    qtbot.mouseClick(pages.fields["one"], LEFT)
    qtbot.keyClicks(pages.fields["one"], "typed")  # what is lit may have it
    assert pages.fields["one"].text() == "typed"
    qtbot.keyClick(pages.fields["one"], Qt.Key.Key_Escape)
    assert tour.has_ended and not tour.isVisible() and pages.focusWidget() is other


def test_arrows_and_enter_lead_through_the_steps(pages: TwoPages, qtbot: QtBot) -> None:
    tour, ends = guide(pages), []
    tour.ended.connect(ends.append)
    tour.start()
    for key, index in ((Qt.Key.Key_Right, 1), (Qt.Key.Key_Left, 0), (Qt.Key.Key_Return, 1)):
        qtbot.keyClick(pages.focusWidget(), key)
        assert tour.index == index
    assert tour.card.count.text() == "2 of 2" and tour.card.next_button.text() == "Done"
    assert "And here." in tour.card.next_button.accessibleDescription()
    qtbot.keyClick(pages.focusWidget(), Qt.Key.Key_Return)
    assert ends == [True]
    again = guide(pages)
    again.start()
    guide(pages).start()
    assert again.has_ended  # there is one tour at a time
    for left in pages.findChildren(Guide):
        left.leave()


def test_a_step_acts_when_it_can_and_next_never_waits_for_it(pages: TwoPages, qtbot: QtBot) -> None:
    told, gates = [], {"first": False, "second": False}

    def action() -> Generator[Wait, None, None]:
        try:
            yield lambda: gates["first"]
            told.append("acted")
            yield lambda: gates["second"]
        finally:
            told.append("closed")

    step = TourStep(
        key="x", page="one", title="Wait", words=lambda: f"{len(told)} told", action=action, is_long=True
    )
    last = TourStep(key="y", title="Last", words="End.")
    tour = guide(pages, step, last)
    tour.start()
    assert tour.card.next_button.text() == "Skip" and told == []
    qtbot.keyClick(pages.focusWidget(), Qt.Key.Key_Return)
    assert tour.index == 1 and told == ["closed"]
    told.clear()
    assert tour.lit is None and tour.card.geometry().center().x() == pytest.approx(pages.width() / 2, abs=2)
    tour.back()
    gates["first"] = True
    qtbot.waitUntil(lambda: tour.card.words.text() == "1 told")
    tour.next()
    assert told == ["acted", "closed"]
    tour.back()
    gates["second"] = True
    qtbot.waitUntil(lambda: tour.card.next_button.text() == "Next")
    assert pages.focusWidget() is tour.card.next_button
    tour.leave()


def test_a_step_with_nothing_to_show_is_passed_over_and_comes_at_the_end_if_it_has_something_then(
    pages: TwoPages, qtbot: QtBot
) -> None:
    ready: set[str] = set()
    steps = tuple(
        TourStep(
            key=key, title=key, words=key, can_show=(lambda key=key: key in ready) if key in "bc" else None
        )
        for key in "abcd"
    )
    tour = guide(pages, *steps)
    tour.start()
    tour.next()
    assert tour.shown_keys == ("a", "d") and tour.card.count.text() == "2 of 2"
    tour.look()
    assert tour.card.next_button.text() == "Done"
    ready.add("c")
    qtbot.waitUntil(lambda: tour.card.next_button.text() == "Next")
    assert tour.card.count.text() == "2 of 4"  # as it is not the last one any more
    tour.next()
    assert tour.shown_keys == ("a", "d", "c") and tour.card.count.text() == "3 of 3"
    tour.back()
    assert tour.shown_keys == ("a", "d")
    tour.next()
    tour.next()
    assert tour.has_ended


@pytest.mark.parametrize("window", [QRect(0, 0, 1280, 800), QRect(0, 0, 1024, 640)])
def test_the_card_stands_beside_what_it_speaks_of_wherever_there_is_room(window: QRect) -> None:
    card = QSize(306, 180)
    for hole in (
        QRect(0, 0, 200, window.height() - 24),  # the rail
        QRect(200, 150, window.width() - 224, 140),  # a row as wide as the page
        QRect(200, 420, window.width() - 224, 200),
        QRect(526, 72, window.width() - 550, 300),  # room at the left alone
    ):
        at = QRect(place(hole, card, window), card)
        assert window.contains(at) and not at.intersects(hole), hole
    inside = QRect(place(window, card, window), card)
    assert window.contains(inside) and inside.bottomRight() != window.center()
    wide = QRect(200, 72, window.width() - 224, window.height() - 96)  # a corner of it is spoken of too
    for clear in (
        QRect(window.width() - 340, 300, 300, window.height() - 330),
        wide.adjusted(0, 200, -330, 0),
    ):
        at = QRect(place(wide, card, window, clear), card)
        assert window.contains(at) and not at.intersects(clear), clear


# ---- the tour of the window


@pytest.fixture
def window(qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MainWindow]:
    monkeypatch.setattr("app.shipped.assets", lambda: tmp_path / "assets")
    table = write_table(tmp_path / "films.csv", TWO)
    monkeypatch.setattr("app.tour.steps.sample_data_path", lambda: table)
    settings = AppSettings(tmp_path / "settings.ini")
    settings.runs_root = tmp_path / "runs"
    made = MainWindow(Session(settings), warm_up=False)
    made.resize(1280, 800)
    made.show()
    yield made
    qtbot.waitUntil(lambda: made.session.inspector.workers.is_idle)
    made.close()
    assert made.session.wait_idle()
    made.deleteLater()


def walk(tour: Guide, qtbot: QtBot) -> dict[str, str]:
    """Go through a tour; return what each step said once it was ready."""
    said = {}
    tour.start()
    for place_, step in enumerate(tour.steps):
        if place_:
            tour.go(place_)
        qtbot.waitUntil(lambda: tour.is_ready and tour.lit is not None, timeout=20_000)
        tour.look()
        assert not clipped(tour), step.key
        said[step.key] = tour.card.words.text()
    tour.leave()
    return said


@pytest.mark.slow
def test_the_tour_trains_on_the_sample_and_every_step_tells_what_stands_there(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.pages.attention.attribution.QUICK_S", 0.0)  # as on a slow or busy computer
    language_model(tmp_path / "assets" / "models" / "starter")
    form = window.page("finetune").setup.form
    window.session.model.set_max_length(48)
    own = form.values()
    said = walk(Tour(window), qtbot)
    qtbot.waitUntil(lambda: form.values() == own)
    keys = ["data", "learn", "result", "ask", "reasons", "hide", "guesses", "attention", "heads"]
    assert list(said) == keys
    training = window.session.training.state
    assert training.outcome == "finished" and f"{number(training.num_steps)} steps" in said["learn"]
    assert accuracy_words(training.evaluated) in said["result"]
    assert f"{number(80)} rows" in said["data"] and "“label”" in said["data"]
    probe = window.page("probe")
    plot = probe.words_view.cards[0].plots[0]
    assert probe.draft.written == story().tour[0].replace("were", "[MASK]")
    for guess in plot.guesses[:3]:
        assert f"{guess.text} {probability(guess.probability)}" in said["guesses"]
    attention = window.page("attention")
    look, chosen = attention.maps, attention.chosen
    firsts = {(word.segment, word.text.lower()): word.pieces[0] for word in look.words}
    rows = [firsts[1, word] for word in story().pair_words[1]]
    columns = [firsts[0, word] for word in story().pair_words[0]]
    shares = look.attentions[:, :, rows][..., columns]
    assert shares[chosen.layer, chosen.head].max() == shares.max()
    assert f"{100 * shares.max():.0f} %" in said["attention"]
    assert window.session.inspector.folder == tmp_path / "assets" / "models" / "starter"


@pytest.mark.slow
def test_the_tour_can_be_walked_to_its_end_while_the_training_still_runs(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = {"way": "fine-tuning", "max_length": 48, "batch_size": 8, "num_epochs": 1_000} | {
        "evaluate_every_steps": 8_000
    }
    monkeypatch.setattr("app.tour.steps.QUICK", slow)
    language_model(tmp_path / "assets" / "models" / "starter")
    session, tour, said = window.session, Tour(window), {}
    tour.start()
    for key in ("data", "learn", "hide", "guesses", "attention", "heads"):
        every = 6 if key == "heads" else 9  # it is the last one while the classifier is still to come
        assert tour.step.key == key and tour.card.count.text() == f"{len(tour.shown_keys)} of {every}"
        if key == "learn":
            assert tour.card.next_button.text() == "Skip"
            qtbot.waitUntil(lambda: session.training.state.step is not None, timeout=20_000)
        else:
            qtbot.waitUntil(lambda: tour.is_ready and tour.lit is not None, timeout=20_000)
        tour.look()
        said[key] = tour.card.words.text()
        assert not clipped(tour) and (session.training.is_running or key == "data")
        if key != "heads":
            qtbot.keyClick(window.focusWidget(), Qt.Key.Key_Return)
    assert session.training.state.evaluated is None and "Training continues" in said["learn"]
    assert "still learning" in said["heads"] and tour.card.next_button.text() == "Done"
    window.page("finetune").stop_button.click()
    qtbot.waitUntil(
        lambda: not session.training.is_running and session.training.last_model is not None, timeout=20_000
    )
    for key in ("result", "ask", "reasons"):  # passed over before
        qtbot.waitUntil(lambda: tour.card.next_button.text() == "Next")
        tour.next()
        assert tour.step.key == key
        qtbot.waitUntil(lambda: tour.is_ready and tour.lit is not None, timeout=20_000)
    tour.look()
    assert tour.card.next_button.text() == "Done" and "counts most" in tour.card.words.text()
    tour.leave()


@pytest.mark.slow
def test_the_tour_gives_back_the_model_and_the_text_and_offers_what_was_trained(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    language_model(tmp_path / "assets" / "models" / "starter")
    inspector, mine = window.session.inspector, classifier(tmp_path / "labels")
    inspector.hold(mine)
    inspector.set_text("A text of mine.")
    for trained in (None, tmp_path / "runs" / "films" / "model"):
        window.start_tour()
        inspector.choose(tmp_path / "assets" / "models" / "starter")
        inspector.set_text(story().tour[0])
        if trained is not None:
            classifier(trained)
            window.session.training.last_model = trained
            inspector.choose(trained)
        window.findChild(Guide, "tour").leave()
        assert (inspector.folder, inspector.text) == (mine, "A text of mine.")
        assert inspector.trained == trained
        qtbot.waitUntil(lambda: window.findChild(Guide, "tour") is None)


@pytest.mark.slow
def test_a_table_of_ones_own_is_not_trained_on_unasked(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    language_model(tmp_path / "assets" / "models" / "starter")
    window.session.settings.add_recent_model(classifier(tmp_path / "labels"))
    window.session.data.open(write_table(tmp_path / "own.csv", TWO))
    qtbot.waitUntil(lambda: window.session.data.summary is not None)
    said = walk(Tour(window), qtbot)
    keys = ["rail", "data", "setup", "ask", "reasons", "hide", "guesses", "attention", "heads"]
    assert list(said) == keys and "own.csv" in said["data"]
    assert "Your model: Data, Label, Fine-tune, Evaluate, Predict." in said["rail"]
    assert window.session.training.run_dir is None


@pytest.mark.slow
def test_without_any_model_the_tour_is_short_and_says_how_to_come_by_one(
    window: MainWindow, qtbot: QtBot
) -> None:
    said = walk(Tour(window), qtbot)
    assert list(said) == ["rail", "data", "setup", "no_model"]
    assert "random weights" in said["setup"] and "has no model of its own" in said["no_model"]


@pytest.mark.slow
def test_an_earlier_run_is_what_the_tour_shows_in_the_place_of_the_form(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    window.show_page("finetune", RunPageState(made_run(tmp_path / "runs", "films", right=71)))
    qtbot.waitUntil(lambda: window.page("finetune").charts.advice.best is not None)
    tour, said = Tour(window), {}
    tour.start()
    while tour.step.key != "no_model":
        qtbot.waitUntil(lambda: tour.is_ready and tour.lit is not None, timeout=20_000)
        said[tour.step.key] = tour.card.words.text()
        tour.next()
    tour.leave()
    assert list(said) == ["data", "result"] and "its accuracy is 71.0 %" in said["result"]
