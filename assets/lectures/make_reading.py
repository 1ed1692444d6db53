"""The lecture "How BERT reads a sentence": what is put into its sentences, and its scenes."""

from __future__ import annotations

from math import exp
from typing import Any

from app import words
from app.lectures.lecture import Lecture
from app.shipped import assets
from assets.lectures.stage import Stage, told
from assets.lectures.told.known import READING as TELLINGS
from assets.lectures.told.parts import GAP, Reading
from engine.inspect.attention.head_measures import measure
from engine.inspect.attention.weights import look
from engine.inspect.loaded_model import LoadedModel
from engine.inspect.masked.follows import follows
from engine.inspect.masked.lens import lens
from engine.inspect.masked.masked import GappedText, mask
from engine.inspect.masked.probe import ask
from engine.text.words import words_of

MOST = 10  # guesses among which a word is looked for


def hiding(model: LoadedModel, text: str, word: str) -> dict[str, Any]:
    """Return what hides a word of a text, as a scene has it: the word, or the piece of a Chinese character,
    which is a word only where nothing finds longer ones.
    """
    encoding = model.about.encode(text)
    if word.isascii():
        place = [one.text for one in words_of(encoding, text)].index(word)
        return {"words": [place], "pieces": [], "by_pieces": False}
    return {"words": [], "pieces": [encoding.tokens.index(word)], "by_pieces": True}


def hidden(model: LoadedModel, text: str, word: str) -> GappedText:
    """Return a text without one of its words; where it has a [MASK], that is the gap."""
    if GAP in text:
        return mask(model.about, text)
    what = hiding(model, text, word)
    return mask(model.about, text, words=what["words"], pieces=what["pieces"])


def facts(said: Reading) -> dict[str, Any]:
    """Return what the models give. Raises: ValueError: the lecture is no longer told by it."""
    model = LoadedModel.open(assets() / "models" / said.model, "cpu")
    wordpiece, config = model.wordpiece, model.config
    cut = wordpiece.encode(said.torn).tokens[1:-1]
    told(len(cut) > 3 and all(one.startswith("##") for one in cut[1:]), "a word is split")
    tokens = wordpiece.encode(said.main).tokens
    return {
        "vocabulary": words.number(wordpiece.vocab_size),
        "cut": len(cut),
        "tokens": len(tokens),
        "width": config.hidden_size,
        "narrow": config.hidden_size // config.num_attention_heads,
        "layers": config.num_hidden_layers,
        "each": config.num_attention_heads,
        "heads": config.num_hidden_layers * config.num_attention_heads,
        "piece": said.piece,
        "layer": said.after[0],
        "head": said.after[1],
        **_looks(model, said, tokens),
        **_guesses(model, said),
        **_pairs(model, said),
    }


def _looks(model: LoadedModel, said: Reading, tokens: list[str]) -> dict[str, Any]:
    seen, place = look(model, said.main), tokens.index(said.piece)
    (layer, head), (layer_after, head_after) = said.before, said.after
    row = seen.attentions[layer - 1, head - 1, place]
    told(row.argmax() == place - 1, "the piece looks at the one before")
    found = measure(seen)
    back, ahead = found["previous"][layer - 1, head - 1], found["next"][layer_after - 1, head_after - 1]
    told(min(back, ahead) > 0.8, "one head looks back, another ahead")
    many = {f"num_{name}": int((found[name] > 0.5).sum()) for name in ("cls", "previous", "next", "self")}
    return {
        "neighbour": tokens[place - 1],
        "share": words.share(float(row.max())),
        "back": words.share(float(back), 0),
        "ahead": words.share(float(ahead), 0),
        **many,
    }


def _guesses(model: LoadedModel, said: Reading) -> dict[str, Any]:
    def ranked(text: str, word: str) -> list[Any]:
        return list(ask(model, hidden(model, text, word), top_k=MOST).answers[0].guesses)

    word = said.guessed[1]
    one, two, three = ranked(*said.guessed)[:3]
    told(one.word == word, "the hidden word comes first")
    first = [layer[0].guesses[0].word for layer in lens(model, hidden(model, *said.guessed)).layers]
    from_layer = max(n for n, found in enumerate(first) if found != word) + 1
    told(1 < from_layer < len(first), "an early layer guesses another word")
    forms = ranked(*said.grammar)
    order = [guess.word for guess in forms]
    told(order[0] == said.forms[0], "the right form comes first")
    told(sorted(said.forms, key=order.index) == list(said.forms), "the forms come in this order")
    decided = ranked(*said.both)[0].word
    told(decided not in [guess.word for guess in ranked(said.left, said.both[1])], "both sides count")
    return {
        "one": one.word,
        "two": two.word,
        "three": three.word,
        "chance": words.share(exp(one.log_probability), 0),
        "from_layer": from_layer,
        "early": first[from_layer - 1],
        "forms": said.forms,
        "chances": [words.probability(exp(forms[order.index(form)].log_probability)) for form in said.forms],
        "decided": decided,
    }


def _pairs(model: LoadedModel, said: Reading) -> dict[str, Any]:
    pairs = {"follows": (said.first, said.next), "not_follows": (said.first, said.other)}
    if all(said.missed):
        pairs["missed"] = said.missed
    chances = {name: float(follows(model, *pair).probability) for name, pair in pairs.items()}
    told([chance > 0.5 for chance in chances.values()] == [True] + [False] * (len(pairs) - 1), "it follows")
    return {name: words.probability(chance) for name, chance in chances.items()}


def make(stage: Stage, language: str) -> Lecture:
    """Return the lecture in a language. Raises: ValueError, UserError."""
    said, folder = TELLINGS[language], assets() / "models" / TELLINGS[language].model
    model = LoadedModel.open(folder, "cpu")
    found, wordpiece = facts(said), model.wordpiece
    piece = wordpiece.encode(said.main).tokens.index(said.piece)
    torn = len(wordpiece.encode(said.cut.partition(said.torn)[0]).tokens) - 1  # without the last, [SEP]
    (layer, head), after = said.before, list(said.after)

    def keep(key: str, page: str, text: str, pair: str = "", /, **changes: Any) -> None:
        title, sentence = said.said[key]
        stage.keep(title.format(**found), sentence.format(**found), page, folder, text, pair, **changes)

    def probe(key: str, text: str, word: str, tab: str = "words") -> None:
        keep(key, "probe", text, tab=tab, **hiding(model, text, word))

    stage.scenes = []
    keep("pieces", "tokenizer", said.cut, step="match", row=torn)
    keep("row", "tokenizer", said.main, step="frame", row=piece)
    keep("sum", "anatomy", said.main, step="sum", piece=piece)
    keep("qkv", "anatomy", said.main, step="qkv", layer=layer, head=head, piece=piece)
    keep("softmax", "anatomy", said.main, step="softmax", layer=layer, head=head, piece=piece)
    keep("before", "attention", said.main, view="arcs", heads=[[layer, head]], locked=-1)
    keep("after", "attention", said.main, view="heatmap", heads=[after], locked=-1)
    keep("heads", "attention", said.main, view="heads", heads=[after], locked=-1)
    probe("guess", *said.guessed)
    probe("layers", *said.guessed, tab="layers")
    probe("grammar", *said.grammar)
    probe("both", *said.both)
    keep("next", "probe", said.first, said.next, tab="next", words=[], pieces=[], by_pieces=False)
    keep("other", "probe", said.first, said.other, tab="next", words=[], pieces=[], by_pieces=False)
    return Lecture(said.title, tuple(stage.scenes), language)
