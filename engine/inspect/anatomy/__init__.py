"""One text through BERT with every number kept, what a change does to the end, and how one weight learns."""
