"""The card of an exported model, README.md: what its run has written down, how it was checked and is used.

Nothing is guessed. A model that was not trained here keeps the card that it came with, beside this one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.errors import Sentence, UserError
from engine.export.heads import graph_of
from engine.files import file_in, read_regular
from engine.model.heads import HEADS
from engine.model.info import read_info
from engine.model.weights import head_of, read_config
from engine.runs.card import card
from engine.runs.facts import read_facts
from engine.shipped import PLACES
from engine.train.run.kept import name_of, run_of
from engine.train.run.runs import LAYERS

CARD, ORIGIN = CARDS = ("README.md", "ORIGIN.md")
_MOST_ORIGIN = 2**20  # bytes
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
    parts += ["## Checked", "\n".join(f"- {one}" for one in checked), "## Use", _reads(folder, head)]
    return "\n\n".join([*parts, *(one.code for one in uses)]) + "\n"


def _reads(folder: Path, head: str) -> str:
    """Return how long a text may be, and what becomes of a longer one."""
    graph = graph_of(folder)
    if graph.task is not None and graph.task.reads_windows:
        return (
            f"It reads {graph.max_length} pieces at once. Cloze, and answer.py where it is with the "
            "graph, read a longer text in overlapping windows. Other programs may truncate it there."
        )
    reads = f"It reads the first {graph.max_length} pieces of a text and truncates what is longer"
    if graph.truncation == "head_tail":
        reads = f"It reads {graph.max_length} pieces of a text: a quarter from its beginning, the rest "
        reads += "from its end. Cloze and answer.py drop the middle, other programs truncate the end"
    if head not in _TAGS:
        return f"{reads}."
    told = "tokenizer_config.json gives other programs the length. Ask them to truncate (truncation=True)."
    return f"{reads}. {told}" if graph.task is None else f"{reads}, as in training. {told}"


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
    shape = f"{config.num_hidden_layers} layers, {config.hidden_size} wide"
    shape += f", {config.num_attention_heads} heads a layer"
    lines = [f"# {title}", f"{config.family.name}: {shape}, {config.vocab_size:,} pieces in the vocabulary."]
    if config.id2label:
        lines.append(f"Labels: {', '.join(f'`{label}`' for label in config.id2label[:50])}.")
    chain = info.get("chain")
    stages = [one for one in chain if isinstance(one, dict)] if isinstance(chain, list) else []
    lines += [
        "## Data",
        "\n".join(map(_stage, stages)) or "Its folder does not say what it was trained on.",
    ]
    lines += [
        "## Results",
        "Nothing is known of them, because it was not made by a run here. Measure it before using it.",
    ]
    origin = f"`{ORIGIN}`, the card that it came with, names them" if has_origin else "unknown here"
    lines += ["## Limits", f"- Licence and origin: {origin}."]
    return "\n\n".join(lines)


def _stage(stage: dict[str, object]) -> str:
    texts = stage.get("text")
    found = texts if isinstance(texts, list) else [stage.get("data")]
    named = [str(one.get("name", "?")) for one in found if isinstance(one, dict)]
    began = f"; from the layers of {stage[LAYERS]}" if LAYERS in stage else ""
    return f"- {stage.get('task', 'a stage')}: {', '.join(named) or 'unknown texts'}{began}"
