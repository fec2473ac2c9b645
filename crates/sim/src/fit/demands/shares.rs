//! What each request needed, where it is known when it came and went.

use std::collections::VecDeque;

use super::replay::Server;

/// Under processor sharing a request gets `processors / n` of a processor, and no more than one, while `n` are worked
/// on: its need is the integral of that over its stay. Beyond a number of threads requests wait in the
/// order of their arrival and get nothing. Shape: a need in seconds for each stay; none for what came to no turn.
pub(super) fn needs(times: &[f64], took: &[f64], server: Server) -> Vec<Option<f64>> {
    let processors = f64::from(server.processors);
    let threads = server.threads.map_or(usize::MAX, |threads| threads as usize);
    // Ends before beginnings at the same time.
    let mut events: Vec<(f64, bool, usize)> = Vec::with_capacity(2 * times.len());
    for (index, (began, took)) in times.iter().zip(took).enumerate() {
        events.extend([(*began, true, index), (began + took, false, index)]);
    }
    events.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
    let (mut now, mut work, mut active) = (0.0, 0.0, 0_usize);
    let mut begins: Vec<Option<f64>> = vec![None; times.len()];
    let mut gone = vec![false; times.len()];
    let mut waiting = VecDeque::new();
    let mut needs = vec![None; times.len()];
    for (at, is_begin, index) in events {
        work += (at - now) * (processors / active.max(1) as f64).min(1.0);
        now = at;
        if is_begin {
            if gone[index] {
                // It took no time at all.
                continue;
            }
            if active < threads {
                active += 1;
                begins[index] = Some(work);
            } else {
                waiting.push_back(index);
            }
            continue;
        }
        gone[index] = true;
        let Some(began) = begins[index] else { continue };
        active -= 1;
        while active < threads
            && let Some(next) = waiting.pop_front()
        {
            if !gone[next] {
                active += 1;
                begins[next] = Some(work);
            }
        }
        needs[index] = Some(work - began);
    }
    needs
}
