//! Pages of `docs/benchmarks/`: prose by hand around a section that a benchmark writes.

use std::path::Path;

use anyhow::{Context, bail};

const BEGIN: &str = "<!-- measured: from here -->";
const END: &str = "<!-- measured: to here -->";

/// Pages are named from the root of the repository.
pub(crate) fn must_be_here(page: &str) -> anyhow::Result<()> {
    if !Path::new(page).is_file() {
        bail!("{page} is not here; start this from the root of the repository");
    }
    Ok(())
}

/// Puts what was measured between the page's two marks and leaves the rest as it is.
pub(crate) fn update(page: &Path, measured: &str) -> anyhow::Result<()> {
    let text = std::fs::read_to_string(page).with_context(|| format!("cannot read {}", page.display()))?;
    let text = replace(&text, measured).with_context(|| {
        format!("{} lacks the lines {BEGIN} and {END}, between which figures go", page.display())
    })?;
    std::fs::write(page, text).with_context(|| format!("cannot write {}", page.display()))
}

fn replace(text: &str, measured: &str) -> Option<String> {
    let (before, rest) = text.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}\n\n{}\n\n{END}{after}", measured.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pages_that_are_written_have_the_marks() {
        let pages = [
            include_str!("../../../../docs/benchmarks/gate.md"),
            include_str!("../../../../docs/benchmarks/load.md"),
            include_str!("../../../../docs/benchmarks/sim.md"),
            include_str!("../../../../docs/benchmarks/soak.md"),
            include_str!("../../../../docs/benchmarks/verdict.md"),
            include_str!("../../../../docs/benchmarks/watch.md"),
        ];
        assert!(pages.into_iter().all(|page| replace(page, "new").is_some()));
    }

    #[test]
    fn only_what_is_between_the_marks_changes() {
        let page = format!("# Title\n\n{BEGIN}\nold\n{END}\n\nend\n");
        let once = replace(&page, "new\n").unwrap();
        assert_eq!(once, format!("# Title\n\n{BEGIN}\n\nnew\n\n{END}\n\nend\n"));
        assert_eq!(replace(&once, "new").unwrap(), once);
        assert_eq!(replace("# Title\n", "new"), None);
    }
}
