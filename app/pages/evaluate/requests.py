"""What the Evaluate page asks: of models, of files, of answers. Plain Python that touches no Qt object."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from app.pages.evaluate.opened_scores import OpenedScores, ScoredPair, WorseSlices
from app.pages.evaluate.state import FILE, LONG, SHORT, SURE, Listing
from app.plots.attribution import ScoredWord
from app.work import text_filter
from app.work.models import OpenModels
from app.work.page_state import MISFIT
from app.work.text_filter import Filter
from engine.durable import write_text
from engine.errors import UserError, marked
from engine.evaluation.baselines import Baseline, can_count_words, one_label
from engine.evaluation.comparing import compare_scored
from engine.evaluation.markdown import report_markdown
from engine.evaluation.meaning import groups_of_near
from engine.evaluation.part import check_same_rows, parts_of, reporting, run_behind
from engine.evaluation.report import ScoreReport, f1_intervals, keep_fitted
from engine.evaluation.slices import (
    LANGUAGE,
    MEANING,
    MOST_VALUES,
    by_length,
    by_value,
    finding_worse,
    has_word,
    languages,
)
from engine.events import Beat, Steps, result_of
from engine.inspect.attribution.gradients import Attribution, attribute
from engine.inspect.attribution.target import LABELS, Target
from engine.labelling.random_sample import is_random_sample
from engine.language import spoken
from engine.model.info import forget_temperature, read_info
from engine.model.model_name import ModelName
from engine.questions.evaluate import EvaluationQuestion
from engine.questions.labelled import LabelledTexts
from engine.questions.scores import write_rows
from engine.report.about import model_facts, versions
from engine.report.blocks import Document
from engine.report.run import Reported, reading_curves, report_page
from engine.report.scored import scored_of
from engine.runs.facts import CROSS_VALIDATION, RunScore, read_facts
from engine.settings.finetune import DataConfig, FineTuneConfig
from engine.text.table import reading_table
from engine.train.data_notes import shared_with_training
from engine.train.learned import learned_by
from engine.train.run.runs import SETUP, notes_from, read_config
from engine.train.run.setup import read_setup
from engine.train.scored import PEARSON, ScoredTable, ScoreRows
from engine.train.tasks.known import TASKS
from engine.train.tasks.multi_label.task import BETWEEN
from engine.train.tasks.rows.kind import OfRows

TEXTS_AT_ONCE = 2048
DIGITS = 1e-5  # of the largest error, within which a number is what its words say
Places = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Parts:
    """What a model's run kept apart. folder: the model's. names: of the file that each part is a part of;
    own: of those parts that are a file of their own. judged: its cross-validated score, if it has one.
    """

    splits: tuple[str, ...]
    folder: Path = Path()
    names: Mapping[str, str] = field(default_factory=dict)
    own: frozenset[str] = frozenset()
    judged: RunScore | None = None

    def choose(self, texts: LabelledTexts) -> LabelledTexts:
        """Return a file as it is; of parts one that there is, as far as there is any."""
        if texts.data:
            return texts
        return LabelledTexts(part=texts.part if texts.part in self.splits else next(iter(self.splits), ""))


def parts_of_model(folder: Path) -> Parts:
    """Return what the run behind a model kept apart. Raises: ModelError if its notes are damaged."""
    run = run_behind(folder)
    splits = () if run is None else parts_of(run)
    if is_random_sample(_own_file(run, "test")):
        splits = tuple(sorted(splits))  # it says more of the table than the others
    data = read_info(folder).get("data")
    name = str(data.get("name", "")) if isinstance(data, dict) else ""
    files = {split: _own_file(run, split) for split in splits}
    names = {split: Path(file).name if file else name for split, file in files.items()}
    judged = None if run is None else read_facts(run, run.parent).score(CROSS_VALIDATION)
    return Parts(splits, folder, names, frozenset(split for split, file in files.items() if file), judged)


def _own_file(run: Path | None, part: str) -> str:
    """Return the file that a run had for a part alone; "" where the part is one of the training file."""
    try:
        config = None if run is None else read_config(run)
    except UserError:
        return ""
    if not isinstance(config, FineTuneConfig):
        return ""
    return config.data.apart.get(part, "")


def score(source: EvaluationQuestion) -> Steps[OpenedScores]:
    """Return scored texts with what is shown of them at first. Raises: UserError."""
    start = time.perf_counter()
    scored = yield from source.scoring()
    report = reporting(scored, source.model.folder, source.part)
    yield from _counted(report)
    always = one_label(scored, source.model.folder) if report.is_of_classes else ()
    sizes = scored.listed.sizes()
    is_of_classes, right = report.is_of_classes, scored.each.right >= 1
    lengths = by_length(sizes, right, groups=report.groups) if is_of_classes else ()
    yield Beat()
    seconds = time.perf_counter() - start
    can_count = can_count_words(scored, source.model.folder)
    seen, file = _num_seen(source, scored), _file_of(source)
    return OpenedScores(source, report, always, sizes, lengths, seen, can_count, file, seconds)


def _num_seen(source: EvaluationQuestion, scored: ScoredTable) -> int | None:
    """Return how many of the texts the model has learned from; None: that is not known."""
    if scored.num_seen:
        return scored.num_seen
    learned = learned_by(source.model.folder)
    if not learned.files:
        return 0 if learned else None
    run = source.run if source.part else None
    if run is None or len(learned.files) > 1:  # nobody knows the texts of a training before that
        return None
    try:
        told = read_setup(run / SETUP, {}).get("notes")
    except UserError:
        return None
    return shared_with_training(notes_from(told), source.part)


def _file_of(source: EvaluationQuestion) -> Path | None:
    """Return the file in which the rows of some texts stand."""
    if not source.part:
        return Path(source.data).absolute()
    run = source.run
    if own := _own_file(run, source.part):
        return Path(own).absolute()
    try:
        config = None if run is None else read_config(run)
    except UserError:
        return None
    return Path(config.data.data).absolute() if isinstance(config, FineTuneConfig) else None


def _counted(report: ScoreReport) -> Steps[None]:
    """Find what would take long on the window's thread, one after another."""
    asked: list[Callable[[], object]] = [
        lambda: report.groups,
        lambda: report.num_repeating,
        lambda: report.interval,
        lambda: report.unseen and report.unseen.interval,
    ]
    if report.is_of_classes:
        asked += [
            lambda: report.classes,
            lambda: report.mean_f1_interval,
            lambda: report.calibration,
            lambda: report.temperature,
            lambda: report.abstaining,
        ]
    for find in asked:
        find()
        yield Beat()


def set_temperature(opened: OpenedScores, *, is_kept: bool) -> bool:
    """Keep the temperature that was fitted with the model, or take back the one that is kept; return which.

    Raises: UserError.
    """
    if is_kept:
        keep_fitted(opened.report, opened.model, opened.source.texts_name)
    else:
        forget_temperature(opened.model)
    return is_kept


def compare(opened: OpenedScores, other: Path, names: tuple[str, str]) -> Steps[ScoredPair]:
    """Return another model's answers to the same texts beside these. Args: names: what the two are called.

    Raises: UserError.
    """
    source = opened.source
    again = replace(source, model=ModelName(other))
    if source.part:
        check_same_rows(opened.model, other, source.part, names)
    second = yield from again.scoring()
    yield Beat()
    return ScoredPair(compare_scored(opened.scored, second), other)


def find_slices(opened: OpenedScores, meaning: tuple[str, ...] = ()) -> Steps[WorseSlices]:
    """Return the slices that are worse than the rest, and the columns beside texts and labels.

    Args: meaning: (E,) what the group of each text is called, where they have been grouped.
    """
    try:
        columns = yield from _columns(opened)
    except UserError:  # the file has gone, or is another by now
        columns = {}
    scored = opened.scored
    made = {LANGUAGE: (yield from languages(scored.listed.texts)), MEANING: meaning}
    columns |= {name: values for name, values in made.items() if values}
    listed, right = scored.listed, scored.each.right >= 1
    slices, tried = yield from finding_worse(
        listed.texts, listed.pairs, right, opened.sizes, columns, opened.report.groups
    )
    by_column = {}
    for name, values in columns.items():
        by_column[name] = by_value(name, values, right)
        yield Beat()
    return WorseSlices(slices, tried, columns, by_column)


def group_near(opened: OpenedScores) -> Steps[OpenedScores]:
    """Return the same with texts drawn together in each interval that nearly repeat one another."""
    listed = opened.scored.listed
    report = replace(opened.report, near=(yield from groups_of_near(listed.texts, listed.pairs)))
    yield from _counted(report)
    return replace(opened, report=report)


def _columns(opened: OpenedScores) -> Steps[dict[str, tuple[str, ...]]]:
    """Return the cells of columns of few values, (E,) each, of the file that the texts stand in."""
    source, data = opened.source, DataConfig()
    run = source.run
    taken, sha256 = set[str](), ""
    if source.part and run is not None:
        config = read_config(run)
        assert isinstance(config, FineTuneConfig)
        data = config.data
        own = data.apart.get(source.part, "")
        if not own:
            sha256 = str(read_setup(run / SETUP, {"data": dict})["data"].get("sha256"))
        taken = {data.text, data.text_pair, data.label}
        path, how = own or data.data, data.how_of(source.part if own else "")
    else:
        data, path, how = source.config, source.data, source.config.how
    if not isinstance(TASKS.get(opened.scored.task), OfRows):
        return {}
    table = yield from reading_table(path, **how)
    rows = opened.scored.listed.rows
    if (sha256 and table.sha256 != sha256) or rows.max(initial=-1) >= table.num_rows:
        return {}
    found = {}
    for name in table.columns:
        values = [str(cell) for cell in table.frame[name].array.take(rows)]
        if name not in taken and 1 < len(set(values)) <= MOST_VALUES:
            found[name] = tuple(values)
        yield Beat()
    true = opened.scored.each
    labels = tuple(true.names[place] for place in true.true.tolist())
    return {name: values for name, values in found.items() if values != labels}


def choose(
    opened: OpenedScores, listing: Listing, columns: Mapping[str, Sequence[str]], both: ScoredPair | None
) -> Steps[Places]:
    """Return the places of the texts that are listed, in their order."""
    scored = opened.scored
    chosen = np.ones(len(scored.each), bool)
    for one in listing.filters:
        chosen &= yield from _mask(opened, one, columns, both, chosen)
    if listing.search.strip():
        chosen &= yield from _of_texts(scored, lambda text: listing_has(text, listing.search), chosen)
    places = np.flatnonzero(chosen)
    return places[_ranks(opened, listing.order)[places].argsort(kind="stable")]


def listing_has(text: str, wanted: str) -> bool:
    """Whether what is typed stands in a text, without case."""
    return wanted.strip().casefold() in text.casefold()


def _ranks(opened: OpenedScores, order: str) -> npt.NDArray[np.float64]:
    each, lengths = opened.scored.each, opened.sizes.astype(np.float64)
    if order == FILE:
        return opened.scored.listed.rows.astype(np.float64)
    if order in (LONG, SHORT):
        return -lengths if order == LONG else lengths
    sure = each.sure.astype(np.float64)
    return -sure if order == SURE else sure


def _mask(
    opened: OpenedScores,
    one: Filter,
    columns: Mapping[str, Sequence[str]],
    both: ScoredPair | None,
    so_far: Mask,
) -> Steps[Mask]:
    yield Beat()
    scored = opened.scored
    each, values = scored.each, one.values
    everything = np.ones(len(each), bool)
    if one.kind == text_filter.ANSWER:
        true, predicted = (int(value) for value in values)
        own = everything if true < 0 else each.true == true
        return own if predicted < 0 else own & (each.predicted == predicted)
    if one.kind == text_filter.RIGHT:
        right = each.right >= 1
        return right if values[0] else ~right
    if one.kind in (text_filter.CONFIDENCE, text_filter.LENGTH):
        of = each.sure if one.kind == text_filter.CONFIDENCE else opened.sizes
        low, high = (float(value) for value in values)
        found: Mask = (of >= low - 1e-9) & (of <= high + 1e-9)
        return found
    if one.kind == text_filter.WORD:
        return (yield from _of_texts(scored, lambda text: has_word(text, str(values[0])), so_far))
    if one.kind == text_filter.LABEL:
        has = np.array([values[0] in name.split(BETWEEN) for name in each.names], bool)
        return np.asarray(has[each.true] | has[each.predicted])
    if one.kind == text_filter.COLUMN:
        cells = columns.get(str(values[0]), ())
        return np.array([cell == values[1] for cell in cells], bool) if cells else ~everything
    if one.kind in (text_filter.MARK, text_filter.PLACE):
        return _some(len(each), _places_of(each, one))
    if one.kind == text_filter.OFF:
        return _off_by(each, *values)
    assert one.kind == text_filter.DIFFER
    return _differing(len(each), str(values[0]), both)


def _off_by(each: ScoreRows, side: float | str, least: float | str, most: float | str) -> Mask:
    """Return which numbers are predicted so far from the true ones, or on the other side of the bounds."""
    off = numbers_of(each.names, each.predicted) - numbers_of(each.names, each.true)
    near = DIGITS * float(np.abs(off).max(initial=0.0))
    inside: Mask = (off >= float(least) - near) & (off <= float(most) + near)
    return inside if side == text_filter.INSIDE else ~inside


def _places_of(each: ScoreRows, one: Filter) -> Places:
    """Return the places of the texts that have a mark, or of one."""
    if one.kind == text_filter.PLACE:
        return np.array([int(one.values[0])], np.int64)
    name = tuple(str(value) for value in one.values)
    return np.zeros(0, np.int64) if each.marks is None else each.marks.texts_with(name)


def _some(count: int, places: Places) -> Mask:
    found = np.zeros(count, bool)
    found[places[places < count]] = True
    return found


def numbers_of(names: Sequence[str], places: Places) -> npt.NDArray[np.float64]:
    """Return (E,) the numbers that stand at some places of names."""
    return np.array([float(name) for name in names], np.float64)[places]


def fitted(
    listing: Listing, opened: OpenedScores, columns: Collection[str], both: ScoredPair | None
) -> Listing:
    """Return what somebody else wants listed as these texts have it: where none of them is right or wrong,
    two models can only differ. Raises: UserError: it speaks of others.
    """
    differ = listing.of(text_filter.DIFFER)
    if differ is not None and both is not None and both.compared.difference.only_first is None:
        listing = listing.without(differ).toggled(Filter(text_filter.DIFFER, (text_filter.ANY,)))
    if not all(_is_known(one, opened.scored.each, columns, both) for one in listing.filters):
        raise UserError(MISFIT, name="listing")
    return listing


def _is_known(one: Filter, each: ScoreRows, columns: Collection[str], both: ScoredPair | None) -> bool:
    first, *_others = one.values
    if one.kind == text_filter.ANSWER:
        low, high = sorted(int(place) for place in one.values)
        return low >= -1 and 0 <= high < len(each.names)
    if one.kind == text_filter.COLUMN:
        return first in columns
    if one.kind == text_filter.DIFFER:
        return both is not None and first in text_filter.WHO
    if one.kind == text_filter.MARK:
        return each.marks is not None
    if one.kind == text_filter.OFF:
        return each.score == PEARSON and first in (text_filter.INSIDE, text_filter.OUTSIDE)
    return one.kind != text_filter.PLACE or 0 <= int(first) < len(each)


def _differing(count: int, who: str, both: ScoredPair | None) -> Mask:
    found = np.zeros(count, bool)
    if both is None:
        return found
    compared = both.compared
    first = compared.first.each.right[compared.first_rows] >= 1
    second = compared.second.each.right[compared.second_rows] >= 1
    if who == text_filter.ANY:
        found[compared.first_rows[compared.differing]] = True
    else:
        only = {
            text_filter.FIRST: first & ~second,
            text_filter.SECOND: second & ~first,
            text_filter.ONE: first != second,
        }[who]
        found[compared.first_rows[only]] = True
    return found


def _of_texts(scored: ScoredTable, test: Callable[[str], bool], so_far: Mask) -> Steps[Mask]:
    """Ask a test of the texts that are still in question, some at a time."""
    listed, found = scored.listed, np.zeros(len(scored.each), bool)
    if not len(listed.texts):
        return found
    places = np.flatnonzero(so_far)
    for start in range(0, len(places), TEXTS_AT_ONCE):
        for place in places[start : start + TEXTS_AT_ONCE].tolist():
            text = listed.texts[place]
            if listed.pairs is not None:
                text = f"{text}\n{listed.pairs[place]}"
            found[place] = test(text)
        yield Beat()
    return found


def explain(models: OpenModels, folder: Path, text: str, pair: str | None, label: str) -> Steps[Attribution]:
    """Return which words an answer rests on. Raises: UserError."""
    subject, info = models.subject(folder), read_info(folder)
    longest = subject.config.max_position_embeddings
    length = min(int(info.get("max_length", longest)), longest)
    encoding = subject.wordpiece.encode(text, pair, max_length=length, truncation="longest_first")
    if encoding.num_cut:  # an answer rests on what was read
        ends = [0, 0]
        for (_, stop), segment in zip(encoding.offsets, encoding.token_type_ids, strict=True):
            ends[segment] = max(ends[segment], stop)
        text, pair = text[: ends[0]], None if pair is None else pair[: ends[1]]
    return (yield from attribute(subject, text, pair, target=Target(question=LABELS, answer=label)))


def scored_words(found: Attribution) -> list[ScoredWord]:
    """Return the words as a picture shows them."""
    texts = (found.text, found.text_pair or "")
    return [
        ScoredWord(
            text=word.text,
            segment=word.segment,
            score=score,
            joined=word.start > 0 and not texts[word.segment][word.start - 1].isspace(),
        )
        for word, score in zip(found.words, found.word_scores.tolist(), strict=True)
    ]


def export(path: Path, scored: ScoredTable, places: Places) -> Path:
    """Write some texts with their answers as a table. Raises: UserError."""
    write_rows(path, scored, places.tolist())
    return path


def save_report(
    path: Path,
    opened: OpenedScores,
    titles: tuple[str, str],
    counted: Baseline | None,
    found: WorseSlices | None,
    said: str,
) -> Path:
    """Write a report as Markdown. Args: titles: of model and texts. said: of a second model."""
    report = opened.report
    baselines = [*opened.always, *([counted] if counted is not None else [])]
    intervals = result_of(f1_intervals(report)) if report.is_of_classes else ()
    slices, tried = ((), 0) if found is None else (found.slices, found.num_tried)
    write_text(path, report_markdown(report, *titles, baselines, slices, tried, intervals, said))
    return path


def document_of(
    opened: OpenedScores,
    title: str,
    counted: Baseline | None,
    found: WorseSlices | None,
    said: str,
    has_texts: bool,
) -> Document:
    """Return all that is known as one page to send. Args: as `save_report`; has_texts: the wrong ones."""
    source, folder = opened.source, opened.model
    baselines = [*opened.always, *([counted] if counted is not None else [])]
    slices, tried = ((), 0) if found is None else (found.slices, found.num_tried)
    texts = source.texts_said
    scored = result_of(scored_of(opened.report, texts, baselines, slices, tried, said))
    run = run_behind(folder)
    return report_page(
        Reported(
            title,
            (*result_of(model_facts(folder)), *versions()),
            (scored,),
            None if run is None else read_facts(run, run.parent),
            None if run is None else result_of(reading_curves(run)),
            ((spoken(marked("engine", "Measure it again")), source.command()),),
            with_texts=has_texts,
        )
    )
