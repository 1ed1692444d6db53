"""The right side: the model that learns along, how good it is by now, and the share of each label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QObject, Signal
from PySide6.QtWidgets import QProgressBar, QWidget

from app import words
from app.look.labels import label, set_or_hide, tip
from app.look.layout import STRETCH, FoldingRow, column, row
from app.look.segmented_buttons import SegmentedButtons
from app.look.widgets import Card, ScrollView, button, holder
from app.pages.label.requests import Measures
from app.plots.sample_curve import SampleCurvePlot, SamplePoint
from app.plots.share_rows import ShareRow, ShareRowsPlot
from engine.labelling.labelled import RANDOM_SHARE
from engine.labelling.measure import LEAST_SAMPLE, LEAST_SHARES, Sampled
from engine.labelling.order import NUM_SPREAD
from engine.labelling.outlook import Outlook

WIDTH = 266  # px


class ModelCard(Card):
    """How far the vectors are that the model learns from; in view while there is something to say.

    `paused`: whether they are to wait.
    """

    paused = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(self.tr("Learns along"), parent=parent)
        self.setObjectName("label_model_card")
        self.bar = QProgressBar(textVisible=False)
        self.pause_button = button("", "link", name="label_pause", call=self._press)
        self.said = label("", "muted", wrap=True, name="label_learning")
        self._is_paused = False
        self.add(self.bar)
        self.add_layout(row((self.said, 1), self.pause_button))

    def show_progress(
        self, done: int, total: int, *, is_preparing: bool, is_paused: bool, read_by: str = ""
    ) -> None:
        """Show how many texts have their vectors. Args: read_by: said of the layers that make them."""
        self._is_paused = is_paused
        self.setVisible(is_preparing)
        self.bar.setVisible(is_preparing)
        self.pause_button.setVisible(is_preparing)
        self.bar.setRange(0, max(1, total))
        self.bar.setValue(done)
        self.pause_button.setText(self.tr("Continue") if is_paused else self.tr("Pause"))
        template = self.tr("The model has read {done} of {total} texts. Until then, texts come at random.")
        said = template.format(done=words.number(done), total=words.number(total))
        self.said.setText(words.sentences([said, read_by]))

    def show_missing(self, said: str) -> None:
        """Say why no model learns along."""
        self.show()
        self.bar.hide()
        self.pause_button.hide()
        self.said.setText(said)

    def _press(self) -> None:
        self.paused.emit(not self._is_paused)


@dataclass(frozen=True, slots=True)
class SoFar:
    """What was labelled so far. given: texts. labels: that they have. sampled: texts in the random sample.
    total: texts of the table.
    """

    given: int
    labels: int
    sampled: int
    total: int


SHARES = 0.1, RANDOM_SHARE, 0.5, 1.0  # at random, that can be chosen


class AccuracyCard(Card):
    """The accuracy on the random sample, against the number of labels, and what more labels would bring.

    `share_chosen`: how many of the texts that come next are to be drawn at random.
    """

    share_chosen = Signal(float)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(self.tr("Accuracy so far"), parent=parent)
        self.setObjectName("label_accuracy_card")
        self.value = label("", "huge", name="label_accuracy")
        self.interval = label("", "strong", name="label_interval")
        self.basis = label(self.tr("95 % interval"), "muted", name="label_basis")
        self.plot = SampleCurvePlot(self.tr("Accuracy by labels"))
        self.plot.setObjectName("label_curve")
        self.waiting = label("", "muted", wrap=True, name="label_waiting")
        self.numbers = QWidget()
        beside = column(STRETCH, self.interval, self.basis, STRETCH, gap=0)
        self.every = label("", "muted", wrap=True, name="label_cross_validated")
        self.every.setToolTip(
            tip(
                self.tr(
                    "The thin line: every labelled text, answered by a regression that was not fitted to it. "
                    "Chosen texts do not represent the table, so there is no interval for it."
                )
            )
        )
        self.outlook = label("", wrap=True, name="label_outlook")
        self.outlook.setToolTip(
            tip(
                self.tr(
                    "Accuracy on the random sample with a quarter, half, three quarters and all of the "
                    "labels, continued by a power law. Nothing is said where the sample leaves it open."
                )
            )
        )
        head = FoldingRow(gap=12, is_late=True)
        head.put(self.value, (beside, 1))
        column(head, self.plot, self.every, self.outlook, gap=6, parent=self.numbers)
        self.add(self.waiting)
        self.add(self.numbers)
        self._make_shares()
        self.set_hint(
            "",
            self.tr(
                "Each labelled text is answered by a regression that was not fitted to it. Those drawn at "
                "random are counted, for they alone represent the table."
            ),
        )

    def _make_shares(self) -> None:
        said = self.tr(
            "{share} of the texts that come next are drawn at random. Only these measure the model; the "
            "others teach it more. A change at any time leaves the sample random."
        )
        entries = [
            (
                f"{share:g}",
                words.share(share, 0) if share < 1 else self.tr("all"),
                tip(said.format(share=words.share(share, 0))),
            )
            for share in SHARES
        ]
        self.share_buttons = SegmentedButtons("label_random_share", entries, is_wide=True)
        self.share_buttons.chosen.connect(lambda key: self.share_chosen.emit(float(key)))
        self.set_random_share(RANDOM_SHARE)
        self.needs = label("", "muted", wrap=True, name="label_sample_needs")
        self.add(label(self.tr("Random share of the next texts"), "muted", wrap=True))
        self.add(self.share_buttons)
        self.add(self.needs)

    def set_random_share(self, share: float) -> None:
        """Show which share is drawn at random: of those that can be chosen, the nearest."""
        self.share_buttons.set_current(f"{min(SHARES, key=lambda one: abs(one - share)):g}")

    def show_measures(self, found: Measures | None, so_far: SoFar, *, is_preparing: bool) -> None:
        """Show what was measured, or what there is still to do until something is.

        Args: is_preparing: whether the model still reads the texts.
        """
        newest = found.points[-1] if found is not None and found.points else None
        is_told = newest is not None and newest.count >= LEAST_SAMPLE
        self.numbers.setVisible(is_told)
        set_or_hide(self.waiting, "" if is_told else self._waiting(so_far, is_preparing=is_preparing))
        needs = self.tr("{count} random texts are labelled. Accuracy needs {least}, shares need {shares}.")
        counts = {"count": so_far.sampled, "least": LEAST_SAMPLE, "shares": LEAST_SHARES}
        said = needs.format(**{name: words.number(count) for name, count in counts.items()})
        set_or_hide(self.needs, said if so_far.sampled < LEAST_SHARES <= so_far.total else "")
        self.set_hint(
            self.tr("{count} at random").format(count=words.number(newest.count))
            if is_told and newest
            else ""
        )
        if newest is None or not is_told or found is None:
            return
        low, high = newest.interval
        self.value.setText(words.share(newest.accuracy))
        between = self.tr("{low} to {high}")
        self.interval.setText(between.format(low=words.decimal(100 * low, 1), high=words.share(high)))
        told = [_point(one) for one in found.points if one.count >= LEAST_SAMPLE]
        self.plot.set_points(told)
        self.plot.setVisible(len(told) > 1)
        every = self.tr("All {count} labels, cross-validated: {share}")
        self.every.setText(every.format(count=words.number(newest.labels), share=words.share(newest.every)))
        set_or_hide(self.outlook, self._outlook_words(found.outlook))

    def _outlook_words(self, found: Outlook | None) -> str:
        """Return what more labels would bring; "": that cannot be told."""
        if found is None:
            return ""
        more = words.number(found.more)
        if found.is_little:
            said = self.tr("{more} more labels would hardly help: {most} percentage points at most.")
            return said.format(more=more, most=words.decimal(100 * max(0.0, found.high), 1))
        said = self.tr("{more} more labels: {low} to {high} percentage points (95 % interval)")
        return said.format(more=more, low=_signed(found.low), high=_signed(found.high))

    def _waiting(self, so_far: SoFar, *, is_preparing: bool) -> str:
        if so_far.total < NUM_SPREAD:
            return self.tr("The table is too small for an estimate.")
        if so_far.given < NUM_SPREAD:
            more = NUM_SPREAD - so_far.given
            return words.counted(
                more,
                self.tr("{count} more label, then the model learns along."),
                self.tr("{count} more labels, then the model learns along."),
            )
        if so_far.labels < 2:
            return self.tr("The model learns along once texts have two different labels.")
        if so_far.sampled >= LEAST_SAMPLE and is_preparing:
            return self.tr("The accuracy comes as soon as the model has read all texts.")
        if so_far.sampled >= LEAST_SAMPLE:
            return self.tr("The accuracy is being measured.")
        return self.tr("No estimate yet.")


def _point(one: Sampled) -> SamplePoint:
    return SamplePoint(one.labels, one.count, one.accuracy, *one.interval, one.every)


def _signed(share: float) -> str:
    """Return percentage points with their sign."""
    return f"{'+' if share > 0 else ''}{words.decimal(100 * share, 1)}"


class SharesCard(Card):
    """The share of each label in the whole table, corrected for the model's errors."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.setObjectName("label_shares_card")
        self.plot = ShareRowsPlot(self.tr("Shares of the labels"), is_narrow=True)
        self.plot.setObjectName("label_shares")
        self.waiting = label("", "muted", wrap=True, name="label_shares_waiting")
        self.add(self.waiting)
        self.add(self.plot)
        self.more = self.tr(
            "Labelled texts count with their label. The others count as the random sample says of texts with "
            "the same answer of the model. A small sample widens the interval."
        )

    def show_measures(self, found: Measures | None, names: Sequence[str], so_far: SoFar) -> None:
        """Show the shares. Args: names: of the labels that were measured."""
        self.set_title(self.tr("Share in all {total}").format(total=words.number(so_far.total)))
        newest = found.points[-1] if found is not None and found.points else None
        shares = found.shares if found is not None else None
        self.setVisible(newest is not None and so_far.sampled >= LEAST_SHARES)
        self.plot.setVisible(shares is not None)
        self.set_hint(self.tr("95 % interval") if shares is not None else "", self.more)
        set_or_hide(self.waiting, "" if shares is not None else self.tr("The shares are being measured."))
        if shares is None:
            self.plot.clear()
            return
        columns = zip(names, shares.shares, shares.low, shares.high, shares.counted, strict=False)
        rows = [ShareRow(name, *map(float, figures)) for name, *figures in columns]
        self.plot.show_rows(sorted(rows, key=lambda row: -row.share))
        self.plot.setFixedHeight(self.plot.row_height * min(6, len(rows)) + 8)


class RightSide(ScrollView):
    """Cards under each other, at their own width, or the widest's; they scroll where the window is low."""

    def __init__(self, *cards: QWidget) -> None:
        super().__init__(holder(column(*cards, STRETCH, gap=14)))
        self.setObjectName("label_right")
        self.setFixedWidth(WIDTH)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        inner = self.widget()
        if event.type() == QEvent.Type.LayoutRequest and watched is inner:
            self.setFixedWidth(max(WIDTH, inner.minimumSizeHint().width()))
        return super().eventFilter(watched, event)
