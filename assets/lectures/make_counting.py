"""The lecture "From counting to BERT": the family in the box, and at the end the starter model."""

from __future__ import annotations

from typing import Any

import numpy as np

from app.lectures.lecture import Lecture
from app.shipped import shipped_family, starter_model
from assets.lectures.stage import Stage, told
from engine.errors import marked
from engine.events import result_of
from engine.family.ask import Family
from engine.family.limits import limits
from engine.family.questions.go_on import SEED, TEMPERATURE
from engine.family.senses import SENTENCES, senses
from engine.family.train import read_report
from engine.family.words import nearest, unit
from engine.family.writing import go_on
from engine.inspect.embeddings.contexts import embed_word
from engine.inspect.example_texts import ExampleSenses
from engine.inspect.loaded_model import LoadedModel

FILE = "from-counting-to-bert.json"
SEA = "The [MASK] flows into the sea."
CAPITAL = "The capital of [MASK] is paris."
KING = "She is the [MASK] of the king."
CITY = "The city is"
BANK = ExampleSenses(
    "bank",
    (
        ("money", "She deposited the check at the bank before noon."),
        ("money", "The bank raised its interest rates again."),
        ("money", "He asked the bank for a loan to buy a house."),
        ("money", "The bank closed my account without notice."),
        ("river", "They sat on the bank of the river and fished."),
        ("river", "The boat drifted towards the muddy bank."),
        ("river", "Trees grew along the bank of the stream."),
        ("river", "The flood washed away part of the bank."),
    ),
)
MEMBERS = ("ngram", "nnlm", "cbow", "skipgram", "glove", "elmo", "gpt", "bert")


def check() -> None:
    """Check what the sentences below name. Raises: ValueError: it is no longer so."""
    folder = shipped_family()
    told(folder is not None and starter_model() is not None, "family and starter ship")
    assert folder is not None
    family = Family.open(folder)
    told(tuple(family.members) == MEMBERS, "eight members, the oldest first")
    report = read_report(folder)
    told(report["minutes"] == 18, "eighteen minutes")
    told(all(one["seconds"] < 18 * 60 + 5 for one in report["reached"].values()), "or less")

    first = {name: one.guesses[0].word for name, one in family.fill(CAPITAL).items()}
    told(first["ngram"] == "the" and first["nnlm"] == "the", "the n-gram says the")
    told(limits(family, CAPITAL)["ngram"].values == {"rest": "is paris", "word": "the"}, "without “is paris”")
    near = nearest(family, "river", 1)
    said = {name: near[name][0].word for name in ("cbow", "skipgram", "glove")}
    told(said == {"cbow": "lake", "skipgram": "lake", "glove": "rivers"}, "nearest to river: lake, rivers")
    told("ngram" not in near, "counts are no vectors")
    king = family.fill(KING)
    told(king["cbow"].guesses[0].word == "queen", "CBOW says queen")
    backwards = limits(family, KING)["cbow"].values
    told(backwards["word"] == "queen" and str(backwards["text"]).startswith("king the of"), "backwards too")
    told(
        set(go_on(family, CITY, 12, TEMPERATURE, SEED)) == {"ngram", "nnlm", "elmo", "gpt"},
        "those that read from the left write",
    )
    ranks = {name: one.rank for name, one in family.fill(CAPITAL, answer="france").items()}
    told([ranks[name] for name in ("bert", "elmo", "gpt")] == [1, 9, 8], "first, 9th, 8th")
    filled = {name: one["value"] for name, one in report["scores"]["blanks"].items()}
    told(report["scores"]["blanks"]["elmo"]["count"] == 500, "500 sentences")
    told([round(100 * filled[name]) for name in ("elmo", "bert", "gpt")] == [44, 41, 29], "44, 41, 29 %")
    told(max(filled[name] for name in ("ngram", "nnlm", "gpt")) < 0.3, "fewer than three in ten")
    told(limits(family, CAPITAL)["gpt"].values["rest"] == "is paris", "GPT reads “The capital of” alone")
    told("bert" in limits(family, KING), "BERT guesses two words apart")
    lines = [line for group in SENTENCES["bank"] for line in group]
    found = senses(family, "bank", lines)
    told(
        all(abs(found[name].likeness[-1] - 1) < 1e-4 for name in ("nnlm", "cbow", "skipgram", "glove")), "one"
    )
    told(all(found[name].likeness[-1] < 0.999 for name in ("elmo", "gpt", "bert")), "one for each sentence")
    told(_in_own_sense() == 7, "seven of eight")


def _in_own_sense() -> int:
    """Return for how many sentences the nearest “bank”, after the last layer, is of their own sense."""
    folder = starter_model()
    assert folder is not None  # checked
    groups, texts = zip(*BANK.sentences, strict=True)
    found = result_of(embed_word(LoadedModel.open(folder, "cpu"), BANK.word, texts))
    units = unit(found.vectors[-1])
    cosine = units @ units.T
    np.fill_diagonal(cosine, -2.0)
    return sum(groups[int(near)] == own for own, near in zip(groups, cosine.argmax(1), strict=True))


def make(stage: Stage) -> Lecture:
    """Return the lecture. Raises: ValueError, UserError."""
    check()
    folder, starter = shipped_family(), starter_model()
    assert folder is not None and starter is not None  # checked
    stage.scenes = []

    def ask(title: str, sentence: str, kind: str, question: str, **more: Any) -> None:
        values = {"answer": "", "second": "", "sentences": "", **more}
        stage.keep(title, sentence, "family", folder, kind=kind, question=question, **values)

    ask(
        marked("engine", "Eight models, one question"),
        marked(
            "engine",
            "The oldest is on the left. All were trained on one text, for eighteen minutes or "
            "less. Each column says what its model may see.",
        ),
        "fill",
        SEA,
        answer="river",
    )
    ask(
        marked("engine", "Counting: only what comes before"),
        marked(
            "engine",
            "The n-gram counted which word came after others. “is paris” comes after the "
            "blank. Without it, the guess is “the” all the same.",
        ),
        "fill",
        CAPITAL,
        answer="france",
        row="shown",
    )
    ask(
        marked("engine", "Words become vectors"),
        marked(
            "engine",
            "Counts know no similarity, vectors do. For CBOW and skip-gram the word nearest to “river” "
            "is “lake”, for GloVe “rivers”.",
        ),
        "nearest",
        "river",
    )
    ask(
        marked("engine", "Neighbours in a bag"),
        marked(
            "engine",
            "CBOW sees both sides and says “queen” first. But it sees them without their "
            "order. Backwards it says “queen” all the same.",
        ),
        "fill",
        KING,
        answer="queen",
        row="shown",
    )
    ask(
        marked("engine", "One word, one vector?"),
        marked(
            "engine",
            "“bank” in ten sentences. NNLM, CBOW, skip-gram and GloVe have one vector for "
            "all of them. In ELMo, GPT and BERT the sentence changes it.",
        ),
        "senses",
        "bank",
        sentences="\n\n".join("\n".join(group) for group in SENTENCES["bank"]),
    )
    ask(
        marked("engine", "From the left, one can write"),
        marked(
            "engine",
            "A model that predicts the next word can continue a text: the n-gram, NNLM, "
            "ELMo’s left half and GPT. After eighteen minutes of training, none writes well.",
        ),
        "write",
        CITY,
    )
    ask(
        marked("engine", "BERT: both sides, in order"),
        marked(
            "engine",
            "GPT reads only “The capital of” here, and “france” comes 8th. ELMo, one half from each "
            "side: 9th. BERT, which reads everything at once: first. Over 500 sentences GPT fills 29 %, BERT "
            "41 %, ELMo 44 %.",
        ),
        "fill",
        CAPITAL,
        answer="france",
    )
    ask(
        marked("engine", "What BERT cannot do"),
        marked(
            "engine",
            "It does not write, and it guesses each of two masked words without knowing the "
            "other. Its column says so on this sentence.",
        ),
        "fill",
        KING,
        answer="queen",
        row="shown",
    )
    ask(
        marked("engine", "All questions on one card"),
        marked(
            "engine",
            "One sentence proves little. Over hundreds, ELMo and BERT, which read both sides in order, "
            "fill four blanks in ten. Those that read the left side alone fill fewer than three.",
        ),
        "results",
        "",
    )
    texts: Any = [list(one) for one in BANK.sentences]
    common = {
        "kind": "word",
        "texts": texts,
        "group": "sense",
        "word": BANK.word,
        "longest": 128,
        "of": "",
        "pooling": "mean",
        "method": "pca",
        "perplexity": 5,
        "seed": 42,
        "coloured": True,
        "by_group": False,
        "point": -1,
        "compared": "",
    }
    stage.keep(
        marked("engine", "A BERT that read far more: “bank” as one word"),
        marked(
            "engine",
            "Eight sentences, before the first layer. Only the position of the word in its "
            "sentence separates these points, so some overlap.",
        ),
        "embeddings",
        starter,
        **{**common, "tab": "map", "layer": 0},
    )
    stage.keep(
        marked("engine", "… and as two senses"),
        marked(
            "engine",
            "After the last layer, seven of the eight have their nearest neighbour in their "
            "own sense. The other words decided which bank is meant.",
        ),
        "embeddings",
        starter,
        **{**common, "tab": "map", "layer": 6},
    )
    return Lecture(marked("engine", "From counting to BERT"), tuple(stage.scenes))
