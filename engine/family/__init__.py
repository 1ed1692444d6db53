"""From counting words to BERT: eight language models that learn from one text and answer the same questions.

A member is one file that reads like its paper. All have one vocabulary of whole words, so that a guess is a
word and a perplexity is of the same words, whoever is asked; a word beyond it is [UNK] to each of them.
"""
