"""Read the history of a vault, and plan changes that take something back."""
