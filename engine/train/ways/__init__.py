"""Ways to learn from few labels: each answers rows that it has not seen, and the best is chosen by that."""
