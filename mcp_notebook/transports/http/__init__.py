"""Streamable HTTP: the server side as an ASGI application, the client side on httpx2."""
