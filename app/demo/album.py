"""The pictures that `cloze demo` leaves without a display: the window in both themes, and its figures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtWidgets import QApplication

from app.look import theme
from app.main_window import MainWindow
from app.plots.figure import Figure, save_figure
from app.tour.guide import Guide, TourStep

SETTLE_S = 0.25  # curves are drawn ten times a second
NAMES = {"finetune": "fine-tune"}  # pages whose pictures have another name than their key


class Album:
    """Writes to screenshots/, frames/ and figures/ of the demo's folder."""

    def __init__(self, window: MainWindow, out: Path, pause: Callable[[float], object]) -> None:
        """Args: pause: serves the window for so many seconds."""
        self._window, self._out, self._pause = window, out, pause
        self._num_frames = 0

    def show_in(self, mode: str) -> None:
        """Take the pictures that follow in the light or the dark theme."""
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        if theme.mode() != mode:
            theme.apply_theme(application, mode)

    def picture(self, name: str, guide: Guide, with_card: str = "") -> None:
        """Leave the window as it is, without the tour's card and, under a name of its own, with it."""
        folder, mode = self._out / "screenshots", theme.mode()
        folder.mkdir(exist_ok=True)
        self._pause(SETTLE_S)
        if with_card:
            self._window.grab().save(str(folder / f"{with_card}-{mode}.png"))
        guide.hide()
        self._window.grab().save(str(folder / f"{name}-{mode}.png"))
        guide.show()
        guide.raise_()
        guide.take_keyboard()

    def frame(self, name: str, guide: Guide | None = None) -> None:
        """Leave the window as a frame of the animation in README, which assets/pictures/animate.py makes."""
        folder = self._out / "frames"
        folder.mkdir(exist_ok=True)
        self._pause(SETTLE_S)
        is_shown = guide is not None and guide.isVisible()
        if guide is not None:
            guide.hide()
        self._window.grab().save(str(folder / f"{self._num_frames:02d}-{name}.png"))
        self._num_frames += 1
        if guide is not None and is_shown:
            guide.show()
            guide.raise_()

    def step(self, number: int, step: TourStep, guide: Guide) -> None:
        """Leave pictures of a step of the tour."""
        name = "words" if step.key == "reasons" else NAMES.get(step.page, step.page)
        self.picture(name, guide, f"tour-{number}-{step.key}")

    def figures(self, key: str) -> None:
        """Leave the figures of a step: picture, numbers, and caption where there is one."""
        folder = self._out / "figures"
        folder.mkdir(exist_ok=True)
        for name, figure in self._figures(key).items():
            if figure.is_empty:
                continue
            kinds = (".png", ".csv", ".txt") if figure.caption else (".png", ".csv")
            for kind in kinds:
                save_figure(figure, folder / f"{name}{kind}")

    def _figures(self, key: str) -> dict[str, Figure]:
        page: Any = self._window.page
        match key:
            case "learn":
                charts = page("finetune").charts
                scores = charts.scores_card.picture
                return {"loss": charts.loss, "accuracy": charts.accuracy, "confusion": scores}
            case "reasons":
                return {"words": page("attention").attribution.picture}
            case "guesses":
                cards = page("probe").words_view.cards
                return {"guesses": cards[0].plots[0]} if cards else {}
            case "attention":
                return {"attention": page("attention").picture.figure("heatmap")}
            case "heads":
                return {"heads": page("attention").heads.mosaic}
        return {}
