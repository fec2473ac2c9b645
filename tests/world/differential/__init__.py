"""The gate beside HAProxy and nginx: the same bytes through each, and what became of them."""
