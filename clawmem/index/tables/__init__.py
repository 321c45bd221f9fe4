"""The tables of the index, and the code that fills them."""
