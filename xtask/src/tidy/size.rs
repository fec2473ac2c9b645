//! How long files and functions are.
//!
//! Counted are lines with code on them: comments, documentation and blank lines make a file longer
//! and easier to read. Tests count like other code.

use std::collections::BTreeSet;

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Block, ImplItemFn, ItemFn, Signature, TraitItemFn};

use super::complaint::Complaint;
use super::workspace::Workspace;
use crate::rules::Rules;

pub(super) fn check(workspace: &Workspace, rules: &Rules, complaints: &mut Vec<Complaint>) {
    for source in workspace.packages.iter().flat_map(|package| &package.sources) {
        let mut code = BTreeSet::new();
        lines_of_code(source.tokens.clone(), &mut code);
        if code.len() > rules.longest_file {
            let what = format!(
                "{} lines of code, {} at most; split the file along its ideas",
                code.len(),
                rules.longest_file
            );
            complaints.push(Complaint::of_file(&source.path, what));
        }
        let mut functions = Functions::default();
        functions.visit_file(&source.syntax);
        for (name, first, last) in functions.found {
            let lines = code.range(first..=last).count();
            if lines > rules.longest_function {
                let what = format!(
                    "fn {name} has {lines} lines of code, {} at most; give its steps names",
                    rules.longest_function
                );
                complaints.push(Complaint::at(&source.path, first, what));
            }
        }
    }
}

/// Adds every line that a token begins, covers or ends on, except documentation.
fn lines_of_code(tokens: TokenStream, lines: &mut BTreeSet<usize>) {
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Punct(hash) if hash.as_char() == '#' => {
                // `//! ...` reads as `#![doc = "..."]`, `/// ...` as `#[doc = "..."]`.
                let inner =
                    tokens.next_if(|next| matches!(next, TokenTree::Punct(bang) if bang.as_char() == '!'));
                if tokens.next_if(is_documentation).is_none() {
                    add(hash.span(), lines);
                    if let Some(bang) = inner {
                        add(bang.span(), lines);
                    }
                }
            }
            TokenTree::Group(group) => {
                add(group.span_open(), lines);
                lines_of_code(group.stream(), lines);
                add(group.span_close(), lines);
            }
            other => add(other.span(), lines),
        }
    }
}

fn is_documentation(token: &TokenTree) -> bool {
    let TokenTree::Group(group) = token else { return false };
    let first = group.stream().into_iter().next();
    group.delimiter() == Delimiter::Bracket && matches!(first, Some(TokenTree::Ident(name)) if name == "doc")
}

fn add(span: Span, lines: &mut BTreeSet<usize>) {
    lines.extend(span.start().line..=span.end().line);
}

/// All functions with a body: name, first and last line.
#[derive(Default)]
struct Functions {
    found: Vec<(String, usize, usize)>,
}

impl Functions {
    fn add(&mut self, signature: &Signature, body: &Block) {
        let first = signature.fn_token.span.start().line;
        self.found.push((signature.ident.to_string(), first, body.brace_token.span.close().end().line));
    }
}

impl<'ast> Visit<'ast> for Functions {
    fn visit_item_fn(&mut self, function: &'ast ItemFn) {
        self.add(&function.sig, &function.block);
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast ImplItemFn) {
        self.add(&function.sig, &function.block);
        visit::visit_impl_item_fn(self, function);
    }

    fn visit_trait_item_fn(&mut self, function: &'ast TraitItemFn) {
        if let Some(body) = &function.default {
            self.add(&function.sig, body);
        }
        visit::visit_trait_item_fn(self, function);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_with_code_are_counted() {
        let text = "//! About.\n\n/// Doc.\n#[derive(Debug)]\nstruct A; // behind\n\n/* a\n b */\nconst B: &str = \"x\ny\";\n";
        let mut lines = BTreeSet::new();
        lines_of_code(text.parse().unwrap(), &mut lines);
        assert_eq!(lines, BTreeSet::from([4, 5, 9, 10]));
    }
}
