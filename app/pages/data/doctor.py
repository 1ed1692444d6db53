"""The Data doctor's card: remarks with their rows and mends, and what can be asked for beside them.

The page gives it the remarks; the card asks for wrong labels, for another part to compare with, and for the
mended table as a new file.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QProgressBar, QWidget

from app import words
from app.look.files import ask_file, ask_save
from app.look.labels import label, tip
from app.look.layout import STRETCH, FoldingRow, row
from app.look.widgets import Advice, Card, button
from app.pages.advice.remark import AdviceLine
from app.session import Session
from app.shipped import starter_model
from app.work.later import later
from app.work.worker import Channel
from engine.device import busy
from engine.text.reading.kinds import WRITTEN_SUFFIXES, patterns
from engine.train.plan import told

save_mended = later("app.work.examination", "save_mended")
TOKENS_A_SECOND, SECONDS_A_ROW = 3000.0, 0.004  # of the starter model and of what follows, on two cores
TAUGHT_A_SECOND, TIMES_TAUGHT = 1500.0, 4  # tokens in training, and how often each is learned from
MOST_READ = 50_000  # rows that a model reads, as engine/doctor/suspected.py has it


class DoctorCard(Card):
    """What is doubtful in the open table, and what can be done."""

    review_wanted = Signal()
    refused = Signal(object)

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(self.tr("Data doctor"), parent=parent)
        self.setObjectName("doctor_card")
        self._session = session
        self._saving = Channel(self, session.workers.files)
        self.undo_button = button(self.tr("Undo"), "link", name="undo_mend")
        self.undo_button.clicked.connect(session.data.mends.undo)
        self.redo_button = button(self.tr("Redo"), "link", name="redo_mend")
        self.redo_button.setToolTip(self.tr("Do again what was undone last (Ctrl+Shift+Z)"))
        self.redo_button.clicked.connect(session.data.mends.redo)
        self.add_corner(self.undo_button)
        self.add_corner(self.redo_button)
        self.advice = Advice()
        self.advice.setObjectName("data_advice")
        self.add(self.advice, 1)
        QShortcut(QKeySequence("F8"), self, self.advice.step_in)
        self.bar = QProgressBar(maximum=100, textVisible=False)
        self.bar.setObjectName("doctor_progress")
        self.bar.setFixedHeight(4)
        self.add(self.bar)
        self.told = label("", "muted", wrap=True, name="doctor_told")
        self.add(self.told)
        self.suspect_button = button(self.tr("Find label errors"), name="look_for_wrong_labels")
        self.suspect_button.clicked.connect(self._suspect)
        self.stop_button = button(self.tr("Stop"), name="stop_looking")
        self.stop_button.clicked.connect(session.doctor.stop)
        self.review_button = button(self.tr("Review in Label"), name="review_labels")
        self.review_button.clicked.connect(self.review_wanted)
        self.closer_button = button(self.tr("Look closer"), name="look_closer")
        self.closer_button.clicked.connect(self._suspect_closely)
        self.body.addLayout(row(self.suspect_button, self.stop_button, self.review_button, gap=6))
        self.body.addWidget(self.closer_button)
        self.against_button = button(self.tr("Find leaks…"), "link", name="compare_with_file")
        self.against_button.setToolTip(self.tr("Look for texts that are also in a test or validation file"))
        self.against_button.clicked.connect(self._ask_against)
        self.save_button = button(self.tr("Save as…"), "link", name="save_mended")
        self.save_button.setToolTip(self.tr("Write the fixed table to a new file"))
        self.save_button.clicked.connect(self._ask_save)
        links = FoldingRow(gap=6)
        links.put(row(self.against_button, STRETCH), self.save_button)
        self.body.addWidget(links)
        session.doctor.changed.connect(self.refresh)
        session.doctor.progressed.connect(self.refresh)
        session.data.mends.changed.connect(self.refresh)
        self.refresh()

    def count(self, remarks: Sequence[AdviceLine]) -> None:
        """Say how many remarks there are; mends are none, and the last one is taken back here."""
        num_mends = sum(remark.taken is not None for remark in remarks)
        count = len(remarks) - num_mends
        self.set_hint(words.counted(count, self.tr("{count} remark"), self.tr("{count} remarks")))
        self.undo_button.setVisible(self._session.data.mends.can_undo)
        self.redo_button.setVisible(self._session.data.mends.can_redo)
        said = words.counted(
            num_mends,
            self.tr("Undo the last change (Ctrl+Z). There is one fix, listed last"),
            self.tr("Undo the last change (Ctrl+Z). There are {count} fixes, listed last"),
        )
        self.undo_button.setToolTip(tip(said))

    @property
    def num_doubtful(self) -> int:
        """How many labels are not what a model would answer."""
        found = self._session.doctor.suspected
        return 0 if found is None else found.count

    def refresh(self) -> None:
        """Show what can be asked for, and what is under way."""
        doctor, summary = self._session.doctor, self._session.data.table_summary
        is_table = self._session.data.table is not None
        can = summary is not None and summary.chooses_one and summary.refusal is None and bool(summary.labels)
        is_looking = doctor.is_suspecting
        self.suspect_button.setVisible(is_table and not is_looking and doctor.suspected is None)
        self.suspect_button.setEnabled(can)
        self.stop_button.setVisible(is_looking)
        self.review_button.setVisible(self.num_doubtful > 0 and not is_looking)
        is_found = doctor.suspected is not None and not is_looking
        self.closer_button.setVisible(is_found and self._can_be_closer())
        self.closer_button.setToolTip(self._closer_tip())
        self.against_button.setVisible(is_table)
        self.save_button.setVisible(is_table)
        self.save_button.setEnabled(bool(self._session.data.mends.path()))
        self.bar.setVisible(doctor.done is not None)
        self.bar.setValue(int(100 * (doctor.done or 0)))
        self.told.setText(self._told_words(can=can))
        self.told.setVisible(is_table)

    def _told_words(self, *, can: bool) -> str:
        doctor = self._session.doctor
        if doctor.is_suspecting:
            return self.tr("Finding label errors: {share}").format(share=words.share(doctor.done or 0, 0))
        if doctor.suspected is not None:
            count = words.counted(
                self.num_doubtful,
                self.tr("One label disagrees with the other rows."),
                self.tr("{count} labels disagree with the other rows."),
            )
            if (expected := doctor.suspected.expected) is None:
                return self.tr(
                    "Label errors cannot be found here, because the other rows say too little about "
                    "each label."
                )
            about = self.tr("About {count} labels ({low} to {high}) are expected to be wrong.").format(
                count=words.number(expected.count),
                low=words.number(expected.low),
                high=words.number(expected.high),
            )
            count = f"{count} {about}{self._decided_words()}"
            by = self.tr("{count} The most doubtful come first, found by word counts and {model}.")
            if doctor.suspected.is_taught:
                by = self.tr(
                    "{count} The most doubtful come first, found by word counts and {model}, which "
                    "was trained on the other rows."
                )
            elif doctor.is_close:
                by = self.tr(
                    "{count} The most doubtful come first. The closer look changed nothing: {model}, "
                    "trained on the other rows, is right less often than word counts and its vectors."
                )
            return by.format(count=count, model=doctor.suspected_by)
        if doctor.done is not None:
            return self.tr("Comparing texts…")
        if can:
            text = self.tr("Fixes are logged and can be undone. Finding label errors takes {time}.")
            time = told(self._seconds(), busy())
            if time.is_busy:
                text = words.sentences([text, self.tr("This computer is busy.")])
            return text.format(time=words.duration_range(time.low, time.high))
        said = self.tr("Fixes are logged and can be undone.")
        if self._session.data.table_summary is None:
            return said
        where = self.tr("Label errors can be found where each row has one label.")
        return f"{said} {where}"

    def _decided_words(self) -> str:
        """Return how many of the suspected labels are decided by now; "": none."""
        found, recipe = self._session.doctor.suspected, self._session.data.mends.recipe
        if found is None or recipe is None:
            return ""
        decided = recipe.decided()
        count = sum(row in decided for row in found.rows[: found.count].tolist())
        said = words.counted(
            count, self.tr("One of them is decided."), self.tr("{count} of them are decided.")
        )
        return f" {said}" if count else ""

    def _seconds(self, *, closely: bool = False) -> float:
        """Return about how long it takes to look for wrong labels."""
        summary = self._session.data.table_summary
        if summary is None:
            return 0.0
        tokens = int(summary.lengths.sum()) if summary.num_examples <= MOST_READ else 0
        taught = tokens * TIMES_TAUGHT / TAUGHT_A_SECOND if closely else 0.0
        return 5 + summary.num_examples * SECONDS_A_ROW + tokens / TOKENS_A_SECOND + taught

    def _can_be_closer(self) -> bool:
        """Whether a model can be taught so many rows, and has not been."""
        summary = self._session.data.table_summary
        few = summary is not None and summary.num_examples <= MOST_READ
        return few and not self._session.doctor.is_close and self._folder() is not None

    def _closer_tip(self) -> str:
        folder = self._folder()
        said = self.tr(
            "Train {model} three times, each time without a third of the rows, and ask it for these: {time}"
        )
        time = told(self._seconds(closely=True), busy())
        between = words.duration_range(time.low, time.high)
        return tip(said.format(model=folder.name if folder is not None else "", time=between))

    def _folder(self) -> Path | None:
        """Return the model that looks for wrong labels."""
        return self._session.model.trained_folder or starter_model(self._session.data.script)

    def _suspect(self) -> None:
        self._look(closely=False)

    def _suspect_closely(self) -> None:
        self._look(closely=True)

    def _look(self, *, closely: bool) -> None:
        folder = self._folder()
        by = folder.name if folder is not None else self.tr("nothing else")
        self._session.doctor.suspect(folder, by=by, closely=closely)

    def _ask_against(self) -> None:
        table = self._session.data.table
        tables = self.tr("Tables ({endings})").format(endings=patterns())
        ask_file(
            self,
            self.tr("Compare with a file"),
            self.compare_with,
            name="against_dialog",
            start=table.path.parent if table is not None else "",
            filters=[tables, self.tr("All files (*)")],
        )

    def compare_with(self, path: str | Path) -> None:
        """Look for what stands in another file, too."""
        self._session.doctor.compare_with(Path(path))

    def _ask_save(self) -> None:
        table = self._session.data.table
        if table is not None:
            start = table.path.with_name(f"{table.path.stem}-mended.csv")
            title = self.tr("Save the fixed table as")
            kinds = [f"*{suffix}" for suffix in WRITTEN_SUFFIXES]
            ask_save(self, title, self._save, name="mended_dialog", suggested=start, filters=kinds)

    def _save(self, path: str) -> None:
        table, recipe = self._session.data.table, self._session.data.mends.recipe
        if table is not None and recipe is not None:
            self._saving.ask(
                (path, recipe),
                partial(save_mended, table, recipe, Path(path)),
                heard=partial(self._say_saved, path),
                refused=self.refused.emit,
            )

    def _say_saved(self, path: str, count: int) -> None:
        said = words.counted(
            count, self.tr("One row written to {file}"), self.tr("{count} rows written to {file}")
        )
        summary = self._session.data.table_summary
        lacking = len(summary.reported) if summary is not None else 0
        if lacking:
            kept = words.counted(
                lacking,
                self.tr("One of them has no text or no label and cannot be used. It is kept."),
                self.tr("{count} of them lack a text or a label and cannot be used. They are kept."),
            )
            said = words.sentences([words.closed(said), kept])
        self.told.setText(said.format(file=Path(path).name))
        self.told.setToolTip(tip(path))
        self.told.show()
