"""The Models page: what is on this computer, what each model holds, and where its weights are.

Folders, runs and files are read by the light worker; only formulas are worked out on the window's thread.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices, QShowEvent
from PySide6.QtWidgets import QTabWidget, QWidget

from app import words
from app.look.banner import Banner
from app.look.files import ask_file, beside
from app.look.layout import column, row, stacked
from app.look.widgets import GAP, SETTINGS_WIDTH, ScrollView, button, named
from app.pages.choose.model_box import FolderQuestion
from app.pages.export.dialog import export_model
from app.pages.models.folder import FolderView
from app.pages.models.get import GetView
from app.pages.models.heads import HeadsView
from app.pages.models.model_list import ModelsList
from app.pages.models.plan import PlanCard
from app.pages.models.requests import (
    ModelDetail,
    convert_checkpoint,
    count_weights,
    read_detail,
)
from app.pages.models.state import TABS, ModelsState, PlannedModel
from app.pages.models.weights import ParametersView
from app.pages.run.state import RunPageState
from app.pages.stated_page import StatedPage
from app.session import Session
from app.work.library import ORIGINS, CheckpointRefusal, ModelEntry
from app.work.titles import model_title
from app.work.worker import Channel
from engine.events import Event, Progress
from engine.inspect.loaded_model import take_fingerprint
from engine.model.arithmetic import HeadsConfig, arithmetic, preset_of
from engine.model.config import BertConfig
from engine.model.convert import Conversion
from engine.model.inventory import Inventory


class ModelsPage(StatedPage[ModelsState]):
    """The list and the sizes at the left; at the right what is known of one model, listed or planned."""

    state_kind = ModelsState

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("models_page")
        self.header.title_label.setText(self.tr("Models"))
        self.header.set_sentence(self.tr("All models here, and what they hold."))
        self.session, self.inspector = session, session.inspector
        self.entry: ModelEntry | None = None  # None: a planned model is shown, or nothing yet
        self._detail: ModelDetail | None = None
        self._is_planned = False
        self._wanted: Path | None = None  # to be chosen when the list has it
        self._news: tuple[Path | None, str] = (None, "")  # what to say of a model once it is chosen
        self._fingerprints: dict[Path, str] = {}
        quick = session.workers.quick
        self._detail_asked = Channel(self, quick)
        self._fingerprint_asked = Channel(self, quick)
        self._count_asked = Channel(self, quick)
        self._cut_asked = Channel(self, quick)
        self._converting = Channel(self, session.workers.transfer)
        self._said_of_converting = ""
        self._make_parts()
        self._lay_out()
        self._connect()
        self._show_state()

    def _make_parts(self) -> None:
        self.list_card, self.plan_card = ModelsList(), PlanCard()
        self.folder_view, self.parameters, self.heads = FolderView(), ParametersView(), HeadsView()
        self.get_view = GetView(self.session)
        self.banner = Banner(name="models_banner")
        self.tabs = named(QTabWidget(documentMode=True), "models_tabs", self.tr("Views of the model"))
        self.tabs.tabBar().setDrawBase(False)
        self.tabs.addTab(self.folder_view, self.tr("Model"))
        self.tabs.addTab(ScrollView(self.parameters), self.tr("Weights"))
        self.tabs.addTab(ScrollView(self.heads), self.tr("Attention heads"))
        self.folder_button = button(self.tr("Show folder"), name="models_show_folder")
        self.finetune_button = button(self.tr("Fine-tune it"), name="models_finetune", call=self.finetune)
        self.export_button = button(self.tr("Export…"), "link", name="models_export", call=self.export)
        self.export_button.setToolTip(
            self.tr("Export the model to another tool: transformers, ONNX, one file")
        )
        self.folder_view.facts_card.add_corner(self.export_button)
        self.look_button = button(self.tr("Look inside"), "primary", name="models_look")
        self.pretrain_button = button(self.tr("Pretrain a model"), "primary", name="models_pretrain")
        self.look_button.setToolTip(self.tr("Open it on the pages that look inside"))
        self.pretrain_button.setToolTip(self.tr("Choose a text and a size there"))
        for action in (self.folder_button, self.finetune_button, self.look_button, self.pretrain_button):
            self.header.add_action(action)

    def _lay_out(self) -> None:
        inner = QWidget()
        column((self.list_card, 1), self.plan_card, gap=GAP, parent=inner)
        left = ScrollView(inner)
        left.setFixedWidth(SETTINGS_WIDTH)
        self.views = stacked(self.tabs, self.get_view)  # the models here, and those to get
        self.body.addWidget(self.banner)
        self.body.addLayout(row(left, (self.views, 1), gap=GAP), 1)

    def _connect(self) -> None:
        self.list_card.chosen.connect(self.show_entry)
        self.list_card.opened.connect(self._look_at)
        self.list_card.folder_wanted.connect(self.choose_folder)
        self.list_card.get_wanted.connect(self.show_get)
        self.get_view.closed.connect(self.show_models)
        self.get_view.checkpoint_wanted.connect(self.choose_checkpoint)
        self.session.hub.fetched.connect(self._take_fetched)
        self.question = FolderQuestion(self.session, self, name="model_dialog")
        self.question.chosen.connect(self._take_opened)
        self.question.refused.connect(self.refuse)
        self.session.library.changed.connect(self._show_list)
        self.plan_card.planned.connect(self.show_plan)
        self.heads.count_wanted.connect(self._count_cut)
        self.tabs.currentChanged.connect(self._ask_seen)
        self.folder_button.clicked.connect(self.show_folder)
        self.look_button.clicked.connect(self.look_inside)
        self.pretrain_button.clicked.connect(self._pretrain)
        self.session.training.changed.connect(self._show_state)

    # ---- the list

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._fingerprints.clear()  # a model may have been trained anew since
        self._fingerprint_asked.drop()
        self.refresh()

    def refresh(self) -> None:
        """Look again for the models of this computer."""
        self._show_list()
        self.session.runs.find()

    def _show_list(self) -> None:
        shown = self.views.currentIndex()
        if self.isVisible() and self.session.library.is_complete:
            self._list_models()
            self.views.setCurrentIndex(shown)  # what is found here leads nobody away from what he gets
            self._show_state()
            self.take_up()

    def _list_models(self) -> None:
        library = self.session.library
        entries = [entry for entry in library.offered() if entry.is_read]
        entries.sort(key=lambda entry: ORIGINS.index(entry.origin))
        self.list_card.show_entries(entries)
        wanted = self._wanted or (self.entry.path if self.entry else None)
        if wanted is None and not self._is_planned:
            fit = [one.path for one in entries if one.problem is None]
            wanted = self.inspector.folder if self.inspector.folder in fit else next(iter(fit), None)
        again = next((one for one in entries if one.path == wanted), None)
        if again is None and self._wanted is not None:
            return  # it is still to be read
        self._wanted = None
        if again is not None:
            self.list_card.set_current(again.path)
            if self.entry is None or again != self.entry:
                self.show_entry(again)
        elif not self._is_planned:
            self.plan_card.plan(preset_of(self.plan_card.config) or "base")

    def model_shared(self) -> Path | None:
        return None if self.entry is None or self.entry.problem is not None else self.entry.path

    def choose_folder(self) -> None:
        """Ask for a model folder that is not in the list."""
        self.banner.hide()
        self.question.ask()

    def open_folder(self, path: str) -> None:
        """Show a model that lies anywhere on this computer, and remember it."""
        self.banner.hide()
        self.question.read(path)

    def _take_opened(self, path: str) -> None:
        self._wanted = Path(path)
        self.session.library.remember(path)
        self.refresh()

    def show_get(self) -> None:
        """Show what can be got by name."""
        if not self._converting.is_asking:
            self.banner.hide()  # it tells of what was before
        self.views.setCurrentWidget(self.get_view)
        self.get_view.refresh()
        self.get_view.name.setFocus()
        self._show_state()

    def show_models(self) -> None:
        """Show the models that are here."""
        self.views.setCurrentWidget(self.tabs)
        self._show_state()

    def _take_fetched(self, path: Path) -> None:
        """Choose a model that has just come, where a person waits for it here."""
        text = self.tr("{name} is here. It is offered on every page.").format(name=model_title(path))
        if self.views.currentWidget() is self.get_view:
            self._choose_new(path, [text])
        else:
            self.banner.show_text("fine", text)

    def _choose_new(self, path: Path, said: Sequence[str]) -> None:
        self.show_models()
        self._news = (path, "\n".join(said))
        self._take_opened(str(path))

    # ---- what is looked at, as a value

    @property
    def state(self) -> ModelsState:
        if self.entry is None and not self._is_planned:
            return ModelsState(is_getting=self.views.currentWidget() is self.get_view)
        planned = PlannedModel.of(self.plan_card.config, self.plan_card.heads)
        return ModelsState(
            model=None if self.entry is None else self.entry.path,
            plan=planned if self._is_planned else None,
            tab=TABS[self.tabs.currentIndex()],
            is_getting=self.views.currentWidget() is self.get_view,
        )

    def open_state(self, state: ModelsState) -> None:
        if state.model is None or self.is_open(state):
            return
        listed = next((one for one in self.list_card.entries if one.path == state.model), None)
        if listed is None:
            self.open_folder(str(state.model))
        else:
            self.show_entry(listed)

    def is_open(self, state: ModelsState) -> bool:
        if state.model is None:
            return self.session.library.is_complete
        return self.entry is not None and self.entry.path == state.model

    def take_state(self, state: ModelsState) -> None:
        if state.plan is not None:
            self.plan_card.put(state.plan.config, state.plan.heads)
            self.show_plan()
        place = TABS.index(state.tab)
        if self.tabs.isTabVisible(place) and self.tabs.isTabEnabled(place):
            self.tabs.setCurrentIndex(place)
        if state.is_getting:
            self.show_get()
        else:
            self.show_models()

    # ---- a checkpoint of TensorFlow

    def choose_checkpoint(self) -> None:
        """Ask for a checkpoint that is to become a model folder."""
        ask_file(
            self,
            self.tr("Choose a TensorFlow checkpoint"),
            self.convert,
            name="checkpoint_dialog",
            start=beside(self.session.library.recent),
            filters=(self.tr("Checkpoints (*.index *.zip)"), self.tr("All files (*)")),
        )

    def convert(self, path: Path | str) -> None:
        """Convert a checkpoint into a folder among the models, and show it."""
        self.show_models()
        checkpoint = Path(path)
        name = checkpoint.name if checkpoint.is_dir() or checkpoint.suffix == ".zip" else checkpoint.stem
        self._say_converting(self.tr("Converting {name}…").format(name=name))
        self._converting.ask(
            checkpoint,
            partial(convert_checkpoint, checkpoint, self.session.hub.root),
            heard=self._take_converted,
            refused=self._refuse,
            progress=partial(self._show_converting, name),
            again=True,
        )

    def _say_converting(self, text: str) -> None:
        actions = [(self.tr("Cancel"), self._stop_converting)]
        self.banner.show_text("note", text, actions, closable=False)
        self._said_of_converting = text

    def _show_converting(self, name: str, event: Event) -> None:
        """Say how much of a checkpoint is read; also where another model was looked at meanwhile."""
        if not isinstance(event, Progress) or not event.total:
            return
        said = self.tr("Converting {name}: {share} read.")
        said = said.format(name=name, share=words.share(event.done / event.total, 0))
        if self.banner.text() != self._said_of_converting:
            self._say_converting(said)
        self.banner.change_text(said)
        self._said_of_converting = said

    def _stop_converting(self) -> None:
        self._converting.drop()
        self.banner.show_text("note", self.tr("Cancelled. Nothing was written."))

    def _take_converted(self, found: Conversion) -> None:
        said = self.tr("Converted: {count} tensors, opened as {kind}.")
        said = said.format(count=words.number(found.num_tensors), kind=found.kind)
        self._choose_new(found.folder, [said, *map(words.say, found.notes)])

    # ---- one model

    def show_entry(self, entry: ModelEntry) -> None:
        """Show a model of the list: what is known at once, then what its files say."""
        self._show_news(entry)
        self.views.setCurrentWidget(self.tabs)
        self.entry, self._detail, self._is_planned = entry, None, False
        self.list_card.set_current(entry.path)
        self._fingerprint_asked.drop()
        self._detail_asked.drop()
        self.tabs.setTabVisible(0, True)
        self.folder_view.show_entry(entry)
        if entry.inventory is None:
            self.plan_card.put(self.plan_card.config, self.plan_card.heads)
            self.tabs.setCurrentIndex(0)
        else:
            self._show_inventory(entry, entry.inventory)
            self._detail_asked.ask(
                entry.path,
                partial(read_detail, entry.path),
                heard=self._take_detail,
                refused=self._refuse_detail,
            )
        for place in (1, 2):
            self.tabs.setTabEnabled(place, entry.inventory is not None)
        self._show_state()

    def _show_news(self, entry: ModelEntry) -> None:
        """Say what is new of a model: that it has just come, or what can be made of it."""
        problem, (path, text) = entry.problem, self._news
        if isinstance(problem, CheckpointRefusal):
            action = (self.tr("Convert it"), partial(self.convert, problem.path))
            self.banner.show_text("look", words.say_error(problem), [action])
        elif path == entry.path and text:
            self.banner.show_text("fine", text)
        else:
            self.banner.hide()
        self._news = (None, "")

    def _show_inventory(self, entry: ModelEntry, inventory: Inventory) -> None:
        found = arithmetic(inventory.config, inventory.heads)
        self.plan_card.put(inventory.config, inventory.heads)
        self.parameters.show_arithmetic(found, model_title(entry.path), inventory)
        self.heads.show_arithmetic(found, model_title(entry.path))

    def _take_detail(self, detail: ModelDetail) -> None:
        self._detail, entry = detail, self.entry
        if entry is not None and detail.inventory != entry.inventory:
            self._show_inventory(entry, detail.inventory)
        self.folder_view.show_detail(detail)
        self._ask_seen()
        self._show_state()

    def _refuse_detail(self, error: BaseException) -> None:
        self.folder_view.show_refusal(words.say_error(error))

    def show_plan(self) -> None:
        """Show the model that the sizes at the left describe."""
        self.banner.hide()
        self.views.setCurrentWidget(self.tabs)
        self.entry, self._detail, self._is_planned = None, None, True
        self._detail_asked.drop()
        self._fingerprint_asked.drop()
        self.list_card.set_current(None)
        self.tabs.setTabVisible(0, False)
        for place in (1, 2):
            self.tabs.setTabEnabled(place, True)
        config, heads = self.plan_card.config, self.plan_card.heads
        found, name = arithmetic(config, heads), self.plan_name()
        self.parameters.show_arithmetic(found, name, None)
        self.heads.show_arithmetic(found, name)
        self._count_asked.ask(
            (config, heads),
            partial(count_weights, config, heads),
            heard=self.parameters.show_count,
            refused=self._refuse,
            again=True,  # another count may be shown
        )
        self._show_state()

    def plan_name(self) -> str:
        """Return what a planned model is called."""
        config = self.plan_card.config
        shape = f"{config.num_hidden_layers}×{config.hidden_size}"
        return self.tr("planned") if preset_of(config) else self.tr("planned: {shape}").format(shape=shape)

    # ---- asking

    def _ask_seen(self) -> None:
        """Ask for the fingerprint once it is seen: it reads all weights."""
        detail = self._detail
        if detail is None or self.tabs.currentWidget() is not self.folder_view:
            return
        known = self._fingerprints.get(detail.path)
        self.folder_view.show_fingerprint(known or self.tr("being computed…"))
        if known is None:
            self._fingerprint_asked.ask(
                detail.path,
                partial(take_fingerprint, detail.path),
                heard=partial(self._take_fingerprint, detail.path),
                refused=self._refuse_detail,
            )

    def _take_fingerprint(self, path: Path, text: str) -> None:
        self._fingerprints[path] = text
        if self._detail is not None and self._detail.path == path:
            self.folder_view.show_fingerprint(text)

    def _count_cut(self, config: BertConfig, heads: HeadsConfig) -> None:
        """Have the weights counted in the model itself."""
        self._cut_asked.ask(
            (config, heads),
            partial(count_weights, config, heads),
            heard=partial(self.heads.show_count, config),
            refused=self._refuse,
            again=True,
        )

    def refuse(self, error: BaseException) -> None:
        """Say in place why something cannot be shown or done."""
        self._to_show = None
        self._refuse(error)

    def _refuse(self, error: BaseException) -> None:
        actions = []
        if isinstance(error, CheckpointRefusal):
            actions = [(self.tr("Convert it"), partial(self.convert, error.path))]
        self.banner.show_text("look", words.say_error(error), actions)

    # ---- what can be done with it

    def look_inside(self) -> None:
        """Open the model on the pages that look inside."""
        if self.entry is not None and self.entry.problem is None:
            self._look_at(self.entry)

    def _look_at(self, entry: ModelEntry) -> None:
        if entry.inventory is None:
            return
        answers = self._detail.answers if self._detail is not None else entry.inventory.answers
        can_guess = bool({"masked_words", "next_sentence"} & set(answers))
        self.inspector.choose(entry.path)
        self.session.show_page("probe" if can_guess else "attention")

    def finetune(self) -> None:
        """Make it the model to fine-tune."""
        if self.entry is not None and self.entry.problem is None:
            self.session.model.choose(str(self.entry.path))
            self.session.show_page("finetune", RunPageState())

    def export(self) -> None:
        """Offer to take it to another tool."""
        if self.entry is not None and self.entry.problem is None:
            export_model(self.session, self.entry.path, self)

    def show_folder(self) -> None:
        """Open its folder in the program that shows folders."""
        entry = self.entry
        if entry is not None and not QDesktopServices.openUrl(QUrl.fromLocalFile(str(entry.path))):
            text = self.tr("No program shows folders here. It is at {path}.")
            self.banner.show_text("note", text.format(path=entry.path))

    def _pretrain(self) -> None:
        self.session.show_page("pretrain", RunPageState())

    def _show_state(self) -> None:
        """Show the actions that fit what is shown."""
        entry, is_getting = self.entry, self.views.currentWidget() is self.get_view
        for action in (self.folder_button, self.finetune_button, self.look_button):
            action.setVisible(not self._is_planned and not is_getting)
            action.setEnabled(entry is not None and (entry.problem is None or action is self.folder_button))
        self.export_button.setEnabled(entry is not None and entry.problem is None)
        self.pretrain_button.setVisible(self._is_planned and not is_getting)
        is_training = self.session.training.is_running
        self.finetune_button.setToolTip(
            self.tr("A model is in training. This one can follow it.")
            if is_training
            else self.tr("Start a classifier from it")
        )
        if is_training:
            self.finetune_button.setEnabled(False)
