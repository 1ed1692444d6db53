"""Google's original checkpoints of BERT, read without TensorFlow."""
