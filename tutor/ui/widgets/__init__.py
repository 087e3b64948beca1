"""The few widgets of the tutor."""
