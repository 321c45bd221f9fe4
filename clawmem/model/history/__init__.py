"""What a history says, and how a change is taken back."""
