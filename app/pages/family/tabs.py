"""The kinds of questions as tabs; their words are short where room is short, so that none is cut off."""

from __future__ import annotations

from PySide6.QtWidgets import QTabBar, QWidget

from app.look.labels import tip
from app.pages.family.kinds.known import KINDS


class KindTabs(QTabBar):
    """A tab for each kind of question, in the order of `KINDS`."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, drawBase=False, expanding=False)
        self.setObjectName("family_tabs")
        self.setAccessibleName(self.tr("Kind of question"))
        self._said = tuple(kind.tab for kind in KINDS)
        self._is_short = False
        for place, (whole, _short) in enumerate(self._said):
            self.addTab(whole)
            self.setTabToolTip(place, tip(whole))

    def fit(self, room: int) -> bool:
        """Take the longer words if they fit into so many px. Returns: whether what is taken now does."""
        for is_short in (False, True):
            self._take(is_short)
            if self.sizeHint().width() <= room:
                return True
        return False

    def _take(self, is_short: bool) -> None:
        if is_short != self._is_short:
            self._is_short = is_short
            for place, said in enumerate(self._said):
                self.setTabText(place, said[is_short])
