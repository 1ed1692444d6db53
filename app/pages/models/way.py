"""How a hub is asked: its mirror, how large files come, whether at all."""

from __future__ import annotations

import os

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QCheckBox, QWidget

from app.look.inputs import LineEdit
from app.look.labels import label
from app.look.layout import STRETCH, column, form_rows, row
from app.look.segmented_buttons import SegmentedButtons
from app.look.widgets import named
from engine.hub.asked import HubSettings, is_address, other_hub


class WayForm(QWidget):
    """The settings of asking; what is no address is refused beside its field, and not taken."""

    changed = Signal(object)  # HubSettings

    def __init__(self, way: HubSettings, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("models_way")
        self._way = way
        self.mirror = named(LineEdit(way.mirror), "models_mirror", self.tr("Mirror"))
        self.mirror.setClearButtonEnabled(True)
        self.mirror.setPlaceholderText(
            os.environ.get("HF_ENDPOINT") or self.tr("https://… (empty: the hub itself)")
        )
        self.refusal = label("", "refusal", wrap=True, name="models_mirror_refusal")
        self.refusal.hide()
        http = self.tr("One connection, which resumes after a break")
        xet = self.tr(
            "The hub’s own protocol. It is faster on some lines, and uses the hub’s servers "
            "even with a mirror"
        )
        entries = (("http", self.tr("Plain HTTP"), http), ("xet", self.tr("Xet"), xet))
        self.transport = SegmentedButtons("models_transport", entries)
        self.transport.set_current(way.transport)
        self.offline = named(QCheckBox(self.tr("Offline: only this computer’s cache")), "models_offline")
        self.offline.setChecked(way.offline)
        self.token = named(QCheckBox(self.tr("Also send my token to this address")), "models_token")
        self.token.setChecked(way.send_token)
        self.token.setEnabled(bool(other_hub(way.mirror)))
        self.revision = named(LineEdit(), "models_revision", self.tr("Revision"))
        self.revision.setPlaceholderText(self.tr("main; a tag or a commit"))
        said = self.tr(
            "A token from hf auth login is sent only to its own hub, or to a mirror if you "
            "allow it. Cloze stores none. Files in the cache of huggingface_hub are not "
            "downloaded again."
        )
        column(
            form_rows(
                (self.tr("Mirror"), column(self.mirror, self.refusal, gap=4)),
                (None, self.token),
                (self.tr("Large files by"), row(self.transport, STRETCH)),
                (self.tr("Revision"), self.revision),
                (None, self.offline),
            ),
            label(said, "muted", wrap=True),
            parent=self,
        )
        self.mirror.editingFinished.connect(self._take)
        self.transport.chosen.connect(self._take)
        self.token.toggled.connect(self._take)
        self.offline.toggled.connect(self._take)

    def show_way(self, way: HubSettings) -> None:
        """Show that another window part has said how it is asked."""
        self._way = way
        with QSignalBlocker(self.offline):
            self.offline.setChecked(way.offline)

    def _take(self) -> None:
        """Tell of another way."""
        mirror = self.mirror.text().strip()
        is_fine = not mirror or is_address(mirror)
        text = self.tr("This is not an address. An address begins with https:// or http://.")
        self.refusal.setText("" if is_fine else text)
        self.refusal.setVisible(not is_fine)
        mirror = mirror if is_fine else self._way.mirror
        with QSignalBlocker(self.token):  # what was allowed was allowed to one address
            self.token.setChecked(self.token.isChecked() and mirror == self._way.mirror)
        self.token.setEnabled(bool(other_hub(mirror)))
        way = HubSettings(
            mirror=mirror,
            transport=self.transport.current,
            offline=self.offline.isChecked(),
            send_token=self.token.isChecked(),
        )
        if way != self._way:
            self._way = way
            self.changed.emit(way)
