"""The window: PySide6 and pyqtgraph around tasks from `engine`. The work itself never lives here."""
