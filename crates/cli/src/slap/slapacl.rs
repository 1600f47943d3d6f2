//! slapacl: the rights of an identity to an entry. Like the original, it prints to standard error.

use std::borrow::Cow;

use fulgurite_auth::AuthzId;
use fulgurite_directory::{
    Connection, Directory, ExplainError, ExplainTarget, RightsExplanation, Session,
};
use fulgurite_schema::Dn;
use fulgurite_server::open_directory;

use super::context::Context;
use super::failure::Failure;
use super::options::SharedOptions;
use super::options::text;
use crate::rights::{AccessQuery, QueryError, session_of};
use fulgurite_terminal::getopt::CommandLine;

/// The exit status for an undefined attribute type: LDAP's result code.
const UNDEFINED_TYPE: u8 = 17;

#[derive(Debug, Default)]
struct Options {
    common: SharedOptions,
    /// `-b`.
    entry: Option<String>,
    /// `-D`.
    name: Option<String>,
    /// `-U`.
    user: Option<String>,
    /// `-X`.
    authorize: Option<String>,
    /// `-u`.
    unseen: bool,
}

pub(super) fn run(line: &CommandLine) -> Result<(), Failure> {
    let options = options(line)?;
    let Some(entry) = &options.entry else {
        return Err(Failure::Usage);
    };
    let context = Context::read(&options.common)?;
    let directory = open_directory(&context.settings);
    let directory = directory.map_err(|error| Failure::Message(error.to_string()))?;
    let Ok(dn) = Dn::parse(directory.schema(), entry) else {
        return Err(Failure::Message(format!(
            "slap_init invalid suffix (\"{entry}\")"
        )));
    };
    let subject = Subject {
        session: session(&directory, &options)?,
        directory: &directory,
        entry,
        dn,
        unseen: options.unseen,
    };
    let operands: Vec<String> = line.operands.iter().map(|operand| text(operand)).collect();
    if operands.is_empty() {
        let all = subject.rights(&[])?;
        all.iter().for_each(|answer| print_answer(answer, None));
        return Ok(());
    }
    for operand in &operands {
        let question = match AccessQuery::parse(directory.schema(), operand) {
            Ok(question) => question,
            Err(QueryError::Attribute(name)) => {
                eprintln!("slap_str2ad({name}) failed 17 (Undefined attribute type)");
                if options.common.continue_on_error {
                    continue;
                }
                return Err(Failure::Reported(UNDEFINED_TYPE));
            }
            Err(wrong) => {
                eprintln!("{wrong}");
                if options.common.continue_on_error {
                    continue;
                }
                return Ok(());
            }
        };
        let answers = subject.rights(std::slice::from_ref(&question.target))?;
        answers
            .iter()
            .for_each(|answer| print_answer(answer, Some(&question)));
    }
    Ok(())
}

fn options(line: &CommandLine) -> Result<Options, Failure> {
    let mut options = Options::default();
    for given in &line.options {
        let value = || Some(text(&given.value));
        match given.letter {
            'b' => options.entry = value(),
            'D' => options.name = value(),
            'U' => options.user = value(),
            'X' => options.authorize = value(),
            'u' => options.unseen = true,
            _ => drop(options.common.take(given)?),
        }
    }
    Ok(options)
}

/// Returns the session of the requester and its connection.
fn session(directory: &Directory, options: &Options) -> Result<Session, Failure> {
    let mut connection = Connection::default();
    let mut authorized = None;
    for (name, value) in &options.common.facts {
        if name.eq_ignore_ascii_case("authzDN") {
            authorized = Some(normalised(directory, "authzDN", value)?);
        } else if !connection.take_fact(name, value) {
            return Err(Failure::Usage);
        }
    }
    let authenticated = match (&options.name, &options.user) {
        (Some(name), _) => Some(normalised(directory, "autchDN", name)?),
        (None, Some(user)) => Some(mapped(
            directory.sasl_identity(&Session::new(), user, None, None),
            "ID",
            user,
        )?),
        (None, None) => None,
    };
    if let Some(id) = &options.authorize {
        let parsed = AuthzId::parse(id).filter(|id| *id != AuthzId::Anonymous);
        let parsed = parsed.ok_or_else(|| {
            eprintln!("authzID: <{id}> check failed 48 (Inappropriate authentication)");
            Failure::Reported(1)
        })?;
        let dn = directory.authorization_identity(&Session::new(), &parsed, None);
        authorized = Some(mapped(dn, "authzID", id)?);
    }
    if let Some(dn) = &authenticated {
        eprintln!("authcDN: \"{}\"", dn.pretty());
    }
    if let Some(dn) = &authorized {
        eprintln!("authzDN: \"{}\"", dn.pretty());
    }
    let real = session_of(connection, authenticated.as_ref());
    Ok(match authorized {
        None => real,
        Some(dn) => {
            let other = session_of(Connection::default(), Some(&dn));
            real.acting_for(other.identity().clone())
        }
    })
}

fn normalised(directory: &Directory, what: &str, name: &str) -> Result<Dn, Failure> {
    Dn::parse(directory.schema(), name).map_err(|_| {
        eprintln!("{what}=\"{name}\" normalization failed 21 (Invalid syntax)");
        Failure::Reported(1)
    })
}

fn mapped<E: std::fmt::Display>(dn: Result<Dn, E>, what: &str, id: &str) -> Result<Dn, Failure> {
    dn.map_err(|error| {
        eprintln!("{what}: <{id}> check failed: {error}");
        Failure::Reported(1)
    })
}

/// The entry of the questions, and the requester.
struct Subject<'d> {
    directory: &'d Directory,
    session: Session,
    /// As typed.
    entry: &'d str,
    dn: Dn,
    /// Assume an empty entry.
    unseen: bool,
}

impl Subject<'_> {
    /// Returns the rights to the targets, or to all attributes if there are none.
    fn rights(&self, targets: &[ExplainTarget]) -> Result<Vec<RightsExplanation>, Failure> {
        let name = self.dn.pretty();
        let answers = self
            .directory
            .explain(&self.session, name, targets, self.unseen);
        answers.map_err(|error| {
            Failure::Message(match error {
                ExplainError::NoDatabase(_) => {
                    format!("slap_init no backend for \"{}\"", self.entry)
                }
                ExplainError::NoEntry(name) => format!("unable to fetch ID of DN \"{name}\""),
                error => error.to_string(),
            })
        })
    }
}

/// Formats one result in the original's words.
fn print_answer(answer: &RightsExplanation, question: Option<&AccessQuery>) {
    let value = match &answer.target {
        ExplainTarget::Attribute(_, Some(_))
            if answer.name.eq_ignore_ascii_case("userPassword") =>
        {
            Some(Cow::Borrowed("****"))
        }
        ExplainTarget::Attribute(_, Some(value)) => Some(String::from_utf8_lossy(value)),
        _ => None,
    };
    let named = match value {
        None => answer.name.clone(),
        Some(value) => format!("{}={value}", answer.name),
    };
    match question.and_then(|question| question.wanted.as_ref()) {
        None => eprintln!("{named}: {}", answer.explanation),
        Some((word, rights)) => {
            let verdict = if answer.allows(*rights) {
                "ALLOWED"
            } else {
                "DENIED"
            };
            eprintln!("{word} access to {named}: {verdict}");
        }
    }
}
