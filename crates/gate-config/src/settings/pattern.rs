//! Reading the patterns of a rule.

use config::{Error, Source, Spanned};
use http::{HeaderName, Method};
use ipnet::IpNet;

use crate::rules::condition::{Condition, PathPattern};
use crate::rules::expression::condition::Expression;
use crate::settings::file::Rule;
use crate::settings::text::Texts;
use crate::settings::words::{is_token, network};
use config::Glob;

/// The conditions of a rule, those first that are cheapest to look at.
pub(super) fn conditions(source: &Source, rule: &Rule, classes: &[String]) -> Result<Vec<Condition>, Error> {
    let Rule { class, host, path, query, header, cookie, address, server_name, method, when, status } = rule;
    let read = Reader { source };
    let conditions = [
        read.each(method, Reader::method)?.map(Condition::Method),
        read.each(address, Reader::address)?.map(Condition::Address),
        read.each(server_name, Reader::host)?.map(Condition::ServerName),
        read.each(path, Reader::path)?.map(Condition::Path),
        read.each(host, Reader::host)?.map(Condition::Host),
        read.each(header, Reader::header)?.map(Condition::Header),
        read.each(query, Reader::parameter)?.map(Condition::Query),
        read.each(cookie, Reader::cookie)?.map(Condition::Cookie),
        when.as_ref().map(|when| read.expression(when, classes)).transpose()?.map(Condition::When),
    ];
    let mut conditions: Vec<Condition> = conditions.into_iter().flatten().collect();
    if conditions.is_empty() {
        return Err(source
            .error(class.span(), "this rule has no condition, so every request would match")
            .mend("add host, path, query, header, cookie, address, server-name, method or when; the last class needs no rule"));
    }
    if let Some(status) = status {
        conditions.push(Condition::Status(status.read(source)?));
    }
    Ok(conditions)
}

/// Paths, as a condition has them.
pub(super) fn paths(source: &Source, texts: &Texts) -> Result<Vec<PathPattern>, Error> {
    let read = Reader { source };
    texts.0.iter().map(|text| read.path(text)).collect()
}

struct Reader<'a> {
    source: &'a Source,
}

impl Reader<'_> {
    fn each<T>(
        &self,
        texts: &Option<Texts>,
        read: impl Fn(&Self, &Spanned<String>) -> Result<T, Error>,
    ) -> Result<Option<Vec<T>>, Error> {
        let Some(texts) = texts else { return Ok(None) };
        if texts.0.is_empty() {
            return Err(self
                .source
                .error(texts.1.clone(), "an empty list, so that no request would match")
                .mend("name what is to match, or leave the line out"));
        }
        texts.0.iter().map(|text| read(self, text)).collect::<Result<_, _>>().map(Some)
    }

    fn method(&self, text: &Spanned<String>) -> Result<Method, Error> {
        Method::from_bytes(text.get_ref().as_bytes())
            .map_err(|_| self.wrong(text, "is not a method", "for example \"POST\""))
    }

    fn address(&self, text: &Spanned<String>) -> Result<IpNet, Error> {
        network(self.source, text)
    }

    fn path(&self, text: &Spanned<String>) -> Result<PathPattern, Error> {
        if text.get_ref().starts_with(['/', '*', '?']) {
            Ok(PathPattern::new(text.get_ref()))
        } else {
            Err(self.wrong(text, "matches no path", "paths begin with \"/\", patterns may begin with \"*\""))
        }
    }

    fn host(&self, text: &Spanned<String>) -> Result<Glob, Error> {
        let host = text.get_ref();
        if host.contains("//") || (host.contains(':') && !host.starts_with('[')) || host.is_empty() {
            return Err(self.wrong(
                text,
                "is not a host name",
                "without scheme and port, for example \"*.example.com\"",
            ));
        }
        Ok(Glob(host.to_ascii_lowercase()))
    }

    fn header(&self, text: &Spanned<String>) -> Result<(HeaderName, Option<Glob>), Error> {
        let (name, value) = match text.get_ref().split_once(':') {
            Some((name, value)) => (name, Some(Glob(value.trim().to_owned()))),
            None => (text.get_ref().as_str(), None),
        };
        let name = HeaderName::from_bytes(name.trim().as_bytes());
        let name = name.map_err(|_| self.wrong(text, "is not a header", "for example \"X-Tier: gold\""))?;
        Ok((name, value))
    }

    fn cookie(&self, text: &Spanned<String>) -> Result<(String, Option<Glob>), Error> {
        let (name, value) = match text.get_ref().split_once('=') {
            Some((name, value)) => (name, Some(Glob(value.to_owned()))),
            None => (text.get_ref().as_str(), None),
        };
        if is_token(name) {
            Ok((name.to_owned(), value))
        } else {
            Err(self.wrong(text, "is not a cookie", "for example \"tier=premium\""))
        }
    }

    fn parameter(&self, text: &Spanned<String>) -> Result<(String, Option<Glob>), Error> {
        let (name, value) = match text.get_ref().split_once('=') {
            Some((name, value)) => (name, Some(Glob(value.to_owned()))),
            None => (text.get_ref().as_str(), None),
        };
        if name.is_empty() || name.contains(['&', '?', '#']) {
            let mend = "a name, or name=value, without ? and &; for example \"campaign=spring*\"";
            return Err(self.wrong(text, "is not a parameter of a query", mend));
        }
        Ok((name.to_owned(), value))
    }

    fn expression(&self, when: &Spanned<String>, classes: &[String]) -> Result<Expression, Error> {
        Expression::new(when.get_ref(), classes).map_err(|unfit| {
            // Where the text stands as it is, a line inside of it can be blamed.
            let span = when.span();
            let written =
                self.source.text().get(span.clone()).and_then(|raw| raw.find(when.get_ref().as_str()));
            let at = written.map_or(span.start, |inside| span.start + inside + unfit.at);
            let error = self.source.error(at..span.end, format!("when: {}", unfit.what));
            match unfit.mend {
                Some(mend) => error.mend(mend),
                None => error,
            }
        })
    }

    fn wrong(&self, text: &Spanned<String>, what: &str, mend: &str) -> Error {
        self.source.error(text.span(), format!("\"{}\" {what}", text.get_ref())).mend(mend)
    }
}
