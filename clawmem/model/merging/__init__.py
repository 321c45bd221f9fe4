"""Two versions of a vault made one, from what they have in common: pure, the same whichever side is named first."""
