//! What a sample costs can be found out for every source.
#![allow(clippy::expect_used, reason = "a test fails by panicking")]

use watch::{costs, kernel, processes};

#[test]
fn a_sample_has_a_cost() {
    if !rustix::process::geteuid().is_root() {
        testkit::skip(&"only root may load programs");
        return;
    }
    let names = ["cargo"];
    let mut walk = processes::Traced::open(&names).expect("this runs as root on a kernel with BTF");
    for cost in [
        costs::of(&mut kernel::Traced::open().expect("this runs as root on a kernel with BTF")),
        costs::of(&mut kernel::Proc::default()),
        costs::of(&mut walk),
        costs::of(&mut processes::Proc::open(&names)),
    ] {
        let cost = cost.expect("a sample");
        assert!(
            cost.median > 0.0 && cost.range[0] <= cost.median && cost.median <= cost.range[1],
            "{cost:?}"
        );
    }
}
