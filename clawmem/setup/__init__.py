"""Integration with the machine: cron. The only code that writes outside a vault."""
