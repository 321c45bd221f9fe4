"""Text, dates, questions and vocabulary."""
