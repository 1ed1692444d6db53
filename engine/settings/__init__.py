"""The settings of every kind of run: one declaration serves form, command line, file and refusal."""
