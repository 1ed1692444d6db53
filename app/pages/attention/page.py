"""The Attention page: where each head looks, and what happens without it.

The page holds one `Chosen`; whatever changes it goes through `_choose`, which shows it and asks for what is
not there yet. Pictures are composed on a worker; this thread only paints them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import Qt, QTimer, Slot
from PySide6.QtGui import QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app import words
from app.look.copy_command import CopyCommandButton
from app.look.labels import label
from app.look.widgets import GAP, button
from app.pages.attention import captions
from app.pages.attention.attribution import AttributionCard
from app.pages.attention.compare import CompareDialog
from app.pages.attention.ablation import EffectsCard
from app.pages.attention.head_search import Finder
from app.pages.attention.heads import HeadsCard
from app.pages.attention.picture import PictureCard
from app.pages.attention.requests import KEYS, Desk, other_asked
from app.pages.attention.state import PICTURES, Chosen, Comparison
from app.pages.attention.switcher import Switcher
from app.pages.attention.tasks import Asked, Drawn
from app.pages.inside.page import LookingPage
from app.pages.inside.texts import TextPair
from app.plots.attention_image import MosaicPicture
from app.plots.figure import Figure
from app.remembered import keep_heads, kept_heads
from app.session import Session
from engine.commands.inspect import attention_command
from engine.errors import UserError
from engine.inspect.attention.views import BlockMasses
from engine.inspect.attention.weights import Detail
from engine.inspect.subject import About

COMMAND_FILE = "attention.npz"
VIEW, HEADS = "attention/view", "attention/heads"  # kept for the next start
PATIENCE_MS = 300
LEFT, RIGHT = 58, 42  # shares of the width
LEAST_RIGHT, MOST_RIGHT = 288, 640  # px
NARROW = 960  # px of the page; below, the picture takes what the right side does not need


class AttentionPage(LookingPage):
    """The text above; the picture at the left; all heads and the effects of switching at the right."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(session, parent=parent)
        self.setObjectName("attention_page")
        self.header.title_label.setText(self.tr("Attention"))
        self.header.set_sentence(self.tr("See where each head looks and what it does."))
        self.chosen = Chosen(picture=session.settings.value(VIEW, PICTURES[0]))
        if self.chosen.picture not in PICTURES:
            self.chosen = Chosen()
        self._kept_heads = kept_heads(session.settings, HEADS)  # until there is a model
        self._about: About | None = None
        self._dialog: CompareDialog | None = None
        self._counted = ""
        self._patience = QTimer(self, singleShot=True, interval=PATIENCE_MS)
        self._make_actions()
        self._make_cards()
        self.desk = Desk(self.laboratory, self)
        self.finder = Finder(session, self.heads, self)
        self.switcher = Switcher(self.laboratory, self.effects, self)
        self._lay_out()
        self._connect()
        self._add_keys()
        self.forget_when_gone(*KEYS)
        self._show_chosen()

    def _make_actions(self) -> None:
        self.copy_button = CopyCommandButton()
        self.copy_button.setObjectName("copy_attention_command")
        self.save_button = button(self.tr("Save figure…"), icon="save", name="attention_save")
        self.compare_button = button(self.tr("Compare…"), name="attention_compare_button")
        for action in (self.copy_button, self.save_button, self.compare_button):
            self.header.add_action(action)

    def _make_cards(self) -> None:
        self.texts = TextPair(self.session, name="attention")
        self.count = label("", "muted")
        self.count.setObjectName("attention_count")
        self.count.setToolTip(self.tr("[CLS] and [SEP] count too. Beside it: the memory for all heads."))
        self.attribution = AttributionCard(self.session)
        self.picture = PictureCard(self.attribution)
        self.heads = HeadsCard()
        self.effects = EffectsCard()

    def _lay_out(self) -> None:
        above = QHBoxLayout()
        above.setSpacing(12)
        above.addWidget(self.texts, 1)
        self.count.setFixedHeight(self.texts.box_a.one_line)
        above.addWidget(self.count, 0, Qt.AlignmentFlag.AlignTop)
        self.work.addLayout(above)
        self._right = QWidget()
        self._right.setMinimumWidth(LEAST_RIGHT)
        column = QVBoxLayout(self._right)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GAP)
        column.addWidget(self.heads, 1)
        column.addWidget(self.effects)
        columns = QHBoxLayout()
        columns.setSpacing(GAP)
        columns.addWidget(self.picture, LEFT)
        columns.addWidget(self._right, RIGHT)
        self.work.addLayout(columns, 1)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._right.setMaximumWidth(MOST_RIGHT if event.size().width() >= NARROW else LEAST_RIGHT)

    def _connect(self) -> None:
        self.copy_button.clicked.connect(self.copy_command)
        self.save_button.clicked.connect(self.save_figure)
        self.compare_button.clicked.connect(self.open_compare)
        self.picture.picture_chosen.connect(self.show_picture)
        self.picture.changed.connect(self.change)
        self.picture.locked.connect(self.lock)
        self.picture.comparison_ended.connect(self.end_comparison)
        for source in (self.picture, self.heads):
            source.head_chosen.connect(self.choose_head)
            source.head_added.connect(self.add_head)
        self.effects.switch_wanted.connect(self.switch_heads)
        self.effects.layer_wanted.connect(self.switch_layer)
        self.effects.all_on_wanted.connect(self.switch_all_on)
        self.effects.ranking_wanted.connect(self.heads.rank)
        self.switcher.text_wanted.connect(self.laboratory.set_text)
        self.switcher.changed.connect(self._effects_changed)
        self.desk.looked_changed.connect(self._looked_changed)
        self.desk.busy_changed.connect(self._busy_changed)
        self._patience.timeout.connect(self._say_busy)
        self.desk.drawn.connect(self._take_drawn)
        self.desk.mosaic_composed.connect(self._take_mosaic)
        self.desk.masses_summed.connect(self._take_masses)
        self.desk.detail_found.connect(self._take_detail)
        for asker in (self.desk, self.finder, self.switcher):
            asker.failed.connect(self._failed)
        self.session.table_changed.connect(self._show_chosen)
        self.laboratory.model_changed.connect(self._show_chosen)
        self.laboratory.explanation_wanted.connect(self.explain)

    def _add_keys(self) -> None:
        for keys, call in (
            ("[", lambda: self._choose(self.chosen.step(heads=-1))),
            ("]", lambda: self._choose(self.chosen.step(heads=1))),
            ("{", lambda: self._choose(self.chosen.step(layers=-1))),
            ("}", lambda: self._choose(self.chosen.step(layers=1))),
            ("PgUp", lambda: self._choose(self.chosen.step(layers=-1))),
            ("PgDown", lambda: self._choose(self.chosen.step(layers=1))),
            ("O", self.switch_heads),
            ("Shift+O", self.switch_layer),
            ("Shift+A", self.switch_all_on),
        ):
            self._add_key(keys, call)

    def _add_key(self, keys: str, call: Callable[[], None]) -> None:
        shortcut = QShortcut(QKeySequence(keys), self)
        shortcut.setContext(Qt.ShortcutContext.WindowShortcut)  # while the page is shown, whatever has focus
        shortcut.activated.connect(call)

    # ---- model and text

    def model_ready(self, about: About) -> None:
        """Look into another model; what is chosen stays where it has the same heads."""
        self._about = about
        config = about.config
        shape = config.num_hidden_layers, config.num_attention_heads
        self.chosen = self.chosen.fitted(shape)
        if self._kept_heads:
            self.chosen = replace(self.chosen, heads=self._kept_heads).fitted(shape)
            self._kept_heads = ()
        self._show_chosen()

    def text_ready(self) -> None:
        """Look at the shared text."""
        lab, about = self.laboratory, self._about
        if about is None:
            return
        self.attribution.set_subject(lab.text, lab.pair, about)
        try:
            encoding = about.encode(lab.text, lab.pair)
        except UserError as error:
            self._show_unreadable(error)
            return
        self.accept()
        self._counted = captions.count_words(encoding.token_type_ids, about.config)
        self.count.setText(self._counted)
        looked = self.desk.looked
        if looked is not None and (looked.look.text, looked.look.text_pair) != (lab.text, lab.pair):
            self.chosen = replace(self.chosen, locked=-1)
        self._study()

    def _study(self) -> None:
        if self._about is not None:
            asked = Asked(self._about.folder, self.laboratory.text, self.laboratory.pair, self.chosen.off)
            self.desk.study(asked)
            self.desk.compare(other_asked(asked, self.chosen.comparison))

    def _show_unreadable(self, error: UserError) -> None:
        self.desk.forget()
        self.count.setText("")
        self.accept()
        self.picture.show_nothing(words.say_error(error))
        self.heads.mosaic.clear()
        self.finder.take(None, self.chosen)
        self._show_chosen()
        self.offer_beginning(error)

    def _failed(self, error: BaseException) -> None:
        self.refuse(error)
        if not self.desk.fits(self.chosen) and not self.desk.is_looking:  # nothing old to go on showing
            self.picture.show_nothing(words.say_error(error))

    # ---- what is chosen

    @Slot(int, int)
    def choose_head(self, layer: int, head: int) -> None:
        """Show one head."""
        self._choose(self.chosen.choose(layer, head))

    @Slot(int, int)
    def add_head(self, layer: int, head: int) -> None:
        """Average one head more, or one less."""
        self._choose(self.chosen.add(layer, head))

    @Slot(str)
    def show_picture(self, name: str) -> None:
        """Show the heatmap, the arcs, the query-key detail, all heads, or attribution."""
        self._choose(replace(self.chosen, picture=name))

    @Slot()
    def explain(self) -> None:
        """Show which words the model's own answer rests on."""
        self.attribution.choices.ask_own_answer()
        self.show_picture("attribution")

    @Slot(str, object)
    def change(self, name: str, value: object) -> None:
        """Change one field of what is chosen."""
        self._choose(self.chosen.changed(name, value))

    @Slot(int)
    def lock(self, place: int) -> None:
        """Keep a token's row, by its place in the encoding; -1 lets go."""
        self._choose(replace(self.chosen, locked=place))

    @Slot()
    def switch_heads(self) -> None:
        """Switch the chosen heads off, or on again."""
        if self.desk.fits(self.chosen):
            self._choose(self.chosen.switch(self.switcher.heads()))

    @Slot()
    def switch_layer(self) -> None:
        """Switch all heads of the layer off, or on again."""
        if self.desk.fits(self.chosen):
            self._choose(self.chosen.switch(self.chosen.layer_heads(self.chosen.layer)))

    @Slot()
    def switch_all_on(self) -> None:
        """Switch every head on."""
        self._choose(replace(self.chosen, off=frozenset()))

    def _choose(self, chosen: Chosen) -> None:
        before, self.chosen = self.chosen, chosen
        if chosen == before:
            return
        self.session.settings.set_value(VIEW, chosen.picture)
        keep_heads(self.session.settings, HEADS, chosen.heads)
        self._show_chosen()
        if chosen.off != before.off or chosen.comparison != before.comparison:
            self._study()
        self.desk.draw_mosaic(chosen)
        if self._is_drawn_anew(before):
            self.desk.draw(chosen)

    def _is_drawn_anew(self, before: Chosen) -> bool:
        """Whether the picture is another one: not when only the lock, or what is off, has changed."""
        now = self.chosen
        if now.picture == "query_key" and now.locked != before.locked:
            return True
        same = replace(before, locked=now.locked, off=now.off) == now
        return not same

    def _show_chosen(self) -> None:
        chosen = self.chosen
        look = self.desk.looked.look if self.desk.looked is not None else None
        has_pair = look is not None and look.text_pair is not None
        title = captions.title(chosen)
        if chosen.picture == "query_key":
            title = captions.title(replace(chosen, heads=(chosen.current,), of="heads"))
        self.picture.show_chosen(chosen, title, has_pair=has_pair)
        self.heads.show_chosen(chosen)
        self.finder.take_chosen(chosen)
        self._right.setVisible(chosen.picture != "attribution")
        self.heads.set_listed(chosen.picture == "heads")
        self.picture.show_comparison(captions.difference_words(chosen))
        table = self.session.table
        self.heads.set_can_measure(has_pair=has_pair, table=table.path.name if table is not None else "")
        self.switcher.take(self._about, self.desk.looked, chosen, self.desk.look_seconds)
        for action in (self.save_button, self.compare_button, self.copy_button):
            action.setEnabled(look is not None and self.laboratory.refusal is None)

    # ---- what has come

    @Slot()
    def _looked_changed(self) -> None:
        if not self.desk.fits(self.chosen):
            return
        self.accept()
        self._show_chosen()
        self.finder.take(self.desk.looked, self.chosen)
        self.desk.draw_mosaic(self.chosen)
        self.desk.draw(self.chosen)

    @Slot()
    def _busy_changed(self) -> None:
        """Say that a look is under way, once it takes long enough to be asked after."""
        if self.desk.is_looking and not self._patience.isActive():
            self._patience.start()
        elif not self.desk.is_looking:
            self._patience.stop()
            self.count.setText(self._counted)
            self.count.setMinimumWidth(0)

    @Slot()
    def _say_busy(self) -> None:
        self.count.setMinimumWidth(self.count.width())
        self.count.setText(self.tr("Looking…"))

    @Slot(object)
    def _take_drawn(self, drawn: Drawn) -> None:
        self.accept()
        self.picture.show_drawn(drawn, self.chosen.locked)
        self.picture.show_comparison(captions.difference_words(self.chosen, drawn.shown.left_out))
        self._tell_caption()

    @Slot(object)
    def _take_mosaic(self, mosaic: MosaicPicture) -> None:
        self.heads.show_mosaic(mosaic, self.chosen)
        self.picture.show_mosaic(mosaic, self.chosen)

    @Slot(object)
    def _take_masses(self, masses: BlockMasses | None) -> None:
        self.picture.show_masses(captions.mass_words(masses) if masses is not None else ())

    @Slot(object)
    def _take_detail(self, detail: Detail) -> None:
        self.picture.show_detail(detail)
        self._tell_caption()

    @Slot()
    def _effects_changed(self) -> None:
        found = self.switcher.effects
        self.finder.watch(found.effects[0].watched if found is not None and found.effects else None)

    def _tell_caption(self) -> None:
        if self.desk.looked is None:
            return
        lines = captions.caption(self.chosen, self.desk.looked.look)
        for figure in (*self.picture.figures(), self.heads.mosaic):
            figure.set_caption(lines)

    # ---- actions

    @Slot()
    def save_figure(self) -> None:
        """Ask where to, and save the picture on screen with its numbers and caption."""
        figure = self._figure()
        if figure is not None:
            self._tell_caption()
            figure.save_picture()

    def _figure(self) -> Figure | None:
        """Return the picture that "Save figure…" is of."""
        return self.picture.current_figure() or self.attribution.picture

    @Slot()
    def open_compare(self) -> None:
        """Ask what to compare with."""
        lab = self.laboratory
        kept = [(f"{self.tr('step')} {words.number(one.step)}", one.path) for one in self.subject_bar.kept]
        steps = [one for one in kept if one[1] != lab.folder]
        self._dialog = CompareDialog(self.session, self.chosen, steps, self)
        self._dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._dialog.compared.connect(self.compare)
        self._dialog.open()

    @Slot(object)
    def compare(self, against: Comparison) -> None:
        """Show the difference from another head, text or model."""
        picture = self.chosen.picture if self.chosen.picture == "arcs" else "heatmap"
        self._choose(replace(self.chosen, comparison=against, picture=picture))

    @Slot()
    def end_comparison(self) -> None:
        """Show the attention itself again."""
        self._choose(replace(self.chosen, comparison=None))

    @Slot()
    def copy_command(self) -> None:
        """Put the command that writes these weights to a file on the clipboard."""
        if self.desk.looked is not None:
            asked = self.desk.looked.asked
            off = sorted(asked.off)
            command = attention_command(asked.folder, asked.text, asked.text_pair, COMMAND_FILE, off)
            self.copy_button.copy(command)
