//! Reading the patterns of a rule.

use config::{Error, Source, Spanned};
use http::{HeaderName, Method};
use ipnet::IpNet;

use super::file::{Rule, Texts};
use crate::classify::{Condition, Glob, PathPattern};

/// The conditions of a rule, those first that are cheapest to look at.
pub(super) fn conditions(source: &Source, rule: &Rule) -> Result<Vec<Condition>, Error> {
    let Rule { class, host, path, header, cookie, address, method } = rule;
    let read = Reader { source };
    let conditions = [
        read.each(method, Reader::method)?.map(Condition::Method),
        read.each(address, Reader::address)?.map(Condition::Address),
        read.each(path, Reader::path)?.map(Condition::Path),
        read.each(host, Reader::host)?.map(Condition::Host),
        read.each(header, Reader::header)?.map(Condition::Header),
        read.each(cookie, Reader::cookie)?.map(Condition::Cookie),
    ];
    let conditions: Vec<Condition> = conditions.into_iter().flatten().collect();
    if conditions.is_empty() {
        return Err(source
            .error(class.span(), "this rule has no condition, so every request would match")
            .mend("add host, path, header, cookie, address or method; the last class needs no rule"));
    }
    Ok(conditions)
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
        texts.0.iter().map(|text| read(self, text)).collect::<Result<_, _>>().map(Some)
    }

    fn method(&self, text: &Spanned<String>) -> Result<Method, Error> {
        Method::from_bytes(text.get_ref().as_bytes())
            .map_err(|_| self.wrong(text, "is not a method", "for example \"POST\""))
    }

    fn address(&self, text: &Spanned<String>) -> Result<IpNet, Error> {
        let net = text.get_ref().parse::<IpNet>();
        let one = || text.get_ref().parse().ok().map(|address: std::net::IpAddr| IpNet::from(address));
        net.ok().or_else(one).ok_or_else(|| {
            self.wrong(
                text,
                "is not an address",
                "for example \"192.0.2.7\", \"10.0.0.0/8\" or \"2001:db8::/32\"",
            )
        })
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

    fn wrong(&self, text: &Spanned<String>, what: &str, mend: &str) -> Error {
        self.source.error(text.span(), format!("\"{}\" {what}", text.get_ref())).mend(mend)
    }
}

/// What may name a cookie (RFC 6265 section 4.1.1).
pub(super) fn is_token(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_graphic() && !b"()<>@,;:\\\"/[]?={}".contains(&b))
}
