"""Asks what changes when heads are off, and keeps the effects card up to date.

With nothing switched off the card tells what would change without the chosen head.
"""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from app.pages.attention.captions import effect_rows
from app.pages.attention.ablation import EffectsCard
from app.pages.attention.state import Chosen, Head
from app.pages.attention.tasks import Asked, Looked, effects_task
from app.work.inspector import Laboratory
from engine.inspect.attention.ablation import Effects
from engine.inspect.attention.weights import Look
from engine.inspect.subject import About
from engine.text.words import Word

SOON_MS, LATER_MS = 120, 700
SLOW_S = 0.4  # a look that takes longer is not repeated for every head that is passed over
MASK = "[MASK]"


class Switcher(QObject):
    """Fills an `EffectsCard`."""

    changed = Signal()  # other effects are known
    failed = Signal(object)
    text_wanted = Signal(str, str)

    def __init__(self, laboratory: Laboratory, card: EffectsCard, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._laboratory, self._card = laboratory, card
        self._about: About | None = None
        self._looked: Looked | None = None
        self._chosen = Chosen()
        self._shown: Asked | None = None
        self._rest = QTimer(self, singleShot=True)
        self._rest.timeout.connect(self._ask)
        self.effects: Effects | None = None
        card.mask_wanted.connect(self._mask)

    def take(self, about: About | None, looked: Looked | None, chosen: Chosen, seconds: float) -> None:
        """Show what changes for this choice. Args: seconds: that one look takes.

        A look of another model than `about`, or of another shape than the choice, is no look here: the look,
        the heads and the question always belong to one model.
        """
        if looked is not None and (
            about is None
            or looked.asked.folder != about.folder
            or looked.look.attentions.shape[:2] != chosen.shape
        ):
            looked = None
        self._about, self._looked, self._chosen = about, looked, chosen
        self._show_state()
        if looked is None or about is None or self.reason():
            self._forget()
            return
        if self._wanted() != self._shown:
            self._rest.start(LATER_MS if seconds > SLOW_S and not chosen.off else SOON_MS)
        else:
            self._rest.stop()

    @property
    def is_waiting(self) -> bool:
        """Whether it will ask as soon as the choice rests."""
        return self._rest.isActive()

    def heads(self) -> tuple[Head, ...]:
        """Return the heads that the card speaks of when none is off: the chosen ones, or their layer's."""
        return (
            self._chosen.heads if self._chosen.of == "heads" else self._chosen.layer_heads(self._chosen.layer)
        )

    def _show_state(self) -> None:
        chosen, card = self._chosen, self._card
        count = len(chosen.off)
        several = len(self.heads()) > 1
        if count:
            title = self.tr("1 head switched off") if count == 1 else self.tr("{count} heads switched off")
        elif several:
            title = self.tr("Without these {count} heads")
        else:
            title = self.tr("Without this head")
        card.set_title(title.format(count=count or len(self.heads())))
        is_off = frozenset(self.heads()) <= chosen.off
        layer_off = frozenset(chosen.layer_heads(chosen.layer)) <= chosen.off
        off = self.tr("Switch them off") if several else self.tr("Switch off")
        on = self.tr("Switch them on") if several else self.tr("Switch on")
        card.switch_button.setText(on if is_off else off)
        card.layer_button.setText(self.tr("Layer on") if layer_off else self.tr("Layer off"))
        card.all_on_link.setVisible(bool(count))
        card.switch_button.setEnabled(self._looked is not None)
        card.layer_button.setEnabled(self._looked is not None)

    def _forget(self) -> None:
        self._rest.stop()
        self._laboratory.drop("attention_effects")
        self._shown, self.effects = None, None
        self._card.ranking_link.setEnabled(False)
        word = self._word_to_mask()
        can_mask = self._about is not None and self._about.has_masked_words and word is not None
        self._card.show_reason(self.reason(), word.text if can_mask and word is not None else "")
        self.changed.emit()

    def reason(self) -> str:
        """Return why nothing can change, "" where something can."""
        about, look = self._about, self._look
        if about is None or look is None:
            return self.tr("There is nothing to compare yet.")
        if about.labels or (about.has_masked_words and MASK in look.encoding.tokens):
            return ""
        if about.has_next_sentence and look.text_pair is not None:
            return ""
        if about.has_masked_words and about.has_next_sentence:
            return self.tr("Put [MASK] in the text, or type a text B: then you see which answer changes.")
        if about.has_masked_words:
            return self.tr("Put [MASK] in the text: then you see how the guess changes.")
        if about.has_next_sentence:
            return self.tr("Type a text B: then you see how the next-sentence probability changes.")
        return self.tr(
            "This model has no trained masked-word, next-sentence or label head, so it gives no answer that "
            "could change. Fine-tune it, or pretrain it further; attention is shown all the same."
        )

    @property
    def _look(self) -> Look | None:
        return self._looked.look if self._looked is not None else None

    def _wanted(self) -> Asked | None:
        if self._looked is None:
            return None
        asked = self._looked.asked
        return Asked(asked.folder, asked.text, asked.text_pair, self._chosen.off or frozenset(self.heads()))

    @Slot()
    def _ask(self) -> None:
        asked = self._wanted()
        if asked is None:
            return
        self._laboratory.ask(
            "attention_effects",
            partial(effects_task, asked),
            heard=partial(self._take_effects, asked),
            failed=self.failed.emit,
        )

    def _take_effects(self, asked: Asked, found: Effects) -> None:
        look = self._look
        if look is None or (asked.folder, asked.text, asked.text_pair) != (
            self._looked and self._looked.asked.folder, look.text, look.text_pair,
        ):  # fmt: skip
            return  # of a text that is gone
        self._shown, self.effects = asked, found
        self._card.ranking_link.setEnabled(bool(found.effects))
        self._card.show_rows(effect_rows(found, look.encoding.tokens))
        self.changed.emit()

    # ---- a word to hide

    def _word_to_mask(self) -> Word | None:
        """Return the locked token's word, else the longest one of A."""
        look = self._look
        if look is None or not look.words:
            return None
        locked = next((word for word in look.words if self._chosen.locked in word.pieces), None)
        first = [word for word in look.words if word.segment == 0]
        return locked or max(first, key=lambda word: len(word.text), default=None)

    @Slot()
    def _mask(self) -> None:
        look, word = self._look, self._word_to_mask()
        if look is None or word is None:
            return
        texts = [look.text, look.text_pair or ""]
        said = texts[word.segment]
        texts[word.segment] = said[: word.start] + MASK + said[word.stop :]
        self.text_wanted.emit(*texts)
