//! Load generator: open-loop sessions and closed loop, every request split into phases.
