//! [`draft`]: the workload of a description.

use std::collections::{BTreeMap, BTreeSet};

use config::{Error, Source};
use units::{Counted, Span};

use super::super::draft::{Draft, Step};
use super::super::job::Options;
use super::super::place;
use super::document::Document;
use super::flow::Flow;
use super::operation::Operation;
use super::request::{Filled, filled};
use super::sample::{Samples, Unmade};
use super::security;

/// What is sent for each operation, by its number, or why nothing is.
type Requests = BTreeMap<usize, Result<Filled, String>>;

/// A page for each operation of a description that can be filled.
pub(in super::super) fn draft(source: &Source, options: &Options) -> Result<Draft, Error> {
    let document = Document::read(source)?;
    let samples = Samples { document: &document };
    let all = Operation::all(&document)?;
    let (described, mut draft) = (all.len(), Draft::default());
    let is_wanted = |operation: &Operation<'_>| {
        let is_below = options.path.as_ref().is_none_or(|path| operation.path.starts_with(path.as_str()));
        is_below && (options.tags.is_empty() || operation.has_tag(&options.tags))
    };
    let wanted: Vec<Operation<'_>> = all.into_iter().filter(is_wanted).collect();
    if wanted.is_empty() {
        return Err(nothing(source, described, options));
    }
    for _ in wanted.len()..described {
        draft.notes.leave_out("operations that --tag and --path do not select");
    }
    let flow = Flow::of(&samples, wanted)?;
    let base = document.base();
    let (flow, mut requests) = filled_all(&samples, flow, &base)?;
    let mut needs: BTreeMap<(String, String), usize> = BTreeMap::new();
    for number in flow.order() {
        let operation = &flow.operations[number];
        if operation.is_destructive() && !flow.is_own(operation) && !options.all {
            draft.notes.leave_out(
                "operations that change or delete what the session has not made; --all takes them",
            );
            continue;
        }
        let request = match requests.remove(&number) {
            Some(Ok(request)) => request,
            Some(Err(why)) => {
                draft.notes.say(format!("left out: {}: {why}; add an example", operation.shown()));
                continue;
            }
            None => continue,
        };
        for need in security::needs(&document, operation)? {
            *needs.entry(need).or_default() += 1;
        }
        if let Some(mime) = &request.without {
            draft.notes.say(format!(
                "{} is sent without its body, which need not be there: nothing is made of the type {mime}; \
                 add a body to its page by hand",
                operation.shown()
            ));
        }
        draft.steps.push(step(&flow, number, request));
    }
    if draft.steps.is_empty() {
        let error = source.missing("none of its operations can be asked for");
        return Err(error.mend(draft.notes.into_lines().first().cloned().unwrap_or_default()));
    }
    finish(source, &flow, needs, &mut draft);
    Ok(draft)
}

fn nothing(source: &Source, described: usize, options: &Options) -> Error {
    if described == 0 {
        return source
            .missing("there are no operations below \"paths\"")
            .mend("add get, post or others to its paths");
    }
    let tags = options.tags.iter().map(|tag| format!("--tag {tag}"));
    let chosen: Vec<String> = tags.chain(options.path.iter().map(|path| format!("--path {path}"))).collect();
    let what = format!("none of its {described} operations is selected by {}", chosen.join(" and "));
    source
        .missing(what)
        .mend("tags stand in \"tags\" of operations; a path is given without that of the server")
}

/// Fills all operations. One that cannot be filled makes nothing that others could name.
fn filled_all<'d>(
    samples: &Samples<'_>,
    mut flow: Flow<'d>,
    base: &str,
) -> Result<(Flow<'d>, Requests), Error> {
    loop {
        let mut all = BTreeMap::new();
        for (number, operation) in flow.operations.iter().enumerate() {
            let made =
                flow.made(operation).into_iter().map(|(name, maker)| (name, maker.name.clone())).collect();
            let request = match filled(samples, operation, base, &made) {
                Ok(request) => Ok(request),
                Err(Unmade::Unknown(why)) => Err(why),
                Err(Unmade::Wrong(error)) => return Err(error),
            };
            all.insert(number, request);
        }
        let before = flow.makers.len();
        flow.makers.retain(|maker| all.get(&maker.operation).is_some_and(Result::is_ok));
        if flow.makers.len() == before {
            return Ok((flow, all));
        }
    }
}

fn step(flow: &Flow<'_>, number: usize, request: Filled) -> Step {
    let operation = &flow.operations[number];
    let makers = flow.makers.iter().filter(|maker| maker.operation == number);
    Step {
        comment: operation.comment(),
        method: operation.method.clone(),
        url: request.url,
        headers: request.headers,
        body: request.body,
        expect: operation.expected(),
        takes: makers.map(|maker| (maker.name.clone(), format!("json:{}", maker.pointer))).collect(),
        think: Span::ZERO,
        embedded: Vec::new(),
    }
}

fn finish(source: &Source, flow: &Flow<'_>, needs: BTreeMap<(String, String), usize>, draft: &mut Draft) {
    draft.head =
        vec![format!("The operations of {}, written by headworks load import.", place::name(source))];
    // What no page sends need not be there.
    let sent: BTreeSet<String> =
        draft.steps.iter().flat_map(|step| step.url.names()).map(str::to_owned).collect();
    draft.steps.iter_mut().for_each(|step| step.takes.retain(|(name, _)| sent.contains(name)));
    for maker in flow.makers.iter().filter(|maker| sent.contains(&maker.name)) {
        let operation = flow.operations[maker.operation].shown();
        draft.notes.say(format!(
            "${{{}}}: json:{} of {operation}, in paths below {}",
            maker.name, maker.pointer, maker.prefix
        ));
    }
    for ((name, advice), count) in needs {
        draft.head.push(format!("Needs {name}: {advice}"));
        draft.notes.say(format!("{name}, for {}: {advice}", Counted(count, "operation")));
    }
    draft.notes.say(format!("taken: {}, a page for each", Counted(draft.steps.len(), "operation")));
}
