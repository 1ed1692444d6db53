"""Models that are no members, next to a family: guesses, ranks and perplexities as their own code in
`transformers` gives them, and a sentence in the place of what cannot be asked.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from app.shipped import shipped_family, starter_model
from engine.errors import UserError
from engine.events import AnswerSoFar, Progress, result_of
from engine.family.ask import Family, rank_of
from engine.family.other import about_other
from engine.family.per_word import WordLogs, member_logs, per_word, reads_of
from engine.family.questions.blank import BlankGuesses, FillBlank
from engine.family.questions.senses import WordSenses
from engine.family.questions.text_blanks import TextBlanks
from engine.inspect.loaded_model import LoadedModel
from engine.inspect.masked.perplexity import pieces_within, spaced_words, word_logs
from engine.model.families.known import FAMILIES
from engine.text.byte_level import ByteLevel
from engine.text.tokenizer import Tokenizer
from engine.text.wordpiece import WordPiece
from tests.engine.typed import Engine, is_one_sentence
from tests.fakes import scramble

transformers = pytest.importorskip("transformers")
pytestmark = pytest.mark.slow  # transformers takes its time to be imported

TEXT, RIGHT = "The [MASK] eats fish .", "cat"
SIZES = {"hidden_size": 12, "num_hidden_layers": 2, "num_attention_heads": 3, "intermediate_size": 29}
WORDS = ("cat", "Cat", "dog", "fish", "eats", "the", "milk")


def byte_level() -> ByteLevel:
    """Return pieces of bytes, some words behind a space, and one that begins a text."""
    shown = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    letters = [*map(chr, shown), *(chr(256 + place) for place in range(256 - len(shown)))]
    merges = dict[tuple[str, str], None]()
    for word in (*(f"Ġ{word}" for word in WORDS), "The", "Fish"):
        for end in range(1, len(word)):
            merges[word[:end], word[end]] = None
    base = ("<s>", "<pad>", "</s>", "<unk>", *letters, *dict.fromkeys("".join(pair) for pair in merges))
    return ByteLevel((*base, "<mask>"), tuple(merges))


def saved(folder: Path, kind: str, tokenizer: Tokenizer, **changes: Any) -> tuple[Path, Any]:
    """Write a random tiny model of transformers' own, with a tokenizer; return both."""
    stem = kind.partition("For")[0]
    values = {"vocab_size": tokenizer.vocab_size, "max_position_embeddings": 41, **SIZES, **changes}
    model = getattr(transformers, kind)(getattr(transformers, f"{stem}Config")(**values)).eval()
    scramble(model)
    model.tie_weights()
    model.save_pretrained(folder)
    tokenizer.save(folder)
    return folder, model


@pytest.fixture(scope="module")
def opened(family: Path) -> Family:
    return Family.open(family)


@pytest.fixture(scope="module")
def roberta(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    folder = tmp_path_factory.mktemp("others") / "bytes"
    return saved(folder, "RobertaForMaskedLM", byte_level(), type_vocab_size=1, pad_token_id=1)


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory, family: Path) -> tuple[Path, Any]:
    """A cased BERT that has most words whole, and fish in two pieces."""
    words = ["The", "the", "cat", "Cat", "dog", "eats", "fi", "##sh", ".", "##s", "milk"]
    cased = WordPiece.from_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words], lowercase=False)
    return saved(tmp_path_factory.mktemp("others") / "cased", "BertForMaskedLM", cased)


def asked(family: Family, others: Iterable[Path], **changes: Any) -> BlankGuesses:
    question = replace(FillBlank(family.folder, TEXT, RIGHT, others=tuple(others)), **changes)
    return result_of(question.answer(family))


@torch.no_grad()
def probabilities(model: Any, ids: list[int], place: int) -> np.ndarray:
    found: np.ndarray = model(torch.tensor([ids])).logits[0, place].double().softmax(-1).numpy()
    return found


def test_a_model_guesses_whole_words_and_ranks_the_right_one_whatever_its_capitals(
    opened: Family, roberta: tuple[Path, Any]
) -> None:
    folder, model = roberta
    cut = byte_level()
    ids = cut.encode("The <mask> eats fish .").input_ids
    p = probabilities(model, ids, ids.index(cut.mask_id))
    (found,) = asked(opened, [folder]).others
    assert found.refusal is None and found.is_whole and found.is_one_piece
    begins = [
        n
        for n, token in enumerate(cut.tokens)
        if n not in cut.special_ids and (token.startswith("Ġ") or not token[0].isalnum()) and token != "Ġ"
    ]
    best = max((n for n in begins if not cut.may_go_on[n]), key=lambda n: p[n])
    assert found.guesses[0].word == cut.spelled([best])
    assert found.guesses[0].value == pytest.approx(p[best], rel=1e-4)
    assert len({guess.word for guess in found.guesses}) == 5
    known = opened.wordpiece.encode_ids([cut.spelled([n]) for n in range(len(p))])
    among = np.zeros(opened.wordpiece.vocab_size)
    for n, one in enumerate(known):
        if len(one) == 1 and one[0] >= 5 and not cut.may_go_on[n]:
            among[one[0]] += p[n]
    cat = opened.word("cat")
    assert among[cat] == pytest.approx(p[cut.tokens.index("Ġcat")] + p[cut.tokens.index("ĠCat")], rel=1e-6)
    assert found.rank == rank_of(among, cat)


def test_at_the_beginning_of_a_text_a_word_has_no_space_before_it(
    opened: Family, roberta: tuple[Path, Any]
) -> None:
    folder, model = roberta
    cut, subject = byte_level(), LoadedModel.open(folder)
    vocabulary = opened.other(subject).vocabulary
    the, within = cut.tokens.index("The"), cut.tokens.index("Ġthe")
    assert vocabulary.at_start[the] and vocabulary.at_start[within]
    assert vocabulary.within[within] and not vocabulary.within[the]
    assert not vocabulary.at_start[list(cut.special_ids)].any()
    said = opened.other(subject).blank("[MASK] cat eats fish .")
    p = probabilities(model, cut.encode("<mask> cat eats fish .").input_ids, 1)
    both = p[the] + p[within] + sum(p[cut.tokens.index(t)] for t in ("ĠThe",) if t in cut.tokens)
    assert said.among_words()[opened.word("the")] == pytest.approx(both, rel=1e-4)


def test_a_word_of_several_pieces_has_no_rank_and_that_is_said(
    opened: Family, bert: tuple[Path, Any], engine: Engine
) -> None:
    folder, _ = bert
    (found,) = asked(opened, [folder], text="the cat eats [MASK] .", right="fish").others
    assert found.rank is None and not found.is_one_piece and found.guesses
    words = ("family-ask", "--family", opened.folder, "the cat eats [MASK] .", "--answer", "fish")
    code, out, err = engine(*words, "--beside", folder)
    assert code == 0, err
    assert "“fish” is several pieces" in out and "cased (BERT, 2018)" in out and "capitals" in out


@torch.no_grad()
def test_words_are_foreseen_with_all_their_pieces_hidden_as_worked_out_by_hand(
    bert: tuple[Path, Any], roberta: tuple[Path, Any]
) -> None:
    text = "The cat eats fish."
    for folder, model in (bert, roberta):
        subject = LoadedModel.open(folder)
        cut = subject.wordpiece
        encoding = cut.encode(text)
        words, ids = spaced_words(text), encoding.input_ids
        assert [text[a:b] for a, b in words] == ["The", "cat", "eats", "fish."]
        found = result_of(word_logs(subject, text, words))
        total = 0.0
        for (start, stop), log in zip(words, found, strict=True):
            places = [
                place
                for place, (a, b) in enumerate(encoding.offsets)
                if not encoding.special_tokens_mask[place] and start <= a < b <= stop
            ]
            by_hand = 0.0
            for number, place in enumerate(places):
                hidden = [cut.mask_id if one in places[number:] else n for one, n in enumerate(ids)]
                by_hand += math.log(probabilities(model, hidden, place)[ids[place]])
            assert log == pytest.approx(by_hand, abs=1e-4)
            total += by_hand
        reached = per_word({"it": WordLogs(found, (False, False))})["it"]
        assert reached.value == pytest.approx(math.exp(-total / 4), rel=1e-4) and reached.count == 4


def test_a_perplexity_is_among_those_that_lose_the_same_of_a_word_and_over_words_that_all_know() -> None:
    lower, cased = (True, True), (False, False)
    logs = {
        "a": WordLogs((-1.0, -2.0, None), lower),
        "b": WordLogs((-3.0, None, -1.0), lower),
        "c": WordLogs((-1.0, -2.0, -3.0), cased),
        "d": WordLogs((None, None, None), (True, False)),
    }
    found = per_word(logs)
    assert {name: (one.count, one.reads) for name, one in found.items()} == {
        "a": (1, lower), "b": (1, lower), "c": (3, cased),
    }  # fmt: skip
    assert [found[name].value for name in "abc"] == pytest.approx([math.e, math.e**3, math.e**2])


def test_chinese_characters_are_words_and_a_piece_of_two_of_them_is_refused(
    opened: Family, tmp_path: Path
) -> None:
    assert spaced_words("今天 go，on!") == ((0, 1), (1, 2), (3, 5), (5, 6), (6, 9))
    words = WordPiece.from_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "今", "天"])
    folder, _ = saved(tmp_path / "bert", "BertForMaskedLM", words)
    subject = LoadedModel.open(folder)
    assert [log is None for log in result_of(word_logs(subject, "今天好", spaced_words("今天好")))] == [
        False, False, True,
    ]  # fmt: skip
    assert pieces_within([(0, 0), (0, 2), (2, 3), (3, 4)], [1, 0, 0, 0], ((0, 2), (3, 4))) == [(1,), (3,)]
    with pytest.raises(UserError, match="spans two words"):
        pieces_within([(0, 0), (0, 2), (0, 0)], [1, 0, 1], ((0, 1), (1, 2)))


def test_a_text_without_capitals_and_accents_is_read_alike_by_all(bert: tuple[Path, Any]) -> None:
    cased = LoadedModel.open(bert[0]).wordpiece
    lower = WordPiece.from_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "今"], lowercase=True)
    assert reads_of(lower, "今天，2024。") == reads_of(cased, "今天，2024。") == (False, False)
    assert reads_of(lower, "the cat") == (True, True) != reads_of(cased, "the cat") == (False, False)
    assert reads_of(lower, "が") == (False, True)  # whose sign is an accent to it


def test_the_familys_own_bert_as_another_model_says_what_it_says_as_a_member(opened: Family) -> None:
    own = opened.folder / "bert" / "model"
    found = asked(opened, [own], text="the [MASK] eats fish .")
    (other,) = found.others
    member = found.filled["bert"]
    assert [one.word for one in other.guesses] == [one.word for one in member.guesses]
    assert [one.value for one in other.guesses] == pytest.approx([one.value for one in member.guesses])
    assert other.rank == member.rank and other.about is not None
    assert other.about.size.num_pieces == found.sizes["bert"].num_pieces
    members, others = found.per_word()
    assert others[0] == members["bert"] and set(members) == {"ngram", "nnlm", "elmo", "gpt", "bert"}
    assert members["gpt"].count == found.num_spaced == 5


def test_a_member_foresees_a_word_of_two_tokens_one_after_the_other(opened: Family) -> None:
    found = result_of(member_logs(opened, "gpt", "the cat eats fish."))
    assert found is not None and len(found.logs) == 4
    words = opened.words("the cat eats fish .")
    first = opened.scores("gpt", [*words[:4], 4], 3)[words[3]]
    then = opened.scores("gpt", words, 4)[words[4]]
    assert found.logs[3] == pytest.approx(math.log(first) + math.log(then), rel=1e-5)
    assert result_of(member_logs(opened, "glove", "the cat .")) is None


@pytest.mark.parametrize(
    ("kind", "changes"),
    [
        ("RobertaForMaskedLM", {"type_vocab_size": 1, "pad_token_id": 1}),
        ("BertForMaskedLM", {}),
        ("ElectraForMaskedLM", {"embedding_size": 7}),
        ("AlbertForMaskedLM", {"embedding_size": 7}),
        ("DistilBertForMaskedLM", {"dim": 12, "n_layers": 2, "n_heads": 3, "hidden_dim": 29}),
    ],
)
def test_what_a_model_is_follows_from_its_own_files(
    kind: str, changes: dict[str, Any], tmp_path: Path
) -> None:
    words = byte_level() if kind.startswith("Roberta") else WordPiece.from_tokens(
        ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "cat"], lowercase=True
    )  # fmt: skip
    folder, model = saved(tmp_path / "model", kind, words, **changes)
    found = about_other(LoadedModel.open(folder))
    stated = FAMILIES[model.config.model_type]
    assert (found.family, found.year, found.paper) == (stated.name, stated.year, stated.paper)
    assert found.size.num_pieces == words.vocab_size and found.size.lowercase == words.lowercase
    more = {"RobertaForMaskedLM": 2 * 12, "DistilBertForMaskedLM": -2 * 12}.get(kind, 0)  # rows of zeros
    assert model.num_parameters() - found.size.num_weights == more, kind


def test_every_family_of_models_names_the_paper_that_presents_it() -> None:
    for family in FAMILIES.values():
        assert "paper" in vars(type(family)), f"{family.name} has no paper of its own"
        assert 2018 <= family.year <= 2026


def test_whatever_is_wrong_with_one_model_is_a_sentence_and_the_others_answer(
    opened: Family, bert: tuple[Path, Any], tmp_path: Path
) -> None:
    words = WordPiece.from_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "cat"], lowercase=True)
    discriminator, _ = saved(tmp_path / "detects", "ElectraForPreTraining", words, embedding_size=7)
    damaged, _ = saved(tmp_path / "damaged", "BertForMaskedLM", words)
    (damaged / "model.safetensors").write_bytes(b"\xff" * 100)
    hostile = tmp_path / "hostile"
    hostile.mkdir()
    (hostile / "config.json").write_text("[" * 10**5)
    folders = [tmp_path / "nowhere", discriminator, damaged, hostile, bert[0]]
    question = FillBlank(opened.folder, TEXT, RIGHT, others=tuple(folders))
    steps, heard = question.answer(opened), list[BlankGuesses]()
    while True:
        try:
            event = next(steps)
        except StopIteration as end:
            found: BlankGuesses = end.value
            break
        if isinstance(event, AnswerSoFar):
            heard.append(event.value)
    assert [sum(one.is_whole for one in so_far.others) for so_far in heard] == [0, 0, 1, 2, 3, 4, 5]
    for one in found.others[:4]:
        assert one.refusal is not None and str(one.refusal).endswith("."), one.folder
        assert not one.guesses and one.logs is None
    assert found.others[1].about is not None and found.others[1].about.family == "ELECTRA"
    assert "masked-word head" in str(found.others[1].refusal)
    assert found.others[4].guesses and found.others[4].refusal is None
    assert set(found.filled) == set(opened.members)


def test_columns_as_typed(
    family: Path, bert: tuple[Path, Any], roberta: tuple[Path, Any], engine: Engine
) -> None:
    ask = ("family-ask", "--family", family)
    code, out, err = engine(*ask, TEXT, "--answer", RIGHT, "--json", "--beside", bert[0], roberta[0])
    found = json.loads(out)
    assert code == 0, err
    one, other = found["others"]
    assert (one["name"], one["family"], one["year"], one["size"]["lowercase"]) == (
        "cased",
        "BERT",
        2018,
        False,
    )
    assert (other["family"], other["paper"], other["size"]["kind"]) == (
        "RoBERTa", "Liu et al. 2019", "byte-level BPE",
    )  # fmt: skip
    assert not one["per_word"]["loses_capitals"] and not other["per_word"]["loses_accents"]
    assert found["about"]["bert"]["per_word"]["loses_capitals"]
    assert found["about"]["glove"]["per_word"] is None and found["about"]["gpt"]["size"]["num_weights"] > 0
    code, out, err = engine(*ask, TEXT)
    assert code == 0 and "parameters" not in out
    code, out, err = engine(*ask, "--nearest", "cat", "--beside", bert[0])
    assert (code, out) == (2, "") and is_one_sentence(err) and "--blanks" in err
    line = FillBlank(family, TEXT, RIGHT, others=(bert[0],)).command()
    assert line.endswith(f"--answer cat --beside {bert[0]}")


def test_the_vectors_of_a_word_are_those_of_its_own_code_also_without_a_head_for_words(
    opened: Family, bert: tuple[Path, Any], tmp_path: Path, engine: Engine
) -> None:
    words = WordPiece.from_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "ca", "##t", "the", "eats"])
    detects, model = saved(tmp_path / "detects", "ElectraForPreTraining", words, embedding_size=7)
    grouped = (("the cat eats", 0), ("Cat eats the", 0), ("the the cat", 1))
    question = WordSenses(opened.folder, "cat", grouped, others=(detects, bert[0], tmp_path / "nowhere"))
    found = result_of(question.answer(opened))
    electra, other, gone = found.others
    assert electra.about is not None and electra.about.family == "ELECTRA" and electra.senses is not None
    with torch.no_grad():
        ids = torch.tensor([words.encode("the cat eats").input_ids])
        states = model.electra(ids, output_hidden_states=True).hidden_states
        mean = states[-1][0, 2:4].mean(0).numpy()
    np.testing.assert_allclose(electra.senses.states[-1, 0], mean, atol=1e-5)
    assert electra.apart is not None and len(electra.apart.hits) == 3
    assert other.senses is not None  # a cased one finds “Cat” too
    assert gone.refusal is not None and set(found.sizes) == set(opened.members)
    typed = ("the cat eats", "the the cat", "--beside", detects, "--json")
    code, out, err = engine("family-ask", "--family", opened.folder, "--senses", "cat", *typed)
    assert code == 0 and len(json.loads(out)["others"][0]["likeness"]) == 3, err


def test_blanks_of_a_text_are_the_same_for_all_and_paired_with_bert(
    opened: Family, text: Path, bert: tuple[Path, Any], tmp_path: Path, engine: Engine
) -> None:
    own = opened.folder / "bert" / "model"
    question = TextBlanks(opened.folder, text, (own, bert[0], tmp_path / "nowhere"))
    steps, shares = question.answer(opened), list[float]()
    try:
        while True:
            event = next(steps)
            if isinstance(event, Progress) and event.total and event.stage != "Reading":
                shares.append(event.done / event.total)
    except StopIteration as end:
        found = end.value
    assert shares == sorted(shares) and 0 <= shares[0] < 0.01 and 0.8 < shares[-1] <= 1
    assert 100 < found.num_blanks <= 500 and found.num_read >= found.num_blanks
    same, other, gone = found.others
    assert found.scores["0"].value == found.scores["bert"].value and same.one_piece == 1.0
    assert same.against is not None and (same.against.value, same.against.p_value) == (0.0, 1.0)
    assert other.one_piece is not None and other.one_piece < 1 and other.against is not None
    assert other.against.value == pytest.approx(found.scores["1"].value - found.scores["bert"].value)
    assert gone.refusal is not None and "2" not in found.scores
    assert result_of(question.answer(opened)).scores == found.scores
    code, out, err = engine(
        "family-ask", "--family", opened.folder, "--blanks", text, "--beside", own, "--json"
    )
    document = json.loads(out)
    assert code == 0 and document["others"][0]["against_bert"]["value"] == 0, err
    assert document["gpt"]["value"] == found.scores["gpt"].value
    (tmp_path / "short.txt").write_text("the cat .\n", encoding="utf-8")
    code, out, err = engine("family-ask", "--family", opened.folder, "--blanks", tmp_path / "short.txt")
    assert (code, out) == (2, "") and is_one_sentence(err), err


@pytest.mark.skipif(shipped_family() is None or starter_model() is None, reason="this build lacks them")
def test_the_starter_next_to_the_family_of_the_box_reads_capitals_and_unknown_words() -> None:
    folder, starter = shipped_family(), starter_model()
    assert folder is not None and starter is not None
    found = result_of(
        FillBlank(folder, "The [MASK] was written by a French author.", "book", others=(starter,)).answer(
            Family.open(folder)
        )
    )
    (other,) = found.others
    assert other.rank == 1 and other.guesses[0].word == "book" and other.about is not None
    assert (other.about.family, other.about.size.lowercase) == ("BERT", True)
    members, others = found.per_word()
    assert others[0].count == members["bert"].count > 5 and others[0].value < members["bert"].value
