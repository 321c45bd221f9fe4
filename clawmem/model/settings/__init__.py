"""Settings, schedules, and permissions."""
