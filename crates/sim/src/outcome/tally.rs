//! [`PartTotals`]: what was seen in a part of a simulation; [`Parts`]: a simulation in a limited number of them.

use crate::watch::{ClassCounts, TierUse, Watch};

/// What was seen in a part of a simulation.
#[derive(Debug, Clone)]
pub(crate) struct PartTotals {
    /// Seconds.
    pub(crate) elapsed: f64,
    /// Processors at work and requests present, each times seconds.
    pub(crate) busy: f64,
    pub(crate) present: f64,
    pub(crate) classes: Vec<ClassCounts>,
    pub(crate) tiers: Vec<TierUse>,
}

impl From<Watch> for PartTotals {
    fn from(watch: Watch) -> Self {
        let (elapsed, Watch { busy, present, classes, tiers, .. }) = (watch.elapsed(), watch);
        Self { elapsed, busy, present, classes, tiers }
    }
}

impl PartTotals {
    fn add(&mut self, other: &Self) {
        self.elapsed += other.elapsed;
        self.busy += other.busy;
        self.present += other.present;
        self.classes.iter_mut().zip(&other.classes).for_each(|(class, more)| class.add(more));
        self.tiers.iter_mut().zip(&other.tiers).for_each(|(tier, more)| tier.add(*more));
    }
}

/// A simulation in parts of the same size, in their order. When there would be too many, each two
/// neighbours become one, so that any amount of simulation takes the same memory, and the parts do
/// not depend on how it was shared out.
#[derive(Debug)]
pub(crate) struct Parts {
    parts: Vec<PartTotals>,
    most: usize,
    /// Tallies in a part, and in the last one, which may not be full yet.
    each: u32,
    last: u32,
}

impl Parts {
    /// None yet, and never more than `most`.
    pub(crate) fn at_most(most: usize) -> Self {
        Self { parts: Vec::new(), most, each: 1, last: 1 }
    }

    pub(crate) fn push(&mut self, tally: PartTotals) {
        if self.last < self.each
            && let Some(part) = self.parts.last_mut()
        {
            part.add(&tally);
            self.last += 1;
            return;
        }
        if self.parts.len() == self.most {
            self.halve();
            return self.push(tally);
        }
        self.parts.push(tally);
        self.last = 1;
    }

    /// Called when all parts are full.
    fn halve(&mut self) {
        let odd = self.parts.len() % 2;
        let mut parts = std::mem::take(&mut self.parts).into_iter();
        while let Some(mut part) = parts.next() {
            if let Some(next) = parts.next() {
                part.add(&next);
            }
            self.parts.push(part);
        }
        self.last = if odd == 1 { self.each } else { 2 * self.each };
        self.each *= 2;
    }

    pub(crate) fn as_slice(&self) -> &[PartTotals] {
        &self.parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_of_tallies_fits_and_none_is_lost() {
        for (most, count) in [(8, 5), (8, 8), (8, 9), (8, 100), (7, 100)] {
            let mut parts = Parts::at_most(most);
            for i in 0..count {
                let elapsed = f64::from(i);
                let (classes, tiers) = (Vec::new(), Vec::new());
                parts.push(PartTotals { elapsed, busy: 1.0, present: 0.0, classes, tiers });
            }
            let parts = parts.as_slice();
            assert!(parts.len() <= most && 2 * parts.len() >= most.min(count as usize));
            assert_eq!(
                parts.iter().map(|part| part.elapsed).sum::<f64>(),
                f64::from(count * (count - 1) / 2)
            );
            let size = parts[0].busy;
            let (last, full) = parts.split_last().unwrap();
            assert!(full.iter().all(|part| part.busy == size) && last.busy <= size, "{parts:?}");
        }
    }
}
