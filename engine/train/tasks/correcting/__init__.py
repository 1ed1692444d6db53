"""A text corrected in place: at each piece the one that belongs there, by the masked-word head."""
