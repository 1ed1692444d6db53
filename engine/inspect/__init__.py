"""Looking at what a trained model does: predictions, and later attention, masks and embeddings."""
