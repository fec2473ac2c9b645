//! Experiments: servers, tests at levels of a factor, capacity.
