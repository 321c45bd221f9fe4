"""Readers of transcripts, one module per format; `formats` is the table of them."""
