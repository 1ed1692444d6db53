"""The Attention page: where every head looks, what it is for, and which words an answer rests on."""
