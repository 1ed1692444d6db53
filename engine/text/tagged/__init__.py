"""Texts whose words carry tags: read from files of any of their kinds into one small form."""
