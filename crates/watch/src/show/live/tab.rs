//! [`Tab`]: the parts of the view.

/// What is shown below the title.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Tab {
    #[default]
    Requests,
    Kernel,
    Processes,
    Network,
    Overhead,
}

impl Tab {
    pub(super) const ALL: [Self; 5] =
        [Self::Requests, Self::Kernel, Self::Processes, Self::Network, Self::Overhead];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Requests => "requests",
            Self::Kernel => "kernel",
            Self::Processes => "processes",
            Self::Network => "connections",
            Self::Overhead => "overhead",
        }
    }

    /// The tab whose key it is: 1 for the first.
    pub(super) fn of(key: char) -> Option<Self> {
        let number = key.to_digit(10)? as usize;
        Self::ALL.get(number.checked_sub(1)?).copied()
    }

    pub(super) fn next(self) -> Self {
        Self::ALL[(self as usize + 1) % Self::ALL.len()]
    }

    pub(super) fn previous(self) -> Self {
        Self::ALL[(self as usize + Self::ALL.len() - 1) % Self::ALL.len()]
    }
}
