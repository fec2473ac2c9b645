//! [`Prospect`]: what serving a session promises beside serving one that begins.

use super::progress::Progress;

/// How many sessions are completed for each request served, at best: beside the same of a session that begins. None where it is
/// no more. A visit of one request is not counted among them.
///
/// Whom to serve so that most are completed is whose index is highest: the chance that a session ends within some
/// number of further requests for each request that this takes, for the number where that is most (Gittins 1979; of service times Aalto,
/// Ayesta and Righter 2009). Where all sessions are as long it is the inverse of what remains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Prospect(u8);

impl Prospect {
    /// How many there are.
    pub(crate) const COUNT: usize = 32;
    pub(crate) const NONE: Self = Self(0);
    /// What goes before all others.
    pub(crate) const FIRST: Self = Self(Self::COUNT as u8 - 1);
    /// From one to the next.
    const STEP: f32 = 1.2;

    /// Position among all, from little to much.
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }

    /// Of sessions at each [`Progress`], of which so many end there.
    pub(crate) fn of(hazards: &[f32; Progress::COUNT]) -> [Self; Progress::COUNT] {
        let beginning = index(hazards, 0);
        core::array::from_fn(|progress| {
            let here = index(hazards, progress);
            // Of those who begin it may be that none goes on.
            let more = if here > 0.0 { here / beginning } else { 1.0 };
            let mut steps = 0;
            let mut reached = Self::STEP;
            while reached <= more && steps < Self::COUNT as u8 - 1 {
                steps += 1;
                reached *= Self::STEP;
            }
            Self(steps)
        })
    }
}

/// The Gittins index, in sessions per request.
fn index(hazards: &[f32; Progress::COUNT], from: usize) -> f32 {
    let (mut best, mut there, mut ended, mut requests) = (0.0_f32, 1.0, 0.0, 0.0);
    for (progress, hazard) in hazards.iter().enumerate().skip(from) {
        // Who ends in a stretch does so in its midst.
        let stretch = Progress::requests_at(progress) as f32;
        requests += there * (stretch - hazard * (stretch - 1.0) / 2.0);
        // Who leaves after the first had begun no session that could be completed.
        if progress > 0 {
            ended += there * hazard;
        }
        there *= 1.0 - hazard;
        best = best.max(ended / requests);
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prospects(hazards: &[(usize, f32)]) -> [usize; Progress::COUNT] {
        let mut all = [0.0; Progress::COUNT];
        hazards.iter().for_each(|(progress, hazard)| all[*progress] = *hazard);
        Prospect::of(&all).map(Prospect::index)
    }

    #[test]
    fn of_sessions_of_one_length_it_grows_to_the_end_and_is_gone_beyond() {
        let found = prospects(&[(5, 1.0)]);
        assert!(found[..6].is_sorted(), "{found:?}");
        assert_eq!((found[0], found[6], found[31]), (0, 0, 0));
        // Six times as much, in steps of 1.2.
        assert_eq!(found[5], 9);
    }

    #[test]
    fn where_a_session_may_end_at_any_time_nobody_is_nearer() {
        let found = prospects(&core::array::from_fn::<_, 8, _>(|at| (at, 0.3)));
        assert_eq!(found[1..7], [found[1]; 6]);
        assert!(found[0] < found[1], "who begins may leave at once");
        assert_eq!(prospects(&[]), [0; Progress::COUNT]);
        assert_eq!(prospects(&[(0, 0.9)]), [0; Progress::COUNT], "all ask once");
    }

    #[test]
    fn however_many_leave_after_the_first_it_does_not_go_before_who_is_under_way() {
        let found = prospects(&[(0, 0.6), (5, 1.0)]);
        assert!(found[..6].is_sorted() && found[1] > 0, "{found:?}");
        assert_eq!(prospects(&[(0, 1.0), (5, 1.0)])[..6], [0, 31, 31, 31, 31, 31]);
    }

    #[test]
    fn those_without_an_end_take_nothing_from_those_with_one() {
        let found = prospects(&[(5, 0.8)]);
        assert_eq!((found[5], found[8]), (9, 0));
    }
}
