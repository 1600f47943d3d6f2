//! slapauth: maps identities to DNs, and checks proxy authorization.

use fulgurite_auth::AuthzId;
use fulgurite_directory::{Directory, Session, UnknownIdentity};
use fulgurite_schema::Dn;
use fulgurite_server::open_directory;

use super::context::Context;
use super::failure::Failure;
use super::options::SharedOptions;
use super::options::text;
use super::texts::shown;
use fulgurite_terminal::getopt::CommandLine;

/// The context of the mapping.
#[derive(Debug, Default)]
struct Options {
    common: SharedOptions,
    user: Option<String>,
    authorize: Option<String>,
    mechanism: Option<String>,
    realm: Option<String>,
}

pub(super) fn run(line: &CommandLine) -> Result<(), Failure> {
    let mut options = Options::default();
    for given in &line.options {
        let value = || Some(text(&given.value));
        match given.letter {
            'U' => options.user = value(),
            'X' => options.authorize = value(),
            'M' => options.mechanism = value(),
            'R' => options.realm = value(),
            _ => drop(options.common.take(given)?),
        }
    }
    if options.user.is_none() && line.operands.is_empty() {
        return Err(Failure::Usage);
    }
    let context = Context::read(&options.common)?;
    let directory = open_directory(&context.settings);
    let directory = directory.map_err(|error| Failure::Message(error.to_string()))?;
    let operands: Vec<String> = line.operands.iter().map(|operand| text(operand)).collect();
    match (&options.user, &options.authorize) {
        (Some(user), Some(authorize)) => both(&directory, &options, user, authorize),
        (Some(user), None) if operands.is_empty() => alone(&directory, &options, user),
        (Some(user), None) => {
            let mut operands = operands.iter();
            operands.try_for_each(|authorize| both(&directory, &options, user, authorize))
        }
        (None, Some(authorize)) => {
            let mut operands = operands.iter();
            operands.try_for_each(|user| both(&directory, &options, user, authorize))
        }
        (None, None) => {
            let mut operands = operands.iter();
            operands.try_for_each(|user| alone(&directory, &options, user))
        }
    }
}

/// Prints the DN of one identity.
fn alone(directory: &Directory, options: &Options, user: &str) -> Result<(), Failure> {
    let name = authenticated(directory, options, user)?;
    eprintln!(
        "ID: <{user}> check succeeded\nauthcID:     <{}>",
        shown(name.normal())
    );
    Ok(())
}

/// Checks if one identity may act for the other.
fn both(
    directory: &Directory,
    options: &Options,
    user: &str,
    authorize: &str,
) -> Result<(), Failure> {
    let authentication = authenticated(directory, options, user)?;
    let failed = |code: u8, reason: &str| {
        eprintln!("authzID: <{authorize}> check failed {code} ({reason})");
        Failure::Reported(1)
    };
    let id = AuthzId::parse(authorize).filter(|id| *id != AuthzId::Anonymous);
    let id = id.ok_or_else(|| failed(48, "Inappropriate authentication"))?;
    let authorization = directory
        .authorization_identity(&Session::new(), &id, options.mechanism.as_deref())
        .map_err(|_| failed(21, "Invalid syntax"))?;
    eprintln!("ID:      <{user}>");
    eprintln!("authcDN: <{}>", shown(authentication.normal()));
    eprintln!("authzDN: <{}>", shown(authorization.normal()));
    let asker = Session::new();
    if directory.may_act_for(&asker, &authentication, &authorization) {
        eprintln!("authorization OK");
    } else {
        eprintln!("authorization failed");
    }
    Ok(())
}

/// Returns the DN of the authenticated identity. EXTERNAL uses DNs unchanged.
fn authenticated(directory: &Directory, options: &Options, user: &str) -> Result<Dn, Failure> {
    let mechanism = options.mechanism.as_deref();
    let name: Result<Dn, UnknownIdentity> = match mechanism {
        Some(mechanism) if mechanism.eq_ignore_ascii_case("EXTERNAL") => {
            directory.mapped(&Session::new(), user)
        }
        mechanism => {
            directory.sasl_identity(&Session::new(), user, options.realm.as_deref(), mechanism)
        }
    };
    name.map_err(|error| {
        eprintln!("ID: <{user}> check failed: {error}");
        Failure::Reported(1)
    })
}
