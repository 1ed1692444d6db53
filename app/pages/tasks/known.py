"""Which tasks have views. A new task is entered here."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from app.pages.tasks.choice.views import ChoiceViews
from app.pages.tasks.classification.views import ClassificationViews
from app.pages.tasks.correcting.views import CorrectionViews
from app.pages.tasks.multi_label.views import MultiLabelViews
from app.pages.tasks.questions.views import QuestionViews
from app.pages.tasks.regression.views import RegressionViews
from app.pages.tasks.token_labels.views import TokenViews
from app.pages.tasks.views import RowViews, TaskViews

translate = QCoreApplication.translate

CLASSIFICATION = ClassificationViews()
TASKS = (
    CLASSIFICATION,
    TokenViews(),
    MultiLabelViews(),
    RegressionViews(),
    QuestionViews(),
    ChoiceViews(),
    CorrectionViews(),
)
VIEWS: dict[str, TaskViews] = {views.name: views for views in TASKS}


def is_metric(name: str) -> bool:
    """Return whether a task knows a metric by this name."""
    return any(views.metric(name) != name or name in views.shares for views in TASKS)


def metric_words(name: str, value: float, rows: int = 0) -> str:
    """Return "entity F1 0.633", with the interval where it is a share of rows.

    Args: name: of a metric, as runs and models keep it. rows: measured on, 0 if they are not known.
    """
    views = next((one for one in TASKS if one.metric(name) != name or name in one.shares), CLASSIFICATION)
    said = translate("TaskViews", "{metric} {value}")
    return said.format(metric=views.metric(name), value=views.value(name, value, rows))


def views_of(name: str) -> TaskViews:
    """Return the views of a task; those of classification for a name that nobody knows."""
    return VIEWS.get(name, CLASSIFICATION)


def row_views_of(name: str) -> RowViews:
    """Return the views of a task that answers once for each row; those of classification for any other."""
    views = views_of(name)
    return views if isinstance(views, RowViews) else CLASSIFICATION
