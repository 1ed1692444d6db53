"""The score, large, with its interval; what any model has to beat on the same scale; and what that means."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from app import words
from app.look.labels import label, tip
from app.look.layout import STRETCH, column, row
from app.look.widgets import Card, LevelMark, button, set_role
from app.pages.evaluate.opened_scores import OpenedScores
from app.pages.tasks.known import views_of
from app.plots.score_scale import ScoreLine, ScoreScalePlot
from engine.evaluation.baselines import TRAINING_MAJORITY, Baseline
from engine.evaluation.statistics import p_words
from engine.train.learned import MANY

MOST_COMPACT = 3  # lines
LONGEST = 12  # characters of a label in the name of a line


class ScoreCard(Card):
    """The score of what is opened. `baseline_wanted`: TF-IDF is asked for, `near_wanted`: near copies."""

    baseline_wanted = Signal()
    near_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self._opened: OpenedScores | None = None
        self._words: Baseline | None = None
        self._is_compact = False
        self.value = label("", "huge", name="evaluate_score")
        self.between = label("", "strong", name="evaluate_interval")
        self.level = label(self.tr("95 % interval"), "muted")
        self.scale = ScoreScalePlot(self.tr("Scores"))
        self.scale.setObjectName("evaluate_scale")
        self.more = button(self.tr("Compare with TF-IDF"), "link", name="evaluate_tfidf")
        self.more.setToolTip(
            self.tr(
                "What word counts reach: TF-IDF with logistic regression, on the model’s own training rows."
            )
        )
        self.sentence = label("", wrap=True, name="evaluate_sentence")
        self.sentence.setToolTip(
            tip(self.tr("p: how often chance gives as large a difference. The interval is 95 %."))
        )
        self._mark_place = row(gap=8)
        self._mark: LevelMark | None = None
        beside = column(STRETCH, self.between, self.level, STRETCH, gap=0)
        self.body.addLayout(row(self.value, beside, STRETCH, gap=12))
        self.add(self.scale)
        self.near = button(self.tr("Near-duplicates"), "link", name="evaluate_near")
        self.near.setToolTip(
            self.tr(
                "Resample near-duplicates together, as the doctor finds them. They say less than "
                "as many independent texts, so the intervals become wider."
            )
        )
        self.near.clicked.connect(self._ask_near)
        self._links = QWidget()
        set_role(self._links, "clear")
        row(self.more, STRETCH, self.near, parent=self._links)
        self.add(self._links)
        self.body.addLayout(row((self._mark_place, Qt.AlignmentFlag.AlignTop), (self.sentence, 1)))
        self.body.addStretch(1)
        self.more.clicked.connect(self._ask)

    def _ask(self) -> None:
        self.more.setEnabled(False)
        self.more.setText(self.tr("Counting words…"))
        self.baseline_wanted.emit()

    def _ask_near(self) -> None:
        self.near.setEnabled(False)
        self.near_wanted.emit()

    def show_near(self, opened: OpenedScores) -> None:
        """Show the interval with near copies drawn together."""
        self._opened, report = opened, opened.report
        self.near.hide()
        ends = report.interval_by_group or report.interval
        if ends is not None:
            self.between.setText(self._between(ends, _is_share(opened)))
        count = report.num_repeating
        told = words.counted(
            count,
            self.tr("One text is a near-duplicate of another and is resampled together with it."),
            self.tr("{count} texts are near-duplicates of others and are resampled together with them."),
        )
        self.level.setText(self.tr("95 %, grouped") if count else self.tr("95 %, singly"))
        self.level.setToolTip(tip(told if count else self.tr("There are no near-duplicates.")))

    def show_opened(self, opened: OpenedScores | None, *, can_count: bool = False) -> None:
        """Show a score; None: nothing."""
        self._opened, self._words = opened, None
        self.more.setVisible(can_count)
        self.more.setEnabled(True)
        self.more.setText(self.tr("Compare with TF-IDF"))
        self.near.setVisible(opened is not None and len(opened.scored.listed.texts) > 0)
        self.near.setEnabled(True)
        self.level.setText(self.tr("95 % interval"))
        self.level.setToolTip("")
        if opened is None:
            for one in (self.value, self.between, self.sentence):
                one.setText("")
            self.scale.set_lines(())
            self.set_title("")
            self._set_mark("")
            return
        report, views = opened.report, views_of(opened.scored.task)
        self.set_title(views.metric_title(opened.scored.metric))
        count = words.counted(report.count, self.tr("1 text"), self.tr("{count} texts"))
        self.set_hint(count)
        is_share = not views.is_of_numbers
        self.value.setText(words.share(report.value) if is_share else words.decimal(report.value, 3))
        self.level.setVisible(report.interval is not None)
        self.between.setText("" if report.interval is None else self._between(report.interval, is_share))
        self._show_lines()

    @property
    def counted(self) -> Baseline | None:
        """What counting words reaches, where that was asked for."""
        return self._words

    def set_compact(self, is_compact: bool) -> None:
        """Leave the sentence to the tip, and show no more lines than there is room for."""
        if is_compact != self._is_compact:
            self._is_compact = is_compact
            self.sentence.setHidden(is_compact)
            self._links.setHidden(is_compact)
            self._show_lines()
        self.scale.setToolTip(self.sentence.text() if is_compact else "")

    def show_words(self, found: Baseline | None) -> None:
        """Show what counting words reaches; None: it could not be told."""
        self._words = found
        self.more.setVisible(False)
        self._show_lines()

    def _between(self, ends: tuple[float, float], is_share: bool) -> str:
        if is_share:
            low, high = words.decimal(100 * ends[0], 1), words.decimal(100 * ends[1], 1)
        else:
            low, high = (words.decimal(end, 3) for end in ends)
        return self.tr("{low} to {high}").format(low=low, high=high)

    def _show_lines(self) -> None:
        opened = self._opened
        if opened is None:
            return
        report = opened.report
        low, high = report.interval or (None, None)
        lines = [ScoreLine(self.tr("this model"), report.value, low, high, words.interval_help())]
        if report.unseen is not None:
            new, note = report.unseen, self.tr("This model, over the {count} texts that are new to it.")
            low, high = new.interval or (None, None)
            note = note.replace("{count}", words.number(new.count))
            lines.append(ScoreLine(self.tr("new texts"), new.value, low, high, note))
        if self._words is not None:
            note = self.tr("TF-IDF with logistic regression, trained on {count} rows.")
            lines.append(self._line(self.tr("TF-IDF"), self._words, note))
        for one in opened.always:
            label, name = words.shorten(one.label, 40), self.tr("majority class")
            note = self.tr("Always “{name}”, the most frequent label of these texts.")
            if one.name == TRAINING_MAJORITY:
                name = self.tr("always “{name}”").replace("{name}", words.shorten(one.label, LONGEST))
                note = self.tr("Always “{name}”, the most frequent label of the {count} training rows.")
            lines.append(self._line(name, one, note.replace("{name}", label)))
        shown = lines[:MOST_COMPACT] if self._is_compact else lines
        self.scale.set_lines(shown, as_share=_is_share(opened))
        self._say(lines)

    def _line(self, name: str, one: Baseline, note: str) -> ScoreLine:
        return ScoreLine(
            name, one.accuracy, *one.interval, note=note.replace("{count}", words.number(one.num_rows))
        )

    def _say(self, lines: Sequence[ScoreLine]) -> None:
        """Say how far the model is above the best of what it has to beat, and what chance has in that."""
        opened = self._opened
        assert opened is not None
        count = opened.num_seen or 0
        if count >= MANY * opened.report.count and count:  # then no distance means what it says
            self._set_mark("wrong")
            self.sentence.setText(self._on_seen(count))
            return
        best = self._words or next(iter(opened.always), None)
        if best is None:
            self._set_mark("look" if count else "")
            said = (self._on_seen(count) if count else "", self._without_baseline())
            self.sentence.setText(words.sentences(said))
            return
        found = best.difference
        name = self.tr("TF-IDF") if best is self._words else self.tr("the majority class")
        between = ""
        if found.interval is not None:
            ends = sorted(end * (-1 if found.value < 0 else 1) for end in found.interval)
            low, high = (words.decimal(100 * end, 1) for end in ends)
            between = self.tr(" ({low} to {high})").format(low=low, high=high)
        values = {"name": name, "points": words.decimal(100 * abs(found.value), 1), "between": between}
        if found.value > 0 and found.is_sure:
            level, text = "fine", self.tr("{points} points above {name}{between}; p {p}.")
        elif found.value < 0 and found.is_sure:
            level, text = "wrong", self.tr("{points} points below {name}{between}; p {p}.")
        else:
            level = "look"
            text = self.tr("No difference from {name} can be shown: {points} points above{between}.")
            if found.value < 0:
                text = self.tr("No difference from {name} can be shown: {points} points below{between}.")
            elif not found.value:
                text = self.tr("No difference from {name}{between}.")
        text = text.format(**values, p=p_words(found.p_value))
        if count:
            level = "look" if level == "fine" else level
            known = self._on_seen(count)
            if opened.report.unseen is not None:  # whose own line tells what the model reaches on the others
                values = {"count": words.number(count), "total": words.number(opened.report.count)}
                known = self.tr("It was trained on {count} of {total}.").format(**values)
            text = words.sentences([text, known])
        self._set_mark(level)
        self.sentence.setText(text)

    def _on_seen(self, count: int) -> str:
        """Say how many of the texts the model has learned from, and what it reaches on the others."""
        assert self._opened is not None
        report = self._opened.report
        if count == report.count:
            return self.tr(
                "The model was trained on all of these texts, so the score shows what it "
                "remembers, not what it can do."
            )
        values = {"count": words.number(count), "total": words.number(report.count)}
        if report.unseen is None:
            said = self.tr(
                "The model was trained on {count} of these {total} texts, so the score looks too good."
            )
            return said.format(**values)
        is_share = _is_share(self._opened)
        value = words.share(report.unseen.value) if is_share else words.decimal(report.unseen.value, 3)
        ends = report.unseen.interval
        between = "" if ends is None else f" ({self._between(ends, is_share)})"
        said = self.tr(
            "The model was trained on {count} of these {total} texts. On the other {others} "
            "it reaches {value}{between}."
        )
        others = words.number(report.unseen.count)
        return said.format(**values, others=others, value=value, between=between)

    def _without_baseline(self) -> str:
        assert self._opened is not None
        repeating = self._opened.report.num_repeating
        if not repeating:
            return ""
        return words.counted(
            repeating,
            self.tr("One text repeats another. The interval resamples them together."),
            self.tr("{count} texts repeat others. The interval resamples them together."),
        )

    def _set_mark(self, level: str) -> None:
        if self._mark is not None:
            self._mark_place.removeWidget(self._mark)
            self._mark.hide()
            self._mark.deleteLater()
            self._mark = None
        if level:
            self._mark = LevelMark(level)
            self._mark_place.addWidget(self._mark)
            self._mark.setHidden(self._is_compact)


def _is_share(opened: OpenedScores) -> bool:
    return not views_of(opened.scored.task).is_of_numbers
