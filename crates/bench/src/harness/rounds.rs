//! In which order programs are measured.

/// Those of a round in the order in which they are measured. None is always the first, or always
/// after one and the same other: a processor that is warm, or has been slowed down, favours what is
/// measured then.
pub(crate) fn order<T: Clone>(all: &[T], round: u32) -> Vec<T> {
    let mut order = all.to_vec();
    if round % 2 == 1 {
        order.reverse();
    }
    order.rotate_left(round as usize / 2 % all.len().max(1));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_round_begins_with_another() {
        let firsts: Vec<_> = (0..5).map(|round| order(&[1, 2, 3, 4, 5, 6], round)[0]).collect();
        let mut distinct = firsts.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), 5, "{firsts:?}");
        assert!((0..5).all(|round| order(&[1, 2, 3], round).len() == 3));
    }
}
