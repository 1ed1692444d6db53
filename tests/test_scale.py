"""What is worked out for several GPUs: the page has what the program prints, by formulas that say so."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.scale import LINKS, Job, Link, main, tables

PAGE = Path(__file__).parents[1] / "benchmarks" / "scale.md"


def test_the_page_has_the_tables_that_the_program_prints() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert len(tables()) == 4
    for table in tables():
        assert table in page


def test_a_ring_moves_each_byte_twice_past_all_but_one_and_the_last_ones_are_waited_for() -> None:
    job = Job("base", 1000, 1.0)
    assert job.gradient_bytes == pytest.approx(440e6, rel=0.01)
    assert Link("", 2, 100.0).seconds_a_byte == pytest.approx(0.01)
    assert Link("", 8, 100.0).seconds_a_byte == pytest.approx(0.0175)
    assert job.waited(Link("", 2, 1e12)) == pytest.approx(job.last_bytes / 1e12)  # the others hide
    slow = Link("", 2, 1e8)
    assert job.waited(slow) == pytest.approx(job.gradient_bytes / 1e8 - 2 / 3)


def test_more_gpus_give_more_and_never_more_than_their_number() -> None:
    job = Job("base", 65536, 0.05)
    alone, *several = (job.tokens_s(link) for link in LINKS)
    for speed, link in zip(several, LINKS[1:], strict=True):
        assert alone < speed < link.num_gpus * alone
    assert job.efficiency(LINKS[-1]) < job.efficiency(LINKS[-1], 4) < 1


def test_a_step_time_that_was_seen_gives_a_table_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--preset", "mini", "--tokens", "2048", "--step-ms", "5,10"])
    said = capsys.readouterr().out
    assert said.count("**mini, 2,048 tokens and") == 2 and "| 1 |  |  |  | 100% | 0.41 | 88.9 h |" in said
