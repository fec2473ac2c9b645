//! Overload control: who is served, who waits, who is refused. Sans-IO, no_std.
