"""A page whose state can be kept as a scene, with the pictures that say what it shows.

Whoever has a page show something as a whole, such as a lecture, calls `show_state`.
"""

from __future__ import annotations

from app.pages.stated_page import StatedPage
from app.work.page_state import SceneValues, State, state_of, values_of


class KeptPage(StatedPage[State]):
    """The base of pages whose state a lecture can keep."""

    def as_scene(self) -> SceneValues:
        """Return what the page shows as a scene holds it. Raises: UserError: as `state`."""
        return values_of(self.state)

    def show_scene(self, scene: SceneValues) -> None:
        """Show what a scene holds. Raises: UserError: it is not what this page keeps."""
        self.show_state(state_of(self.state_kind, scene))  # type: ignore[arg-type]  # of this page's kind
