//! [`View`]: what is shown while a run lasts.

/// What is shown on standard error while a run lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum View {
    /// The live view on a terminal that it fits on, else lines.
    #[default]
    Auto,
    /// Lines.
    Lines,
    /// Nothing.
    Nothing,
}
