"""The face: parse, call one act, render."""
