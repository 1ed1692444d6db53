"""What one, eight and sixty-four GPUs would give, by step times and bandwidths: the tables of scale.md.

python -m benchmarks.scale
python -m benchmarks.scale --preset base --tokens 65536 --step-ms 62,97

Nothing here is measured. --step-ms takes what a GPU was seen to need for a step of so many tokens.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from engine.model.config import BertConfig, count_parameters

VOCAB = 30522
MASKED = 0.15  # of the tokens, whose words are scored
BUCKET = 25 * 2**20  # bytes of gradients that DistributedDataParallel sends at once
BACKWARD = 2 / 3  # of a step
UNEVEN = 0.01  # by which the slowest of equal shares is slower
PEAK = 989e12  # operations a second in bfloat16 that an H200's data sheet promises
LAUNCHES, LAUNCH_S = 520, 10e-6  # kernels a step of twelve layers, and what the host takes for one
PRETRAINED = 256 * 512 * 1_000_000  # tokens that BERT was pretrained on, as its paper has it


@dataclass(frozen=True, slots=True)
class Link:
    """What gradients go through. bytes_s: through each of the places that a ring has to pass."""

    name: str
    num_gpus: int
    bytes_s: float

    @property
    def seconds_a_byte(self) -> float:
        """Of gradients: in a ring each byte passes every place but one, twice."""
        return 2 * (self.num_gpus - 1) / self.num_gpus / self.bytes_s


LINKS = (
    Link("", 1, float("inf")),
    Link("NVLink, 360 of 450 GB/s", 8, 360e9),
    Link("8 x 400 Gbit/s a node, 300 of 400 GB/s", 64, 300e9),
    Link("1 x 100 Gbit/s a node, 10 of 12.5 GB/s", 64, 10e9),
)


@dataclass(frozen=True, slots=True)
class Job:
    """A training as one GPU does it. step_s: of `num_tokens` tokens."""

    preset: str
    num_tokens: int
    step_s: float

    @property
    def shape(self) -> BertConfig:
        return BertConfig.preset(self.preset, VOCAB)

    @property
    def gradient_bytes(self) -> int:
        """Of all weights, in float32."""
        return 4 * sum(count_parameters(self.shape, pretraining=True).values())

    @property
    def last_bytes(self) -> int:
        """Of what is ready only when the backward pass is over: the embeddings, and a bucket before them."""
        shape = self.shape
        rows = shape.vocab_size + shape.max_position_embeddings + shape.type_vocab_size
        return 4 * rows * shape.hidden_size + min(BUCKET, self.gradient_bytes)

    @property
    def share_of_peak(self) -> float:
        """How much of what an H200 promises this step time needs: six operations a weight and token."""
        shape = self.shape
        width = shape.hidden_size
        layer = 4 * width**2 + 2 * width * shape.intermediate_size
        each = shape.num_hidden_layers * layer + MASKED * width * (shape.vocab_size + width)
        return 6 * each * self.num_tokens / self.step_s / PEAK

    def waited(self, link: Link) -> float:
        """Return the seconds that a step waits for its gradients, sent in its last backward pass."""
        early = (self.gradient_bytes - self.last_bytes) * link.seconds_a_byte
        return max(0.0, early - BACKWARD * self.step_s) + self.last_bytes * link.seconds_a_byte

    def efficiency(self, link: Link, num_parts: int = 1) -> float:
        """Return the share of its time that a GPU computes."""
        if link.num_gpus == 1:
            return 1.0
        own = num_parts * self.step_s
        return own / (own * (1 + UNEVEN) + self.waited(link))

    def tokens_s(self, link: Link, num_parts: int = 1) -> float:
        """Return the tokens a second of all GPUs."""
        return link.num_gpus * self.efficiency(link, num_parts) * self.num_tokens / self.step_s


def rows(job: Job, num_parts: int = 1) -> Iterator[tuple[str, ...]]:
    """Yield a row of the table for each link."""
    for link in LINKS:
        speed = job.tokens_s(link, num_parts)
        is_alone = link.num_gpus == 1
        yield (
            str(link.num_gpus),
            link.name,
            "" if is_alone else f"{job.gradient_bytes * link.seconds_a_byte * 1e3:.1f} ms",
            "" if is_alone else f"{job.waited(link) * 1e3:.1f} ms",
            f"{job.efficiency(link, num_parts):.0%}",
            f"{speed / 1e6:.2f}",
            f"{PRETRAINED / speed / 3600:.1f} h",
        )


def table(job: Job, num_parts: int = 1) -> str:
    """Return what a job would give, in Markdown."""
    about = f"{job.preset}, {job.num_tokens:,} tokens and {job.step_s * 1e3:g} ms a GPU and micro-batch"
    about += f", {num_parts} of them a step" if num_parts > 1 else ""
    megabytes, last = job.gradient_bytes / 1e6, job.last_bytes / 1e6
    lines = [
        f"**{about}**: {megabytes:.0f} MB of gradients, {last:.0f} MB of them last; "
        f"{job.share_of_peak:.0%} of an H200's peak.",
        "",
        "| GPUs | link | gradients take | waited for | efficiency | M tokens/s | BERT's 131 G tokens |",
        "|---|---|---|---|---|---|---|",
        *(f"| {' | '.join(row)} |" for row in rows(job, num_parts)),
    ]
    return "\n".join(lines)


def tables() -> list[str]:
    """Return the tables of scale.md."""
    goal, estimate = (Job("base", 65536, seconds) for seconds in (0.062, 0.097))
    few = Job("base", 4096, max(goal.step_s * 4096 / goal.num_tokens, LAUNCHES * LAUNCH_S))
    return [table(goal), table(estimate), table(goal, 4), table(few)]


def main(words: Sequence[str] | None = None) -> None:
    """Print the tables of scale.md, or those of other figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--preset", default="base", help="size of the model")
    parser.add_argument("--tokens", type=int, default=65536, help="of a micro-batch on each GPU")
    parser.add_argument("--step-ms", help="milliseconds of one, separated by commas; without it scale.md's")
    parser.add_argument("--parts", type=int, default=1, help="micro-batches a step")
    given = parser.parse_args(words)
    if given.step_ms is None:
        print("\n\n".join(tables()))
        return
    seconds = [float(one) / 1e3 for one in given.step_ms.split(",")]
    print("\n\n".join(table(Job(given.preset, given.tokens, one), given.parts) for one in seconds))


if __name__ == "__main__":
    main()
