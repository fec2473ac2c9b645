//! Another configuration while running: nothing that is held is lost by it.

use units::Time;

use super::policy::Policy;
use super::refill::{Next, Refill};
use crate::config::{Config, Mode};
use crate::error::ConfigError;
use crate::protocol::Output;
use crate::waits::Waits;

impl Policy {
    /// Takes another configuration with the same number of classes; the decisions that follow
    /// are read with [`Policy::poll`].
    ///
    /// Whatever waits goes on waiting in its place, even in a queue that is longer than its new
    /// bound, and what was learnt (demand, speed of the server, size of an adaptive window within
    /// its new bounds) is kept. Only here is anything allocated after [`Policy::new`], when the new
    /// bounds hold more. The seed is not taken over: draws go on.
    ///
    /// From enforcing to shadow mode everything that waits is dispatched; the other way round what
    /// was let through counts as inside the server until it is finished.
    ///
    /// # Errors
    /// When the configuration contradicts itself or has another number of classes. Nothing has
    /// changed then.
    pub(crate) fn reconfigure(&mut self, now: Time, config: Config) -> Result<(), ConfigError> {
        config.check()?;
        if config.classes.len() != self.config.classes.len() {
            return Err(ConfigError::Reclassed {
                before: self.config.classes.len(),
                after: config.classes.len(),
            });
        }
        self.now = now;
        self.make_room(&config);
        let before = core::mem::replace(&mut self.config, config);
        let (config, limits) = (&self.config, &self.config.limits);
        self.acceptor.set_burst(limits.burst);
        self.scan.reconfigure(config.look_ahead, limits.acceptor_queue, config.knobs);
        self.scheduler.retune(&config.classes, config.knobs);
        self.places.reconfigure(now, config.window);
        self.clients.set_share(limits.client_share, limits.acceptor_queue);
        // A deadline may have become shorter.
        self.deadline_not_before = Time::ZERO;
        if config.period != before.period {
            let longer = config.period.as_secs_f64() / before.period.as_secs_f64();
            self.controllers.iter_mut().for_each(|controller| controller.rescale(longer));
            self.crowd.rescale(longer);
            self.reaches.iter_mut().for_each(|reach| reach.rescale(longer));
            self.spare.rescale(longer);
            self.shares.rescale(longer);
            self.period_ends = self.period_ends.min(now + config.period);
        }
        self.retarget();
        match (before.mode, self.config.mode) {
            (Mode::Enforce, Mode::Shadow) => self.let_through(),
            (Mode::Shadow, Mode::Enforce) => self.take_in(now),
            _ => {}
        }
        self.dispatch(now, Refill::WhereRoomIs);
        Ok(())
    }

    fn make_room(&mut self, config: &Config) {
        let room = config.held() as usize;
        let streaming = config.limits.streaming as usize;
        self.store.set_room(room, streaming);
        self.clients.make_room(room + streaming);
        let most = room.max(self.store.len()) + config.limits.burst as usize;
        self.outputs.reserve(most.saturating_sub(self.outputs.len()));
    }

    /// Everybody who waits goes to the server; their virtual turns come as they would have.
    fn let_through(&mut self) {
        for key in self.store.keys_outside() {
            let id = self.store.get(key).id;
            self.decide(Output::Dispatch(id), Waits::default());
        }
    }

    /// What is inside the server in truth takes places, if more than there are.
    fn take_in(&mut self, now: Time) {
        for key in self.store.keys_outside() {
            self.begin(now, Next { key, aside: false });
        }
        self.classifying = 0;
    }
}
