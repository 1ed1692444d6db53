"""The ways to learn a table that are compared before a run: how good each is, and which is taken."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app import words
from app.look.labels import label, set_or_hide
from app.look.layout import STRETCH, row
from app.look.widgets import Card, button, set_role
from app.pages.finetune.way import way_words
from app.plots.buttons import save_icon
from app.plots.ways import WayRow, WaysPlot
from engine.events import Judged, JudgedWay
from engine.train.ways.names import ORDER

EDGE = 8  # px below the rows of the figure
LEAST_ROWS = 4  # that the figure has room for


class WaysCard(Card):
    """Shows the newest `Judged` of a run. take_wanted: another way is to be taken, by its name."""

    take_wanted = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.set_title(self.tr("Methods"))
        self.setObjectName("ways_card")
        self.judged: Judged | None = None
        self._offers = False
        self.plot = WaysPlot(self.tr("Methods, cross-validated"))
        self.plot.setObjectName("ways_plot")
        self.plot.setFixedHeight(self.plot.top_of(LEAST_ROWS) + EDGE)
        self.plot.set_empty_text(self.tr("Each method appears here once it is judged."))
        self.taken = label("", "strong", wrap=True, name="way_taken")
        self.others = label("", "muted", wrap=True, name="ways_waiting")
        self.about = label("", "muted", wrap=True, name="ways_words")
        self._links = QWidget()
        set_role(self._links, "clear")
        self._column = QVBoxLayout(self._links)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(2)
        self.add_corner(save_icon(self.plot))
        for part in (self.taken, self.plot, self.about, self.others, self._links):
            self.add(part)
        self.body.addStretch(1)
        self.show_plan(())

    def show_plan(self, ways: Sequence[str]) -> None:
        """Show before a run which ways it is going to judge."""
        self.judged = None
        self.set_hint("")
        self.plot.set_rows((), "accuracy")
        set_or_hide(self.taken, "")
        named = "\n".join(way_words(way) for way in ways)
        set_or_hide(self.others, self.tr("To be judged:\n{methods}").format(methods=named) if ways else "")
        self.about.setText(self._about_words())
        self._show_links()

    def show_judged(self, judged: Judged) -> None:
        """Show what is known of the ways."""
        self.judged = judged
        self.set_hint(self.tr("{rows} labelled rows").format(rows=words.number(judged.rows)))
        known = [one for one in judged.ways if one.accuracy is not None]
        rows = [WayRow(way_words(one.way), (), one.interval, one.accuracy) for one in known]
        self.plot.set_rows(rows, "accuracy", way_words(judged.taken) if judged.taken else "")
        set_or_hide(self.taken, taken_words(judged))
        self.about.setText(self._about_words())
        waiting = [one for one in judged.ways if one.accuracy is None]
        set_or_hide(self.others, "\n".join(map(self._waiting_words, waiting)))
        self._show_links()

    def offer_others(self, offers: bool) -> None:
        """Offer to take another way, or not: a run is still going on."""
        self._offers = offers
        self._show_links()

    def _about_words(self) -> str:
        said = self.tr(
            "The share of rows that a method gets right while it was not trained on them, by "
            "cross-validation. The line is its 95 % interval."
        )
        judged = self.judged
        taken = None if judged is None else judged.one_taken
        if taken is None or judged is None or taken.accuracy == judged.accuracy:
            return said
        more = self.tr("The accuracy above excludes what choosing the best of several adds.")
        return words.sentences([said, more])

    def _waiting_words(self, one: JudgedWay) -> str:
        why = self.tr("still to be judged") if one.why is None else words.say(one.why)
        return self.tr("{method}: {why}").format(method=way_words(one.way), why=why)

    def _show_links(self) -> None:
        while (item := self._column.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.deleteLater()
        judged = self.judged
        others = [way for way in ORDER if judged is not None and judged.taken not in ("", way)]
        for way in others if self._offers else ():
            said = self.tr("Take “{method}” instead").format(method=way_words(way))
            link = button(said, "link", name=f"take_{way}")
            link.clicked.connect(partial(self._take, way))
            holder = QWidget()
            set_role(holder, "clear")
            row(link, STRETCH, gap=0, parent=holder)
            self._column.addWidget(holder)
        self._links.setVisible(bool(others) and self._offers)

    def _take(self, way: str, _checked: bool = False) -> None:
        self.take_wanted.emit(way)


def taken_words(judged: Judged) -> str:
    """Return which way is taken, how good it is and why; "" while that is open."""
    if not judged.taken:
        return ""
    said = words.translate("WaysCard", "Taken: {method}.").format(method=way_words(judged.taken))
    if judged.accuracy is not None and judged.interval is not None:
        text = words.translate(
            "WaysCard", "Taken: {method}. Cross-validated accuracy {accuracy} (95 %: {low} to {high})."
        )
        accuracy, low, high = map(words.score, (judged.accuracy, *judged.interval))
        said = text.format(method=way_words(judged.taken), accuracy=accuracy, low=low, high=high)
    return said if judged.why is None else words.sentences([said, words.say(judged.why)])
