"""The verb of this extension."""
