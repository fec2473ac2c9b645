//! [`goes_first`] and [`give_way`]: who waits for whom.

use rustix::process::setpriority_process;
use thread_priority::{
    NormalThreadSchedulePolicy, RealtimeThreadSchedulePolicy, ThreadPriority, ThreadSchedulePolicy,
    set_thread_priority_and_policy, thread_native_id, thread_schedule_policy,
};

/// Whether the calling thread had a real-time priority when this was first asked: it runs whenever it wants to, and ordinary
/// ones wait.
pub fn goes_first() -> bool {
    use RealtimeThreadSchedulePolicy::{Fifo, RoundRobin};
    matches!(thread_schedule_policy(), Ok(ThreadSchedulePolicy::Realtime(Fifo | RoundRobin)))
}

/// What is run with a real-time priority has all of its threads alike: first come, first served, for as
/// long as each likes (sched(7), `SCHED_FIFO`). This one has nothing to do that has to be in time,
/// and would make those late that have.
pub fn be_ordinary() {
    let ordinary = ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Other);
    // A thread that may run at all may run with the ordinary policy.
    let _ = set_thread_priority_and_policy(thread_native_id(), ThreadPriority::Min, ordinary);
}

/// Gives this thread the lowest priority: for work that no other waits for, which runs when no other thread wants to.
pub fn give_way() {
    const LAST: i32 = 19;
    be_ordinary();
    // On Linux this is about the calling thread alone (setpriority(2), NOTES).
    let _ = setpriority_process(None, LAST);
}
