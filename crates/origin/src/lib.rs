//! Reference web server: static content from memory, pages that burn CPU.
