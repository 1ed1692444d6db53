"""The Anatomy page: one text through a model, a step at a time, every number real and worked out.

The page holds one `Walk`. Every number of the text is there once it is asked, so that a step, a piece, a
layer or a head is painted at once; only a model, a text or a change asks the worker.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QPointF, QSignalBlocker, Qt, QTimer
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence, QResizeEvent, QShortcut, QShowEvent
from PySide6.QtWidgets import QPlainTextEdit, QSizePolicy, QWidget

from app import words
from app.look.boxes import ElidedBox
from app.look.copy_command import CopyCommandButton
from app.look.labels import label
from app.look.layout import row
from app.look.widgets import Card, ScrollView, named, set_role
from app.pages.anatomy import requests, vectors
from app.pages.anatomy.happens import HappensCard
from app.pages.anatomy.lesson import WeightDialog
from app.pages.anatomy.requests import AnatomyRequest, ChangedAnatomy
from app.pages.anatomy.state import AnatomyState, ChangesRows, Walk
from app.pages.anatomy.steps.known import FIRST_STEP, can_change, chips, neighbours, step_at, title_of
from app.pages.anatomy.sums import StepSum
from app.pages.anatomy.what_if import changes_words
from app.pages.inside.model_bar import model_caption
from app.pages.inside.page import LookingPage
from app.plots.before_now import AnswerBeforeNow
from app.plots.buttons import yield_to_layout
from app.plots.figure import Figure
from app.plots.step_chips import StepChips, StepGroups
from app.plots.vector_rows import VectorPicture, VectorRows
from app.session import Session
from app.work.worker import Channel
from engine.errors import UserError
from engine.inspect.anatomy.changes import PassSettings
from engine.inspect.anatomy.effect import LABEL, MASKED, NEXT, effect, heads_of, masks
from engine.inspect.anatomy.forward import stored_layer
from engine.inspect.anatomy.vectors import Anatomy
from engine.inspect.anatomy.working import vector_of
from engine.inspect.loaded_model import ModelSummary
from engine.questions.anatomy import TraceQuestion

COMMAND_FILE = "anatomy.npz"
PATIENCE_MS = 500  # after which it is said that numbers take a while
LEAST_PICTURE = 160  # px
LOW = 600  # px of the page, below which the picture has more of the height
MOST_PIECES, LEAST_ROWS = 12, 10  # so many pieces always have a row each; of more, so many rows are shown
BOXES = {"piece": 136, "layer": 126, "head": 98, "answer": 140}  # px


class AnatomyPage(LookingPage[AnatomyState]):
    """The groups of steps and those of the open one; the picture; what happens, and what if."""

    state_kind = AnatomyState

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(session, parent=parent)
        self.setObjectName("anatomy_page")
        self.header.title_label.setText(self.tr("Step by step"))
        self.header.set_sentence(self.tr("One text through the model, every number real."))
        self.walk = Walk(step=FIRST_STEP)
        self._begins = True  # nothing was chosen yet: it opens at the first word that says something
        self._wanted: Walk | None = None  # in the place of it, as soon as its numbers are there
        self.found: ChangedAnatomy | None = None  # an old answer stays until a new one comes
        self.told: StepSum | None = None
        self._ended: object = None  # what the end is shown of
        self._about: ModelSummary | None = None
        self._asked = Channel(self, session.workers.models)
        self._patience = QTimer(self, singleShot=True, interval=PATIENCE_MS)
        self._patience.timeout.connect(self._say_waiting)
        self._make_actions()
        self._make_cards()
        self._lay_out()
        self._connect()
        self._add_keys()
        self._set_filled(False)

    def _make_actions(self) -> None:
        self.copy_button = named(CopyCommandButton(), "copy_anatomy_command")
        self.header.add_action(self.copy_button)

    def _make_cards(self) -> None:
        self.count = label("", "muted", name="anatomy_count")
        self.header.add_fact(self.count)
        self.groups = named(StepGroups(self.tr("Groups of steps")), "anatomy_groups")
        self.strip = named(StepChips(self.tr("Steps")), "anatomy_steps")
        for steps in (self.groups, self.strip):
            steps.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.picture = named(Card(), "anatomy_picture")
        self.rows = named(VectorRows(self.tr("Step")), "anatomy_rows")
        yield_to_layout(self.rows, LEAST_PICTURE)
        self.boxes = {
            name: named(ElidedBox(), f"anatomy_{name}", said)
            for name, said in (
                ("piece", self.tr("Piece")),
                ("layer", self.tr("Layer")),
                ("head", self.tr("Head")),
                ("answer", self.tr("Head on top")),
            )
        }
        self.happens = HappensCard(self.session.settings)
        self.what_if, self.effect = self.happens.switches, self.happens.effect

    def _lay_out(self) -> None:
        for name, box in self.boxes.items():
            box.setFixedWidth(BOXES[name])
        strip = self.strip_card = Card()
        strip.add(self.groups)
        strip.add_layout(row((self.strip, 1), *self.boxes.values()))
        self.picture.add(self.rows, 1)
        self.view = ScrollView(self.picture)
        set_role(self.picture, "card")
        self.work.addWidget(strip)
        self.work.addWidget(self.view, 1)  # a low window scrolls
        self.work.addWidget(self.happens)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.happens.set_low(self.height() < LOW)

    def _connect(self) -> None:
        self.copy_button.clicked.connect(self.copy_command)
        self.strip.step_chosen.connect(self._choose_step)
        self.groups.step_chosen.connect(self._choose_step)
        self.rows.number_chosen.connect(self._choose_number)
        self.rows.foot_chosen.connect(self._choose_foot)
        self.rows.row_chosen.connect(self._choose_row)
        self.rows.room_changed.connect(self._paint)
        self.happens.stepped.connect(self.step)
        self.happens.number_chosen.connect(self._turn_number)
        self.happens.term_chosen.connect(self._open_weight)
        self.happens.weight_wanted.connect(self._open_last_weight)
        self.happens.target_typed.connect(lambda typed: self._go(self.walk.changed(target=typed)))
        self.happens.hide_wanted.connect(self._hide_piece)
        self.happens.copy_wanted.connect(self.copy_chosen_vector)
        self.what_if.changed.connect(self._change)
        self.boxes["piece"].activated.connect(lambda place: self._go(self.walk.on_piece(place)))
        self.boxes["layer"].activated.connect(lambda place: self._go(self.walk.in_layer(place + 1)))
        self.boxes["head"].activated.connect(lambda place: self._go(self.walk.in_head(place + 1)))
        self.boxes["answer"].activated.connect(self._choose_answer)

    def _add_keys(self) -> None:
        for keys, call in (
            ("PgUp", lambda: self._go(self.walk.in_layer(self.walk.layer - 1))),
            ("PgDown", lambda: self._go(self.walk.in_layer(self.walk.layer + 1))),
            ("[", lambda: self._go(self.walk.in_head(self.walk.head - 1))),
            ("]", lambda: self._go(self.walk.in_head(self.walk.head + 1))),
            ("W", self._turn_what_if),
            ("0", self.what_if.take_back),
            ("?", self.happens.show_keys),
        ):
            self._add_key(keys, call)

    def _add_key(self, keys: str, call: Callable[[], None]) -> None:
        shortcut = QShortcut(QKeySequence(keys), self)
        shortcut.setContext(Qt.ShortcutContext.WindowShortcut)  # while the page is shown, whatever has focus
        shortcut.activated.connect(call)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Walk by the arrow keys that nothing else on the page has taken."""
        by = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()), 0)
        down = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}.get(Qt.Key(event.key()), 0)
        if self.found is None or not (by or down):
            super().keyPressEvent(event)
        elif event.modifiers() & Qt.KeyboardModifier.ShiftModifier and by:
            self._turn_number((self.happens.number.value() - 1 + by) % max(1, self.happens.number.maximum()))
        elif by:
            self.step(by)
        else:
            self._go(self.walk.on_piece(self.walk.piece + down))

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        held = self.window().focusWidget()
        if not isinstance(held, QPlainTextEdit):  # so that the arrow keys walk at once
            self.rows.setFocus(Qt.FocusReason.OtherFocusReason)

    def set_bare(self, bare: bool) -> None:
        super().set_bare(bare)
        self.happens.keys.setVisible(not bare)

    # ---- model and text

    def model_ready(self, about: ModelSummary) -> None:
        """Look into another model."""
        self._about = about

    def forget(self) -> None:
        self._show_nothing(self.tr("Computing…"))

    def text_ready(self) -> None:
        """Look at the shared text."""
        about, inspector = self._about, self.inspector
        if about is None:
            return
        try:
            encoding = about.encode(inspector.text, inspector.pair)
        except UserError as error:
            self._asked.drop()
            self._show_nothing(words.say_error(error))
            self.offer_beginning(error)
            return
        self._say_count(len(encoding.input_ids))
        self._ask()

    def _say_count(self, count: int) -> None:
        self.count.setText(self.tr("{count} pieces").format(count=words.number(count)))

    def _ask(self) -> None:
        about, inspector = self._about, self.inspector
        if about is None:
            return
        changes = (self._wanted or self.walk).changes
        asked = AnatomyRequest(about.folder, inspector.text, inspector.pair, changes)
        known = self.found.before if self.found is not None and self._is_of(asked, self.found) else None
        work = partial(requests.find, inspector.open_models, asked, known)
        if self._asked.ask((about.fingerprint, asked), work, heard=self._take, refused=self._refuse):
            self._patience.start()

    def _say_waiting(self) -> None:
        """Say that numbers are on their way: of a long text they take seconds."""
        if self._asked.is_asking:
            if self.found is None:
                self.rows.set_empty_text(self.tr("Every number of this text is being computed…"))
            self.count.setText(self.tr("{count}, computing…").format(count=self.count.text()))

    def _turn_what_if(self) -> None:
        if self.found is not None and can_change(self.walk):
            self.happens.show_switches(not self.effect.button.isChecked())

    def _is_of(self, asked: AnatomyRequest, found: ChangedAnatomy) -> bool:
        before = found.before
        return (before.about.folder, before.text, before.text_pair) == (
            asked.folder,
            asked.text,
            asked.text_pair,
        )

    def _take(self, found: ChangedAnatomy) -> None:
        self.accept()
        self._say_count(found.before.num_tokens)
        was = self.found
        walk, wanted, self._wanted = self._wanted or self.walk, self._wanted, None
        self.found = found
        self.walk = walk.fitted(found.now.config, found.now.num_tokens).changed(changes=found.now.changes)
        if wanted is None and (self._begins or self._is_elsewhere(was, found.now)):
            self.walk = self.walk.on_piece(vectors.first_content(found.now))
        self._begins = False
        self._fill_boxes()
        self._show()

    def _is_elsewhere(self, was: ChangedAnatomy | None, now: Anatomy) -> bool:
        """Whether another text has another piece in the place of the chosen one; a [MASK] hides the same."""
        if was is None or was.now.text == now.text:
            return False
        place = self.walk.piece
        same = was.now.pieces[place : place + 1] == now.pieces[place : place + 1]
        return not same and now.ids[place] != now.about.wordpiece.mask_id

    def _refuse(self, error: BaseException) -> None:
        self._wanted = None
        self.refuse(error)
        self._show_nothing(words.say_error(error))

    def _show_nothing(self, why: str) -> None:
        self.found = self.told = None
        self.count.setText("")
        self.rows.set_empty_text(why)
        self.rows.clear()
        self._set_filled(False)

    def _set_filled(self, is_filled: bool) -> None:
        """Show what belongs to numbers where there are some, else the picture's reason alone."""
        for part in (self.strip_card, self.happens):
            part.setVisible(is_filled)
        for box in self.boxes.values():
            box.setVisible(is_filled)
        self.copy_button.setEnabled(is_filled)

    # ---- what is shown, kept and shown again

    @property
    def state(self) -> AnatomyState:
        model, inspector, walk = self.model_shown, self.inspector, self.walk
        return AnatomyState(model, inspector.text, inspector.text_pair, walk, ChangesRows.of(walk.changes))

    def take_state(self, state: AnatomyState) -> None:
        about, inspector = self._about, self.inspector
        assert about is not None  # it is there before this is called
        num_pieces = len(about.encode(inspector.text, inspector.pair).input_ids)
        self._wanted = state.walk.wholly(about.config, num_pieces)
        self._ask()
        if not self._asked.is_asking and self.found is not None:
            self._take(self.found)

    def figures_shown(self) -> tuple[Figure, ...]:
        shown = (self.rows, self.effect.end)
        return tuple(one for one in shown if not one.is_empty and one.isVisibleTo(self))

    # ---- walking

    def step(self, by: int) -> None:
        """Go to the step before or after."""
        self._go(self.walk.stepped(by))

    def _choose_step(self, place: int) -> None:
        self._go(self.walk.at(self.walk.plan.order[place]))

    def _choose_number(self, column: int, number: int) -> None:
        columns = self.rows.picture.columns
        if column < len(columns) and (name := columns[column].name):
            self._go(self.walk.changed(vector=name).with_number(vectors.width_of(name), number))

    def _choose_foot(self, column: int, number: int) -> None:
        if name := step_at(self.walk).foot:
            self._go(self.walk.changed(vector=name).with_number(vectors.width_of(name), number))
        else:
            self._choose_number(column, number)

    def _choose_row(self, key: int) -> None:
        assert self.found is not None  # there are rows
        self._go(step_at(self.walk).choose_row(self.found.now, self.walk, key))

    def _turn_number(self, number: int) -> None:
        if self.told is not None and self.told.spot is not None and self.told.size > 1:
            self._go(self.walk.with_number(vectors.width_of(self.told.spot.name), number))

    def _choose_answer(self, place: int) -> None:
        self._go(self.walk.changed(answer=str(self.boxes["answer"].itemData(place)), said=-1))

    def _change(self, changes: PassSettings) -> None:
        self.walk = self.walk.changed(changes=changes)
        self._ask()

    def _hide_piece(self) -> None:
        """Put [MASK] in the place of the chosen piece, and know what stood there."""
        found = self.found
        if found is None:
            return
        start, stop = found.now.encoding.offsets[self.walk.piece]
        if start == stop:
            return
        text, pair = found.now.text, found.now.text_pair or ""
        word = found.now.about.wordpiece.as_word((found.now.ids[self.walk.piece],))
        self.walk = self.walk.changed(target=word)
        if found.now.encoding.token_type_ids[self.walk.piece] and found.now.text_pair is not None:
            pair = f"{pair[:start]}[MASK]{pair[stop:]}"
        else:
            text = f"{text[:start]}[MASK]{text[stop:]}"
        self.inspector.set_text(text, pair)

    def _go(self, walk: Walk) -> None:
        if walk != self.walk:
            self.walk = walk
            self._show()

    # ---- showing

    def _fill_boxes(self) -> None:
        assert self.found is not None
        now = self.found.now
        entries = {
            "piece": [self.tr("of “{piece}”").format(piece=name) for name in vectors.piece_names(now)],
            "layer": [
                self.tr("layer {n} of {count}").format(n=n, count=self.walk.shape[0])
                for n in range(1, self.walk.shape[0] + 1)
            ],
            "head": [self.tr("head {n}").format(n=n) for n in range(1, self.walk.shape[1] + 1)],
        }
        for name, said in entries.items():
            box = self.boxes[name]
            if [box.itemText(i) for i in range(box.count())] != said:
                with QSignalBlocker(box):
                    box.clear()
                    box.addItems(said)
        names = {
            MASKED: self.tr("Masked word"),
            LABEL: self.tr("Label"),
            NEXT: self.tr("Next sentence"),
        }
        with QSignalBlocker(self.boxes["answer"]):
            self.boxes["answer"].clear()
            for head in heads_of(now):
                self.boxes["answer"].addItem(names[head], head)

    def _show(self) -> None:
        """Show where the walk stands; all of it is there, so nothing is asked."""
        found, walk = self.found, self.walk
        if found is None:
            return
        if self.strip_card.isHidden():
            self._set_filled(True)
        for steps in (self.groups, self.strip):
            steps.set_steps(chips(walk, found), walk.place)
        self._show_boxes(found)
        self.told = step_at(walk).tell(found.now, walk)
        self.happens.show_told(self.told)
        self.happens.show_ways(*neighbours(walk))
        self._show_target(found)
        self._paint()
        self.what_if.show_parts(walk, found.now)
        self._show_end(found)
        self.happens.show_changeable(can_change(walk))

    def _show_boxes(self, found: ChangedAnatomy) -> None:
        walk, step = self.walk, step_at(self.walk)
        for name, place in (("piece", walk.piece), ("layer", walk.layer - 1), ("head", walk.head - 1)):
            self.boxes[name].setCurrentIndex(place)
        head = step.head_on_top(found.now, walk)
        is_of_place = step.is_on_top and (head != MASKED or bool(masks(found.now)))
        self.boxes["piece"].setVisible(not is_of_place)
        self.boxes["layer"].setVisible(walk.is_in_layer)
        self.boxes["head"].setVisible(step.is_of_head)
        self.boxes["answer"].setVisible(step.chooses_head and len(heads_of(found.now)) > 1)
        self.boxes["answer"].choose(head, or_first=True)

    def _show_target(self, found: ChangedAnatomy) -> None:
        now = found.now
        is_asked = step_at(self.walk).wants_target and MASKED in heads_of(now)
        hidden = bool(masks(now))
        guess = ""
        if is_asked:
            blank = self.walk.changed(target="")
            guess = now.about.wordpiece.as_word((vectors.target_id(now, blank),))
        self.happens.show_target(self.walk.target, guess, is_asked=is_asked, is_hidden=hidden)

    def _paint(self) -> None:
        found = self.found
        if found is None:
            return
        count, rows = found.now.num_tokens, self.rows
        step = step_at(self.walk)
        if count <= MOST_PIECES:  # each has a row, and the picture scrolls where they have no room
            picture = step.picture(found.now, self.walk, max(count, rows.most_rows))
            rows.setMinimumHeight(rows.least_height(picture))
        else:
            picture = step.picture(found.now, self.walk, rows.most_rows)  # the same rows in every step
            if count <= rows.room_for(VectorPicture()):
                whole = step.picture(found.now, self.walk, count)
                picture = whole if count <= rows.room_for(whole) else picture
            rows.setMinimumHeight(rows.height_for(LEAST_ROWS))
        self.rows.set_title(title_of(self.walk))
        self.rows.set_picture(picture)
        self.rows.set_caption(self._caption(found))
        rect = self.rows.chosen_rect().translated(self.rows.mapTo(self.picture, QPointF(0, 0)))
        self.view.ensureVisible(0, round(rect.center().y()), 0, round(rect.height()))

    def _caption(self, found: ChangedAnatomy) -> list[tuple[str, str]]:
        now, walk = found.now, self.walk
        lines = [
            *model_caption(now.about.name, now.about.fingerprint),
            (words.translate("anatomy", "text"), now.text),
            (words.translate("anatomy", "second text"), now.text_pair or ""),
            (words.translate("anatomy", "step"), step_at(walk).name()),
            (words.translate("anatomy", "piece"), vectors.piece_names(now)[walk.piece]),
            (words.translate("anatomy", "layer"), str(walk.layer) if walk.is_in_layer else ""),
            (words.translate("anatomy", "head"), str(walk.head) if walk.is_in_layer else ""),
            (words.translate("anatomy", "changed"), changes_words(now.changes, now.pieces)),
        ]
        return [(name, value) for name, value in lines if value]

    def _show_end(self, found: ChangedAnatomy) -> None:
        """Show what stands at the end; the same for most steps, so it is reckoned once."""
        now = found.now
        head = step_at(self.walk).head_on_top(now, self.walk) or vectors.head_on_top(now, self.walk)
        shown = (found, head, vectors.answer_place(now, self.walk) if head == MASKED else 0)
        if shown == self._ended:
            return
        self._ended = shown
        told = changes_words(now.changes, now.pieces)
        if not head:
            self.effect.show_end(self.tr("At the end"), (), told)
            return
        place = vectors.answer_place(now, self.walk)
        title = self.tr("At the end")
        if head == MASKED:
            title = self.tr("At the end, for {piece}").format(piece=vectors.piece_names(now)[place])
        outcomes = [
            AnswerBeforeNow(vectors.answer_words(now, head, one.key), one.before, one.now)
            for one in effect(found.before, now, head, place)
        ]
        self.effect.show_end(title, outcomes, told)

    # ---- taking along

    def copy_command(self) -> None:
        """Put the command that writes every number to a file on the clipboard."""
        if self.found is not None:
            now = self.found.now
            asked = TraceQuestion(
                now.about.named, now.text, now.text_pair, out=Path(COMMAND_FILE), changes=now.changes
            )
            self.copy_button.copy(asked.command())

    def copy_chosen_vector(self) -> None:
        """Put the vector that the frame is in on the clipboard, a number a line."""
        if self.found is not None and self.told is not None and self.told.spot is not None:
            numbers = vector_of(self.found.now, self.told.spot)
            QGuiApplication.clipboard().setText("\n".join(f"{x:.7g}" for x in numbers.tolist()))

    # ---- one weight

    def _open_weight(self, term: int) -> None:
        told, found = self.told, self.found
        if told is not None and found is not None and told.product is not None:
            self._show_weight(found, told.product.weight, told.row, term)

    def _open_last_weight(self) -> None:
        """Follow the loss back to a weight of the value matrix of the head that is shown."""
        found = self.found
        if found is not None:
            size = found.now.config.hidden_size // found.now.config.num_attention_heads
            name = f"{stored_layer(found.now.config, self.walk.layer)}attention.self.value.weight"
            self._show_weight(found, name, (self.walk.head - 1) * size, 0)

    def _show_weight(self, found: ChangedAnatomy, name: str, row_: int, column_: int) -> None:
        dialog = WeightDialog(self.session, found, self.walk, name, row_, column_, self)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.went_to.connect(self._go)
        dialog.open()
