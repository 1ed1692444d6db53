"""The tour of Cloze: the rail, a table, training, the result, masked words and attention.

What the steps say of numbers is read from the screen. The models are those that are there: the starter that
ships with Cloze, else the one that is open; without any, the tour says so and is shorter.
"""

from __future__ import annotations

from typing import Any, cast

from PySide6.QtWidgets import QWidget

from app import words
from app.pages.tasks.classification.remarks import accuracy_words
from app.rail import GROUPS, LEARN, heading_words, title_of
from app.shipped import home_model, sample_data_path
from app.stories.known import story
from app.tour.guide import Guide, TourStep
from app.tour.steps_inside import Acting, InsideScenes, TourHost
from engine.text.reading.kinds import TABLE_KINDS
from engine.train.ways.names import FINE_TUNED

# settings that suit the starter and the sample on any machine: as many epochs as fit into the time, or as the
# story says, two of the reviews
QUICK = {  # as much as can be learned in some minutes on two cores
    "way": FINE_TUNED,  # its curves are what is to be seen
    "max_length": 64,
    "batch_size": 16,
    "minutes": 2.75,
    "embedding_rate": 10.0,  # measured: 0.74 in the place of 0.71 after 2,560 rows
    "evaluate_every_steps": 0,
}


class Scenes(InsideScenes):
    """Makes the steps for a window as it is now, and does what they do on arrival."""

    trains = False  # a classifier, in this tour
    _has_tried = False

    def steps(self) -> tuple[TourStep, ...]:
        """Return the tour: with a training, where that touches nothing of the person's own."""
        self.trains = self.will_train
        if self.trains:
            return (self.data(), self.learn(), self.result(), self.ask(), self.reasons(), *self.inside())
        found = [self.data(), self.setup()]
        found = [*found, self.result()] if self._best() is not None else [self.rail(), *found]
        if self.classifier() is not None:
            found += [self.ask(), self.reasons()]
        return (*found, *self.inside())

    @property
    def will_train(self) -> bool:
        session, starter = self.session, home_model()
        if starter is None or session.training.run_dir is not None or session.training.last_model is not None:
            return False
        sample = sample_data_path()
        is_sample = session.data.table.path == sample if session.data.table is not None else sample.is_file()
        return is_sample and (session.model.chosen is None or session.model.chosen.model == str(starter))

    # ---- data and training

    def rail(self) -> TourStep:
        return TourStep(
            key="rail",
            target="rail",
            title=self.tr("What is where"),
            words=self._rail_words,
        )

    def _rail_words(self) -> str:
        """Say which pages there are, as the rail declares them."""
        told = [self.tr("The numbers lead from a table to a model that predicts.")]
        for heading, pages in GROUPS:
            titles = [words.translate("rail", "Lectures")] if heading == LEARN else []
            titles += map(title_of, pages)
            pages_of = self.tr("{heading}: {pages}.")
            told.append(pages_of.format(heading=heading_words(heading), pages=words.listed(titles)))
        return words.sentences(told)

    def data(self) -> TourStep:
        return TourStep(
            key="data",
            page="data",
            target="table_card",
            clear="data_advice",
            title=self.tr("A table with texts and labels"),
            words=self.data_words,
            action=self._open_sample,
        )

    def _open_sample(self) -> Acting:
        data = self.session.data
        if data.table is None and not sample_data_path().is_file():
            return
        if data.table is None:
            data.open(sample_data_path())
        yield lambda: data.summary is not None or (data.table is not None and not data.is_counting)

    def data_words(self) -> str:
        """Say what the open table is and what was guessed about it."""
        table, roles = self.session.data.table, self.session.data.roles
        if table is None or roles is None:
            return self.tr("Any {kinds} will do. Drop a file on the window, or open one here.").format(
                kinds=words.tr_engine(TABLE_KINDS)
            )
        rows = words.counted(table.num_rows, self.tr("1 row"), self.tr("{count} rows"))
        told = self.tr("{name} is open: {rows}.").format(name=words.shorten(table.path.name, 40), rows=rows)
        if roles.text and roles.label:
            guess = self.tr("“{text}” is used as the text, “{label}” as its label.")
            guess = guess.format(text=words.shorten(roles.text, 30), label=words.shorten(roles.label, 30))
            told = words.sentences([told, guess])
        more = self.tr(
            "Click a column’s heading to change its role. “Data doctor” shows what could mislead a model."
        )
        return words.sentences([told, more])

    def setup(self) -> TourStep:
        return TourStep(
            key="setup",
            page="finetune",
            target="setup_card",
            title=self.tr("Choose a model, press Start"),
            words=self._setup_words,
            action=self._choose_starter,
            can_show=lambda: not self.page("finetune").shows_run,  # else the run is in the form's place
        )

    def _choose_starter(self) -> Acting:
        session, starter = self.session, home_model()
        if session.model.chosen is None and starter is not None:
            session.model.choose(str(starter))
        yield lambda: not session.model.is_reading and not session.data.is_counting

    def _setup_words(self) -> str:
        told = self.tr(
            "Fine-tuning starts from a model that has read a lot, and teaches it your "
            "labels. The defaults are sensible. Point at a setting to read what it does."
        )
        setup = self.page("finetune").setup
        plan = setup.plan
        if self.session.model.chosen is None:
            more = self.tr("Without a pretrained model, random weights will do for a first try.")
            return words.sentences([told, more])
        if plan is None or self.session.training.is_running:
            return told
        takes = self.tr("As they are, training takes {steps} steps, {time} here.")
        takes = takes.format(steps=words.number(plan.num_steps), time=setup.time_words())
        return words.sentences([told, takes])

    def learn(self) -> TourStep:
        return TourStep(
            key="learn",
            page="finetune",
            target="loss_plot",
            title=self.tr("Watch it learn"),
            words=self._learning_words,
            action=self._train,
            is_long=True,
        )

    def _train(self) -> Acting:
        """Press Start, unless that was done, and wait for the end."""
        session, page = self.session, self.page("finetune")
        if session.training.run_dir is None:
            try:
                yield from self.prepare()
                page.start_button.click()
                self._has_tried = True
            finally:
                if session.training.run_dir is None:  # refused, or left before
                    page.restore_own()
        yield lambda: not session.training.is_running

    def prepare(self) -> Acting:
        """Open the starter, and lend the form settings that do not take long."""
        page = self.page("finetune")
        yield from self._choose_starter()
        page.set_for_one_training({"num_epochs": story().table.epochs, **QUICK})
        yield page.start_button.isEnabled

    def _learning_words(self) -> str:
        model, is_running = self.session.model.chosen, self.session.training.is_running
        is_over = not is_running and self.session.training.state.step is not None
        if model is not None and model.is_new:
            told = self.tr("Random weights are taught the labels.")
            if home_model() is None:
                told = words.sentences([self.tr("No pretrained model ships with this build."), told])
        elif is_over:
            told = self.tr("A model that has read a lot was taught the labels.")
        else:
            told = self.tr("A model that has read a lot is being taught the labels.")
        told = words.sentences([told, self._moment_words()])
        if not is_running:
            return told
        skip = self.tr("Skip shows masked words and attention meanwhile. Training continues.")
        return words.sentences([told, skip])

    def _moment_words(self) -> str:
        state = self.session.training.state
        if state.outcome == "failed" or (self._has_tried and self.session.training.run_dir is None):
            return self.tr("It could not be trained. The page says why.")
        if state.step is None:
            return self.tr("The texts are being prepared.")
        step, num_steps = words.number(state.step.step), words.number(state.num_steps)
        if self.session.training.is_running:
            return self.tr(
                "Step {step} of {all}, about {time} left. Blue is the loss on the training rows, "
                "orange on the validation rows. Both should fall."
            ).format(step=step, all=num_steps, time=words.duration(state.step.remaining_s))
        return self.tr(
            "Done: {step} steps in {time}. Blue is the loss on the training rows, orange on the "
            "validation rows."
        ).format(step=step, time=words.duration(state.step.elapsed_s))

    def _best(self) -> Any:
        """Return the best evaluation of the run on the Fine-tune page, None before there is one."""
        return self.page("finetune").charts.advice.best

    def result(self) -> TourStep:
        return TourStep(
            key="result",
            page="finetune",
            target="confusion_plot",
            title=self.tr("How good is it?"),
            words=self._result_words,
            can_show=lambda: self._best() is not None or not self.is_awaited,
        )

    @property
    def is_awaited(self) -> bool:
        """Whether the classifier of this tour is still to come."""
        session = self.session
        return self.trains and (session.training.is_running or session.training.last_model is None)

    def _result_words(self) -> str:
        best = self._best()
        if best is None or best.confusion is None:
            return self.tr("Nothing was measured, because the training ended before.")
        true = best.confusion.sum(axis=1)
        template = self.tr(
            "On {rows} held-out rows, its accuracy is {accuracy}. Always answering {label} "
            "would score {chance}. The best checkpoint, of step {step}, is kept. Highlighted "
            "here: the confusion matrix."
        )
        if self.session.training.is_running:
            template = self.tr(
                "It is still learning. On {rows} held-out rows, its best accuracy so far is "
                "{accuracy}, at step {step}. Always answering {label} would score {chance}. "
                "Highlighted here: the confusion matrix."
            )
        return template.format(
            rows=words.number(true.sum()),
            accuracy=accuracy_words(best) or "–",
            label=words.shorten(best.labels[int(true.argmax())], 30),
            chance=words.share(float(true.max() / max(1, true.sum()))),
            step=words.number(best.step),
        )

    # ---- the result in use

    def ask(self) -> TourStep:
        return TourStep(
            key="ask",
            page="predict",
            target="text",
            title=self.tr("Ask it"),
            words=self._ask_words,
            action=self.ask_about_review,
            can_show=lambda: not self.is_awaited,
        )

    def ask_about_review(self) -> Acting:
        """Ask the classifier about a sentence, where nothing is asked yet."""
        page, folder = self.page("predict"), self.classifier()
        card = page.text_card
        if folder is not None and folder != self.inspector.folder:
            page.set_model(folder)
        if not self.inspector.is_given or not self.inspector.text.strip():
            asked = story().table.asked[0]
            self.inspector.set_text(asked, asked)  # the second is read only by a model of pairs
        card.ask()
        yield lambda: not card.bars.is_empty and not page.is_asking

    def _ask_words(self) -> str:
        bars = self.page("predict").text_card.bars
        told = self.tr("Type any sentence. The answer follows while you type.")
        if not bars.is_empty:
            name, value = max(bars.bars, key=lambda bar: bar[1])
            answer = self.tr("Here it says {label}, {share}.")
            answer = answer.format(label=words.shorten(name, 40), share=words.share(value))
            told = words.sentences([told, answer])
        more = self.tr("A whole file goes below. Every row gets a label and its probability.")
        return words.sentences([told, more])

    def reasons(self) -> TourStep:
        return TourStep(
            key="reasons",
            page="attention",
            target="attribution_card",
            title=self.tr("Why this answer?"),
            words=self._reasons_words,
            action=self._explain,
            can_show=lambda: not self.is_awaited,
        )

    def _explain(self) -> Acting:
        inspector, page, folder = self.inspector, self.page("attention"), self.classifier()
        if folder is None:
            return
        if inspector.folder != folder:
            inspector.choose(folder)
        text, *pair = self.page("predict").text_card.texts()
        inspector.set_text(text or story().table.asked[0], *pair)
        page.show_picture("attribution")
        # on a slow or busy computer it would wait for its button
        yield lambda: page.attribution.ask_about(folder) and page.attribution.result is not None

    def told_reasons(self) -> list[tuple[str, float]]:
        """Return the words with what each adds to the answer, the strongest first, as they stand there."""
        card = self.page("attention").attribution
        scored = card.bars.scored if card.result is not None else ()
        found = [(one.text, float(one.score)) for one in scored if one.score is not None and one.is_shown]
        return sorted(found, key=lambda one: -abs(one[1]))

    def _reasons_words(self) -> str:
        told = self.tr("Blue words with + support the answer, orange words with − oppose it.")
        found = self.told_reasons()
        if found:
            most = self.tr("Here “{word}” counts most.").format(word=words.shorten(found[0][0], 30))
            told = words.sentences([told, most])
        return told


class Tour(Guide):
    """The tour of Cloze: `Tour(window).start()`."""

    def __init__(self, window: TourHost, scenes: Scenes | None = None) -> None:
        scenes = Scenes(window) if scenes is None else scenes
        super().__init__(cast(QWidget, window), scenes.steps(), page=window.page, show_page=window.show_page)
        scenes.setParent(self)
