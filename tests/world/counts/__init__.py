"""What the load generator counts beside what servers log, to the request."""
