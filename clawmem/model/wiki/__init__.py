"""The compiled wiki: its pages, their names, the gates, and links between pages."""
