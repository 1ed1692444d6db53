"""The lecture "What fine-tuning changes": every number in its sentences is computed here.

Before: a model that ships. After: the same model, fine-tuned (assets/models/make.py). The texts that are
compared are of the rows that it was measured on: neither training nor choosing has seen them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from app import words
from app.lectures.lecture import Lecture, Scene, SceneModel
from app.work.titles import model_title
from assets.lectures.stage import Stage, told
from assets.lectures.told.known import TUNING as TELLINGS
from assets.lectures.told.parts import Tuning
from assets.models.make import MODELS, tuning
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

LONGEST = 64  # pieces, as they were trained with
NUMBER = re.compile(r"\d[\d.]*")


@dataclass(frozen=True)
class Models:
    """The model before and after, and what is told of them."""

    said: Tuning

    @cached_property
    def before(self) -> LoadedModel:
        return LoadedModel.open(MODELS / self.said.before, "cpu")

    @cached_property
    def after(self) -> LoadedModel:
        return LoadedModel.open(MODELS / self.said.after, "cpu")

    @property
    def layer(self) -> int:
        """The last layer."""
        return self.before.config.num_hidden_layers

    def scene(
        self,
        key: str,
        page: str,
        text: str,
        values: dict[str, Any],
        facts: dict[str, Any],
        *,
        of_after: bool = False,
        is_pair: bool = False,
    ) -> Scene:
        """Return a scene with the facts in its sentence. Args: of_after: which is looked into. is_pair:
        whether the other one is beside it.
        """
        both = [
            SceneModel(model_title(one.about.folder), one.fingerprint) for one in (self.before, self.after)
        ]
        models = {"model": both[of_after]} | ({"other": both[not of_after]} if is_pair else {})
        title, sentence = self.said.said[key]
        return Scene(title, sentence.format(**facts), page, models, text, values=values)


def make(_stage: Stage, language: str) -> Lecture:
    """Return the lecture in a language, computed anew. Raises: ValueError, UserError."""
    return lecture(language)


def lecture(language: str) -> Lecture:
    """Return the lecture in a language, which is spoken, computed anew."""
    models = Models(TELLINGS[language])
    scenes = (guesses(models), vectors(models), looks(models), head(models), rests(models), lost(models))
    return Lecture(models.said.title, scenes, language)


def guesses(models: Models) -> Scene:
    """Before: a model that fills gaps and knows no label."""
    first, second, third = probe(models.before, models.said.blank, top_k=3).answers[0].guesses
    found = {
        "one": first.word,
        "two": second.word,
        "three": third.word,
        "chance": words.share(first.probability),
    }
    return models.scene("guesses", "probe", models.said.blank, probe_values(), found)


def vectors(models: Models) -> Scene:
    """The same texts by both: how [CLS] comes to lie."""
    rows, trained = texts(models.said)
    found = shift(models, rows)
    told(found.difference.low > 0, "it became better")
    facts = {
        "texts": words.number(len(rows)),
        "trained": words.number(trained),
        "near_before": words.share(found.before),
        "by_chance": words.share(found.chance),
        "near_after": words.share(found.after),
    }
    values = {
        "tab": "pair",
        "kind": "typed",
        "texts": [[label, text] for label, text in rows],
        "group": models.said.group,
        "word": "",
        "longest": LONGEST,
        "of": models.said.of,
        "pooling": "cls",
        "layer": models.layer,
        "method": "pca",
        "perplexity": 30,
        "seed": 42,
        "coloured": True,
        "by_group": True,
        "point": -1,
        "compared": "",
    }
    return models.scene("vectors", "embeddings", "", values, facts, is_pair=True)


def looks(models: Models) -> Scene:
    """Where the head that changed most looks, less where it looked before."""
    found = moved(models)
    values = attention_values(
        "heatmap", (found["layer"], found["head"]), other=model_title(MODELS / models.said.before)
    )
    return models.scene("looks", "attention", models.said.text, values, found, of_after=True, is_pair=True)


def head(models: Models) -> Scene:
    """C, and the label head."""
    found = trace(models.after, models.said.text)
    share = found["label.softmax"]
    width, count = found["C"].shape[0], len(share)
    logits = [
        models.said.score.format(score=words.decimal(value, 2), label=models.said.meaning[name])
        for name, value in zip(models.after.labels, found["label.logits"].tolist(), strict=True)
    ]
    facts = {
        "width": width,
        "labels": count,
        "new": words.number(count * width + count),
        "old": words.number(models.after.about.num_parameters),
        "logits": words.listed(logits),
        "answer": models.said.meaning[models.after.labels[int(share.argmax())]],
        "share": words.share(float(share.max())),
    }
    values = {
        "step": "answer",
        "layer": models.layer,
        "head": 1,
        "piece": 0,
        "key": -1,
        "vector": "",
        "numbers": [-1, -1, -1],
        "answer": "label",
        "said": -1,
        "target": "",
        "changes": {"scales": [], "no_residual": [], "positions": [], "segments": []},
    }
    return models.scene("head", "anatomy", models.said.text, values, facts, of_after=True)


def rests(models: Models) -> Scene:
    """Which words the answer rests on."""
    found = result_of(attribute(models.after, models.said.text, target=Target(question=LABELS)))
    told(found.is_complete, "all words together make up the difference")
    order = np.argsort(-found.word_scores)
    told_of = [(found.words[place].text, signed(found.word_scores[place])) for place in order]
    facts = {
        "answer": models.said.meaning[found.asked.target.answer],
        "share": words.share(found.probability),
        "baseline": words.share(found.baseline_probability),
        "words": [told_of[0], told_of[1], told_of[-1]],
    }
    values = attention_values("attribution", (models.layer, 1), question=LABELS)
    return models.scene("rests", "attention", models.said.text, values, facts, of_after=True)


def lost(models: Models) -> Scene:
    """What the result cannot do any more."""
    told(not models.after.about.has_masked_words, "it guesses no words")
    found = measured(models.said)
    return models.scene("lost", "probe", models.said.blank, probe_values(), found, of_after=True)


def texts(said: Tuning) -> tuple[list[tuple[str, str]], int]:
    """Return label and text of the first test rows of each label, and how many rows it was trained on."""
    data = tuning(said.after).data
    table = result_of(opening_table(data, data.data, "data"))
    found = result_of(finding_examples(table, roles_of(data, table)))
    together = None if table.together is None else table.together[found.examples.rows]
    train, _validation, test = split_of(data, found.examples.labels.astype(np.int64), together)
    rows: list[tuple[str, str]] = []
    for number, label in enumerate(found.labels):
        own = [place for place in test.tolist() if found.examples.labels[place] == number][: said.of_each]
        rows += [(label, example.text) for example in found.examples.take(np.asarray(own))]
    return rows, len(train)


def shift(models: Models, rows: Sequence[tuple[str, str]]) -> poolings.Shift:
    """Return how often the nearest review is of the same label, before and after."""
    texts, labels = [text for _label, text in rows], [label for label, _text in rows]
    pooling, names = PoolingConfig("cls", models.layer), sorted(set(labels))
    both = []
    for subject in (models.before, models.after):
        found = result_of(embed(subject, texts, [pooling], max_length=LONGEST))
        assert len(found.places) == len(texts)
        both.append(found.of(pooling))
    return poolings.shift(texts, [names.index(label) for label in labels], *both)


def moved(models: Models) -> dict[str, Any]:
    """Return layer and head, from 1, whose attention moved most; of its [CLS] the piece that gained most,
    that which lost most, and how much, in points; and the least and most per cent that a head moved.
    """
    text = models.said.text
    before, after = (look(one, text).attentions for one in (models.before, models.after))
    change = after - before  # (L, H, T, T)
    size = np.abs(change).sum(-1).mean(-1) / 2  # what a piece moved from some pieces to others
    told(size.min() >= 0.01, "no head stayed as it was")
    layer, head_ = (int(place) for place in np.unravel_index(size.argmax(), size.shape))
    row, tokens = change[layer, head_, 0], models.after.encode(text).tokens
    return {
        "layer": layer + 1,
        "head": head_ + 1,
        "heads": size.size,
        "gained": tokens[int(row.argmax())],
        "more": points(row.max()),
        "lost": tokens[int(row.argmin())],
        "less": points(-row.min()),
        "least": points(size.min()),
        "most": points(size.max()),
    }


def measured(said: Tuning) -> dict[str, str]:
    """Return accuracy and its interval, and of how many rows, as `assets/models/README.md` has them."""
    card = (MODELS / "README.md").read_text(encoding="utf-8").partition(f"\n{said.card}\n")[2]
    lines = [line.split("|") for line in card.partition("\n#")[0].splitlines() if line.startswith("| ")]
    table = {line[1].strip(): line[2] for line in lines}
    numbers = NUMBER.findall(table["test accuracy"].partition(";")[0])  # 0.744 (95 %: 0.722 to 0.765)
    accuracy, _per_cent, low, high = (float(number) for number in numbers)
    tested = re.search(r"([\d,]+) test rows", table["split"])
    assert tested is not None
    return {
        "accuracy": words.share(accuracy),
        "low": words.share(low),
        "high": words.share(high),
        "tested": words.number(float(tested[1].replace(",", ""))),
    }


def signed(score: float) -> str:
    """Return a score with its sign."""
    return f"{score:+.2f}".replace("-", words.MINUS)


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
    view: str, head_: tuple[int, int], *, other: str = "", question: str = ""
) -> dict[str, Any]:
    """Return what Attention shows. Args: other: what the model before is called. question: of an
    attribution."""
    against = {"kind": "model", "head": [], "text": "", "text_pair": "", "name": other} if other else None
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
        "against": against,
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
