//! Prints `docs/metrics.md`.

fn main() {
    print!("{}", catalogue::page::markdown());
}
