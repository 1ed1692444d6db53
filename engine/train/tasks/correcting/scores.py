"""How well texts are corrected, as SIGHAN's bake-off of 2015 counts it, and by place: functions of pieces.

Sentence level: a sentence is flagged where anything in it is changed. It is detected where just its wrong
places are changed, and corrected where each of them gets its right piece as well. Precision is of all that
are flagged, recall of all that hold an error; the false positive rate is that of sentences without one that
are flagged. By place (a character, where characters are pieces): of all places that are changed, and of all
that are wrong.

Source: Tseng et al. 2015, Introduction to SIGHAN 2015 Bake-off for Chinese Spelling Check, section 4; ReaLiSe
(Xu et al. 2021) counts alike.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from engine.train.clusters import f1_interval_of, share_interval_of
from engine.train.metrics import wilson_interval

# S sentences, A places of all of them end to end

Pieces = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.float64]
HITS, ANSWERED, TRUE = range(3)  # columns of what sentences add to an F1


@dataclass(frozen=True)
class CorrectionScores:
    """What each of S sentences got.

    has_error, flagged, detected, corrected: (S,) bool; the last two hold of one without an error that is left
    alone. detection, correction: (S, 3), the places that each adds to hits, changed and wrong ones.
    """

    has_error: npt.NDArray[np.bool_]
    flagged: npt.NDArray[np.bool_]
    detected: npt.NDArray[np.bool_]
    corrected: npt.NDArray[np.bool_]
    detection: Numbers
    correction: Numbers

    @property
    def of_detection(self) -> Numbers:
        """(S, 3), what each sentence adds to F1 of detection: hits, flagged, with an error."""
        return self._adds(self.detected)

    @property
    def of_correction(self) -> Numbers:
        """(S, 3), the same of correction."""
        return self._adds(self.corrected)

    def _adds(self, right: npt.NDArray[np.bool_]) -> Numbers:
        return np.stack([right & self.has_error, self.flagged, self.has_error], 1).astype(np.float64)

    @property
    def num_false_alarms(self) -> int:
        """Sentences without an error that are flagged."""
        return int((self.flagged & ~self.has_error).sum())

    def metrics(self) -> dict[str, float]:
        """Return all scores by name, 0 to 1; 0 of nothing. unchanged_accuracy: what changing nothing reaches,
        the share of sentences that are right as they stand.
        """
        found = _three("correction", self.of_correction) | _three("detection", self.of_detection)
        found["false_positive_rate"] = _by(self.num_false_alarms, int((~self.has_error).sum()))
        found["sentence_accuracy"] = _by(int(self.corrected.sum()), len(self.corrected))
        found["unchanged_accuracy"] = _by(int((~self.has_error).sum()), len(self.corrected))
        found |= _three("place_correction", self.correction)
        return found | _three("place_detection", self.detection)

    def intervals(self) -> dict[str, tuple[float, float]]:
        """Return the 95 % interval of each score, sentences drawn whole; a score of nothing has none."""
        found: dict[str, tuple[float, float]] = {}
        for name, adds in (
            ("correction", self.of_correction),
            ("detection", self.of_detection),
            ("place_correction", self.correction),
            ("place_detection", self.detection),
        ):
            ones = np.ones(len(adds), np.int64)
            for kind, of in (("precision", ANSWERED), ("recall", TRUE)):
                if adds[:, of].any():
                    found[f"{name}_{kind}"] = share_interval_of(adds[:, [HITS, of]], ones)
            if adds[:, [ANSWERED, TRUE]].any():
                found[f"{name}_f1"] = f1_interval_of(adds, ones)
        clean = int((~self.has_error).sum())
        if clean:
            found["false_positive_rate"] = wilson_interval(self.num_false_alarms, clean)
        if len(self.corrected):
            found["sentence_accuracy"] = wilson_interval(int(self.corrected.sum()), len(self.corrected))
            found["unchanged_accuracy"] = wilson_interval(clean, len(self.corrected))
        return found


def score_corrections(own: Pieces, right: Pieces, predicted: Pieces, firsts: Pieces) -> CorrectionScores:
    """Return what each sentence got.

    Args: own, right, predicted: (A,) what stands in each place, what belongs there, and what is answered.
    firsts: (S + 1,) the first place of each sentence.
    """
    wrong, changed, missed = own != right, predicted != own, predicted != right

    def counted(places: npt.NDArray[np.bool_]) -> Numbers:
        sums = np.append(0, np.cumsum(places))[firsts]
        return np.diff(sums).astype(np.float64)

    num_wrong, num_changed = counted(wrong), counted(changed)
    both, hits = counted(wrong & changed), counted(wrong & ~missed)
    return CorrectionScores(
        has_error=num_wrong > 0,
        flagged=num_changed > 0,
        detected=(both == num_wrong) & (both == num_changed),
        corrected=counted(missed) == 0,
        detection=np.stack([both, num_changed, num_wrong], 1),
        correction=np.stack([hits, num_changed, num_wrong], 1),
    )


def _three(name: str, adds: Numbers) -> dict[str, float]:
    """Return F1, precision and recall of what sentences add."""
    hits, answered, true = adds.sum(0).tolist()
    return {
        f"{name}_f1": _by(2 * hits, answered + true),
        f"{name}_precision": _by(hits, answered),
        f"{name}_recall": _by(hits, true),
    }


def _by(part: float, whole: float) -> float:
    return part / whole if whole else 0.0
