"""The files that ship for a first try: they open, have the roles they should, and say whose they are."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from app.shipped import TABLES, ShippedTable
from app.stories.known import STORIES
from assets.samples import make
from engine.events import Finished, Step, result_of
from engine.settings.config import with_values
from engine.settings.finetune import DataConfig, FineTuneConfig
from engine.text.example_rows import ExampleRows, count_duplicates, text_keys
from engine.text.examples import examples_from, guess_roles
from engine.text.roles import Roles
from engine.text.table import read_table
from engine.text.wordpiece import WordPiece
from engine.train.finetune import fine_tune
from engine.train.tasks.known import guess_task
from engine.train.tasks.rows.kind import OfRows
from tests.engine.read_at_once import read_questions

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "assets" / "samples"
KEYS = ("polarity", "question_passage", "chinese_questions", "chinese_question_passage")
LABELS = {
    "polarity": {"neg": 5331, "pos": 5331},
    "question_passage": {"no": 461, "yes": 461},
    "chinese_questions": {"时间": 99, "数量": 104, "人物": 78, "地点": 101, "原因": 73},
    "chinese_question_passage": {"no": 421, "yes": 421},
}
NUM_STEPS = 3
TASKS = {  # of the other samples: what is guessed, and how many examples it has
    "emotions": ("multi-label", 2000),
    "similarity": ("regression", 64),
    "endings": ("multiple-choice", 96),
    "corrections": ("correction", 780),
    "names": ("token-labels", 2700),
    "questions": ("questions", 493),
    "chinese_similarity": ("regression", 64),
    "chinese_tags": ("token-labels", 500),
    "chinese_answers": ("questions", 435),
}


def find(name: str) -> Path:
    return FOLDER / name


def sample_of(key: str) -> ShippedTable:
    return next(sample for sample in TABLES if sample.key == key)


def roles_of(key: str) -> Roles:
    return sample_of(key).roles


def vocabulary_of(key: str) -> Path:
    return find("chinese_vocab.txt" if key.startswith("chinese") else "vocab.txt")


def examples_of(key: str) -> ExampleRows:
    return examples_from(read_table(find(sample_of(key).file)), roles_of(key)).examples


def test_the_list_names_every_table_once() -> None:
    assert tuple(sample.key for sample in TABLES) == (*KEYS, *TASKS)
    assert all(sample.title and sample.words and sample.licence for sample in TABLES)
    assert {path.name for path in FOLDER.glob("*.csv")} <= {sample.file for sample in TABLES}
    assert all(sample.path.is_file() for sample in TABLES)


@pytest.mark.slow
@pytest.mark.parametrize("key", KEYS)
def test_a_sample_opens_without_a_remark_and_its_roles_are_guessed(key: str) -> None:
    table = read_table(find(sample_of(key).file))
    assert not table.reported and not table.notes
    assert guess_roles(table) == roles_of(key)
    found = examples_from(table, roles_of(key))
    assert not found.reported and not found.notes
    counts = dict.fromkeys(found.labels, 0)
    for example in found.examples:
        assert example.label is not None
        counts[found.labels[example.label]] += 1
    assert counts == LABELS[key]
    said = re.match(r"[\d,]+", sample_of(key).words)
    assert said is not None and int(said[0].replace(",", "")) == table.num_rows


@pytest.mark.parametrize("key", TASKS)
def test_a_sample_of_another_task_is_known_for_it_and_all_of_it_can_be_used(key: str) -> None:
    roles, path = roles_of(key), find(sample_of(key).file)
    data = DataConfig(data=str(path), **roles.settings())
    kind, reason = guess_task(data)
    assert (kind.name, reason is not None) == (TASKS[key][0], True)
    if isinstance(kind, OfRows):
        table = read_table(path)
        guessed = (
            guess_roles(table) if kind.name in ("multi-label", "regression") else kind.reading.likely(table)
        )
        assert guessed == roles and not table.reported and not table.notes
        found = result_of(kind.reading.finding(table, roles))
        assert not found.reported and not found.notes and len(found.examples) == TASKS[key][1]
        assert count_duplicates(result_of(text_keys(found.examples))) == 0
    elif kind.name == "token-labels":
        opened = result_of(kind.open(data))
        assert not opened.reported and opened.num_examples == TASKS[key][1]
    else:
        asked = read_questions(path)
        assert not asked.reported and len(asked.questions) == TASKS[key][1]
    assert path.stat().st_size < 400_000


def test_neither_its_words_nor_its_column_tell_that_an_ending_is_right() -> None:
    table, roles = read_table(find("endings.csv")), roles_of("endings")
    endings = table.frame[list(roles["choices"])].to_numpy()
    places = table.frame["label"].astype(int).to_numpy() - 1
    right = endings[range(96), places]
    assert len(set(right)) == 96 and Counter(places) == dict.fromkeys(range(4), 24)
    assert Counter(endings.ravel()) == dict.fromkeys(right, 4)  # once right, three times wrong


@pytest.mark.parametrize("key", KEYS)
def test_no_text_stands_in_two_rows_or_under_two_labels(key: str) -> None:
    examples = examples_of(key)
    assert count_duplicates(result_of(text_keys(examples))) == 0
    if key != "polarity":  # a random split keeps no question and no passage in both parts
        assert len({example.text for example in examples}) == len(examples)
        assert len({example.text_pair for example in examples} - {None}) in (0, len(examples))


@pytest.mark.slow
@pytest.mark.parametrize("key", ["question_passage", "chinese_question_passage"])
def test_a_pair_fits_into_128_pieces_and_its_halves_alone_give_little_away(key: str) -> None:
    examples = examples_of(key)
    wordpiece = WordPiece.from_vocab(vocabulary_of(key))
    assert max(len(wordpiece.encode(one.text, one.text_pair).tokens) for one in examples) <= 128
    lengths = defaultdict(list)
    for example in examples:
        lengths[example.label].append(len(example.text_pair or ""))
    mean_no, mean_yes = (sum(lengths[label]) / len(lengths[label]) for label in (0, 1))
    assert mean_no == pytest.approx(mean_yes, rel=0.1)


@pytest.mark.slow
@pytest.mark.parametrize("key", KEYS)
def test_a_new_model_trains_on_a_sample(key: str, tmp_path: Path) -> None:
    path = tmp_path / "part.csv"
    with find(sample_of(key).file).open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows[:: len(rows) // 60][:60]])
    roles = roles_of(key)
    values = {
        **{"data": str(path), "text": roles.text, "text_pair": roles.text_pair, "label": roles.label},
        **{"model": "new:tiny", "vocab": str(vocabulary_of(key)), "device": "cpu", "num_threads": 1},
        **{"batch_size": 16, "num_epochs": 1},
    }
    events = list(fine_tune(with_values(FineTuneConfig(), values), tmp_path / "run"))
    assert isinstance(events[-1], Finished)
    assert sum(isinstance(event, Step) for event in events) == NUM_STEPS


def test_every_file_has_a_licence_and_every_table_the_one_that_is_shown() -> None:
    text = (FOLDER / "LICENCES.md").read_text(encoding="utf-8")
    licences = dict(re.findall(r"^\| `(.+?)` \| (.+?) \|$", text, re.MULTILINE))
    there = {path.name for path in FOLDER.iterdir() if path.is_file()} - {"LICENCES.md"}
    assert there <= licences.keys()
    assert set(licences.values()) == {"CC BY 4.0", "CC BY-SA 4.0", "Apache-2.0"}
    assert {sample.file: sample.licence for sample in TABLES}.items() <= licences.items()


def test_all_samples_together_are_small() -> None:
    assert sum(path.stat().st_size for path in FOLDER.iterdir() if path.is_file()) < 3_400_000


KNOWN = {
    "en": ("my dog is hairy", "我爱吃饭", "the bank by the river"),
    "zh": ("南京市长江大桥", "咬死了猎人的狗"),
}


@pytest.mark.parametrize("language", STORIES)
def test_sentences_say_what_they_show_and_hold_those_that_everybody_knows(language: str) -> None:
    told = STORIES[language]
    pairs = [(one.text, one.pair) for one in told.texts]
    assert len(set(pairs)) == len(pairs) and all(text.strip() == text != "" for text, _ in pairs)
    assert all(one.words.strip() for one in told.texts) and all(one.title for one in told.sentences)
    together = "\n".join(text for text, _ in pairs)
    assert all(known in together for known in KNOWN[language])
    assert sum(bool(pair) for _, pair in pairs) >= 4 and together.count("[MASK]") >= 8


@pytest.mark.parametrize(
    ("file", "vocab", "letters", "known"),
    [
        (
            "cloze50.json",
            "vocab.txt",
            "[a-z]+",
            (
                "he was born in the united [MASK]",
                "water is made of hydrogen and [MASK]",
                "the king and the [MASK] had two children",
            ),
        ),
        (
            "cloze50-chinese.json",
            "chinese_vocab.txt",
            "[\u4e00-\u9fff]",
            ("北京是中国的[MASK]都", "這本書[MASK]"),
        ),
    ],
)
def test_the_fifty_sentences_have_one_gap_and_words_of_one_piece_for_it(
    file: str, vocab: str, letters: str, known: tuple[str, ...]
) -> None:
    entries = json.loads(find(file).read_text(encoding="utf-8"))
    texts = [entry["text"] for entry in entries]
    assert len(texts) == len(set(texts)) == 50
    assert all(text.count("[MASK]") == 1 for text in texts)
    vocabulary = WordPiece.from_vocab(find(vocab))
    for entry in entries:
        accepted = entry["accepted"]
        assert 1 <= len(accepted) == len(set(accepted)) <= 8, entry
        assert all(re.fullmatch(letters, word) for word in accepted), entry
        assert all(len(vocabulary.encode(word).tokens) == 3 for word in accepted), entry
    for beginning in known:
        assert any(text.startswith(beginning) for text in texts)


@pytest.mark.slow
def test_the_script_makes_the_tables_again_byte_for_byte(real_data: Path, tmp_path: Path) -> None:
    english, chinese = real_data / "squad" / "xquad.en.json", real_data / "cmrc2018" / "cmrc2018_trial.json"
    if not (english.is_file() and chinese.is_file()):
        pytest.skip("CLOZE_DATA has no XQuAD or no CMRC 2018")
    make.main(english, chinese, tmp_path)
    made = sorted(path.name for path in tmp_path.iterdir())
    assert made == ["chinese_question_passage.csv", "chinese_questions.csv", "question_passage.csv"]
    assert all((tmp_path / name).read_bytes() == (FOLDER / name).read_bytes() for name in made)
