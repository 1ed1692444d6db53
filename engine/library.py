"""What people do with a BERT in a notebook, in ten functions; `from engine import ...` gives them.

These alone are promised: they change with a new first number of the version only, the rest of the package is
its inside. Work that takes long says nothing meanwhile, unless a function is given that hears its events.
torch's thread count is left as it was found.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from engine.device import same_threads, setting_of
from engine.errors import UserError, marked
from engine.events import Evaluated, Event, Finished, result_of
from engine.inspect.attention.weights import AttentionMaps
from engine.inspect.attribution.gradients import Attribution
from engine.inspect.attribution.target import Target
from engine.inspect.embeddings.vectors import PoolingConfig, usual_kind
from engine.inspect.embeddings.vectors import embed as embedding
from engine.inspect.loaded_model import LoadedModel, stamps
from engine.inspect.masked.probe import GapTable
from engine.questions.at_hand import ModelsAtHand
from engine.questions.attention import AttentionQuestion
from engine.questions.attribute import AttributionQuestion
from engine.questions.fill_mask import FillMaskQuestion
from engine.questions.question import Question, answer_of
from engine.settings.config import with_values
from engine.settings.finetune import FineTuneConfig
from engine.shipped import model_named
from engine.text.table import Table, reading_table
from engine.text.tokenizer import Encoding
from engine.train.finetune import fine_tune as training
from engine.train.run.runs import MODEL
from engine.train.tasks.known import evaluate_file, task_of
from engine.train.tasks.rows.kind import OfRows

Hear = Callable[[Event], object]
Found = TypeVar("Found")
Model = str | Path | LoadedModel


@dataclass(frozen=True, slots=True)
class Trained:
    """What a training came to.

    model: its folder. metrics: of the kept weights on the rows kept apart for validation. evaluations: all
    there were, those of the test set too.
    """

    model: Path
    run: Path
    metrics: Mapping[str, float]
    evaluations: tuple[Evaluated, ...]


def load(folder: str | Path, device: str = "auto") -> LoadedModel:
    """Open a model folder, or a model that ships by its name ("starter"), to look inside it.

    It is taken by `fill_mask`, `attention`, `attribute`, `embed` and `tokenize`, which also take a folder and
    then open it each time. Raises: ModelError, DataError.
    """
    return LoadedModel.open(model_named(folder), device)


@same_threads()
def predict(
    folder: Model, texts: Sequence[str | Mapping[str, Any]], device: str = "auto"
) -> list[dict[str, Any]]:
    """Return what a fine-tuned model answers to texts, one dictionary each, as `predict --stream` gives them.

    Args: folder: of the model, or the model as `load` opened it. texts: strings, or dictionaries: of pairs
    "text" and "text_pair", of questions "question" and "context". Raises: ModelError; DataError for a text
    that is empty.
    """
    if isinstance(folder, LoadedModel):
        answer = _answering_open(folder)
    else:
        folder = model_named(folder)
        answer = _answering(folder, device, str(stamps(folder)))
    return [answer(text if isinstance(text, Mapping) else {"text": text}) for text in texts]


@same_threads()
def fill_mask(
    model: Model, text: str, text_pair: str | None = None, top_k: int = 5
) -> list[list[tuple[str, float]]]:
    """Return for each [MASK] of a text the likeliest words and their probabilities, best first.

    Raises: ModelError: the model guesses no words. UserError: no text, or no [MASK] in it.
    """
    found = _answer(model, FillMaskQuestion, text, text_pair, top_k)
    assert isinstance(found, GapTable)
    return [[(guess.word, guess.probability) for guess in one.guesses] for one in found.answers]


@same_threads()
def attention(model: Model, text: str, text_pair: str | None = None) -> AttentionMaps:
    """Return where every head looks: `attentions` (L, H, T, T), and the encoding with its tokens."""
    return _answer(model, AttentionQuestion, text, text_pair)


@same_threads()
def attribute(
    model: Model, text: str, text_pair: str | None = None, *, label: str = "", hear: Hear | None = None
) -> Attribution:
    """Return what each word adds to a label of a classifier, by integrated gradients: `words`, `word_scores`.

    Args: label: "" for the one that the model answers. Raises: ModelError: it is no classifier. UserError.
    """
    whole = Target(question="labels", answer=label)
    return _answer(model, AttributionQuestion, text, text_pair, hear=hear, whole=whole)


@same_threads()
def embed(
    model: Model,
    texts: Sequence[str],
    pooling: str = "",
    layer: int = -1,
    *,
    hear: Hear | None = None,
) -> np.ndarray:
    """Return one vector for each text, (E, D) float32.

    Args: pooling: sentence, mean, cls, max, last_four, pooled or mix; "": sentence, as sentence-transformers'
    files in the folder say, where there are any, else mean. layer: 0 the embeddings, -1 the last.
    Raises: UserError: a text is empty. ModelError: the model has no such pooling.
    """
    subject = _opened(model)
    if empty := [place for place, text in enumerate(texts) if not text.strip()]:
        template = marked("engine", "Text {number} of {total} is empty.")
        raise UserError(template, number=empty[0] + 1, total=len(texts))
    chosen = PoolingConfig(pooling or usual_kind(subject.about), layer)
    found = result_of(embedding(subject, texts, [chosen]), hear)
    return np.asarray(found.vectors[0])


def tokenize(model: Model, text: str, text_pair: str | None = None) -> Encoding:
    """Return the WordPieces of a text: `tokens`, `input_ids`, `token_type_ids`, `offsets`."""
    return _opened(model).about.encode(text, text_pair)


def read_table(path: str | Path, *, hear: Hear | None = None, **how: str) -> Table:
    """Return the rows of a file of a known kind: `columns`, `frame` (pandas, text alone), `lines`.

    Args: how: as `reading_table` of engine/text/table.py takes it, where it is not to be found out.
    Raises: DataError.
    """
    return result_of(reading_table(Path(path), **how), hear)


@same_threads()
def fine_tune(data: str | Path, run: str | Path, *, hear: Hear | None = None, **settings: Any) -> Trained:
    """Fine-tune a model on a file; return where it lies and how good it is on the rows that were kept apart.

    Args: run: a new folder. settings: those of `finetune --help`, such as model, text, label, num_epochs,
    minutes. Raises: UserError: what is wrong with the file, the model or a setting, before any time is spent.
    """
    if "model" in settings:
        settings["model"] = str(model_named(settings["model"]))
    config = with_values(FineTuneConfig(), {"data": str(data), **settings})
    evaluations, finished = list[Evaluated](), None
    for event in training(config, Path(run)):
        if hear is not None:
            hear(event)
        if isinstance(event, Evaluated):
            evaluations.append(event)
        elif isinstance(event, Finished):
            finished = event
    assert finished is not None
    kept = [one for one in evaluations if one.split == "validation" and one.step == finished.best_step]
    return Trained(Path(run) / MODEL, Path(run), kept[-1].metrics if kept else {}, tuple(evaluations))


@same_threads()
def evaluate(
    folder: Model, data: str | Path, *, device: str = "auto", hear: Hear | None = None, **columns: str
) -> Mapping[str, float]:
    """Return the metrics of a fine-tuned model on a labelled file, by name.

    Args: folder: of the model, or the model as `load` opened it. columns: text, text_pair, label, where they
    are not those of the training data. Raises: UserError.
    """
    config = with_values(FineTuneConfig(), {"data": str(data), **columns})
    if isinstance(folder, LoadedModel):
        device, folder = setting_of(folder.device), folder.folder
    return result_of(evaluate_file(model_named(folder), config.data, device), hear).evaluated.metrics


def _answer(
    model: Model, kind: Callable[..., Question[Found]], *asked: Any, hear: Hear | None = None, **more: Any
) -> Found:
    opened = _opened(model)
    return answer_of(kind(opened.about.named, *asked, **more), ModelsAtHand(opened), hear)


def _opened(model: Model) -> LoadedModel:
    return model if isinstance(model, LoadedModel) else load(model)


def _answering_open(model: LoadedModel) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    """Return what answers for an open model; of another task than rows it is read from its folder again."""
    kind = task_of(model.folder)
    if isinstance(kind, OfRows):
        return partial(kind.answer, model.predictor())
    return _answering(model.folder, setting_of(model.device), str(stamps(model.folder)))


@lru_cache(maxsize=1)
def _answering(folder: Path, device: str, _written: str) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    """Return what answers for a folder; the last one is kept as long as its files are the same."""
    return task_of(folder).answering(folder, device)
