"""Looking at what a trained model does: predictions, masked words, attention, attribution, vectors."""
