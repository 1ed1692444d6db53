"""Where a run is trained: here, or on a host that ssh reaches; what is there, and how Cloze is put there.

A host is asked only where a person presses Check, Install or Start.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import partial

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QLabel, QWidget

from app import words
from app.look.boxes import ChoiceBox
from app.look.inputs import LineEdit
from app.look.labels import PART, WholeLabel, label, set_or_hide, tip
from app.look.layout import STRETCH, form_rows, row
from app.look.sure_dialog import SureDialog
from app.look.widgets import button, holder, named, set_role
from app.session import Session
from app.words import translate
from app.work.hosts import HostState
from engine.errors import UserError, marked
from engine.remote.computer import Computer
from engine.remote.hosts import remember, settings_of, slurm_options

EXAMPLE = "--gpus=1 --mem=32G"


class WhereChooser(QObject):
    """The rows of a form that say where; `changed` when that is another computer."""

    changed = Signal()

    def __init__(self, session: Session, parent: QWidget) -> None:
        super().__init__(parent)
        self._hosts, self._parent = session.hosts, parent
        self.host = ""  # "": this computer
        self.box = ChoiceBox("where_choice", self.tr("Where"))
        self.box.setToolTip(
            tip(
                self.tr("This computer, or one that ssh reaches: a run there continues when Cloze is closed.")
            )
        )
        self.typed = named(LineEdit(), "where_host", self.tr("Host"))
        self.typed.setPlaceholderText(self.tr("name, or user@computer"))
        self.slurm = named(LineEdit(), "where_slurm", self.tr("SLURM options"))
        self.slurm.setPlaceholderText(EXAMPLE)
        self.slurm.setToolTip(
            tip(
                self.tr(
                    "What sbatch is given, such as {example}. Whoever runs the cluster knows what it needs. "
                    "It is remembered for this host."
                ).format(example="--partition=gpu --gpus=2 --time=4:00:00")
            )
        )
        self.slurm_help = WholeLabel(self.tr("Options of sbatch; empty without SLURM."), "muted")
        self.said = named(WholeLabel("", "muted"), "where_said")
        self.refusal = named(WholeLabel("", "refusal"), "refusal_where")
        self.check = button(self.tr("Check"), name="where_check", call=self._check)
        self.check.setToolTip(tip(self.tr("Connect, and say what is there. Nothing is sent.")))
        self.install = button(self.tr("Install…"), name="where_install", call=self._ask_to_install)
        self._slurm_caption = label(self.tr("SLURM"), buddy=self.slurm)
        self._buttons = holder(row(self.check, self.install, STRETCH))
        self.typed.hide()
        self.refusal.hide()
        self._connect()
        self.fill()

    def _connect(self) -> None:
        self.box.chosen.connect(self.choose)
        self.typed.returnPressed.connect(self._take_typed)
        self.typed.editingFinished.connect(self._take_typed)
        self.slurm.textEdited.connect(self.show)
        self.slurm.editingFinished.connect(self._keep_slurm)
        self._hosts.changed.connect(self._hear)

    @property
    def parts(self) -> tuple[QWidget, ...]:
        """What the keyboard goes through, in order."""
        return self.box, self.typed, self.slurm, self.check, self.install

    def panel(self) -> QWidget:
        """Return the rows as a widget of their own."""
        made = QWidget()
        set_role(made, "clear")
        form_rows(*self.rows(), margins=(0, 0, 0, 4), parent=made)
        self.show()
        return made

    def rows(self) -> list[tuple[str | QLabel | None, QWidget]]:
        """Return the rows in order, each a caption and its widget; a sentence has no caption."""
        return [
            (self.tr("Where"), self.box),
            (None, self.typed),
            (self._slurm_caption, self.slurm),
            (None, self.slurm_help),
            (None, self.refusal),
            (None, self.said),
            (None, self._buttons),
        ]

    def fill(self) -> None:
        """List the hosts there are."""
        self.box.clear()
        self.box.addItem(self.tr("This computer"), "")
        for host in dict.fromkeys([*self._hosts.names(), *filter(None, [self.host])]):
            self.box.add_choice(host, host)
        self.box.add_action(self.tr("Another host…"), self._type_host)
        self.box.choose(self.host, or_first=True)

    def choose(self, host: str) -> None:
        """Train on a host; "": on this computer."""
        self.host = host
        self.typed.hide()
        self.refusal.hide()
        self.slurm.setText(settings_of(host).slurm if host else "")
        self.fill()
        self.show()
        self.changed.emit()

    def asked(self) -> str:
        """Return the host to train on. Raises: UserError: it is known that it cannot be, and why."""
        if self.host:
            self._remember()
            computer = self._hosts.state(self.host).computer
            if computer is not None and not computer.has_cloze:
                template = marked(
                    "engine", "Cloze is not on {host} yet. Install it there first, under Where."
                )
                raise UserError(template, host=self.host)
        return self.host

    def check_again(self) -> None:
        """Ask the host what it has, as it could not be trained on."""
        if self.host and not self._hosts.state(self.host).is_asked:
            self._hosts.check(self.host)

    # ---- choosing

    def _type_host(self) -> None:
        self.typed.clear()
        self.typed.show()
        self.typed.setFocus()

    def _take_typed(self) -> None:
        name = self.typed.text().strip()
        if self.typed.isHidden():
            return
        if not name:
            self.typed.hide()
            return
        try:
            host = self._hosts.add(name)
        except UserError as error:
            set_or_hide(self.refusal, words.say_error(error))
            return
        had_focus = self.typed.hasFocus()
        self.choose(host)
        if had_focus:
            self.check.setFocus()

    def _keep_slurm(self) -> None:
        try:
            self._remember()
        except UserError as error:
            set_or_hide(self.refusal, words.say_error(error))
        else:
            self.refusal.hide()
        self.show()

    def _remember(self) -> None:
        """Remember the options of a host. Raises: UserError: they are none."""
        text = self.slurm.text().strip()
        slurm_options(text)
        known = settings_of(self.host)
        if self.host and known.slurm != text:
            remember(self.host, replace(known, slurm=text))

    # ---- asking

    def _check(self) -> None:
        if self._hosts.state(self.host).is_asked:
            self._hosts.cancel(self.host)
        else:
            self._hosts.check(self.host)

    def _ask_to_install(self) -> None:
        text = self.tr(
            "Install Cloze on {host}? It gets a folder of its own there, ~/.cloze, and downloads PyTorch, "
            "which can take minutes and some GB. Nothing else there is changed."
        )
        title, action = self.tr("Install Cloze"), self.tr("Install")
        dialog = SureDialog("install", title, text.format(host=self.host), (), action, self._parent.window())
        dialog.accepted.connect(partial(self._hosts.install, self.host))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _hear(self, host: str) -> None:
        if host == self.host:
            self.show()

    # ---- showing

    def show(self) -> None:
        """Show what the choice has to say, once the rows lie in a form."""
        state = self._hosts.state(self.host) if self.host else HostState()
        for part in (self._slurm_caption, self.slurm, self.slurm_help, self._buttons):
            part.setVisible(bool(self.host) and part.parent() is not None)  # else a window of its own
        computer = state.computer
        self.check.setText(self.tr("Cancel") if state.is_asked else self.tr("Check"))
        lacks = computer is not None and not computer.has_cloze and bool(computer.python)
        self.install.setVisible(lacks and not state.is_asked)
        set_role(self.said, "refusal" if state.refusal is not None else "muted")
        set_or_hide(self.said, self._said(state))
        self.said.setVisible(bool(self.host and self.said.text()))

    def _said(self, state: HostState) -> str:
        """Return what is known of the host."""
        if state.is_asked:
            stage = words.say(state.stage.sentence) if state.stage is not None else ""
            return f"{stage}…" if stage else self.tr("Connecting…")
        if state.refusal is not None:
            return words.say_error(state.refusal)
        if state.computer is None:
            return ""
        return words.sentences([computer_words(state.computer), *self._remarks(state.computer)])

    def _remarks(self, computer: Computer) -> list[str]:
        """Return what else there is to say of a host that has answered."""
        found, host = list[str](), self.host
        if computer.has_cloze:
            found.append(self.tr("The same Cloze as here is installed."))
        elif not computer.python:
            found.append(self.tr("It has no Python 3.11 or newer, which Cloze needs."))
        elif computer.program:
            found.append(self.tr("Another version of Cloze is installed."))
        else:
            found.append(self.tr("Cloze is not installed yet."))
        if computer.has_slurm and not self.slurm.text().strip():
            found.append(self.tr("It belongs to a SLURM cluster, so a run there usually needs options."))
        if not computer.has_slurm and self.slurm.text().strip():
            found.append(self.tr("There is no SLURM on {host}: remove the options.").format(host=host))
        return found


def computer_words(computer: Computer) -> str:
    """Return what a computer has, in one line: "16 cores · 2 × A100 · torch 2.13 · 310 GB free"."""
    cores = words.counted(
        computer.num_cores, translate("where", "1 core"), translate("where", "{count} cores")
    )
    parts = [cores] if computer.num_cores else []
    counts = Counter(computer.gpus)
    gpus = [name if count == 1 else f"{words.number(count)} × {name}" for name, count in counts.items()]
    parts.append(words.listed(gpus) if gpus else translate("where", "no GPU"))
    if computer.torch:
        parts.append(f"torch {computer.torch}")
    if computer.memory_bytes:
        memory = _gigabytes(computer.memory_bytes)
        parts.append(translate("where", "{size} of memory").format(size=memory))
    if computer.free_bytes:
        free = _gigabytes(computer.free_bytes)
        parts.append(translate("where", "{size} free").format(size=free))
    return words.closed(PART.join(parts))


def _gigabytes(num_bytes: int) -> str:
    """Return a size as the engine's sentence on a computer has it."""
    return f"{words.number(round(num_bytes / 2**30))} GB"
