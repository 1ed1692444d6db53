"""The Attention page: where each head looks, and what happens without it.

The page holds one `AttentionChoice`; whatever changes it goes through `_choose`, which shows it and asks for
what is not there yet. Pictures are composed on a worker; this thread only paints them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import QWidget

from app import words
from app.look.copy_command import CopyCommandButton
from app.look.labels import label
from app.look.layout import column, row
from app.look.widgets import GAP, button, named
from app.pages.anatomy.state import AnatomyState, Walk
from app.pages.attention import captions, requests
from app.pages.attention.ablation import EffectsCard, HeadAblation
from app.pages.attention.attribution import AttributionCard
from app.pages.attention.compare import CompareDialog
from app.pages.attention.head_pictures.arcs import Arcs
from app.pages.attention.head_pictures.head_picture import HeadPicture, PictureSource
from app.pages.attention.head_search import HeadSearch
from app.pages.attention.heads import HeadsCard
from app.pages.attention.picture import PictureCard
from app.pages.attention.requests import AttentionDrawing, AttentionRequest
from app.pages.attention.state import (
    IMPORTANCE,
    PICTURES,
    AttentionChoice,
    AttentionComparison,
    AttentionState,
)
from app.pages.inside.page import LookingPage
from app.pages.stated_page import InBar
from app.plots.attention_image import MosaicPicture
from app.plots.figure import Figure
from app.session import Session
from app.work.titles import model_title
from app.work.worker import Channel
from engine.errors import UserError, marked
from engine.inspect.attention.views import BlockMasses, block_masses
from engine.inspect.attention.weights import AttentionMaps
from engine.inspect.loaded_model import ModelSummary
from engine.model.model_name import ModelName
from engine.questions.attention import AttentionQuestion
from engine.questions.fields import head_names

COMMAND_FILE = "attention.npz"
PATIENCE_MS = 300
LEFT, RIGHT = 58, 42  # shares of the width
LEAST_RIGHT, MOST_RIGHT = 288, 640  # px
NARROW = 960  # px of the page; below, the picture takes what the right side does not need


class AttentionPage(LookingPage[AttentionState]):
    """The text above; the picture at the left; all heads and the effects of switching at the right."""

    state_kind = AttentionState

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(session, parent=parent)
        self.setObjectName("attention_page")
        self.header.title_label.setText(self.tr("Attention"))
        self.header.set_sentence(self.tr("See where each head looks and what it does."))
        self.chosen = AttentionChoice()
        self.maps: AttentionMaps | None = None  # an old answer stays until a new one comes
        self.other: AttentionMaps | None = None  # what they are compared with
        self._about: ModelSummary | None = None
        self._dialog: CompareDialog | None = None
        self._counted = ""
        self._began = self._seconds = 0.0  # the last maps were asked for; how long they took
        self._patience = QTimer(self, singleShot=True, interval=PATIENCE_MS)
        self._make_channels()
        self._make_actions()
        self._make_cards()
        self._lay_out()
        self._connect()
        self._add_keys()
        self._show_chosen()

    def _make_channels(self) -> None:
        workers = self.session.workers
        self._maps_asked = Channel(self, workers.models)
        self._other_asked = Channel(self, workers.models)
        self._row_asked = Channel(self, workers.models)
        self._view_asked = Channel(self, workers.quick)
        self._masses_asked = Channel(self, workers.quick)
        self._mosaic_asked = Channel(self, workers.quick)
        self._drawn = (self._row_asked, self._view_asked, self._masses_asked, self._mosaic_asked)
        self._channels = (self._maps_asked, self._other_asked, *self._drawn)

    def _make_actions(self) -> None:
        self.copy_button = named(CopyCommandButton(), "copy_attention_command")
        self.compare_button = button(self.tr("Compare…"), name="attention_compare_button")
        self.count = label(
            "",
            "muted",
            name="attention_count",
            tool_tip=self.tr("[CLS] and [SEP] count too. Also shown: the memory for all heads."),
        )
        self.header.add_fact(self.count)
        for action in (self.copy_button, self.compare_button):
            self.header.add_action(action)

    def _make_cards(self) -> None:
        self.attribution = AttributionCard(self.session)
        self.picture = PictureCard(self.attribution)
        self.heads = HeadsCard()
        self.effects = EffectsCard()
        self.search = HeadSearch(self.session, self.heads, self)
        self.ablation = HeadAblation(self.session, self.effects, self)

    def _lay_out(self) -> None:
        self._right = QWidget(minimumWidth=LEAST_RIGHT)
        column((self.heads, 1), self.effects, gap=GAP, parent=self._right)
        self.work.addLayout(row((self.picture, LEFT), (self._right, RIGHT), gap=GAP), 1)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._right.setMaximumWidth(MOST_RIGHT if event.size().width() >= NARROW else LEAST_RIGHT)

    def _connect(self) -> None:
        self.copy_button.clicked.connect(self.copy_command)
        self.compare_button.clicked.connect(self.open_compare)
        self.picture.picture_chosen.connect(self.show_picture)
        self.picture.changed.connect(self.change)
        self.picture.locked.connect(self.lock)
        self.picture.comparison_ended.connect(self.end_comparison)
        self.picture.anatomy_wanted.connect(self.show_anatomy)
        for source in (self.picture, self.heads):
            source.head_chosen.connect(self.choose_head)
            source.head_added.connect(self.add_head)
        self.effects.switch_wanted.connect(self.switch_heads)
        self.effects.layer_wanted.connect(self.switch_layer)
        self.effects.all_on_wanted.connect(self.switch_all_on)
        self.effects.ranking_wanted.connect(self.heads.rank)
        self.ablation.text_wanted.connect(self.inspector.set_text)
        self.ablation.changed.connect(self._effects_changed)
        for asker in (self.search, self.ablation):
            asker.refused.connect(self._refuse)
        self._patience.timeout.connect(self._say_busy)
        self.session.data.opened.connect(self._show_chosen)
        self.inspector.model_changed.connect(self._show_chosen)

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

    def set_bare(self, bare: bool) -> None:
        super().set_bare(bare)
        self.heads.set_keyless(bare)

    def forget(self) -> None:
        self.picture.show_nothing(self.tr("Looking…"))
        self.heads.mosaic.clear()

    def model_ready(self, about: ModelSummary) -> None:
        """Look into another model; what is chosen stays where it has the same heads."""
        self._about = about
        config = about.config
        shape = config.num_hidden_layers, config.num_attention_heads
        self.chosen = self.chosen.fitted(shape)
        self._show_chosen()

    def text_ready(self) -> None:
        """Look at the shared text."""
        inspector, about = self.inspector, self._about
        if about is None:
            return
        self.attribution.set_subject(inspector.text, inspector.pair, about)
        try:
            encoding = about.encode(inspector.text, inspector.pair)
        except UserError as error:
            self._show_unreadable(error)
            return
        self.accept()
        self._counted = captions.count_words(encoding.token_type_ids, about.config)
        self.count.setText(self._counted)
        if self.maps is not None and (self.maps.text, self.maps.text_pair) != (
            inspector.text,
            inspector.pair,
        ):
            self.chosen = replace(self.chosen, locked=-1)
        self._ask_maps()

    def _show_unreadable(self, error: UserError) -> None:
        for channel in self._channels:
            channel.drop()
        self.maps = self.other = None
        self.count.setText("")
        self.accept()
        self.picture.show_nothing(words.say_error(error))
        self.heads.mosaic.clear()
        self.search.set_maps(None, self.chosen)
        self._show_chosen()
        self.offer_beginning(error)

    def choose_head(self, layer: int, head: int) -> None:
        """Show one head."""
        self._choose(self.chosen.choose(layer, head))

    def add_head(self, layer: int, head: int) -> None:
        """Average one head more, or one less."""
        self._choose(self.chosen.add(layer, head))

    def show_picture(self, name: str) -> None:
        """Show the heatmap, the arcs, the query-key detail, all heads, or attribution."""
        self._choose(replace(self.chosen, picture=name))

    def change(self, name: str, value: object) -> None:
        """Change one field of what is chosen."""
        self._choose(self.chosen.changed(name, value))

    def lock(self, place: int) -> None:
        """Keep a token's row, by its place in the encoding; -1 lets go."""
        self._choose(replace(self.chosen, locked=place))

    def switch_heads(self) -> None:
        """Switch the chosen heads off, or on again."""
        if self.has_maps:
            self._choose(self.chosen.switch(self.ablation.heads()))

    def switch_layer(self) -> None:
        """Switch all heads of the layer off, or on again."""
        if self.has_maps:
            self._choose(self.chosen.switch(self.chosen.layer_heads(self.chosen.layer)))

    def switch_all_on(self) -> None:
        """Switch every head on."""
        self._choose(replace(self.chosen, off=frozenset()))

    def _choose(self, chosen: AttentionChoice) -> None:
        before, self.chosen = self.chosen, chosen
        if chosen == before:
            return
        self._show_chosen()
        if chosen.comparison != before.comparison:
            self.in_bar_changed.emit()
        if chosen.off != before.off or chosen.comparison != before.comparison:
            self._ask_maps()
        self._ask_pictures()

    def _show_chosen(self) -> None:
        chosen, maps = self.chosen, self.maps
        has_pair = maps is not None and maps.text_pair is not None
        self.picture.show_chosen(chosen, has_pair=has_pair)
        self.heads.show_chosen(chosen)
        self.search.set_chosen(chosen)
        self._right.setVisible(not self._head_picture.fills_page)
        self.heads.set_listed(self._head_picture.is_mosaic)
        self._say_difference()
        table = self.session.data.table
        self.heads.set_can_measure(has_pair=has_pair, table=table.path.name if table is not None else "")
        self.ablation.set_chosen(self._about, maps, chosen, self._seconds)
        for action in (self.compare_button, self.copy_button):
            action.setEnabled(maps is not None and self.inspector.refusal is None)

    @property
    def has_maps(self) -> bool:
        """Whether there are maps, of a model of the shape that the choice is for."""
        return self.maps is not None and self.maps.attentions.shape[:2] == self.chosen.shape

    @property
    def is_asking(self) -> bool:
        """Whether maps or a picture of them are still to come."""
        return any(channel.is_asking for channel in self._channels)

    @property
    def _is_looking(self) -> bool:
        return self._maps_asked.is_asking or self._other_asked.is_asking

    def _ask_maps(self) -> None:
        """Ask where the heads look, and where those look that they are compared with."""
        if self._about is None:
            return
        inspector = self.inspector
        asked = AttentionRequest(self._about.folder, inspector.text, inspector.pair, self.chosen.off)
        if self._ask_model(self._maps_asked, asked, self._take_maps):
            self._began = time.perf_counter()
        other = requests.other_asked(asked, self.chosen.comparison)
        if other is not None:
            self._ask_model(self._other_asked, other, self._take_other)
        else:
            self._other_asked.drop()
            self.other = None
        self._show_busy()

    def _ask_model(
        self, channel: Channel, asked: AttentionRequest, heard: Callable[[AttentionMaps], None]
    ) -> bool:
        work = partial(requests.find_maps, self.inspector.open_models, asked)
        about = (self._about and self._about.fingerprint, asked)  # a training may have changed the weights
        return channel.ask(about, work, heard=heard, refused=self._refuse, ended=self._show_busy)

    def _take_maps(self, maps: AttentionMaps) -> None:
        self.maps = maps
        self._seconds = time.perf_counter() - self._began
        self._maps_changed()

    def _take_other(self, maps: AttentionMaps) -> None:
        self.other = maps
        self._maps_changed()

    def _maps_changed(self) -> None:
        for channel in self._drawn:
            channel.drop()  # which lets go of the maps before
        if not self.has_maps:
            return
        self.accept()
        self._show_chosen()
        self.search.set_maps(self.maps, self.chosen)
        self._ask_pictures()

    def _refuse(self, error: BaseException) -> None:
        if not self._view_asked.is_asking:
            self._view_asked.drop()  # the same picture may be asked for again, and takes the refusal away
        self.refuse(error)
        if not self.has_maps and not self._is_looking:  # nothing old to go on showing
            self.picture.show_nothing(words.say_error(error))

    def _show_busy(self) -> None:
        """Say that maps are on their way, once they take long enough to be asked after."""
        if self._is_looking and not self._patience.isActive():
            self._patience.start()
        elif not self._is_looking:
            self._patience.stop()
            self.count.setText(self._counted)
            self.count.setMinimumWidth(0)

    def _say_busy(self) -> None:
        self.count.setMinimumWidth(self.count.width())
        self.count.setText(self.tr("Looking…"))

    def _ask_pictures(self) -> None:
        """Ask for all that the chosen view shows; what is asked last is answered first."""
        if self.maps is None or not self.has_maps:
            return
        self._ask_mosaic(self.maps)
        picture = self._head_picture
        asked = picture.question(
            PictureSource(self.maps, self.chosen, self.other, self.inspector.open_models)
        )
        if asked is None:
            return
        if picture.is_matrix:
            self._ask_masses(self.maps)
        channel = self._view_asked if picture.is_quick else self._row_asked
        channel.ask(asked.about, asked.work, heard=self._take_picture, refused=self._refuse)

    @property
    def _arcs(self) -> Arcs:
        found = self.picture.pictures[Arcs.key]
        assert isinstance(found, Arcs)
        return found

    @property
    def _head_picture(self) -> HeadPicture:
        """The picture that is chosen."""
        return self.picture.pictures[self.chosen.picture]

    def _say_difference(self, left_out: Sequence[str] = ()) -> None:
        said = captions.difference_words(self.chosen, left_out) if self._head_picture.is_matrix else ""
        self.picture.show_comparison(said)

    def _ask_mosaic(self, maps: AttentionMaps) -> None:
        plain = replace(self.chosen, heads=((0, 0),), of="heads", top_share=1.0)
        wanted = plain.view(maps.text_pair is not None)
        work = partial(requests.draw_mosaic, maps, wanted)
        self._mosaic_asked.ask((maps, wanted), work, heard=self._take_mosaic, refused=self._refuse)

    def _ask_masses(self, maps: AttentionMaps) -> None:
        if self.chosen.of == "rollout":  # of which blocks have no masses that add up
            self._masses_asked.drop()
            self.picture.show_masses(())
            return
        heads = self.chosen.shown_heads()
        work = partial(block_masses, maps, heads)
        self._masses_asked.ask((maps, heads), work, heard=self._take_masses, refused=self._refuse)

    def show_anatomy(self) -> None:
        """Go on to what the head hands on for the token whose row is explained."""
        if self.maps is not None and self.has_maps:
            (layer, head), inspector = self.chosen.current, self.inspector
            piece = requests.explained(self.maps, self.chosen)
            walk = Walk(step="mixed", layer=layer + 1, head=head + 1, piece=piece)
            state = AnatomyState(self.maps.folder, inspector.text, inspector.text_pair, walk)
            self.session.show_page("anatomy", state)

    def _take_picture(self, answer: object) -> None:
        self.picture.show_answer(answer, self.chosen)
        if isinstance(answer, AttentionDrawing):
            self.accept()
            self._say_difference(answer.shown.left_out)
        self._set_captions()

    def _take_mosaic(self, mosaic: MosaicPicture) -> None:
        self.heads.show_mosaic(mosaic, self.chosen)
        self.picture.show_answer(mosaic, self.chosen)

    def _take_masses(self, masses: BlockMasses) -> None:
        if self.maps is not None:
            cls, *_, sep = self.maps.encoding.shown
            self.picture.show_masses(captions.mass_words(masses, cls, sep))

    def _effects_changed(self) -> None:
        found = self.ablation.effects
        self.search.watch(found.effects[0].watched if found is not None and found.effects else None)

    def _set_captions(self) -> None:
        if self.maps is not None:
            lines = captions.caption(self.chosen, self.maps)
            for figure in (*self.picture.figures(), self.heads.mosaic):
                figure.set_caption(lines)

    def open_compare(self) -> None:
        """Ask what to compare with."""
        inspector = self.inspector
        step = self.tr("step {step}")
        named = [(step.format(step=words.number(one.step)), one.path) for one in self.subject_bar.kept]
        steps = [one for one in named if one[1] != inspector.folder]
        self._dialog = CompareDialog(self.session, self.chosen, steps, self)
        self._dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._dialog.compared.connect(self.compare)
        self._dialog.open()

    def compare(self, against: AttentionComparison) -> None:
        """Show the difference from another head, text or model."""
        picture = self.chosen.picture if self._head_picture.is_matrix else PICTURES[0]
        self._choose(replace(self.chosen, comparison=against, picture=picture))

    def end_comparison(self) -> None:
        """Show the attention itself again."""
        self._choose(replace(self.chosen, comparison=None))

    # ---- what is shown, kept and shown again

    @property
    def state(self) -> AttentionState:
        model, heads, inspector = self.model_shown, self.heads, self.inspector
        if heads.is_over_table or heads.measure == IMPORTANCE:
            raise UserError(
                marked(
                    "engine",
                    "The heads are sorted over a table, which a scene cannot hold. Sort them by this text.",
                )
            )
        return AttentionState(
            model=model,
            text=inspector.text,
            text_pair=inspector.text_pair,
            chosen=self.chosen,
            is_line=self._arcs.is_line,
            measure=heads.measure,
            is_listed=heads.is_list,
            is_ascending=heads.list.is_ascending,
            asked=self.attribution.choices.state(),
        )

    @property
    def in_bar(self) -> InBar:
        against = self.chosen.comparison
        return InBar(other="" if against is None or against.folder is None else model_title(against.folder))

    def take_state(self, state: AttentionState) -> None:
        self._arcs.set_line(state.is_line)
        self.attribution.choices.take_state(state.asked)
        self._choose(state.chosen.wholly(self.chosen.shape))
        self.heads.sort_as(state.measure, is_listed=state.is_listed, is_ascending=state.is_ascending)

    def figures_shown(self) -> tuple[Figure, ...]:
        figure = self.picture.current_figure()
        found = [self.attribution.picture, self.attribution.bars] if figure is None else [figure]
        self._set_captions()
        return tuple(one for one in found if not one.is_empty)

    def copy_command(self) -> None:
        """Put the command that writes these weights to a file on the clipboard."""
        maps = self.maps
        if maps is not None:
            off = head_names(sorted(maps.off))
            asked = AttentionQuestion(
                ModelName(maps.folder), maps.text, maps.text_pair, out=Path(COMMAND_FILE), off=off
            )
            self.copy_button.copy(asked.command())
