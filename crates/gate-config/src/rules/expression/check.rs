//! From what the parser read to a [`Test`], or what is wrong with it.

use std::cell::Cell;

use cel::common::ast::{CallExpr, Expr, IdedExpr, LiteralValue, SelectExpr, operators};
use config::did_you_mean;
use http::HeaderName;

use crate::rules::expression::term::{Entry, Number, Relation, Test, Text};

/// What is wrong with the part of an expression that has this id.
#[derive(Debug)]
pub(super) struct Misfit {
    pub(super) id: u64,
    pub(super) what: String,
    pub(super) mend: Option<String>,
}

/// The value of a part.
pub(super) enum Value {
    Test(Test),
    Text(Text),
    Number(Number),
    Texts(Vec<Text>),
    Numbers(Vec<Number>),
    Map(Map),
    Request,
    Session,
}

/// Parts of a request that are found by name.
#[derive(Clone, Copy)]
pub(super) enum Map {
    Headers,
    Cookies,
    Parameters,
}

const REQUEST: [&str; 9] =
    ["method", "path", "query", "host", "headers", "cookies", "params", "address", "server_name"];
const SESSION: [&str; 4] = ["new", "class", "age", "raised"];

/// The whole of a condition.
///
/// Also whether it names a header or a cookie.
pub(super) fn condition(expression: &IdedExpr, classes: &[String]) -> Result<(Test, bool), Misfit> {
    let check = Check { classes, names_headers: Cell::new(false) };
    match check.value(expression)? {
        Value::Test(test) => Ok((test, check.names_headers.get())),
        other => {
            let what = format!("this is {}, and a condition is true or false", other.kind());
            Err(misfit(expression, what).mend(match other {
                Value::Request => "name a part of it, for example request.path",
                Value::Session => "name a part of it, for example session.new",
                Value::Map(_) => "name one of them, for example request.headers['x-tier'] == 'gold'",
                _ => "compare it with something, for example == 'x'",
            }))
        }
    }
}

pub(super) fn misfit(part: &IdedExpr, what: impl Into<String>) -> Misfit {
    Misfit { id: part.id, what: what.into(), mend: None }
}

impl Misfit {
    pub(super) fn mend(mut self, mend: impl Into<String>) -> Self {
        self.mend = Some(mend.into());
        self
    }

    pub(super) fn suggest<'a>(
        self,
        prefix: &str,
        word: &str,
        from: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let from: Vec<&str> = from.into_iter().collect();
        match did_you_mean(word, from.iter().copied()) {
            Some(near) => self.mend(format!("did you mean \"{prefix}{near}\"?")),
            None => self.mend(format!("expected one of {}", from.join(", "))),
        }
    }
}

impl Value {
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Test(_) => "true or false",
            Self::Text(_) => "text",
            Self::Number(_) => "a number",
            Self::Texts(_) | Self::Numbers(_) => "a list",
            Self::Map(Map::Headers) => "all headers",
            Self::Map(Map::Cookies) => "all cookies",
            Self::Map(Map::Parameters) => "all parameters",
            Self::Request => "the request",
            Self::Session => "the session",
        }
    }
}

/// Reads expressions about sessions of these classes.
pub(super) struct Check<'c> {
    classes: &'c [String],
    /// Whether a header or a cookie was named.
    names_headers: Cell<bool>,
}

impl Check<'_> {
    fn entry(&self, part: &IdedExpr, map: Map, name: &str) -> Result<Entry, Misfit> {
        if !matches!(map, Map::Parameters) {
            self.names_headers.set(true);
        }
        Ok(match map {
            Map::Headers => Entry::Header(
                HeaderName::from_bytes(name.as_bytes())
                    .map_err(|_| misfit(part, format!("\"{name}\" cannot name a header")))?,
            ),
            Map::Cookies => Entry::Cookie(name.as_bytes().to_owned()),
            Map::Parameters => Entry::Parameter(name.as_bytes().to_owned()),
        })
    }

    pub(super) fn value(&self, part: &IdedExpr) -> Result<Value, Misfit> {
        let unusable = || misfit(part, "only texts, whole numbers, true and false can stand here");
        match &part.expr {
            Expr::Literal(LiteralValue::Boolean(value)) => Ok(Value::Test(Test::Constant(*value.inner()))),
            Expr::Literal(LiteralValue::String(text)) => {
                Ok(Value::Text(Text::Constant(text.inner().as_bytes().to_owned())))
            }
            Expr::Literal(LiteralValue::Int(number)) => Ok(Value::Number(Number::Constant(*number.inner()))),
            Expr::Ident(name) => match name.as_str() {
                "request" => Ok(Value::Request),
                "session" => Ok(Value::Session),
                _ => Err(misfit(part, format!("\"{name}\" is not known")).suggest(
                    "",
                    name,
                    ["request", "session"],
                )),
            },
            Expr::Select(select) => self.select(part, select),
            Expr::Call(call) => self.call(part, call),
            Expr::List(list) => self.list(&list.elements),
            _ => Err(unusable()),
        }
    }

    fn test(&self, part: &IdedExpr) -> Result<Test, Misfit> {
        match self.value(part)? {
            Value::Test(test) => Ok(test),
            other => Err(misfit(part, format!("true or false is needed here, and this is {}", other.kind()))),
        }
    }

    pub(super) fn text(&self, part: &IdedExpr) -> Result<Text, Misfit> {
        match self.value(part)? {
            Value::Text(text) => Ok(text),
            other => Err(misfit(part, format!("text is needed here, and this is {}", other.kind()))),
        }
    }

    fn number(&self, part: &IdedExpr) -> Result<Number, Misfit> {
        match self.value(part)? {
            Value::Number(number) => Ok(number),
            other => Err(misfit(part, format!("a number is needed here, and this is {}", other.kind()))),
        }
    }

    fn list(&self, elements: &[IdedExpr]) -> Result<Value, Misfit> {
        match elements.first().map(|first| self.value(first)).transpose()? {
            Some(Value::Number(_)) => elements
                .iter()
                .map(|element| self.number(element))
                .collect::<Result<_, _>>()
                .map(Value::Numbers),
            _ => {
                elements.iter().map(|element| self.text(element)).collect::<Result<_, _>>().map(Value::Texts)
            }
        }
    }

    fn select(&self, part: &IdedExpr, select: &SelectExpr) -> Result<Value, Misfit> {
        let field = select.field.as_str();
        let known = |prefix: &str, fields: &[&str]| {
            Err(misfit(part, format!("{prefix}{field} is not known")).suggest(prefix, field, fields.to_vec()))
        };
        Ok(match self.value(&select.operand)? {
            Value::Map(map) => Value::Text(Text::Entry(self.entry(part, map, field)?)),
            Value::Request => match field {
                "method" => Value::Text(Text::Method),
                "path" => Value::Text(Text::Path),
                "query" => Value::Text(Text::Query),
                "host" => Value::Text(Text::Host),
                "address" => Value::Text(Text::Address),
                "server_name" => Value::Text(Text::ServerName),
                "headers" => Value::Map(Map::Headers),
                "cookies" => Value::Map(Map::Cookies),
                "params" => Value::Map(Map::Parameters),
                _ => return known("request.", &REQUEST),
            },
            Value::Session => match field {
                "new" => Value::Test(Test::SessionNew),
                "raised" => Value::Test(Test::SessionRaised),
                "class" => Value::Text(Text::SessionClass),
                "age" => Value::Number(Number::SessionAge),
                _ => return known("session.", &SESSION),
            },
            other => return Err(misfit(part, format!("{} has no field {field}", other.kind()))),
        })
    }

    fn call(&self, part: &IdedExpr, call: &CallExpr) -> Result<Value, Misfit> {
        if let Some(target) = &call.target {
            return self.function(part, &call.func_name, Some(target), &call.args);
        }
        let test = |test: Test| Ok(Value::Test(test));
        match (call.func_name.as_str(), call.args.as_slice()) {
            (operators::LOGICAL_AND, [one, other]) => {
                test(Test::And(Box::new([self.test(one)?, self.test(other)?])))
            }
            (operators::LOGICAL_OR, [one, other]) => {
                test(Test::Or(Box::new([self.test(one)?, self.test(other)?])))
            }
            (operators::LOGICAL_NOT, [one]) => test(Test::Not(Box::new(self.test(one)?))),
            (operators::CONDITIONAL, [condition, yes, no]) => self.choice(condition, yes, no),
            (operators::IN, [one, list]) => self.within(one, list),
            (operators::INDEX, [map, name]) => match self.value(map)? {
                Value::Map(map) => {
                    let Text::Constant(key) = self.text(name)? else {
                        return Err(misfit(name, "a name is needed here, in quotes"));
                    };
                    Ok(Value::Text(Text::Entry(self.entry(name, map, &String::from_utf8_lossy(&key))?)))
                }
                other => Err(misfit(part, format!("{} has no parts by name", other.kind()))),
            },
            (operators::NEGATE, [number]) => match self.number(number)? {
                Number::Constant(number) => Ok(Value::Number(Number::Constant(number.wrapping_neg()))),
                _ => Err(misfit(part, "rules do not calculate")),
            },
            (name, [one, other]) if relation(name).is_some() => {
                let relation = relation(name).unwrap_or(Relation::Equal);
                self.compare(part, relation, one, other)
            }
            (
                operators::ADD
                | operators::SUBSTRACT
                | operators::MULTIPLY
                | operators::DIVIDE
                | operators::MODULO,
                _,
            ) => Err(misfit(part, "rules do not calculate")),
            (name, args) => self.function(part, name, None, args),
        }
    }

    fn choice(&self, condition: &IdedExpr, yes: &IdedExpr, no: &IdedExpr) -> Result<Value, Misfit> {
        let condition = self.test(condition)?;
        Ok(match self.value(yes)? {
            Value::Test(yes) => Value::Test(Test::Choice(Box::new([condition, yes, self.test(no)?]))),
            Value::Number(yes) => {
                Value::Number(Number::Choice(Box::new(condition), Box::new([yes, self.number(no)?])))
            }
            Value::Text(yes) => {
                Value::Text(Text::Choice(Box::new(condition), Box::new([yes, self.text(no)?])))
            }
            other => return Err(misfit(yes, format!("{} cannot be chosen", other.kind()))),
        })
    }

    fn within(&self, one: &IdedExpr, list: &IdedExpr) -> Result<Value, Misfit> {
        Ok(Value::Test(match self.value(list)? {
            Value::Texts(texts) => Test::TextIn(Box::new(self.text(one)?), texts),
            Value::Numbers(numbers) => Test::NumberIn(Box::new(self.number(one)?), numbers),
            Value::Map(map) => match self.text(one)? {
                Text::Constant(name) => Test::Has(self.entry(one, map, &String::from_utf8_lossy(&name))?),
                _ => return Err(misfit(one, "a name is needed here, in quotes")),
            },
            other => {
                return Err(misfit(list, format!("nothing is in {}", other.kind()))
                    .mend("use a list, for example ['a', 'b']"));
            }
        }))
    }

    fn compare(
        &self,
        part: &IdedExpr,
        relation: Relation,
        one: &IdedExpr,
        other: &IdedExpr,
    ) -> Result<Value, Misfit> {
        Ok(Value::Test(match (self.value(one)?, self.value(other)?) {
            (Value::Text(first), Value::Text(second)) => {
                self.possible(other, &first, &second)?;
                self.possible(one, &second, &first)?;
                Test::Texts(relation, Box::new([first, second]))
            }
            (Value::Number(first), Value::Number(second)) => {
                Test::Numbers(relation, Box::new([first, second]))
            }
            (Value::Test(first), Value::Test(second)) => match relation {
                Relation::Equal => Test::Same(Box::new([first, second])),
                Relation::Unequal => Test::Not(Box::new(Test::Same(Box::new([first, second])))),
                _ => return Err(misfit(part, "truth values have no order").mend("use == or !=")),
            },
            (first, second) => {
                let what = format!("{} is compared with {}", first.kind(), second.kind());
                return Err(misfit(part, what));
            }
        }))
    }

    /// Whether what stands at `part` can be the value of `attribute` at all.
    fn possible(&self, part: &IdedExpr, attribute: &Text, constant: &Text) -> Result<(), Misfit> {
        let Text::Constant(constant) = constant else { return Ok(()) };
        let constant = String::from_utf8_lossy(constant);
        match attribute {
            Text::SessionClass
                if !constant.is_empty() && !self.classes.iter().any(|class| *class == constant) =>
            {
                Err(misfit(part, format!("class \"{constant}\" is not defined")).suggest(
                    "",
                    &constant,
                    self.classes.iter().map(String::as_str),
                ))
            }
            Text::Method if constant.bytes().any(|byte| byte.is_ascii_lowercase()) => {
                Err(misfit(part, format!("no request has the method \"{constant}\""))
                    .mend("methods are written in capitals"))
            }
            _ => Ok(()),
        }
    }
}

fn relation(operator: &str) -> Option<Relation> {
    Some(match operator {
        operators::EQUALS => Relation::Equal,
        operators::NOT_EQUALS => Relation::Unequal,
        operators::LESS => Relation::Less,
        operators::LESS_EQUALS => Relation::LessOrEqual,
        operators::GREATER => Relation::Greater,
        operators::GREATER_EQUALS => Relation::GreaterOrEqual,
        _ => return None,
    })
}
