//! [`Levels`]: how many requests waited and how many had a thread, over time.

/// How many requests waited and how many had a thread in a stretch of a simulation.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Levels {
    /// Up to when they are known.
    at: f64,
    pub(crate) waiting: Level,
    pub(crate) in_service: Level,
}

/// A number of requests over time.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Level {
    /// The number times seconds.
    pub(crate) area: f64,
    pub(crate) least: usize,
    pub(crate) most: usize,
}

impl Levels {
    /// Begins with what there is `now`.
    pub(crate) fn begin(&mut self, now: f64, waiting: usize, in_service: usize) {
        let level = |number| Level { area: 0.0, least: number, most: number };
        *self = Self { at: now, waiting: level(waiting), in_service: level(in_service) };
    }

    /// There were so many of each until `now`.
    pub(crate) fn pass(&mut self, now: f64, waiting: usize, in_service: usize) {
        let elapsed = now - self.at;
        self.at = now;
        self.waiting.hold(elapsed, waiting);
        self.in_service.hold(elapsed, in_service);
    }
}

impl Level {
    fn hold(&mut self, elapsed: f64, number: usize) {
        self.area += elapsed * number as f64;
        self.least = self.least.min(number);
        self.most = self.most.max(number);
    }
}
