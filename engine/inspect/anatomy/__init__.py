"""One text through a model, every number kept; what a change does to the end; how one weight learns."""
