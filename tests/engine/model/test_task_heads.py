"""The heads of fine-tuning beside those of `transformers`: scores, gradients, and folders both ways."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from engine.errors import ModelError
from engine.model.heads import HeadedEncoder, QuestionAnswering, SequenceClassifier, TokenClassifier
from engine.model.names import published_names
from engine.model.weights import load_headed, save_model
from tests.engine.model.batches import assert_close, packed, padded_batch
from tests.fakes import scramble, tiny_config, tiny_wordpiece

transformers = pytest.importorskip("transformers")

LABELS = ("O", "B-PER", "I-PER")
HEADS = (SequenceClassifier, TokenClassifier, QuestionAnswering)


def theirs(head: type[HeadedEncoder], folder: Path) -> Any:
    """Write a folder with a published head of random weights; return it."""
    labels = LABELS if head is not QuestionAnswering else ("LABEL_0", "LABEL_1")
    config = transformers.BertConfig(**tiny_config(id2label=labels).to_json())
    model = getattr(transformers, head.architecture)(config).eval()
    scramble(model, seed=2)
    model.save_pretrained(folder)
    return model


def scores(output: Any) -> Tensor:
    if "start_logits" in output:
        return torch.stack([output.start_logits, output.end_logits], -1)
    found: Tensor = output.logits
    return found


@pytest.mark.parametrize("head", HEADS)
def test_scores_and_all_gradients_equal_those_of_transformers(
    head: type[HeadedEncoder], tmp_path: Path
) -> None:
    reference, padded = theirs(head, tmp_path), padded_batch()
    ours, _ = load_headed(tmp_path, head)
    keep = padded["attention_mask"].bool()
    expected, whole, flat = scores(reference(**padded)), ours(**padded), ours(**packed(padded))
    of_texts = head is SequenceClassifier
    assert_close(whole if of_texts else whole[keep], expected if of_texts else expected[keep])
    assert_close(flat, expected if of_texts else expected[keep])
    weights = torch.linspace(-1, 1, flat.numel()).view_as(flat)
    (flat * weights).sum().backward()
    ((expected if of_texts else expected[keep]) * weights).sum().backward()
    gradients = {name: one.grad for name, one in reference.named_parameters() if one.grad is not None}
    for name, one in ours.named_parameters():
        pieces = torch.cat([gradients[published] for published in published_names(name)])
        assert one.grad is not None
        assert_close(one.grad, pieces)


@pytest.mark.parametrize("head", HEADS)
def test_a_folder_of_ours_opens_in_transformers_with_the_same_scores(
    head: type[HeadedEncoder], tmp_path: Path
) -> None:
    theirs(head, tmp_path / "theirs")
    ours, _ = load_headed(tmp_path / "theirs", head)
    save_model(tmp_path / "ours", ours, tiny_wordpiece())
    again = getattr(transformers, head.architecture).from_pretrained(tmp_path / "ours")
    padded = padded_batch()
    with torch.no_grad():
        assert_close(ours(**padded), scores(again.eval()(**padded)))


def test_some_rows_of_a_packed_batch_have_the_scores_that_they_have_among_all() -> None:
    model = TokenClassifier(tiny_config(id2label=LABELS)).eval()
    scramble(model, seed=3)
    inputs, rows = packed(padded_batch()), torch.tensor([1, 4, 13, 14, 28])
    with torch.no_grad():
        assert_close(model(**inputs, rows=rows), model(**inputs)[rows])


def test_a_head_over_a_mix_of_layers_reads_them_at_the_chosen_rows() -> None:
    model = TokenClassifier(tiny_config(id2label=LABELS, layer_mix=True)).eval()
    scramble(model, seed=3)
    inputs, rows = packed(padded_batch()), torch.tensor([1, 4, 13, 14, 28])
    with torch.no_grad():
        states = model.bert(**inputs, output_hidden_states=True).hidden_states
        shares = model.mix.weights.softmax(0)  # type: ignore[union-attr]
        mixed = sum(share * state for share, state in zip(shares, states, strict=True))
        expected = model.classifier(model.mix.scale * mixed)  # type: ignore[union-attr]
        assert_close(model(**inputs), expected)
        assert_close(model(**inputs, rows=rows), expected[rows])


def test_the_head_of_another_task_starts_anew_and_says_so(tmp_path: Path) -> None:
    theirs(TokenClassifier, tmp_path)
    model, report = load_headed(tmp_path, SequenceClassifier, LABELS, seed=1)
    said = " ".join(map(str, report.sentences()))
    assert "another task" in said and "The classifier is new" in said
    assert not torch.equal(
        model.classifier.weight, load_headed(tmp_path, TokenClassifier)[0].classifier.weight
    )
    with pytest.raises(ModelError, match="another task"):
        load_headed(tmp_path, SequenceClassifier)
    with pytest.raises(ModelError, match="holds no head for questions"):
        load_headed(tmp_path, QuestionAnswering)


@pytest.mark.parametrize("head", HEADS)
def test_a_new_head_is_told_as_new_and_a_stored_one_is_not(head: type[HeadedEncoder], tmp_path: Path) -> None:
    theirs(head, tmp_path / "own")
    labels = LABELS if head.has_labels else ()
    assert load_headed(tmp_path / "own", head, labels)[1].new == ()
    transformers.BertModel(transformers.BertConfig(**tiny_config().to_json())).save_pretrained(
        tmp_path / "bare"
    )
    assert head.parts[-1] in load_headed(tmp_path / "bare", head, labels)[1].new
