//! What a directive is: its names, where it may stand, how many words it takes and of which kind.

use super::{Reader, Statement};
use crate::Origin;
use crate::quantity::parse_c_int;

/// Where a directive may stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Anywhere; in a database it speaks of that database if it speaks of databases at all.
    Anywhere,
    /// Before the first database.
    Early,
    /// In a database of type mdb; elsewhere slapd does not know it.
    Mdb,
}

/// What its words are, and what is done with them.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    /// One of on, off, true, false, yes and no.
    Truth(fn(&mut Reader, bool, Origin)),
    /// A whole number of 32 bits, perhaps negative.
    Int(fn(&mut Reader, i32, Origin) -> Result<(), String>),
    /// One that is not negative.
    Unsigned(fn(&mut Reader, u32, Origin) -> Result<(), String>),
    /// A number of octets; the word is what slapd calls the type.
    Octets(&'static str, fn(&mut Reader, u64, Origin)),
    /// One word.
    Text(fn(&mut Reader, String, Origin)),
    /// The directive looks at its words itself.
    Words(fn(&mut Reader, &Statement) -> Result<(), String>),
    /// Known and without effect here, with the reason.
    Needless(&'static str),
}

/// A directive of slapd.conf.
pub(crate) struct Directive {
    /// Its name there; letters count in either case.
    pub(crate) keyword: &'static str,
    /// Its attribute in `cn=config`; empty if there is none.
    pub(crate) olc: &'static str,
    /// What messages call its arguments.
    pub(crate) arguments: &'static str,
    /// Least number of arguments.
    pub(crate) least: usize,
    /// Greatest number of arguments; none for any.
    pub(crate) most: Option<usize>,
    /// Where it may stand.
    pub(crate) scope: Scope,
    /// What its arguments are.
    pub(crate) kind: Kind,
}

impl Directive {
    /// One that takes exactly one argument, anywhere.
    pub(crate) const fn one(
        keyword: &'static str,
        olc: &'static str,
        arguments: &'static str,
        kind: Kind,
    ) -> Directive {
        Directive {
            keyword,
            olc,
            arguments,
            least: 1,
            most: Some(1),
            scope: Scope::Anywhere,
            kind,
        }
    }

    /// One that takes any number of arguments from one, anywhere.
    pub(crate) const fn many(
        keyword: &'static str,
        olc: &'static str,
        arguments: &'static str,
        kind: Kind,
    ) -> Directive {
        Directive {
            most: None,
            ..Directive::one(keyword, olc, arguments, kind)
        }
    }

    /// The same with other numbers of arguments.
    pub(crate) const fn taking(self, least: usize, most: Option<usize>) -> Directive {
        Directive {
            least,
            most,
            ..self
        }
    }

    /// The same elsewhere.
    pub(crate) const fn within(self, scope: Scope) -> Directive {
        Directive { scope, ..self }
    }

    /// Counts the arguments and does what the directive says. Errors are slapd's sentences, without the place.
    pub(crate) fn obey(&self, reader: &mut Reader, statement: &Statement) -> Result<(), String> {
        let typed = &statement.keyword;
        let count = statement.arguments.len();
        if self.scope == Scope::Early && reader.has_databases() {
            return Err(format!(
                "keyword <{typed}> must occur before any database declaration"
            ));
        }
        if count < self.least {
            return Err(format!(
                "keyword <{typed}> missing {} argument",
                self.arguments
            ));
        }
        if self.most.is_some_and(|most| count > most) {
            return Err(format!("<{typed}> extra cruft after {}.", self.arguments));
        }
        let origin = statement.origin.clone();
        // Only directives that may stand without an argument have none: those are switches.
        let first = statement.arguments.first().map_or("on", String::as_str);
        match self.kind {
            Kind::Truth(take) => {
                let truth = parse_truth(first).ok_or_else(|| format!("<{typed}> invalid value"))?;
                take(reader, truth, origin);
                Ok(())
            }
            Kind::Int(take) => {
                let number = parse_c_int(first).and_then(|number| i32::try_from(number).ok());
                take(
                    reader,
                    number.ok_or_else(|| unparsed(typed, first, "int"))?,
                    origin,
                )
            }
            Kind::Unsigned(take) => {
                let number = parse_c_int(first).and_then(|number| u32::try_from(number).ok());
                let number = number.ok_or_else(|| unparsed(typed, first, "unsigned int"))?;
                take(reader, number, origin)
            }
            Kind::Octets(of_type, take) => {
                let number = parse_c_int(first).and_then(|number| u64::try_from(number).ok());
                take(
                    reader,
                    number.ok_or_else(|| unparsed(typed, first, of_type))?,
                    origin,
                );
                Ok(())
            }
            Kind::Text(take) => {
                take(reader, statement.first().to_owned(), origin);
                Ok(())
            }
            Kind::Words(take) => take(reader, statement),
            Kind::Needless(reason) => {
                reader.note(origin, format!("{typed}: {reason}"));
                Ok(())
            }
        }
    }
}

fn unparsed(keyword: &str, word: &str, of_type: &str) -> String {
    format!("<{keyword}> unable to parse \"{word}\" as {of_type}")
}

/// A truth value as slapd reads one.
pub(crate) fn parse_truth(word: &str) -> Option<bool> {
    match word.to_ascii_lowercase().as_str() {
        "on" | "true" | "yes" => Some(true),
        "off" | "false" | "no" => Some(false),
        _ => None,
    }
}
