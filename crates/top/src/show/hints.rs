//! [`hints`]: the keys that do something now.

use super::model::{Model, Page};

/// As many as there is room for, those first that the user is most likely to want.
pub(super) fn hints(model: &Model, width: u16) -> String {
    let mut line = String::new();
    for hint in all(model) {
        let gap = if line.is_empty() { "" } else { "   " };
        if line.len() + gap.len() + hint.len() > usize::from(width) {
            break;
        }
        line += gap;
        line += hint;
    }
    line
}

fn all(model: &Model) -> Vec<&'static str> {
    if model.searching {
        return vec!["Enter done", "Esc no search"];
    }
    if model.question.is_some() {
        return vec!["y yes", "any other key: no"];
    }
    if model.help {
        return vec!["Esc close help", "q end"];
    }
    match model.page {
        Page::Overview => overview(model),
        Page::Queue => vec!["Esc back", "/ search", "arrows scroll", "q end", "c changes", "? help"],
        Page::Changes => vec!["Esc back", "arrows scroll", "q end", "w who waits", "? help"],
    }
}

fn overview(model: &Model) -> Vec<&'static str> {
    let desk = &model.desk;
    let holds = model.state.knobs;
    let may = model.is_barred().is_none();
    let is_tried = desk.wanted(holds).is_some();
    let mut hints = Vec::new();
    let mut add = |hint, is_possible: bool| hints.extend(is_possible.then_some(hint));
    let is_chosen = desk.chosen.is_some();
    add(if may { "arrows move" } else { "arrows try out" }, is_chosen);
    add("Enter apply", is_tried && may && !desk.is_moving);
    add("Esc discard", is_tried);
    add("Esc done", is_chosen && !is_tried);
    add("u undo", may && !desk.is_moving && desk.undo(holds).is_ok());
    add("q end", true);
    add("? help", true);
    add("d f knobs", true);
    add("w who waits", true);
    add("g suggest", model.state.foresight);
    add("c changes", true);
    add("Esc close", !is_chosen && model.aftermath.is_some());
    add("s shadow", may);
    add("x drain", may);
    hints
}
