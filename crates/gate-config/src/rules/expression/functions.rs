//! The functions that an expression can call.

use cel::common::ast::IdedExpr;
use ipnet::IpNet;
use regex::bytes::RegexBuilder;

use crate::rules::expression::check::{Check, Misfit, Value, misfit};
use crate::rules::expression::term::{Number, Test, Text};

const FUNCTIONS: [&str; 8] =
    ["startsWith", "endsWith", "contains", "matches", "size", "has", "inNetwork", "lowerAscii"];
/// Larger programs are refused when they are read, not when a request comes.
const MAX_REGEX_BYTES: usize = 256 * 1024;

impl Check<'_> {
    /// `target.name(args)`, or `name(args)`.
    pub(super) fn function(
        &self,
        part: &IdedExpr,
        name: &str,
        target: Option<&IdedExpr>,
        args: &[IdedExpr],
    ) -> Result<Value, Misfit> {
        let wrong = |how: &str, example: &str| {
            Err(misfit(part, format!("{name} {how}")).mend(format!("for example {example}")))
        };
        let pair = |make: fn(Box<[Text; 2]>) -> Test| match (target, args) {
            (Some(target), [arg]) => Ok(Value::Test(make(Box::new([self.text(target)?, self.text(arg)?])))),
            _ => wrong("takes one text and is called on text", &format!("request.path.{name}('/a')")),
        };
        match name {
            "startsWith" => pair(Test::StartsWith),
            "endsWith" => pair(Test::EndsWith),
            "contains" => pair(Test::Contains),
            "matches" => match (target, args) {
                (Some(text), [pattern]) | (None, [text, pattern]) => self.matches(text, pattern),
                _ => wrong("takes one regular expression", "request.path.matches('^/a/[0-9]+$')"),
            },
            "size" => match (target, args) {
                (Some(text), []) | (None, [text]) => {
                    Ok(Value::Number(Number::Size(Box::new(self.text(text)?))))
                }
                _ => wrong("takes one text", "size(request.path) > 100"),
            },
            "lowerAscii" => match (target, args) {
                (Some(text), []) => Ok(Value::Text(Text::Lower(Box::new(self.text(text)?)))),
                _ => wrong("is called on text and takes nothing", "request.path.lowerAscii()"),
            },
            "has" => match args {
                [arg] => match self.value(arg)? {
                    Value::Text(Text::Entry(entry)) => Ok(Value::Test(Test::Has(entry))),
                    _ => wrong("takes a header, a cookie or a parameter", "has(request.cookies.tier)"),
                },
                _ => wrong("takes a header, a cookie or a parameter", "has(request.cookies.tier)"),
            },
            "inNetwork" => match target.map(|target| self.value(target)).transpose()? {
                Some(Value::Text(Text::Address)) if !args.is_empty() => {
                    let nets = args.iter().map(|arg| self.net(arg)).collect::<Result<_, _>>()?;
                    Ok(Value::Test(Test::InNetwork(nets)))
                }
                _ => wrong(
                    "is called on request.address and takes addresses",
                    "request.address.inNetwork('10.0.0.0/8')",
                ),
            },
            "all" | "exists" | "exists_one" | "map" | "filter" => {
                Err(misfit(part, format!("{name} goes through something as long as the client pleases"))
                    .mend("use the operator in, matches() or several rules"))
            }
            _ => {
                Err(misfit(part, format!("the function \"{name}\" is not known"))
                    .suggest("", name, FUNCTIONS))
            }
        }
    }

    fn matches(&self, text: &IdedExpr, pattern: &IdedExpr) -> Result<Value, Misfit> {
        let text = Box::new(self.text(text)?);
        let Text::Constant(constant) = self.text(pattern)? else {
            return Err(misfit(pattern, "a regular expression is needed here, in quotes"));
        };
        let constant = String::from_utf8_lossy(&constant);
        let regex = RegexBuilder::new(&constant).size_limit(MAX_REGEX_BYTES).build().map_err(|why| {
            // The last line says what is wrong; those before it draw where.
            let why = why.to_string();
            let why = why.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
            misfit(pattern, format!("\"{constant}\" is no regular expression")).mend(why)
        })?;
        Ok(Value::Test(Test::Matches(text, regex)))
    }

    fn net(&self, part: &IdedExpr) -> Result<IpNet, Misfit> {
        let Text::Constant(constant) = self.text(part)? else {
            return Err(misfit(part, "an address is needed here, in quotes"));
        };
        let text = String::from_utf8_lossy(&constant);
        let one = || text.parse().ok().map(|address: std::net::IpAddr| IpNet::from(address));
        text.parse().ok().or_else(one).ok_or_else(|| {
            misfit(part, format!("\"{text}\" is not an address"))
                .mend("for example '192.0.2.7' or '10.0.0.0/8'")
        })
    }
}
