"""Advice that several pages give: on a table, on a classifier's scores."""
