"""Where a run is trained, and how it stands with that computer, in words."""

from __future__ import annotations

from pathlib import Path

from app import words
from app.words import translate
from app.work.hosts import Hosts, copying_words
from app.work.training_state import TrainingState
from engine.remote.record import last_contact
from engine.train.run.wanted import PAUSE, STOP


def place_words(hosts: Hosts, run_dir: Path, host: str, training: TrainingState | None) -> tuple[str, str]:
    """Return on which computer a run is trained, and whether that is heard; "" of this one.

    Args: training: of the run that this window follows; None: its files say how it stands.
    """
    if not host:
        return "", ""
    place = translate("RunPage", "On {host}").format(host=host)
    contact = last_contact(run_dir) if training is None else training.contact
    copying = hosts.copying
    if copying is not None and copying.run_dir == run_dir:
        return place, copying_words(copying)
    if contact is None:
        return place, ""
    said = [words.say(contact.said())]
    if not contact.is_connected and contact.why is not None:
        said.append(words.say(contact.why))
    if training is not None and training.is_lost:
        wished = {
            PAUSE: translate("RunPage", "It pauses as soon as {host} is reached again."),
            STOP: translate("RunPage", "It stops as soon as {host} is reached again."),
        }.get(training.wish, "")
        said += [wished.format(host=host)] if wished else []
    return place, words.sentences(said)
