"""Training on another computer, watched here: by the system's own OpenSSH, with a run folder as the wire."""
