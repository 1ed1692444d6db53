"""The Pretrain page: a text, a model, what the run will take, and how it learns."""
