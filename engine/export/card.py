"""The card of an exported model, README.md: what its run has written down, how it was checked and is used.

Nothing is guessed. A model that was not trained here keeps the card that it came with, beside this one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.errors import Sentence, UserError, captioned, listed, marked, sentences
from engine.export.heads import graph_of
from engine.files import file_in, read_regular
from engine.language import said, spoken
from engine.model.heads import HEADS
from engine.model.info import read_info
from engine.model.weights import head_of, read_config
from engine.runs.card import card, labels_line
from engine.runs.facts import read_facts
from engine.shipped import PLACES
from engine.train.run.kept import name_of, run_of
from engine.train.run.runs import LAYERS

CARD, ORIGIN = CARDS = ("README.md", "ORIGIN.md")
_MOST_ORIGIN = 2**20  # bytes
READS_WINDOWS = marked(
    "engine",
    "It reads {count} pieces at once. Cloze, and answer.py where it is with the graph, read a longer text in "
    "overlapping windows. Other programs may truncate it there.",
)
READS_FIRST = marked("engine", "It reads the first {count} pieces of a text and truncates what is longer.")
READS_FIRST_AS_TRAINED = marked(
    "engine", "It reads the first {count} pieces of a text and truncates what is longer, as in training."
)
READS_ENDS = marked(
    "engine",
    "It reads {count} pieces of a text: a quarter from its beginning, the rest from its end. Cloze and "
    "answer.py drop the middle, other programs truncate the end.",
)
READS_ENDS_AS_TRAINED = marked(
    "engine",
    "It reads {count} pieces of a text, as in training: a quarter from its beginning, the rest from its end. "
    "Cloze and answer.py drop the middle, other programs truncate the end.",
)
ASK_TO_TRUNCATE = marked(
    "engine",
    "tokenizer_config.json gives other programs the length. Ask them to truncate (truncation=True).",
)
SHAPE = marked(
    "engine",
    "{family}: {layers} layers, {width} wide, {heads} heads a layer, {pieces:,} pieces in the vocabulary.",
)
NO_RESULTS = marked(
    "engine",
    "Nothing is known of them, because it was not made by a run here. Measure it before using it.",
)
_TAGS = {  # the published class -> how Hugging Face calls its task
    "BertForMaskedLM": "fill-mask",
    "BertForPreTraining": "fill-mask",
    **{name: head.tag for name, head in HEADS.items()},
}


@dataclass(frozen=True, slots=True)
class Use:
    """How an export is used. library: as Hugging Face calls it. code: in Markdown. task: that it is for; ""
    for the model's own.
    """

    library: str
    code: str
    task: str = ""


def write_card(folder: Path, out: Path, checked: Sequence[Sentence], *uses: Use) -> None:
    """Write a model's card into the folder of an export, and beside it the one that the model came with."""
    (out / CARD).write_text(model_card(folder, checked, *uses), encoding="utf-8")
    if (origin := _origin(folder)) is not None:
        (out / ORIGIN).write_bytes(origin)


def model_card(folder: Path, checked: Sequence[Sentence], *uses: Use) -> str:
    """Return the card of a model on its way out.

    Args: checked: what was seen of the export. uses: how it is used; the first gives its name.
    """
    config = read_config(folder)
    run, head = run_of(folder), head_of(config)
    title = name_of(folder)
    task = uses[0].task or _TAGS.get(head, "")
    named = [f"library_name: {uses[0].library}", *([f"pipeline_tag: {task}"] if task else [])]
    told = _of_run(run, title) if run is not None else _of_folder(folder, title, _origin(folder) is not None)
    parts = ["\n".join(["---", *named, f"tags: [{config.model_type}]", "---"]), told.rstrip()]
    parts += ["## " + spoken(marked("engine", "Checked")), "\n".join(f"- {one}" for one in checked)]
    parts += ["## " + spoken(marked("engine", "Use")), _reads(folder, head)]
    return "\n\n".join([*parts, *(one.code for one in uses)]) + "\n"


def _reads(folder: Path, head: str) -> str:
    """Return how long a text may be, and what becomes of a longer one."""
    graph = graph_of(folder)
    if graph.task is not None and graph.task.reads_windows:
        return said(READS_WINDOWS, count=graph.max_length)
    as_trained = head in _TAGS and graph.task is not None
    if graph.truncation == "head_tail":
        template = READS_ENDS_AS_TRAINED if as_trained else READS_ENDS
    else:
        template = READS_FIRST_AS_TRAINED if as_trained else READS_FIRST
    return sentences(
        [said(template, count=graph.max_length), spoken(ASK_TO_TRUNCATE) if head in _TAGS else ""]
    )


def _of_run(run: Path, title: str) -> str:
    return card([read_facts(run, run.parent)], title, with_use=False)


def _origin(folder: Path) -> bytes | None:
    """Return the card that a model came with: in its folder, or of the models that ship, beside them."""
    try:
        path = folder.parent / CARD if folder.absolute().parent in PLACES else file_in(folder, CARD)
        return None if path is None or not path.is_file() else read_regular(path, most=_MOST_ORIGIN)
    except UserError:  # a card is no reason to keep a model
        return None


def _of_folder(folder: Path, title: str, has_origin: bool) -> str:
    """Return what is known of a model that no run here has made."""
    config, info = read_config(folder), read_info(folder)
    shape = said(
        SHAPE,
        family=config.family.name,
        layers=config.num_hidden_layers,
        width=config.hidden_size,
        heads=config.num_attention_heads,
        pieces=config.vocab_size,
    )
    lines = [f"# {title}", shape]
    if config.id2label:
        lines.append(labels_line(config.id2label))
    chain = info.get("chain")
    stages = [one for one in chain if isinstance(one, dict)] if isinstance(chain, list) else []
    lines += [
        "## " + spoken(marked("engine", "Data")),
        "\n".join(map(_stage, stages))
        or spoken(marked("engine", "Its folder does not say what it was trained on.")),
    ]
    lines += ["## " + spoken(marked("engine", "Results")), spoken(NO_RESULTS)]
    known = marked("engine", "Licence and origin: {name}, the card that it came with, names them.")
    unknown = marked("engine", "Licence and origin: unknown here.")
    origin = said(known, name=f"`{ORIGIN}`") if has_origin else spoken(unknown)
    lines += ["## " + spoken(marked("engine", "Limits")), f"- {origin}"]
    return "\n\n".join(lines)


def _stage(stage: dict[str, object]) -> str:
    texts = stage.get("text")
    found = texts if isinstance(texts, list) else [stage.get("data")]
    named = [str(one.get("name", "?")) for one in found if isinstance(one, dict)]
    began = ""
    if LAYERS in stage:
        began = said(marked("engine", "; from the layers of {name}"), name=stage[LAYERS])
    task = stage.get("task", spoken(marked("engine", "a stage")))
    texts_said = listed(named) or spoken(marked("engine", "unknown texts"))
    return "- " + captioned(task, f"{texts_said}{began}")
