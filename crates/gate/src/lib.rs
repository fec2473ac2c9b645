//! The gate: a reverse proxy that serves premium sessions first.
