"""Integration with the machine: cron and systemd. The only code that writes outside a vault."""
