"""Advice that several pages give: on a table, on the scores of a model."""
