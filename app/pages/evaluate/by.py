"""Scores by class, by confidence, by length and by slice: one card, one place, and the same click on each."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QStackedWidget, QWidget

from app import words
from app.look.boxes import ChoiceBox
from app.look.inputs import LineEdit
from app.look.labels import label, tip
from app.look.layout import STRETCH, column, row
from app.look.segmented_buttons import FoldingButtons, SegmentedButtons
from app.look.widgets import Card, button, named
from app.pages.evaluate.opened_scores import OpenedScores, WorseSlices
from app.pages.evaluate.state import VIEWS, Listing
from app.plots.bins import BinsPlot, TextGroup
from app.plots.buttons import save_icon, yield_to_layout
from app.plots.class_scores import ClassRow, ClassScoresPlot
from app.plots.coverage import Coverage, CoveragePlot
from app.plots.figure import Figure
from app.plots.slice_rows import SliceRow, SliceRowsPlot
from app.work.text_filter import ANSWER, COLUMN, CONFIDENCE, LENGTH, WORD, Filter
from engine.evaluation.report import ScoreReport
from engine.evaluation.slices import ALARM, LANGUAGE, MEANING, Slice
from engine.evaluation.statistics import p_words

LEAST = 96  # px of a picture
MOST_POINTS = 60  # of the curve of coverage
LOW, HIGH = 240, 280  # px, from which on there is room for words, and for more of them
TIGHT = 420  # px of width, below which a button says less
MOST_SHOWN = 200  # classes whose interval is asked for


class ScoresBy(Card):
    """The views; `chosen` is a filter that a click asks for; `slices_wanted`: nobody has looked yet."""

    chosen = Signal(object)  # Filter
    temperature_wanted = Signal(bool)  # kept with the model, or taken back
    slices_wanted = Signal()
    meaning_wanted = Signal()  # texts are to be grouped by meaning

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.set_title(self.tr("Scores by"))
        self._opened: OpenedScores | None = None
        self._found: WorseSlices | None = None
        self._keeping = "", ""  # what the button beside the calibration says, at length and in short
        self._lengths: tuple[Slice, ...] = ()
        self._values: tuple[Slice, ...] = ()
        self.views = FoldingButtons(
            "evaluate_by",
            self.tr("Scores by"),
            (
                ("class", self.tr("Class"), self.tr("Precision, recall and F1 of each class")),
                ("confidence", self.tr("Confidence"), self.tr("Whether probabilities are accurate")),
                ("length", self.tr("Length"), self.tr("Short and long texts")),
                ("slice", self.tr("Slice"), self.tr("Texts with a word or a value in common")),
            ),
            room=24,
        )
        self.classes = named(ClassScoresPlot(self.tr("Scores of each class")), "evaluate_classes")
        self.bins = named(BinsPlot(self.tr("Calibration")), "evaluate_bins")
        self.sure = SegmentedButtons(
            "evaluate_sure",
            (
                ("calibration", self.tr("Calibration"), self.tr("Whether probabilities are accurate")),
                (
                    "threshold",
                    self.tr("Threshold"),
                    self.tr("What is left if it answers only when confident"),
                ),
            ),
        )
        self.keep = button("", "link", name="evaluate_keep_temperature")
        self.keep.clicked.connect(self._keep_clicked)
        self.coverage = named(CoveragePlot(self.tr("Coverage and accuracy")), "evaluate_coverage")
        self.left = label("", "muted", wrap=True, name="evaluate_left")
        self.lengths = named(BinsPlot(self.tr("Scores by length")), "evaluate_lengths")
        self.slices = named(SliceRowsPlot(self.tr("Weak slices")), "evaluate_slices")
        self.calibrated = label("", "muted", wrap=True, name="evaluate_calibrated")
        self.mended = label("", "muted", wrap=True, name="evaluate_mended")
        self.by_length = label("", "muted", wrap=True, name="evaluate_by_length")
        self.searched = label("", "muted", wrap=True, name="evaluate_searched")
        self.word = named(LineEdit(), "evaluate_word", self.tr("A word that texts contain"))
        self.word.setPlaceholderText(self.tr("Contains the word…"))
        self.values = ChoiceBox("evaluate_column", self.tr("Column"))
        self._lay_out()
        self._connect()
        self.show_opened(None)

    @property
    def _plots(self) -> tuple[Figure, ...]:
        """The pictures, of which one is shown."""
        return self.classes, self.bins, self.coverage, self.lengths, self.slices

    def _lay_out(self) -> None:
        for plot in self._plots:
            yield_to_layout(plot, LEAST)
        self.stack, self.how_sure = QStackedWidget(), QStackedWidget()
        for plot, *told in ((self.bins, self.calibrated, self.mended), (self.coverage, self.left)):
            place = QWidget()
            column((plot, 1), *told, gap=6, parent=place)
            self.how_sure.addWidget(place)
        go = button(self.tr("Show"), name="evaluate_word_go")
        go.clicked.connect(self._word_typed)
        parts: Sequence[tuple[object, ...]] = (
            (self.classes,),
            (row(self.sure, STRETCH, self.keep), self.how_sure),
            (self.lengths, self.by_length),
            (row((self.word, 1), go, (self.values, 1)), self.slices, self.searched),
        )
        for some in parts:
            place = QWidget()
            stretched = [(one, 1) if isinstance(one, Figure | QStackedWidget) else one for one in some]
            column(*stretched, gap=6, parent=place)  # type: ignore[arg-type]
            self.stack.addWidget(place)
        self._corner.removeWidget(self.hint_label)
        self.hint_label.hide()
        self.add_corner(self.views)
        self._saves = [save_icon(plot) for plot in self._plots]
        for one in self._saves:
            self.add_corner(one)
        self.add(self.stack, 1)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Leave what could be done about the calibration to a tip where there is no room for it."""
        has_words, has_room = self.height() >= LOW, self.height() >= HIGH
        self.keep.setText(self._keeping[self.width() < TIGHT])
        for told in (self.calibrated, self.by_length, self.searched, self.left):
            told.setVisible(has_words)
        self.mended.setVisible(has_room and bool(self.mended.text()))
        self.calibrated.setToolTip("" if has_room else tip(self.mended.text()))

    def _connect(self) -> None:
        self.views.chosen.connect(self.show_view)
        self.sure.chosen.connect(self.show_sure)
        self.classes.chosen.connect(lambda place: self.chosen.emit(Filter(ANSWER, (place, -1))))
        self.bins.chosen.connect(self._bin_chosen)
        self.coverage.chosen.connect(self._threshold_chosen)
        self.lengths.chosen.connect(self._length_chosen)
        self.slices.chosen.connect(self._slice_chosen)
        self.word.returnPressed.connect(self._word_typed)
        self.values.chosen.connect(self._column_chosen)

    def show_view(self, key: str) -> None:
        """Show one of the views."""
        self.views.set_current(key)
        place = VIEWS.index(key)
        self.stack.setCurrentIndex(place)
        self._show_save()
        if key == "slice" and self._opened is not None and self._found is None:
            self.searched.setText(self.tr("Looking for slices that are worse than the rest…"))
            self.slices_wanted.emit()

    @property
    def found(self) -> WorseSlices | None:
        """The slices, where they have been looked for."""
        return self._found

    def show_sure(self, key: str) -> None:
        """Show whether probabilities mean what they say, or what is left from a threshold on."""
        self.sure.set_current(key)
        self.how_sure.setCurrentIndex(int(key == "threshold"))
        self._show_save()

    def _show_save(self) -> None:
        """Let the picture be saved that is shown."""
        key = self.views.current
        sure = self.coverage if self.sure.current == "threshold" else self.bins
        shown = {"class": self.classes, "confidence": sure, "length": self.lengths, "slice": self.slices}[key]
        pairs = zip(self._plots, self._saves, strict=True)
        for plot, save in sorted(pairs, key=lambda each: each[0] is shown):
            save.setVisible(plot is shown)  # the one that is shown last, so that there never are two

    def show_opened(self, opened: OpenedScores | None) -> None:
        """Show the scores of what is opened; None: nothing."""
        self._opened, self._found = opened, None
        self.values.clear()
        self.values.hide()
        self.slices.show_rows(())
        self.searched.setText("")
        self.show_view(self.views.current)
        self._show_keep()
        if opened is None or not opened.report.is_of_classes:
            self.classes.set_rows((), None)
            self.bins.set_groups((), "")
            self.coverage.set_points(())
            self.lengths.set_groups((), "")
            return
        self._show_classes(opened.report, ())
        self._show_bins(opened.report)
        self._show_coverage(opened.report)
        self._show_lengths()

    def _show_classes(self, report: ScoreReport, intervals: Sequence[tuple[float, float]]) -> None:
        scores, names = report.classes, report.scored.each.names
        rows = [
            ClassRow(
                name,
                float(scores.precision[i]),
                float(scores.recall[i]),
                float(scores.f1[i]),
                int(scores.support[i]),
                intervals[i] if intervals else None,
            )
            for i, name in enumerate(names)
        ]
        mean = scores.summary()
        every = (mean["macro_precision"], mean["macro_recall"], mean["macro_f1"])
        self.classes.set_rows(
            rows, ClassRow(self.tr("macro average"), *every, report.count, report.mean_f1_interval)
        )

    def show_again(self, opened: OpenedScores) -> None:
        """Show the same scores with other intervals."""
        self._opened = opened
        if opened.report.is_of_classes:
            self._show_classes(opened.report, ())
            self._show_bins(opened.report)

    def show_intervals(self, intervals: Sequence[tuple[float, float]]) -> None:
        """Show the interval of each class's F1."""
        if self._opened is not None:
            self._show_classes(self._opened.report, intervals)

    def _show_bins(self, report: ScoreReport) -> None:
        found = report.calibration
        groups = [
            TextGroup(
                words.share(one.confidence, 0),
                self.tr("{low} to {high} confident").format(
                    low=words.share(one.low), high=words.share(one.high)
                ),
                one.count,
                one.accuracy,
                *one.interval,
                expected=one.confidence,
            )
            for one in found.bins
        ]
        self.bins.set_groups(groups, self.tr("confidence · line: expected · bar: accuracy"))
        said = [self._error_words(report)]
        warmth = report.temperature
        if report.kept != 1:
            text = self.tr("Scaled by the temperature of {value} that is kept with the model.")
            said.append(text.format(value=words.decimal(report.kept, 2)))
            said.append(self._kept_from_words(report))
        elif warmth is not None:
            text = self.tr(
                "A temperature of {value}, fitted on one half, changes the error of the other "
                "half from {before} to {after}."
            )
            if warmth.fitted_on:
                text = self.tr(
                    "A temperature of {value}, fitted on half of the validation rows, changes the "
                    "error of these texts from {before} to {after}."
                )
            elif not self._is_validation:
                more = self.tr("Once it is kept, these texts no longer test the model’s confidence.")
                text = words.sentences([text, more])
            said.append(
                text.format(
                    value=words.decimal(warmth.value, 2),
                    before=words.share(warmth.error_before),
                    after=words.share(warmth.error_after),
                )
            )
        self.calibrated.setText(said[0])
        self.mended.setText(words.sentences(said[1:]))
        self._fit()

    @property
    def _is_validation(self) -> bool:
        """Whether these are the validation rows of the model's run, on which a temperature is best fitted."""
        return self._opened is not None and self._opened.source.part == "validation"

    def _kept_from_words(self, report: ScoreReport) -> str:
        """Return what the temperature that is kept was fitted on; "" where that is not known."""
        name = report.kept_from[0]
        if report.has_chosen and not self._is_validation:
            return self.tr("It was fitted on half of these texts, so they do not test its confidence.")
        if report.has_chosen:
            return self.tr("It was fitted on half of these texts.")
        if name in ("validation", "test"):
            rows = {"validation": self.tr("validation rows"), "test": self.tr("test rows")}
            return self.tr("It was fitted on half of the {rows}.").format(rows=rows[name])
        text = self.tr("It was fitted on half of {name}.")
        return text.format(name=words.shorten(name, 40)) if name else ""

    def _show_keep(self) -> None:
        """Offer to keep the temperature with the model, or to take back the one that is kept."""
        report = self._opened.report if self._opened is not None else None
        is_kept = report is not None and report.is_of_classes and report.kept != 1
        can_keep = report is not None and report.is_of_classes and report.temperature is not None
        self.keep.setVisible(is_kept or can_keep)
        if report is None or not (is_kept or can_keep):
            return
        value = report.kept if is_kept else report.temperature.value if report.temperature else 1.0
        said = self.tr("Remove temperature {value}") if is_kept else self.tr("Keep temperature {value}")
        short = self.tr("Remove {value}") if is_kept else self.tr("Keep {value}")
        warmth = report.temperature
        if not is_kept and warmth is not None and not warmth.fitted_on and not self._is_validation:
            said, short = (
                self.tr("Keep temperature {value} from these texts"),
                self.tr("Keep {value} from these"),
            )
        at = words.decimal(value, 2)
        self._keeping = said.format(value=at), short.format(value=at)
        self._fit()
        keeps = self.tr(
            "Writes it into the model’s cloze.json. From then on, it scales probabilities "
            "here, on the Predict page and in every command. The answers stay the same, and "
            "it can be removed."
        )
        forgets = self.tr("Removes it from the model’s cloze.json. Probabilities are as before.")
        self.keep.setToolTip(tip(forgets if is_kept else keeps))

    def _keep_clicked(self) -> None:
        if self._opened is not None:
            self.temperature_wanted.emit(self._opened.report.kept == 1)

    def _show_coverage(self, report: ScoreReport) -> None:
        found = report.abstaining
        count = len(found.threshold)
        places = (
            sorted({round(i * (count - 1) / (MOST_POINTS - 1)) for i in range(MOST_POINTS)}) if count else []
        )
        values = (found.threshold, found.coverage, found.accuracy)
        self.coverage.set_points([Coverage(*(float(one[place]) for one in values)) for place in places])
        self.left.setText(self._abstaining_words(report))

    def _error_words(self, report: ScoreReport) -> str:
        found = report.calibration
        values = {"error": words.share(found.error), "chance": words.share(found.chance)}
        between = ""
        if found.interval is not None:
            low, high = (words.share(max(0.0, end)) for end in found.interval)
            between = self.tr(" ({low} to {high})").format(low=low, high=high)
        if found.p_value >= 0.05:
            text = self.tr(
                "Calibration error {error}{between}, not clearly more than a calibrated model "
                "shows by chance ({chance} on average)."
            )
        elif found.confidence > found.accuracy:
            text = self.tr(
                "Calibration error {error}{between}, {chance} by chance. The model is overconfident."
            )
        else:
            text = self.tr(
                "Calibration error {error}{between}, {chance} by chance. The model is underconfident."
            )
        return text.format(**values, between=between)

    def _abstaining_words(self, report: ScoreReport) -> str:
        """Return from which confidence on half of the mistakes are gone, and what that costs."""
        found = report.abstaining
        wanted = 1 - (1 - report.value) / 2
        place = found.for_accuracy(wanted) if report.value < 1 else None
        if place is None or found.coverage[place] >= 1:
            return self.tr("No threshold halves the share of errors.")
        text = self.tr(
            "Answering only from {threshold} on leaves {coverage} of the texts, of which "
            "{accuracy} are right. That halves the share of errors."
        )
        return text.format(
            threshold=words.share(float(found.threshold[place])),
            accuracy=words.share(float(found.accuracy[place])),
            coverage=words.share(float(found.coverage[place]), 0),
        )

    def _show_lengths(self) -> None:
        assert self._opened is not None
        self._lengths = self._opened.lengths
        groups = [self._group(one) for one in self._lengths]
        self.lengths.set_groups(groups, self.tr("characters of the text"))
        self.by_length.setText(self._length_words())

    def _group(self, one: Slice) -> TextGroup:
        name = f"{one.low}–{one.high}" if one.high > one.low else str(one.low)
        said = self.tr("{name} characters").format(name=name)
        return TextGroup(name, said, one.count, one.accuracy, *one.interval)

    def _length_words(self) -> str:
        if len(self._lengths) < 2:
            return ""
        worst = min(self._lengths, key=lambda one: (one.p_value, one.accuracy))
        if worst.p_value >= ALARM:
            return self.tr("No length is clearly worse than the others.")
        text = self.tr(
            "Texts of {low} to {high} characters do worse: {share} right, against {others} of the others."
        )
        return text.format(
            low=words.number(worst.low),
            high=words.number(worst.high),
            share=words.share(worst.accuracy),
            others=words.share(worst.other_accuracy),
        )

    def show_found(self, found: WorseSlices) -> None:
        """Show slices that were found, and offer the columns."""
        self._found = found
        self.values.clear()
        self.values.add_choice(self.tr("Found slices"), "")
        made = {LANGUAGE: self.tr("By language"), MEANING: self.tr("By meaning")}
        for name in found.columns:
            column = self.tr("Column {name}").format(name=words.shorten(name, 40))
            self.values.add_choice(made.get(name, column), name)
        if MEANING not in found.columns:
            self.values.add_action(self.tr("Group by meaning…"), self._ask_meaning)
        self.values.show()
        self._show_slices(found.slices)
        tried = words.number(found.num_tried)
        if not found.num_tried:
            text = self.tr("There are too few texts for slices.")
        elif not found.slices:
            text = self.tr(
                "{tried} words, lengths and values were tried. None is worse than chance explains."
            )
        else:
            text = self.tr(
                "{count} of {tried} candidates are worse than the rest, corrected for so many tries."
            )
        if self._opened is not None and self._opened.report.num_repeating:
            as_one = self.tr("The test counts texts that repeat one another as one.")
            text = words.sentences([text, as_one])
        self.searched.setText(text.format(tried=tried, count=words.number(len(found.slices))))

    def _ask_meaning(self) -> None:
        self.values.setCurrentIndex(0)
        self.searched.setText(self.tr("Grouping the texts by the model’s own vectors…"))
        self.meaning_wanted.emit()

    def show_by(self, name: str) -> None:
        """Show the slices of a column."""
        place = self.values.findData(name)
        if place >= 0:
            self.values.setCurrentIndex(place)
            self._column_chosen(name)

    def _show_slices(self, slices: Sequence[Slice]) -> None:
        self._values = tuple(slices)
        rows = []
        for one in slices:
            chance = p_words(one.p_value) if one.p_value < 1 else ""
            rows.append(
                SliceRow(slice_words(one), one.count, one.accuracy, *one.interval, one.other_accuracy, chance)
            )
        self.slices.show_rows(rows)

    def _column_chosen(self, name: str) -> None:
        if self._found is None or self._opened is None:
            return
        if not name:
            self._show_slices(self._found.slices)
            return
        self._show_slices(self._found.by_column[name])

    def _bin_chosen(self, place: int) -> None:
        assert self._opened is not None
        one = self._opened.report.calibration.bins[place]
        self.chosen.emit(Filter(CONFIDENCE, (one.low, one.high)))

    def _threshold_chosen(self, place: int) -> None:
        self.chosen.emit(Filter(CONFIDENCE, (self.coverage.points[place].threshold, 1.0)))

    def _length_chosen(self, place: int) -> None:
        one = self._lengths[place]
        self.chosen.emit(Filter(LENGTH, (one.low, one.high)))

    def _slice_chosen(self, place: int) -> None:
        self.chosen.emit(slice_filter(self._values[place]))

    def _word_typed(self) -> None:
        if self.word.text().strip():
            self.chosen.emit(Filter(WORD, (self.word.text().strip(),)))
            self.word.clear()

    def show_listing(self, listing: Listing) -> None:
        """Mark what the list shows."""
        marks: list[tuple[Callable[[int], None], int]] = []
        answer = listing.of(ANSWER)
        marks.append(
            (self.classes.set_marked, int(answer.values[0]) if answer and answer.values[1] == -1 else -1)
        )
        for kind, plot, bounds in (
            (CONFIDENCE, self.bins, self._bounds_of_bins()),
            (CONFIDENCE, self.coverage, [(one.threshold, 1.0) for one in self.coverage.points]),
            (LENGTH, self.lengths, [(one.low, one.high) for one in self._lengths]),
        ):
            own = listing.of(kind)
            place = bounds.index((own.values[0], own.values[1])) if own and own.values in bounds else -1  # type: ignore[arg-type]
            marks.append((plot.set_marked, place))
        for mark, place in marks:
            mark(place)
        self.slices.mark_rows(
            [i for i, one in enumerate(self._values) if slice_filter(one) in listing.filters]
        )

    def _bounds_of_bins(self) -> list[tuple[float, float]]:
        if self._opened is None or not self._opened.report.is_of_classes:
            return []
        return [(one.low, one.high) for one in self._opened.report.calibration.bins]


def slice_filter(one: Slice) -> Filter:
    """Return the filter that lists a slice's texts."""
    if one.kind == "length":
        return Filter(LENGTH, (one.low, one.high))
    return Filter(WORD, (one.value,)) if one.kind == "word" else Filter(COLUMN, (one.name, one.value))


def slice_words(one: Slice) -> str:
    """Return a slice in a few words."""
    if one.kind == "length":
        text = words.translate("evaluate", "{low} to {high} characters")
        return text.format(low=words.number(one.low), high=words.number(one.high))
    if one.kind == "word":
        return words.translate("evaluate", "contains “{word}”").format(word=words.shorten(one.value, 40))
    return one.value if one.name == MEANING else column_words(one.name, one.value)


def column_words(name: str, value: str) -> str:
    """Return what the texts of a column's value are."""
    if name == LANGUAGE:
        return words.tr_engine(value)
    if name == MEANING:
        return words.translate("evaluate", "about “{value}”").format(value=words.shorten(value, 60))
    text = words.translate("evaluate", "{name} is “{value}”")
    return text.format(name=words.shorten(name, 40), value=words.shorten(value, 40))
