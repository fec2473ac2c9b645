//! What the server can do, and for how many of the sessions that begin that is enough.

use units::ClassId;

use super::policy::Policy;
use crate::admission::Controller;
use crate::config::Admission;
use crate::fairness::rank::Rank;
use crate::prospects::crowd::Wish;

impl Policy {
    /// Learns what the server can do for each class, and how many of its sessions can begin.
    pub(super) fn learn_capacity(&mut self, used: f64) {
        self.spare.end_period(self.controllers.iter().map(Controller::outflow).sum(), used);
        self.count_crowd();
        for class in self.layout.all() {
            let lately = self.reach(class);
            let reach = self.reaches[class.index()].learn(lately);
            self.shares.end_period(class);
            let wasted = self.shares.wasted(class);
            let matters = self.config.admission == Admission::Sessions;
            let requests = self.shares.requests_of_session(class).filter(|_| matters);
            let empty = if self.waiting_to_begin(class) == [0, 0] { 0.0 } else { 1.0 - used };
            let crowding = if self.admits_sessions(class) { self.crowding(class) } else { 0.0 };
            self.doors[class.index()].end_period(
                self.now,
                self.config.period,
                reach - wasted,
                empty,
                requests,
                crowding,
            );
        }
    }

    /// Learns whether more sessions begin than can be finished.
    fn count_crowd(&mut self) {
        let Self { crowd, shares, controllers, spare, reaches, layout, config, .. } = self;
        let outflow = |class: ClassId| controllers[class.index()].outflow();
        let wasted = layout.all().map(|class| shares.wasted(class)).sum::<f64>();
        let reach = spare.requests() + layout.all().map(outflow).sum::<f64>() - wasted;
        let is_another = crowd.end_period(reach, |class| {
            let requests = shares.requests_of_session(class).filter(|_| shares.are_lengths_known(class));
            match requests.filter(|_| config.admission == Admission::Sessions) {
                Some(requests) => Wish::Each(requests, reaches[class.index()].get()),
                None => Wish::InAll((outflow(class) - shares.wasted(class)).max(0.0)),
            }
        });
        if is_another {
            self.reorder();
        }
    }

    /// Puts all that wait in the order that counts now, as far as it is known what their sessions promise. Left where they are, those who came before
    /// would be served last after one change, and first after the next.
    fn reorder(&mut self) {
        for class in self.layout.all() {
            for queue in self.layout.admitted(class).chain(self.layout.held_back(class)) {
                // Each comes to the end once, so that all stay in their order.
                for _ in 0..self.store.length(queue) {
                    let Some(key) = self.store.head(queue) else { break };
                    let prospect = self.prospect(class, self.store.get(key).promised);
                    self.store.promise(key, prospect);
                }
            }
        }
    }

    /// Requests of sessions under way that wait in a class, over as many as are served in the time that they should wait at most.
    fn crowding(&self, class: ClassId) -> f64 {
        /// Of fewer the server has nothing to do now and then.
        const MIN_REQUESTS: f64 = 4.0;
        let longest = self.config.knobs.longest_wait_inside(self.patience(class));
        let outflow = self.controllers[class.index()].outflow();
        let periods = longest.as_secs_f64() / self.config.period.as_secs_f64();
        let waiting = self.store.length(self.layout.class(class, Rank::Existing));
        f64::from(waiting) / (outflow * periods).max(MIN_REQUESTS)
    }

    /// How many requests of a class the server could have done in the last period: what it does, what is left, and what those have who
    /// matter less, but for the share that their weights see to.
    fn reach(&self, class: ClassId) -> f64 {
        let outflow = |class: ClassId| self.controllers[class.index()].outflow();
        let all =
            self.spare.requests() + outflow(class) + self.classes_below(class).map(outflow).sum::<f64>();
        let kept = |below: ClassId| outflow(below).min(all * self.scheduler.share_beside(below, class));
        all - self.classes_below(class).map(kept).sum::<f64>()
    }
}
