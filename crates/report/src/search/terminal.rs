//! The report for a terminal.

use super::effects::Effect;
use super::model::SearchReport;
use crate::text::number;

impl SearchReport {
    /// A line for each search, and why. Each line ends with a line feed.
    pub fn table(&self) -> String {
        let mut text = format!("{}\n\n{}.\n", self.title, self.verdict.headline);
        for search in &self.searches {
            text += &format!("\n{}: {}\n", search.name, search.result);
            for sentence in
                search.why.iter().chain(&search.evidence).chain(&search.next).chain(&search.predicted)
            {
                text += &format!("  {sentence}\n");
            }
        }
        text += &self.effects();
        self.warnings.iter().for_each(|warning| text += &format!("{warning}\n"));
        text
    }

    /// What each level does, a line each.
    fn effects(&self) -> String {
        let mut text = String::new();
        let mut group = (String::new(), String::new());
        for effect in &self.effects {
            let Effect {
                factor,
                beside,
                level,
                capacity,
                repeats,
                pairs,
                times,
                chance,
                published,
                verdict,
                ..
            } = effect;
            if group != (factor.clone(), beside.clone()) {
                group = (factor.clone(), beside.clone());
                let beside = if beside.is_empty() { String::new() } else { format!(" ({beside})") };
                text += &format!("\n{factor}{beside}\n");
            }
            let rate = number(capacity.value);
            let interval = capacity.ci.map(|[low, high]| format!(" ({} to {})", number(low), number(high)));
            let against = match (times, chance) {
                (Some(times), Some(chance)) => {
                    let ci = times.ci.map(|[low, high]| format!(" ({low:.3} to {high:.3})"));
                    let ci = ci.unwrap_or_default();
                    let of = if pairs == repeats { String::new() } else { format!(" of {pairs} pairs") };
                    format!("  {:.3} times{ci}{of}, p = {chance:.3}: {verdict}", times.value)
                }
                (Some(times), None) => {
                    format!("  {:.3} times; repeats would say whether by chance", times.value)
                }
                _ => String::new(),
            };
            let published = published.as_ref();
            let published = published.map(|it| format!(" (published: {:.3} times, {})", it.times, it.source));
            let [interval, published] = [interval, published].map(Option::unwrap_or_default);
            text += &format!("  {level}: {rate}{interval}, {repeats}x{against}{published}\n");
        }
        if !text.is_empty() {
            text.push('\n');
        }
        text
    }
}
