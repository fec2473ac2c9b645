//! Run directory to one self-contained HTML file and terminal tables.
