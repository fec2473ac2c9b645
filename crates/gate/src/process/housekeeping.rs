//! What is looked after at intervals: slow clients, kept connections, descriptors and memory.

use std::rc::Rc;
use std::time::Duration;

use crate::process::gate::Gate;

/// Looks after connections for as long as the gate runs.
pub(crate) async fn keep_house(gate: Rc<Gate>) {
    const INTERVAL: Duration = Duration::from_millis(250);
    loop {
        tokio::time::sleep(INTERVAL).await;
        let now = gate.clock.read();
        let shortage = gate.admission.driver.borrow_mut().release_quiet(now);
        gate.clients.sweep(now);
        gate.clients.make_room_in_server(now, shortage.wanted, &shortage.stuck);
        gate.pool.sweep(now);
        gate.admission.guard.look(now);
        gate.access_log.flush();
        gate.admission.guard.tell(&gate.admission.driver, now);
    }
}
