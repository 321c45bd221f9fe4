"""The wiki: pages that are compiled from facts that pass the gates."""
