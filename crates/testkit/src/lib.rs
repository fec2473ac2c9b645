//! Real servers on free ports and check helpers, for tests only.
