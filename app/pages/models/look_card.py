"""One published model before it is fetched, while it comes, and where it stopped."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QDir, Qt, Signal
from PySide6.QtWidgets import QLabel, QProgressBar, QWidget

from app import words
from app.look.labels import PART, label
from app.look.layout import column, form_rows, row
from app.look.widgets import Card, button, named, set_role
from app.pages.models.model_list import millions
from app.work.hub import Transfer
from app.work.titles import answer_words, shape_words
from engine.hub.look import PublishedModel
from engine.model.inventory import Inventory

SCALE = 1000
MOST_NAMED = 6  # files of those that stay where they are


class LookCard(Card):
    """What a model is, and the button that has it come."""

    fetch_wanted = Signal(object)  # Look
    cancel_wanted = Signal()
    discard_wanted = Signal(object)  # Look

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.setObjectName("models_look_card")
        self.found: PublishedModel | None = None
        self._transfer: Transfer | None = None
        self._begun = 0
        self._is_here = False
        self._out = Path()
        self.said = label("", "muted", wrap=True, name="models_look_said")
        self._values: dict[str, QLabel] = {}
        self._facts = QWidget()
        for key, _ in self._captions():
            self._values[key] = label("", wrap=True, name=f"models_look_{key}")
        self._captioned = {key: label(caption, "muted") for key, caption in self._captions()}
        for one in self._captioned.values():
            one.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        form_rows(
            *((self._captioned[key], self._values[key]) for key, _ in self._captions()), gap=5,
            parent=self._facts,
        )  # fmt: skip
        self.bar = named(QProgressBar(textVisible=False, maximum=SCALE), "models_bar", self.tr("Progress"))
        self.progress = label("", "muted", wrap=True, name="models_progress")
        self.fetch_button = button(self.tr("Download"), "primary", name="models_fetch", call=self._want)
        self.cancel_button = button(self.tr("Cancel"), name="models_cancel", call=self.cancel_wanted)
        self.discard_button = button(self.tr("Delete the partial download"), name="models_discard")
        self.add(self.said)
        self.add(self._facts)
        buttons = (self.discard_button, self.cancel_button, self.fetch_button)
        self.add_layout(row((column(self.bar), 1), *buttons, gap=10))
        self.add(self.progress)  # a refusal is long, and two buttons leave it little room
        self.discard_button.clicked.connect(self._want_discarded)
        self.show_nothing()

    def _captions(self) -> tuple[tuple[str, str], ...]:
        return (
            ("kind", self.tr("Kind")),
            ("loaded", self.tr("Will be loaded")),
            ("left", self.tr("Will be ignored")),
            ("files", self.tr("To download")),
            ("commit", self.tr("Version")),
            ("place", self.tr("Folder")),
        )

    def show_nothing(self) -> None:
        """Say what is to be done."""
        self._show(None, self.tr("Choose one, or type a name and press Enter to see what it is first."))

    def show_looking(self, name: str) -> None:
        """Say that a model is being looked at."""
        self._show(None, self.tr("Looking up {name}…").format(name=words.shorten(name, 80)))

    def show_refusal(self, error: BaseException) -> None:
        """Say why a model cannot be looked at."""
        self._show(None, words.say_error(error), is_refusal=True)

    def show_look(self, look: PublishedModel, out: Path, *, begun: int, is_here: bool) -> None:
        """Show what a model is. Args: out: its folder. begun: bytes of it that are here. is_here: all are."""
        self._begun, self._is_here, self._out = begun, is_here, out
        problem = look.problem
        self._show(look, "" if problem is None else words.say_error(problem), is_refusal=problem is not None)

    def show_transfer(self, transfer: Transfer | None) -> None:
        """Show how far the model has come, if it is the one that is shown."""
        self._transfer = transfer
        self._show_state()

    def _show(self, look: PublishedModel | None, said: str, *, is_refusal: bool = False) -> None:
        self.found = look
        self.set_title("" if look is None else look.name)
        self.set_hint("" if look is None else look.licence or self.tr("licence not stated"))
        self.said.setText(said)
        self.said.setVisible(bool(said))
        set_role(self.said, "refusal" if is_refusal else "muted")
        facts = {} if look is None or look.problem is not None else self._facts_of(look)
        for key, value in self._values.items():
            text = facts.get(key, "")
            value.setText(text)
            value.setVisible(bool(text))
            self._captioned[key].setVisible(bool(text))
        self._facts.setVisible(bool(facts))
        self._show_state()

    def _facts_of(self, look: PublishedModel) -> dict[str, str]:
        kind = [look.kind or "BERT"]
        if look.config is not None:
            kind.append(shape_words(look.config))
            pieces = self.tr("{count} pieces")
            kind.append(pieces.format(count=words.number(look.config.vocab_size)))
        if look.languages:
            kind.append(words.listed(words.shorten(one, 16) for one in look.languages[:8]))
        if look.gated:
            kind.append(self.tr("its terms have to be accepted"))
        sizes = self.tr("{size} in {count} files")
        files = [sizes.format(size=words.file_size(look.num_bytes), count=words.number(len(look.files)))]
        if look.cached:
            known = self.tr("{size} of it are in this computer’s cache")
            files.append(known.format(size=words.file_size(look.num_bytes - look.to_fetch)))
        if look.left_out:
            others = self.tr("not downloaded: {names}")
            names = [words.shorten(one, 30) for one in look.left_out[:MOST_NAMED]]
            more = ["…"] if len(look.left_out) > MOST_NAMED else []
            files.append(others.format(names=words.listed([*names, *more])))
        if self._is_here:
            files = [self.tr("nothing: this version is here, complete")]
        commit = [look.revision, look.commit[:12], look.host or self.tr("from the cache")]
        return {
            "kind": PART.join(kind),
            "loaded": self._loaded(look.inventory),
            "left": "" if look.inventory is None else _left(look.inventory),
            "files": PART.join(files),
            "commit": PART.join(commit),
            "place": QDir.toNativeSeparators(str(self._out)),
        }

    def _loaded(self, found: Inventory | None) -> str:
        if found is None:
            return self.tr("known after the download: the weights are not in safetensors")
        weights = self.tr("{count} weights").format(count=millions(found.num_weights))
        return PART.join([weights, answer_words(found.answers, len(found.labels))])

    def _show_state(self) -> None:
        """Show the buttons and the bar that fit what is under way."""
        look, transfer = self.found, self._transfer
        is_own = look is not None and transfer is not None and transfer.look.name == look.name
        is_running = transfer is not None and transfer.is_running
        can_fetch = look is not None and look.problem is None and not is_running
        begun = self._begun if look is not None else 0
        moved = transfer.moved if is_own and transfer is not None else None
        has_begun = transfer is not None and moved is not None and moved.done > 0
        stopped = has_begun and transfer is not None and not transfer.is_running and not transfer.is_whole
        self.fetch_button.setVisible(can_fetch)
        is_here = self._is_here or (is_own and transfer is not None and transfer.is_whole)
        goes_on = self.tr("Continue") if begun or stopped else self.tr("Download")
        self.fetch_button.setText(self.tr("Show it") if is_here else goes_on)
        self.cancel_button.setVisible(is_own and is_running)
        self.discard_button.setVisible(can_fetch and bool(begun or stopped))
        text = ""
        if look is not None and transfer is not None and is_own:
            text = self._progress(transfer)
            self.bar.setValue(round(SCALE * transfer.share))
        elif is_running and transfer is not None and look is not None:
            text = self.tr("{name} is being downloaded. One at a time.")
            text = text.format(name=transfer.look.name)
        elif begun and look is not None:
            text = self.tr("{size} are here from before.").format(size=words.file_size(begun))
            self.bar.setValue(round(SCALE * min(1.0, begun / max(1, look.num_bytes))))
        is_refused = is_own and transfer is not None and transfer.refusal is not None
        set_role(self.progress, "refusal" if is_refused else "muted")
        self.progress.setText(text)
        self.progress.setVisible(bool(text))
        is_under_way = is_own and (is_running or has_begun)
        self.bar.setVisible((is_under_way or bool(begun)) and look is not None)

    def _progress(self, transfer: Transfer) -> str:
        moved = transfer.moved
        if transfer.refusal is not None:
            return words.say_error(transfer.refusal)
        if transfer.is_whole:
            return self.tr("It is here, complete.")
        size = "" if moved is None else words.file_size(moved.done)
        if not transfer.is_running:
            kept = self.tr("Cancelled. {size} are here and are kept.").format(size=size)
            return kept if size else self.tr("Cancelled.")
        if moved is None:
            return self.tr("Starting…")
        parts = [self.tr("{done} of {total}").format(done=size, total=words.file_size(moved.total))]
        if moved.remaining_s is not None:
            parts.append(self.tr("{speed} per second").format(speed=words.file_size(moved.speed)))
            parts.append(self.tr("{time} left").format(time=words.duration(moved.remaining_s)))
        notes = [words.say(note) for note in transfer.notes[-1:]]
        return PART.join([*parts, moved.file, *notes])

    def _want(self) -> None:
        if self.found is not None:
            self.fetch_wanted.emit(self.found)

    def _want_discarded(self) -> None:
        if self.found is not None:
            self._begun = 0
            self.discard_wanted.emit(self.found)


def _left(found: Inventory) -> str:
    names = [
        f"{words.shorten(words.tr_engine(one.what), 40)} ({words.number(one.num_weights)})"
        for one in found.leftovers
    ]
    return words.listed(names)
