"""What runs measured as files that TensorBoard reads: records of a length, a checksum, an event, a checksum.

Only numbers by step are written, for which a protobuf field writer and CRC-32C suffice. Source: TensorFlow's
tfrecord format and event.proto.
"""

from __future__ import annotations

import struct
from collections.abc import Generator
from pathlib import Path

from engine.durable import replaced_file
from engine.errors import marked
from engine.events import Event, Progress
from engine.model.tensorflow.table import masked_crc
from engine.runs.curves import RunCurve, read_curves
from engine.runs.facts import RunFacts

EVERY = 10**9  # points: none is left out
AT_ONCE = 20_000  # events


def write_events(facts: RunFacts, folder: Path) -> Generator[Event, None, Path]:
    """Write what a run measured into a new file in a folder; return its path. Raises: UserError.

    When each step was is told from how long the run took, as if all took as long.
    """
    curves = yield from read_curves(Path(facts.path), EVERY)
    scalars = {f"train/{name}": curve for name, curve in curves.train.items()}
    scalars |= {f"validation/{name}": curve for name, curve in curves.validation.items()}
    last = max((float(curve.steps[-1]) for curve in scalars.values() if curve.size), default=1.0)
    pace = (facts.seconds or last) / last
    path = folder / f"events.out.tfevents.{int(facts.began)}.cloze"
    folder.mkdir(parents=True, exist_ok=True)
    count, total = 0, sum(curve.size for curve in scalars.values())
    with replaced_file(path) as beside, beside.open("wb") as file:
        file.writelines(framed([_double(1, facts.began) + _text(3, b"brain.Event:2")]))
        for tag, curve in scalars.items():
            for start in range(0, curve.size, AT_ONCE):
                file.writelines(framed(events_of(tag, curve, start, facts.began, pace)))
                count += min(AT_ONCE, curve.size - start)
                yield Progress(stage=marked("engine", "Writing"), done=count, total=total)
    return path


def events_of(tag: str, curve: RunCurve, start: int, began: float, pace: float) -> list[bytes]:
    """Return up to AT_ONCE events of a curve. Args: pace: seconds a step, from `began` on."""
    name, stop, events = _text(1, tag.encode()), start + AT_ONCE, list[bytes]()
    for step, value in zip(curve.steps[start:stop].tolist(), curve.mean[start:stop].tolist(), strict=True):
        summary = _text(1, name + b"\x15" + struct.pack("<f", value))
        events.append(_double(1, began + pace * step) + b"\x10" + _varint(int(step)) + _text(5, summary))
    return events


def framed(events: list[bytes]) -> list[bytes]:
    """Return each event with its length and both checksums."""
    return [_checked(struct.pack("<Q", len(event))) + _checked(event) for event in events]


def _checked(data: bytes) -> bytes:
    return data + struct.pack("<I", masked_crc(data))


def _double(field: int, value: float) -> bytes:
    return bytes([field << 3 | 1]) + struct.pack("<d", value)


def _text(field: int, value: bytes) -> bytes:
    return bytes([field << 3 | 2]) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes([*found, value])
