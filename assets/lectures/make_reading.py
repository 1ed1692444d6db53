"""The lecture "How BERT reads a sentence", on the starter model."""

from __future__ import annotations

from math import exp

from app.lectures.lecture import Lecture
from app.shipped import starter_model
from assets.lectures.stage import Stage, told
from engine.errors import marked
from engine.inspect.attention.head_measures import measure
from engine.inspect.attention.weights import look
from engine.inspect.loaded_model import LoadedModel
from engine.inspect.masked.follows import follows
from engine.inspect.masked.lens import lens
from engine.inspect.masked.masked import mask
from engine.inspect.masked.probe import ask

FILE = "how-bert-reads.json"
LONG = "It was an unbelievably antidisestablishmentarian speech."
BANK = "He put his money in the bank by the river."
LEFT_OF_BANK = "He put his money in the bank."
BANK_PIECE, BANK_WORD = 7, 6
STATES, STATES_WORD = "He was born in the united states.", 6
KEYS, KEYS_WORD = "The keys to the cabinet were on the table.", 5
RIVER, ENGLAND = "The river flows through the city of London.", "It is the longest river in England."
RECIPE = "The recipe needs two eggs and some butter."
BEFORE, AFTER = (1, 3), (2, 9)  # layer and head, from 1


def check() -> None:
    """Check what the sentences below name. Raises: ValueError: it is no longer so."""
    folder = starter_model()
    told(folder is not None, "the starter model ships")
    assert folder is not None
    model = LoadedModel.open(folder, "cpu")
    config, wordpiece = model.config, model.wordpiece
    tokens = wordpiece.encode(LONG).tokens
    cut = tokens[tokens.index("anti") : tokens.index("speech")]
    told(wordpiece.vocab_size == 30_522, "30,522 pieces")
    told(len(cut) == 7 and all(one.startswith("##") for one in cut[1:]), "seven pieces")
    encoding = wordpiece.encode(BANK)
    told(len(encoding.tokens) == 13 and encoding.tokens[BANK_PIECE] == "bank", "13 tokens, bank the seventh")
    told((config.hidden_size, config.num_hidden_layers, config.num_attention_heads) == (384, 6, 12), "shape")
    told(config.hidden_size // config.num_attention_heads == 32, "32 numbers")

    seen = look(model, BANK)
    layer, head = BEFORE[0] - 1, BEFORE[1] - 1
    row = seen.attentions[layer, head, BANK_PIECE]
    told(row.argmax() == BANK_PIECE - 1 and row.max() > 0.99, "the piece before")
    measures = measure(seen)
    told(measures["previous"][layer, head] > 0.99, "every word looks at the piece before it")
    told(measures["next"][AFTER[0] - 1, AFTER[1] - 1] > 0.95, "every word looks at the piece after it")

    told(int((measures["cls"] > 0.5).sum()) == 46, "46 heads at [CLS]")
    states = ask(model, mask(model.about, STATES, words=(STATES_WORD,)), top_k=3).answers[0]
    told([one.word for one in states.guesses] == ["states", "kingdom", "nations"], "states, kingdom, nations")
    told(0.8 < exp(states.guesses[0].log_probability) < 0.9, "more than four fifths")
    by_layer = lens(model, mask(model.about, STATES, words=(STATES_WORD,))).layers
    layers = [one[0].guesses[0].word for one in by_layer]
    told([word == "states" for word in layers] == [False] * 4 + [True] * 3, "states from layer 4 on")
    keys = ask(model, mask(model.about, KEYS, words=(KEYS_WORD,)), top_k=10).answers[0]
    order = [one.word for one in keys.guesses]
    told(order[0] == "are" and order.index("were") < order.index("is"), "are first, were before is")
    bank = ask(model, mask(model.about, BANK, words=(BANK_WORD,)), top_k=1).answers[0]
    left = ask(model, mask(model.about, LEFT_OF_BANK, words=(BANK_WORD,)), top_k=10).answers[0]
    told(bank.guesses[0].word == "river", "river first")
    told("river" not in [one.word for one in left.guesses], "river comes from the right")
    one, other = (follows(model, RIVER, second).probability for second in (ENGLAND, RECIPE))
    told(one > 0.99 and other < 0.5, "it follows, it does not")


def make(stage: Stage) -> Lecture:
    """Return the lecture. Raises: ValueError, UserError."""
    check()
    folder = starter_model()
    assert folder is not None  # checked
    stage.scenes = []
    stage.keep(
        marked("engine", "A word becomes pieces"),
        marked(
            "engine",
            "BERT writes with 30,522 pieces. A word that is not one of them is split, from "
            "the left, into the longest pieces that are. ## marks one that continues a word.",
        ),
        "tokenizer",
        folder,
        LONG,
        step="match",
        row=9,
    )
    stage.keep(
        marked("engine", "A text becomes a row of numbers"),
        marked(
            "engine",
            "[CLS] comes before it and [SEP] after it: 13 pieces. From here on only their numbers count.",
        ),
        "tokenizer",
        folder,
        BANK,
        step="frame",
        row=BANK_PIECE,
    )
    layer, head = BEFORE
    stage.keep(
        marked("engine", "A piece begins as a sum of three vectors"),
        marked(
            "engine",
            "One for the piece, one for its position, one for its sentence: three learned "
            "vectors of 384 numbers, added number by number.",
        ),
        "anatomy",
        folder,
        BANK,
        step="sum",
        piece=BANK_PIECE,
    )
    stage.keep(
        marked("engine", "Query, key and value"),
        marked(
            "engine",
            "Each head makes three short vectors of every piece, 32 numbers each: what it "
            "looks for, what it is found by, and what it passes on.",
        ),
        "anatomy",
        folder,
        BANK,
        step="qkv",
        layer=layer,
        head=head,
        piece=BANK_PIECE,
    )
    stage.keep(
        marked("engine", "Softmax turns scores into shares"),
        marked(
            "engine",
            "The query of “bank” times every key gives scores. Softmax turns them into "
            "shares that add up to 1. Here nearly all goes to “the”, the piece before.",
        ),
        "anatomy",
        folder,
        BANK,
        step="softmax",
        layer=layer,
        head=head,
        piece=BANK_PIECE,
    )
    stage.keep(
        marked("engine", "This head looks one piece back"),
        marked(
            "engine", "The same head for every piece of the sentence: each word looks at the piece before it."
        ),
        "attention",
        folder,
        BANK,
        view="arcs",
        heads=[list(BEFORE)],
        locked=-1,
    )
    stage.keep(
        marked("engine", "Another looks one piece ahead"),
        marked(
            "engine",
            "BERT also sees what is on the right. Layer 2, head 9 learned to look there on its own.",
        ),
        "attention",
        folder,
        BANK,
        view="heatmap",
        heads=[list(AFTER)],
        locked=-1,
    )
    stage.keep(
        marked("engine", "72 heads, and many look at [CLS]"),
        marked(
            "engine",
            "6 layers of 12 heads. In 46 of them, more than half of the words’ attention "
            "goes to [CLS]. It is thought to be where a head looks when there is nothing to "
            "find.",
        ),
        "attention",
        folder,
        BANK,
        view="heads",
        heads=[list(AFTER)],
        locked=-1,
    )
    stage.keep(
        marked("engine", "How it learned: a masked word"),
        marked(
            "engine",
            "Replace a word with [MASK], and BERT guesses it from all the others. Here "
            "“states” comes first, with more than four fifths. “kingdom” and “nations” "
            "follow.",
        ),
        "probe",
        folder,
        STATES,
        tab="words",
        words=[STATES_WORD],
        pieces=[],
    )
    stage.keep(
        marked("engine", "Layer by layer"),
        marked(
            "engine",
            "What each layer would guess if it were the last: “states” comes first from layer 4 on.",
        ),
        "probe",
        folder,
        STATES,
        tab="layers",
        words=[STATES_WORD],
        pieces=[],
    )
    stage.keep(
        marked("engine", "Grammar, by guessing alone"),
        marked(
            "engine", "The keys are on the table, not the cabinet. “are” comes first, and “were” before “is”."
        ),
        "probe",
        folder,
        KEYS,
        tab="words",
        words=[KEYS_WORD],
        pieces=[],
    )
    stage.keep(
        marked("engine", "Both sides count"),
        marked(
            "engine",
            "The first guess is “river”, a word on the right. Without “by the river” it is "
            "not among the first ten.",
        ),
        "probe",
        folder,
        BANK,
        tab="words",
        words=[BANK_WORD],
        pieces=[],
    )
    stage.keep(
        marked("engine", "Does the second sentence follow the first?"),
        marked(
            "engine",
            "The other thing it learned: it says that these two belong together, with more than 99 %.",
        ),
        "probe",
        folder,
        RIVER,
        ENGLAND,
        tab="next",
        words=[],
        pieces=[],
    )
    stage.keep(
        marked("engine", "And when it does not?"),
        marked("engine", "The same first sentence, followed by one from elsewhere. Now it says rather not."),
        "probe",
        folder,
        RIVER,
        RECIPE,
        tab="next",
        words=[],
        pieces=[],
    )
    return Lecture(marked("engine", "How BERT reads a sentence"), tuple(stage.scenes))
