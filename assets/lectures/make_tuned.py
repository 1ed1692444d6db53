"""Write the lecture "What fine-tuning changes": every number in its sentences is computed here.

    python -m assets.lectures.make_tuned

Before: the tiny model that ships. After: the same model, fine-tuned on film reviews (assets/models/make.py).
The reviews are of the rows that this model was measured on: neither training nor choosing has seen them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from app.lectures.lecture import Lecture, Scene, SceneModel, write_lecture
from assets.models.make import MODEL, MODELS, TINY, TUNED, tuning
from engine.events import result_of
from engine.inspect.anatomy.vectors import trace
from engine.inspect.attention.weights import look
from engine.inspect.attribution.gradients import attribute
from engine.inspect.attribution.target import LABELS, Target
from engine.inspect.embeddings import poolings
from engine.inspect.embeddings.vectors import PoolingConfig, embed
from engine.inspect.loaded_model import LoadedModel
from engine.inspect.masked.probe import probe
from engine.text.examples import finding_examples
from engine.train.prepare import opening_table, roles_of, split_of

TARGET = Path(__file__).parent / "what-fine-tuning-changes.json"
BEFORE = "Small model with its history"
AFTER = "Small model, fine-tuned on film reviews"
GAP = "The film was released in the united [MASK]."
SENTENCE = "an original and moving film, full of warmth and humor."
OF_EACH = 100  # reviews of each label
LAYER = 2
LONGEST = 64  # pieces, as it was trained with
MEANING = {"pos": "praise", "neg": "blame"}


@dataclass(frozen=True)
class Models:
    """The model before and after."""

    before: LoadedModel
    after: LoadedModel

    def marks(self, *, of_after: bool = False, beside: str = "") -> dict[str, SceneModel]:
        """Return what a scene names. Args: of_after: which is looked into. beside: the other's role."""
        both = [
            SceneModel(name, one.fingerprint) for name, one in ((BEFORE, self.before), (AFTER, self.after))
        ]
        named = {"model": both[of_after]}
        return named | ({beside: both[not of_after]} if beside else {})


def main() -> int:
    """Compute, and write the file."""
    write_lecture(TARGET, lecture())
    return 0


def lecture() -> Lecture:
    """Return the lecture, computed anew."""
    models = Models(LoadedModel.open(MODELS / TINY / MODEL, "cpu"), LoadedModel.open(MODELS / TUNED, "cpu"))
    scenes = (guesses(models), vectors(models), looks(models), head(models), rests(models), lost(models))
    return Lecture("What fine-tuning changes", scenes)


def guesses(models: Models) -> Scene:
    """Before: a model that fills gaps and knows no label."""
    first, second, third = probe(models.before, GAP, top_k=3).answers[0].guesses
    return Scene(
        "Before: it guesses words",
        f"This small model was trained on Wikipedia to fill blanks. Here it predicts “{first.word}” "
        f"({percent(first.probability)}), then “{second.word}” and “{third.word}”. It has had no labels "
        "for praise or blame.",
        "probe",
        models.marks(),
        GAP,
        values=probe_values(),
    )


def vectors(models: Models) -> Scene:
    """The same reviews by both: how [CLS] comes to lie."""
    rows = reviews()
    found = shift(models, rows)
    difference = found.difference
    assert difference.low > 0, difference  # the sentence says that it became better
    return Scene(
        "The same reviews, before and after",
        f"{len(rows)} film reviews that it was not trained on, each a point: the vector of [CLS] after the "
        f"last layer. On the left, before, the nearest review has the same label for "
        f"{percent(found.before)}, where chance gives {percent(found.chance)}. On the right, after 7,464 "
        f"other reviews, it is {percent(found.after)}. The points moved because the label is read off "
        "them.",
        "embeddings",
        models.marks(beside="other"),
        values={
            "tab": "pair",
            "kind": "typed",
            "texts": [[label, text] for label, text in rows],
            "group": "label",
            "word": "",
            "longest": LONGEST,
            "of": "200 held-out film reviews",
            "pooling": "cls",
            "layer": LAYER,
            "method": "pca",
            "perplexity": 30,
            "seed": 42,
            "coloured": True,
            "by_group": True,
            "point": -1,
            "compared": "",
        },
    )


def looks(models: Models) -> Scene:
    """Where the head that changed most looks, less where it looked before."""
    layer, head_, gained, more, lost_, less, least, most = moved(models)
    assert least >= 0.01, least  # the sentence says that no head stayed as it was
    return Scene(
        "Where it looks has changed",
        f"Layer {layer}, head {head_}, after minus before: of its four heads the one that changed most. "
        f"[CLS] now looks more at “{gained}” (+{points(more)} percentage points) and less at “{lost_}” "
        f"(−{points(-less)}). Every head changed: on average a piece moved {points(least)} to "
        f"{points(most)} % of its attention. Where a head looks is not yet why it answers.",
        "attention",
        models.marks(of_after=True, beside="other"),
        SENTENCE,
        values=attention_values("heatmap", (layer, head_), against=True),
    )


def head(models: Models) -> Scene:
    """C, and the label head."""
    found = trace(models.after, SENTENCE)
    share = found["label.softmax"]
    best = int(share.argmax())
    label = models.after.labels[best]
    width, count = found["C"].shape[0], len(share)
    logits = " and ".join(
        f"{value:.2f} for {MEANING[name]}".replace("-", "−")
        for name, value in zip(models.after.labels, found["label.logits"].tolist(), strict=True)
    )
    return Scene(
        "All that is new: one small head",
        f"C is made of the vector of [CLS], {width} numbers. The label head turns them into {count}. It has "
        f"{count} × {width} weights and {count} biases: {count * width + count} numbers, added to the "
        f"{models.after.about.num_parameters:,} that were there before and were trained with it. Its "
        f"scores are {logits}: {MEANING[label]}, with "
        f"{percent(float(share[best]))}.",
        "anatomy",
        models.marks(of_after=True),
        SENTENCE,
        values={
            "step": "answer",
            "layer": LAYER,
            "head": 1,
            "piece": 0,
            "key": -1,
            "vector": "",
            "numbers": [-1, -1, -1],
            "answer": "label",
            "said": -1,
            "target": "",
            "changes": {"scales": [], "no_residual": [], "positions": [], "segments": []},
        },
    )


def rests(models: Models) -> Scene:
    """Which words the answer rests on."""
    found = result_of(attribute(models.after, SENTENCE, target=Target(question=LABELS)))
    assert found.is_complete  # the sentence says so
    order = np.argsort(-found.word_scores)
    first, second, last = (
        f"“{found.words[place].text}” ({found.word_scores[place]:+.2f})".replace("-", "−")
        for place in (order[0], order[1], order[-1])
    )
    return Scene(
        "The most influential words",
        f"Its answer is {MEANING[found.asked.target.answer]}, with {percent(found.probability)}. For the "
        f"same sentence with every word masked, {MEANING[found.asked.target.answer]} has "
        f"{percent(found.baseline_probability)}. In log-odds {first} adds most, then {second}, and {last} "
        "least. All words together make up the whole difference, within 1 %.",
        "attention",
        models.marks(of_after=True),
        SENTENCE,
        values=attention_values("attribution", (LAYER, 1), question=LABELS),
    )


def lost(models: Models) -> Scene:
    """What the result cannot do any more."""
    assert not models.after.about.has_masked_words
    accuracy, low, high = measured()
    return Scene(
        "What it can no longer do",
        "Asked to fill the blank of the first scene, it has no answer. Its masked-word head was removed "
        "when the label head came, as is usual. And it is a small model, not a good judge. Of 1,599 "
        f"held-out reviews it gets {accuracy} right (95 %: {low} to {high}), where guessing gives 50 %.",
        "probe",
        models.marks(of_after=True),
        GAP,
        values=probe_values(),
    )


def reviews() -> list[tuple[str, str]]:
    """Return label and text of the first rows of each label that the model was measured on."""
    data = tuning(TUNED).data
    table = result_of(opening_table(data, data.data, "data"))
    found = result_of(finding_examples(table, roles_of(data, table)))
    together = None if table.together is None else table.together[found.examples.rows]
    test = split_of(data, found.examples.labels.astype(np.int64), together)[2]
    rows: list[tuple[str, str]] = []
    for number, label in enumerate(found.labels):
        own = [place for place in test.tolist() if found.examples.labels[place] == number][:OF_EACH]
        rows += [(label, example.text) for example in found.examples.take(np.asarray(own))]
    return rows


def shift(models: Models, rows: Sequence[tuple[str, str]]) -> poolings.Shift:
    """Return how often the nearest review is of the same label, before and after."""
    texts, labels = [text for _label, text in rows], [label for label, _text in rows]
    pooling, names = PoolingConfig("cls", LAYER), sorted(set(labels))
    both = []
    for subject in (models.before, models.after):
        found = result_of(embed(subject, texts, [pooling], max_length=LONGEST))
        assert len(found.places) == len(texts)
        both.append(found.of(pooling))
    return poolings.shift(texts, [names.index(label) for label in labels], *both)


def moved(models: Models) -> tuple[int, int, str, float, str, float, float, float]:
    """Return layer and head, from 1, whose attention moved most; of its [CLS] the piece that gained most and
    what, that which lost most and what; and the least and most that a head moved, each 0..1.
    """
    before, after = (look(one, SENTENCE).attentions for one in (models.before, models.after))
    change = after - before  # (L, H, T, T)
    size = np.abs(change).sum(-1).mean(-1) / 2  # what a piece moved from some pieces to others
    layer, head_ = (int(place) for place in np.unravel_index(size.argmax(), size.shape))
    row, tokens = change[layer, head_, 0], models.after.encode(SENTENCE).tokens
    up, down = int(row.argmax()), int(row.argmin())
    ends = float(size.min()), float(size.max())
    return layer + 1, head_ + 1, tokens[up], float(row[up]), tokens[down], float(row[down]), *ends


def measured() -> tuple[str, str, str]:
    """Return accuracy and its interval as `assets/models/README.md` has them."""
    card = (MODELS / "README.md").read_text(encoding="utf-8").partition("\n## Tuned\n")[2]
    line = next(line for line in card.splitlines() if line.startswith("| test accuracy |"))
    said = line.split("|")[2].split()  # 0.744 (95 %: 0.722 to 0.765)
    numbers = [float(word.strip("()")) for word in (said[0], said[3], said[5])]
    first, second, third = (percent(number) for number in numbers)
    return first, second, third


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def points(share: float) -> str:
    return f"{100 * share:.0f}"


def probe_values() -> dict[str, Any]:
    return {
        "tab": "words",
        "words": [],
        "pieces": [],
        "by_pieces": False,
        "top": 6,
        "gap": 0,
        "own": [],
        "template": ["", "", "probability"],
    }


def attention_values(
    view: str, head_: tuple[int, int], *, against: bool = False, question: str = ""
) -> dict[str, Any]:
    """Return what Attention shows. Args: against: the model before. question: of an attribution."""
    other = {"kind": "model", "head": [], "text": "", "text_pair": "", "name": BEFORE} if against else None
    return {
        "view": view,
        "heads": [list(head_)],
        "of": "heads",
        "specials": "show",
        "unit": "pieces",
        "block": "all",
        "share": 1.0,
        "locked": -1,
        "off": [],
        "against": other,
        "line": False,
        "sorted": "position",
        "list": False,
        "ascending": False,
        "asked": {
            "question": f"{question}:-1:-1",
            "answer": "",
            "against": "",
            "word": "",
            "other_word": "",
            "method": "integrated_gradients",
            "baseline": "mask",
            "measure": "log_odds",
            "unit": "words",
        },
    }


if __name__ == "__main__":
    raise SystemExit(main())
