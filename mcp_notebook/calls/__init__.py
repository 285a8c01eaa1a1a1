"""Calls at whoever carries them out, be it a server or (where a server asks) a client: a running handler, the numbered
log of what it has said, and whoever follows it."""
