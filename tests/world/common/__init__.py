"""What both tests share: processes, the gate, HTTP/1 as bytes."""
