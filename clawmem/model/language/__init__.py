"""Text, dates, and words."""
