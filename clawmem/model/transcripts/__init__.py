"""Readers of transcripts, one module per format; `formats` has the table of them."""
