"""NNLM, ELMo and GPT against references: what torch, transformers or their papers' equations give."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from engine.family.elmo import ELMo
from engine.family.gpt import GPT
from engine.family.members import SEP, Continues
from engine.family.nnlm import NNLM
from engine.family.rows import NextWord, StreamFeed

V = 50


def ids(rows: int, length: int, seed: int = 0) -> Tensor:
    return torch.randint(5, V, (rows, length), generator=torch.Generator().manual_seed(seed))


def scrambled(model: torch.nn.Module) -> torch.nn.Module:
    """Give every weight a value of its own, biases too."""
    rng = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(0.3 * torch.randn(weight.shape, generator=rng))
    return model.eval()


def nnlm() -> NNLM:
    model = scrambled(NNLM.new(V, 16, 1, 8, 0))
    assert isinstance(model, NNLM)
    return model


def elmo() -> ELMo:
    model = scrambled(ELMo.new(V, 12, 2, 8, 0))
    assert isinstance(model, ELMo)
    return model


def gpt() -> GPT:
    model = scrambled(GPT.new(V, 64, 2, 16, 0))
    assert isinstance(model, GPT)
    return model


def test_nnlm_is_the_papers_equation_word_by_word() -> None:
    model, row = nnlm(), ids(1, 5 + 3)
    summed = 0.0
    for t in range(5, 8):
        x = torch.cat([model.C.weight[row[0, t - back]] for back in range(1, 6)])
        y = model.b + model.U @ torch.tanh(model.H.bias + model.H.weight @ x)
        summed -= float(y.log_softmax(0)[row[0, t]].detach())
    loss, _ = model(row)
    assert float(loss.detach()) == pytest.approx(summed, rel=1e-5)


def test_gpts_logits_are_those_of_the_first_gpt_in_transformers() -> None:
    from transformers import OpenAIGPTConfig, OpenAIGPTLMHeadModel

    ours = gpt()
    config = OpenAIGPTConfig(
        vocab_size=V,
        n_positions=16,
        n_embd=64,
        n_layer=2,
        n_head=1,
        resid_pdrop=0,
        embd_pdrop=0,
        attn_pdrop=0,
    )
    theirs = OpenAIGPTLMHeadModel(config).eval()
    torch.nn.init.zeros_(ours.b)  # theirs has none
    weights = {"transformer.tokens_embed.weight": ours.W_e.weight, "lm_head.weight": ours.W_e.weight}
    weights["transformer.positions_embed.weight"] = ours.W_p.weight
    for number, layer in enumerate(ours.layers):
        parts = {
            "attn.c_attn": layer.attention.qkv,
            "attn.c_proj": layer.attention.output,
            "ln_1": layer.attention_norm,
            "mlp.c_fc": layer.intermediate,
            "mlp.c_proj": layer.output,
            "ln_2": layer.output_norm,
        }
        for name, part in parts.items():
            weight = part.weight.t() if part.weight.ndim == 2 else part.weight
            weights[f"transformer.h.{number}.{name}.weight"] = weight
            weights[f"transformer.h.{number}.{name}.bias"] = part.bias
    missing, unexpected = theirs.load_state_dict(weights, strict=False)
    assert not unexpected and all("attn.bias" in name or "position_ids" in name for name in missing)
    row = ids(3, 16)
    with torch.inference_mode():
        torch.testing.assert_close(ours.logits(row), theirs(row).logits, rtol=1e-4, atol=1e-4)


def test_gpt_and_nnlm_see_nothing_that_follows() -> None:
    row = ids(1, 16)
    other = row.clone()
    other[0, 9:] = ids(1, 7, seed=1)[0]
    model = gpt()
    with torch.inference_mode():
        torch.testing.assert_close(model.logits(row)[:, :9], model.logits(other)[:, :9])


def test_elmos_lstms_are_the_equations_from_both_sides() -> None:
    model, row = elmo(), ids(2, 7)
    for cells, ends, is_reversed in ((model.from_left, 0, False), (model.from_right, 1, True)):
        x = model.x(row).detach()
        x = x.flip(1) if is_reversed else x
        for number, lstm in enumerate(cells):
            h = c = torch.zeros(2, 12)
            found = []
            for t in range(7):
                gates = x[:, t] @ lstm.weight_ih_l0.t() + lstm.bias_ih_l0 + h @ lstm.weight_hh_l0.t()
                i, f, g, o = (gates + lstm.bias_hh_l0).chunk(4, 1)
                c = f.sigmoid() * c + i.sigmoid() * g.tanh()
                h = o.sigmoid() * c.tanh()
                found.append(h)
            output = torch.stack(found, 1)
            x = output + x if number else output
        wanted = x.flip(1) if is_reversed else x
        with torch.inference_mode():
            torch.testing.assert_close(model.every(row)[ends][-1], wanted.detach(), rtol=1e-4, atol=1e-5)


def test_elmos_loss_is_that_of_both_directions_and_neither_sees_its_word() -> None:
    model, row = elmo(), ids(2, 9)
    with torch.inference_mode():
        left, right = (states[-1] @ model.x.weight.t() + model.bias for states in model.every(row))
        wanted = F.cross_entropy(left[:, :-1].flatten(0, 1), row[:, 1:].flatten(), reduction="sum")
        wanted += F.cross_entropy(right[:, 1:].flatten(0, 1), row[:, :-1].flatten(), reduction="sum")
        torch.testing.assert_close(model(row)[0], wanted, rtol=1e-5, atol=1e-3)


@pytest.mark.parametrize("made", [nnlm, elmo, gpt])
def test_a_stream_is_scored_as_word_by_word_as_far_as_the_window_reaches(made: type) -> None:
    model = made()
    assert isinstance(model, Continues)
    words = ids(1, 8, seed=2)[0].numpy()
    one_by_one = [math.log(model.after(words[:place].tolist())[word]) for place, word in enumerate(words)]
    np.testing.assert_allclose(model.logs(words), one_by_one, atol=1e-4)
    longer = model.logs(ids(1, 150, seed=3)[0].numpy())
    assert longer.shape == (150,) and np.isfinite(longer).all() and (longer < 0.0).all()


def test_a_feed_shows_every_word_once_an_epoch_and_the_step_alone_says_where_it_is() -> None:
    stream = np.arange(100, 100 + 8 * 7 + 3)
    feed = StreamFeed(stream, left=2, length=8, batch_tokens=24, seed=1)
    seen = []
    for step in range(1, 1 + 7):
        (rows,) = feed.parts(feed.take(step, 0.0), 10**6)
        assert rows.ids.shape == (3, 10) and rows.num_tokens == 24
        seen += rows.ids[:, 2:].flatten().tolist()
        before = rows.ids[:, 1]
        assert all(b == SEP or b == first - 1 for b, first in zip(before, rows.ids[:, 2], strict=True))
    assert sorted(seen[: 7 * 8]) == list(range(100, 156)) and len(seen) == 21 * 8
    again = StreamFeed(stream, left=2, length=8, batch_tokens=24, seed=1)
    np.testing.assert_array_equal(again.take(5, 0.5), feed.take(5, 0.0))


def test_a_step_in_parts_has_the_loss_of_the_whole() -> None:
    model, task = gpt(), NextWord(1)
    feed = StreamFeed(ids(1, 200)[0].numpy(), left=1, length=16, batch_tokens=64, seed=0)
    taken = feed.take(1, 0.0)
    losses = []
    for size in (1000, 16):
        parts = feed.parts(taken, size)
        totals = task.count(parts)
        losses.append(sum(float(task.loss(model, part, totals)[0].detach()) for part in parts))
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)
