"""`cloze demo`: a training and a tour that play by themselves."""
