"""Servers and clients of every kind, with and without the gate between them."""
