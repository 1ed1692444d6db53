"""The pages Attention and Anatomy with long texts, timed from a key to the picture (`bench_inspect`)."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QEvent, QEventLoop, QObject, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.look import theme
from app.pages.anatomy.page import AnatomyPage
from app.pages.attention.page import AttentionPage
from app.pages.attention.requests import draw_mosaic
from app.plots.arcs import ArcsPlot
from app.session import Session
from app.settings import AppSettings
from app.work.models import OpenModels
from app.work.worker import Channel, Worker
from engine.inspect.attention.views import View, strongest, view
from engine.inspect.masked.probe import probe

PATIENCE_S = 300.0
KEYS = {"head": Qt.Key.Key_BracketRight, "layer": Qt.Key.Key_PageDown}
PAUSE_S = 0.03  # between two measurements, as between two keys


class Scene:
    """The page in a window of 1280 x 800 beside a bare widget, and a way to time each of its answers."""

    def __init__(self, settings: AppSettings, model: Path, text: str, short: str) -> None:
        self._session, self._model, self._text = Session(settings), model, text
        self._short = short
        self._anatomy: AnatomyPage | None = None
        self._window = QWidget()
        self._page, self._plain = AttentionPage(self._session), QWidget()
        layout = QHBoxLayout(self._window)
        layout.addWidget(self._page, 1)
        layout.addWidget(self._plain)
        self._plain.setFixedSize(4, 4)
        self._window.resize(1280, 800)
        self._window.show()
        self._window.activateWindow()
        self._hover = 0
        inspector = self._session.inspector
        inspector.set_text(text)
        inspector.choose(model)
        _wait(lambda: self._page.maps is not None and inspector.workers.is_idle)
        shown = view(self._page.maps, View())
        self._arcs = ArcsPlot("Arcs")
        self._arcs.resize(self._page.picture.heatmap.size())
        self._arcs.set_arcs(shown, strongest(shown, 300))
        self._arcs.show()
        self._window.activateWindow()  # shortcuts are heard in the active window only

    def time(self, name: str) -> float:
        """Return the ms that one answer takes."""
        _spend(PAUSE_S)
        ways: dict[str, Callable[[], float]] = {
            "hover": self._hovered,
            "repaint": lambda: _repainted(self._page.picture.heatmap, anew=True),
            "arcs": lambda: _repainted(self._arcs, anew=True),
            "head": lambda: self._switched("head"),
            "layer": lambda: self._switched("layer"),
            "mosaic": self._mosaic,
            "mask": self._masked,
            "step": lambda: self._walked(Qt.Key.Key_Right),
            "walk": lambda: self._walked(Qt.Key.Key_PageDown),
        }
        return ways[name]()

    def time_idle(self, name: str) -> float:
        """Return the ms that the same way takes when there is nothing to do."""
        _spend(PAUSE_S)
        if name in ("hover", "repaint", "arcs", "step", "walk"):
            return _repainted(self._plain)
        painted = self._plain if name != "mask" else None
        return self._asked(self._session.workers.quick, _nothing, self._plain.update, painted)

    def close(self) -> None:
        """End all work and the window."""
        self._session.close()
        self._session.wait_idle()
        self._arcs.close()
        if self._anatomy is not None:
            self._anatomy.close()
        self._window.close()

    def _hovered(self) -> float:
        self._hover = (self._hover + 7) % 500
        self._page.picture.heatmap.set_hovered(self._hover, 500 - self._hover)
        return _repainted(self._page.picture.heatmap)

    def _switched(self, key: str) -> float:
        """Press a key of the page and wait for the heatmap that follows."""
        plot = self._page.picture.heatmap
        before = plot.shown

        def has_come() -> bool:
            return plot.shown is not before

        layer, head = self._page.chosen.current
        last = self._page.chosen.shape[0 if key == "layer" else 1] - 1
        if (layer if key == "layer" else head) == last:
            self._page.choose_head(*((0, head) if key == "layer" else (layer, 0)))
            _wait(has_come)
        _spend(PAUSE_S)
        before = plot.shown
        watch = _Painted(plot, has_come)
        began = time.perf_counter()
        QTest.keyClick(self._page, KEYS[key])
        _wait(lambda: watch.at > 0)
        watch.stop()
        return (watch.at - began) * 1000

    def _walked(self, key: Qt.Key) -> float:
        """Press a key of the page Anatomy and wait for the picture that follows."""
        page = self._anatomy or self._open_anatomy()
        if key == Qt.Key.Key_PageDown and page.walk.layer == page.walk.shape[0]:
            page.boxes["layer"].activated.emit(0)
        elif page.walk.step == "loss":
            page.strip.step_chosen.emit(3)
        _spend(PAUSE_S)
        before = page.rows.picture
        watch = _Painted(page.rows, lambda: page.rows.picture is not before)
        began = time.perf_counter()
        QTest.keyClick(page.rows, key)
        _wait(lambda: watch.at > 0)
        watch.stop()
        return (watch.at - began) * 1000

    def _open_anatomy(self) -> AnatomyPage:
        self._window.hide()
        page = self._anatomy = AnatomyPage(self._session)
        theme.dress(page)  # as the window does
        page.resize(1104, 772)
        page.show()
        page.activateWindow()
        self._session.inspector.set_text(self._short)
        _wait(lambda: page.found is not None and page.found.now.text == self._short)
        page.strip.step_chosen.emit(3)
        return page

    def _mosaic(self) -> float:
        plot = self._page.heads.mosaic
        work = partial(draw_mosaic, self._page.maps, View())
        return self._asked(self._session.workers.quick, work, plot.set_mosaic, plot)

    def _masked(self) -> float:
        work = partial(_guess, self._session.inspector.open_models, self._model, self._text)
        return self._asked(self._session.workers.models, work, None, None)

    def _asked(self, worker: Worker, work: Callable[[], Any], take: Any, painted: QWidget | None) -> float:
        """Ask a worker and wait until it is heard, and until `painted` has painted what `take` took."""
        has_come: list[float] = []

        def heard(value: object) -> None:
            if take is not None:
                take(value) if value is not None else take()
            has_come.append(time.perf_counter())

        watch = _Painted(painted, lambda: bool(has_come)) if painted is not None else None
        began = time.perf_counter()
        Channel(self._window, worker).ask("benchmark", work, heard=heard)
        _wait(lambda: watch.at > 0 if watch is not None else bool(has_come))
        ended = watch.at if watch is not None else has_come[0]
        if watch is not None:
            watch.stop()
        _wait(lambda: self._session.inspector.workers.is_idle)
        return (ended - began) * 1000


class _Painted(QObject):
    """Notes when a widget has first painted after something was so."""

    def __init__(self, widget: QWidget, after: Callable[[], bool]) -> None:
        super().__init__()
        self._widget, self._after, self._is_passing, self.at = widget, after, False, 0.0
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() != QEvent.Type.Paint or self._is_passing or not self._after() or self.at:
            return False
        self._is_passing = True
        self._widget.event(event)
        self._is_passing = False
        self.at = time.perf_counter()
        return True

    def stop(self) -> None:
        """Watch no more."""
        self._widget.removeEventFilter(self)


def _nothing() -> None:
    return None


def _guess(models: OpenModels, model: Path, text: str) -> object:
    return probe(models.subject(model), " ".join(text.split()[:62]), words=(20,))


def _repainted(widget: QWidget, *, anew: bool = False) -> float:
    began = time.perf_counter()
    if anew:
        widget.renew()  # type: ignore[attr-defined]  # of a LayeredFigure
    widget.repaint()
    return (time.perf_counter() - began) * 1000


def _wait(until: Callable[[], bool]) -> None:
    """Serve events, as a running application does, until something is so; between them the core is free."""
    deadline = time.perf_counter() + PATIENCE_S
    loop, timer = QEventLoop(), QTimer(interval=5)
    timer.timeout.connect(lambda: loop.quit() if until() or time.perf_counter() > deadline else None)
    timer.start()
    loop.exec()
    timer.stop()
    if not until():
        raise TimeoutError("the page did not answer")


def _spend(seconds: float) -> None:
    loop = QEventLoop()
    QTimer.singleShot(int(seconds * 1000), loop.quit)
    loop.exec()
