"""Sets of texts with one label each, read from the folder that CLOZE_DATA names, and their vectors."""

from __future__ import annotations

import csv
import json
import lzma
import os
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np

from engine.events import result_of
from engine.inspect.embeddings.kept_vectors import KeptVectors, default_vectors_root, vectors_key
from engine.inspect.embeddings.vectors import PoolingConfig, embed, usual_kind
from engine.inspect.loaded_model import LoadedModel
from engine.train.ways.regression import Floats, Labels

DATA = Path(os.environ.get("CLOZE_DATA", "data"))
STARTER = Path(__file__).parents[1] / "assets" / "models" / "starter"
ROWS = 4000  # of a set
MAX_LENGTH = 256
Rows = list[tuple[str, str]]  # (text, label)


def _cells(place: str, separator: str = ",", quoting: int = csv.QUOTE_MINIMAL) -> list[list[str]]:
    with (DATA / place).open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file, delimiter=separator, quoting=quoting))


def polarity() -> Rows:
    """Return sentences of film reviews, good or bad."""
    return [(text, label) for label, text, *_ in _cells("polarity/sentence_polarity.csv")[1:]]


def ag_news() -> Rows:
    """Return news of four kinds."""
    return [(f"{title} {text}", label) for label, title, text in _cells("labelling/ag_news/test.csv")]


def snips() -> Rows:
    """Return what people ask of an assistant, seven intents."""
    with lzma.open(DATA / "labelling/snips/train.conll.xz", "rt", encoding="utf-8") as file:
        text = file.read()
    return [(said, label) for label, said in re.findall(r"# intent = (.*)\n# text = (.*)\n", text)]


def sms_spam() -> Rows:
    """Return short messages, spam (13 %) or not."""
    rows = _cells("labelling/sms_spam/SMSSpamCollection", "\t", csv.QUOTE_NONE)[1:]
    return [(text, label) for label, text in rows]


def hate_speech() -> Rows:
    """Return tweets: hateful (6 %), offensive (77 %) or neither."""
    return [(row[6], row[5]) for row in _cells("labelling/hate_speech/labeled_data.csv")[1:]]


def clinc_domains() -> Rows:
    """Return questions to an assistant, of ten domains."""
    domains = json.loads((DATA / "labelling/clinc150/domains.json").read_text(encoding="utf-8"))
    of_intent = {intent: domain for domain, intents in domains.items() for intent in intents}
    rows = _cells("labelling/clinc150/clinc150.tsv", "\t", csv.QUOTE_NONE)[1:]
    return [(text, of_intent[intent]) for _, intent, text in rows if intent in of_intent]


def banking77() -> Rows:
    """Return questions to a bank, 77 intents."""
    return [(text, label) for text, label in _cells("labelling/banking77/train.csv")[1:]]


def bbc_news() -> Rows:
    """Return news of five kinds, 390 words long on average."""
    return [(text, label) for label, text in _cells("bbc_news/bbc-text.csv")[1:]]


SETS: dict[str, Callable[[], Rows]] = {
    one.__name__: one
    for one in (polarity, ag_news, snips, sms_spam, hate_speech, clinc_domains, banking77, bbc_news)
}


def vectors_of(name: str, model: Path = STARTER) -> tuple[Floats, Labels]:
    """Return (E, D) vectors and (E,) labels of a set, in an order drawn once."""
    rows = SETS[name]()
    some = [rows[place] for place in np.random.default_rng(0).permutation(len(rows))[:ROWS]]
    texts, subject = [text for text, _label in some], LoadedModel.open(model)
    pooling = PoolingConfig(usual_kind(subject.about)).of(subject.about)
    kept = KeptVectors(
        default_vectors_root(), result_of(vectors_key(subject.about, pooling, MAX_LENGTH, texts))
    )
    vectors = kept.read(len(texts), subject.config.hidden_size)
    if len(vectors) < len(texts):
        found = result_of(embed(subject, texts, [pooling], max_length=MAX_LENGTH))
        vectors = np.zeros((len(texts), subject.config.hidden_size), np.float32)
        vectors[found.places] = found.of(pooling)
        kept.write(vectors)
    return vectors, np.unique([label for _text, label in some], return_inverse=True)[1].astype(np.int64)
