//! [`State`]: what the live view knows, whatever the terminal looks like.

use std::collections::VecDeque;
use std::sync::Arc;

use tui::{Controls, Theme};

use super::tab::Tab;
use crate::snapshot::{Setting, Snapshot};

/// Looks that charts remember; more than the widest terminal has points for.
const MAX_LOOKS: usize = 1000;

#[derive(Debug)]
pub(super) struct State {
    pub(super) setting: Setting,
    pub(super) theme: Theme,
    pub(super) controls: Controls,
    pub(super) tab: Tab,
    /// Whether requests are those of all of the time, not those of the last look.
    pub(super) whole: bool,
    looks: VecDeque<Arc<Snapshot>>,
    /// Those that are shown while the picture is held.
    held: Option<VecDeque<Arc<Snapshot>>>,
}

impl State {
    pub(super) fn new(setting: Setting, theme: Theme) -> Self {
        Self {
            setting,
            theme,
            controls: Controls::default(),
            tab: Tab::default(),
            whole: false,
            looks: VecDeque::new(),
            held: None,
        }
    }

    pub(super) fn see(&mut self, look: Arc<Snapshot>) {
        if self.looks.len() == MAX_LOOKS {
            self.looks.pop_front();
        }
        self.looks.push_back(look);
    }

    pub(super) fn toggle_pause(&mut self) {
        self.controls.paused = !self.controls.paused;
        self.held = self.controls.paused.then(|| self.looks.clone());
    }

    /// What is on the screen.
    pub(super) fn shown(&self) -> Option<&Snapshot> {
        self.visible().back().map(Arc::as_ref)
    }

    fn visible(&self) -> &VecDeque<Arc<Snapshot>> {
        self.held.as_ref().unwrap_or(&self.looks)
    }

    /// The last looks up to the one that is on the screen, `most` at most, from the oldest on.
    pub(super) fn looks(&self, most: usize) -> Vec<&Snapshot> {
        let looks = self.visible();
        looks.iter().skip(looks.len().saturating_sub(most)).map(Arc::as_ref).collect()
    }
}
