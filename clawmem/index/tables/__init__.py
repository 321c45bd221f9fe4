"""The tables of the index and what fills them."""
