"""BERT without a window: text in, trained model out. Nothing in this package may import Qt or `app`.

Import it before torch: OpenMP's threads, which torch computes with, read how to wait for one another only
once. By default they spin, and beside another busy program they then take many times as long (two trainings
at once: over 20 times, instead of twice). A short spin costs a tenth on an idle machine and shares a busy one
fairly.
"""

import os

if "OMP_WAIT_POLICY" not in os.environ:
    os.environ.setdefault("GOMP_SPINCOUNT", "1000")
