"""What is said: no I/O, no clock, no event loop."""
