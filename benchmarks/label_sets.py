"""Sets of which all labels are known, as vectors of a frozen model: what labelling is simulated on.

CLOZE_DATA names a folder with polarity/ and labelling/. The vectors are kept where Label keeps its own.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.bench_few_labels import DATA, Rows, ag_news, polarity, snips
from engine.events import result_of
from engine.inspect.embeddings.kept_vectors import KeptVectors, default_vectors_root, vectors_key
from engine.inspect.embeddings.vectors import PoolingConfig, embed, usual_kind
from engine.inspect.loaded_model import LoadedModel
from engine.train.ways.regression import Floats, Labels

STARTER = Path(__file__).parents[1] / "assets" / "models" / "starter"
ROWS = 4000  # of a set
MAX_LENGTH = 256


def sms_spam() -> Rows:
    """Return (text, label) of text messages."""
    lines = (DATA / "labelling/sms_spam/SMSSpamCollection").read_text(encoding="utf-8").splitlines()
    pairs = (line.split("\t", 1) for line in lines if "\t" in line)
    return [(text, label) for label, text in pairs if label in ("ham", "spam")]


def hate_speech() -> Rows:
    """Return (text, label) of tweets, of which 6 % are of the rarest label."""
    path = DATA / "labelling/hate_speech/labeled_data.csv"
    with path.open(encoding="utf-8", newline="") as file:
        return [(row["tweet"], row["class"]) for row in csv.DictReader(file)]


def clinc_domains() -> Rows:
    """Return (text, label) of requests to an assistant, in ten domains."""
    named = json.loads((DATA / "labelling/clinc150/domains.json").read_text(encoding="utf-8"))
    domain_of = {intent: domain for domain, intents in named.items() for intent in intents}
    with (DATA / "labelling/clinc150/clinc150.tsv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    return [(row["text"], domain_of[row["intent"]]) for row in rows if row["intent"] in domain_of]


SETS: dict[str, Callable[[], Rows]] = {
    "polarity": polarity,
    "sms_spam": sms_spam,
    "ag_news": ag_news,
    "snips": snips,
    "hate_speech": hate_speech,
    "clinc_domains": clinc_domains,
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
