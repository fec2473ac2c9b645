//! Workload models: arrivals, sessions, pages.
