"""Scenes and lectures: what a page shows is kept under a title, put in order, stepped through and
exported.
"""
