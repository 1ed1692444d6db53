"""How the window looks: theme, widgets, layout and tables, of which every page is made. No session here."""
