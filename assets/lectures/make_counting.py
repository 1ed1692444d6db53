"""The lecture "From counting to BERT": a family in the box, and at the end the starter of its language."""

from __future__ import annotations

from typing import Any

import numpy as np

from app import words
from app.lectures.lecture import Lecture
from app.shipped import assets
from assets.lectures.stage import Stage, told
from assets.lectures.told.known import COUNTING as TELLINGS
from assets.lectures.told.parts import GAP, Counting
from engine.events import result_of
from engine.family.ask import Family
from engine.family.limits import limits
from engine.family.questions.blank import FillBlank
from engine.family.questions.go_on import SEED, TEMPERATURE
from engine.family.senses import senses
from engine.family.train import read_report
from engine.family.words import nearest, unit
from engine.family.writing import go_on
from engine.inspect.embeddings.contexts import embed_word
from engine.inspect.loaded_model import LoadedModel

MEMBERS = ("ngram", "nnlm", "cbow", "skipgram", "glove", "elmo", "gpt", "bert")
BLANKS = 500  # that are filled by all of them, as the family's card says


def facts(said: Counting) -> dict[str, Any]:
    """Return what the models give. Raises: ValueError: the lecture is no longer told by them."""
    folder, starter = (assets() / "models" / name for name in (said.family, said.model))
    family = Family.open(folder, open_model=lambda path: LoadedModel.open(path, "cpu"))
    told(tuple(family.members) == MEMBERS, "eight members, the oldest first")
    report = read_report(folder)
    told(
        all(one["seconds"] < 60 * report["minutes"] + 5 for one in report["reached"].values()),
        "so many minutes",
    )
    filled = {name: one["value"] for name, one in report["scores"]["blanks"].items()}
    told(report["scores"]["blanks"]["elmo"]["count"] == BLANKS, "so many blanks")
    at_left = max(filled[name] for name in ("ngram", "nnlm", "gpt"))
    told(filled["elmo"] > at_left, "both sides in order fill more")
    told(
        set(go_on(family, said.beginning, 12, TEMPERATURE, SEED)) == {"ngram", "nnlm", "elmo", "gpt"},
        "those that read from the left write",
    )
    near = {name: found[0].word for name, found in nearest(family, said.near, 1).items()}
    told("ngram" not in near, "counts are no vectors")
    return {
        "minutes": f"{report['minutes']:g}",
        "near": said.near,
        **{name: near[name] for name in ("cbow", "skipgram", "glove")},
        "filled": {name: words.share(value, 0) for name, value in filled.items()},
        "left": words.share(at_left, 0),
        **_blanks(said, family, starter),
        **_senses(said, family, starter),
    }


def _blanks(said: Counting, family: Family, starter: Any) -> dict[str, Any]:
    text, right = said.blank
    bert = starter if said.practice else None
    found = result_of(FillBlank(family.folder, text, right, bert=bert).answer(family))
    ranks = {name: one.rank for name, one in found.filled.items()}
    told(ranks["bert"] == 1 < ranks["gpt"], "both sides at once fill it, the left side alone does not")
    shown = limits(family, text)
    counted, bag = shown["ngram"].values, limits(family, said.bag[0])
    backwards = bag["cbow"].values
    told(backwards["word"] == said.bag[1], "CBOW says so, backwards too")
    told("bert" in bag, "BERT guesses two words apart")
    own = None if found.own is None else found.own.rank
    return {
        "rest": counted["rest"],
        "ngram": counted["word"],
        "seen": text.partition(GAP)[0].strip(),
        "right": right,
        "bag": said.bag[1],
        **{name: ranks[name] for name in ("elmo", "gpt", "bert")},
        "own": own,
    }


def _senses(said: Counting, family: Family, starter: Any) -> dict[str, Any]:
    word, groups = said.sense
    lines = [line for group in groups for line in group]
    found = senses(family, word, lines)
    at_once = ("nnlm", "cbow", "skipgram", "glove")
    told(all(abs(found[name].likeness[-1] - 1) < 1e-4 for name in at_once), "one vector")
    told(all(found[name].likeness[-1] < 0.999 for name in ("elmo", "gpt", "bert")), "one for each sentence")
    names, texts = zip(*said.sentences, strict=True)
    layers = result_of(embed_word(LoadedModel.open(starter, "cpu"), said.word, texts)).vectors
    told(len(layers[0]) == len(texts), "each sentence has the word once")
    before, after = (_in_own_sense(layers[at], names) for at in (0, -1))
    told(before < after, "the sentence tells the senses apart")
    return {
        "sense": word,
        "num_sense": len(lines),
        "word": said.word,
        "num_word": len(texts),
        "own_before": before,
        "own_after": after,
        "last": len(layers) - 1,
    }


def _in_own_sense(vectors: np.ndarray, names: tuple[str, ...]) -> int:
    """Return for how many sentences the nearest one, by the vector of the word, is of their own sense."""
    units = unit(vectors)
    cosine = units @ units.T
    np.fill_diagonal(cosine, -2.0)
    return sum(names[int(near)] == own for own, near in zip(names, cosine.argmax(1), strict=True))


def make(stage: Stage, language: str) -> Lecture:
    """Return the lecture in a language. Raises: ValueError, UserError."""
    said = TELLINGS[language]
    folder, starter = (assets() / "models" / name for name in (said.family, said.model))
    found = facts(said)
    stage.scenes = []

    def ask(key: str, kind: str, question: str, right: str = "", /, **more: Any) -> None:
        title, sentence = said.said[key]
        values = {"answer": right, "second": "", "sentences": "", **more}
        stage.keep(
            title.format(**found), sentence.format(**found), "family", folder,
            kind=kind, question=question, **values,
        )  # fmt: skip

    def draw(key: str, layer: int) -> None:
        title, sentence = said.said[key]
        stage.keep(
            title.format(**found), sentence.format(**found), "embeddings", starter,
            tab="map", kind="word", texts=[list(one) for one in said.sentences], group=said.group,
            word=said.word, longest=128, of="", pooling="mean", layer=layer, method="pca", perplexity=5,
            seed=42, coloured=True, by_group=False, point=-1, compared="",
        )  # fmt: skip

    ask("eight", "fill", *said.begun)
    ask("counts", "fill", *said.blank, row="shown")
    ask("vectors", "nearest", said.near)
    ask("bag", "fill", *said.bag, row="shown")
    ask("senses", "senses", said.sense[0], sentences="\n\n".join("\n".join(group) for group in said.sense[1]))
    ask("write", "write", said.beginning, temperature=TEMPERATURE, seed=SEED)
    ask("both", "fill", *said.blank, practice=said.practice)
    ask("cannot", "fill", *said.bag, row="shown")
    ask("card", "results", "")
    draw("one", 0)
    draw("two", found["last"])
    return Lecture(said.title, tuple(stage.scenes), language)
