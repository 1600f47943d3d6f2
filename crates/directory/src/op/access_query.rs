//! The extended operation that explains access rules to those who manage an entry.
//!
//! Rules are no secret of those who wrote them. So the requester needs `manage` on the entry, as
//! the root has. Others learn nothing, not even if there is such an entry.
//!
//! A manager of one entry may not read all others. So nothing in the answer depends on values
//! that the requester may not read. It names no entry that the requester may not see. The rules
//! judge the subject by the facts that the question states, not by the requester's connection.

use std::sync::Arc;

use fulgurite_access::{Explanation, Outcome, Rights};
use fulgurite_ldap::{AccessQuery, AccessStep, LdapResult, PartAccess, ResultCode, encode_access};
use fulgurite_schema::Dn;

use crate::core::connection::Connection;
use crate::core::result::{self, OpResult, refuse, require};
use crate::core::session::{Identity, Name, Session};
use crate::directory::Directory;
use crate::op::extended_step::{ExtendedReply, ExtendedStep};
use crate::rights::explain::{ExplainError, ExplainTarget, RightsExplanation};

/// The kinds of access, with the words of access rules.
const KINDS: [(&str, Rights); 9] = [
    ("disclose", Rights::DISCLOSE),
    ("auth", Rights::AUTH),
    ("compare", Rights::COMPARE),
    ("search", Rights::SEARCH),
    ("read", Rights::READ),
    ("add", Rights::ADD),
    ("delete", Rights::DELETE),
    ("write", Rights::WRITE),
    ("manage", Rights::MANAGE),
];

/// Answers the question of a request.
pub(crate) fn explain(
    directory: &Directory,
    session: &Session,
    value: Option<&[u8]>,
) -> OpResult<ExtendedStep> {
    let malformed = || refuse(ResultCode::ProtocolError, "no question about access");
    let query = AccessQuery::decode(value.ok_or_else(malformed)?).map_err(|_| malformed())?;
    let entry = std::str::from_utf8(query.entry).map_err(|_| malformed())?;
    require_management(directory, session, entry)?;
    let subject = result::dn(directory.schema(), query.subject)?;
    let parts = query.parts.iter().map(|part| target(directory, part));
    let targets = parts.collect::<OpResult<Vec<_>>>()?;
    let asked = session_of(&query.given, &subject)?;
    let answers = directory.explain_to(session, &asked, entry, &targets);
    let answers = answers.map_err(|error| failure(&error))?;
    // Values of the entry are no part of the answer.
    let parts: Vec<PartAccess> = answers.into_iter().map(|answer| part(&answer)).collect();
    Ok(ExtendedStep::Done(ExtendedReply {
        result: LdapResult::success(),
        value: Some(encode_access(&parts)),
    }))
}

/// Fails unless the requester may manage the entry. A missing entry is asked about by its name.
fn require_management(directory: &Directory, session: &Session, entry: &str) -> OpResult {
    let targets = [ExplainTarget::Entry];
    let denied = || {
        refuse(
            ResultCode::InsufficientAccessRights,
            "no manage access to entry",
        )
    };
    if session.must_change_password() {
        return Err(denied());
    }
    let stored = directory.explain(session, entry, &targets, false);
    let answers = match stored {
        Err(ExplainError::NoEntry(_)) => directory.explain(session, entry, &targets, true),
        other => other,
    };
    let answers = answers.map_err(|_| denied())?;
    let is_manager = answers.iter().all(|answer| answer.allows(Rights::MANAGE));
    require(
        is_manager && !answers.is_empty(),
        "no manage access to entry",
    )
}

/// Returns the part of an entry that a name means.
fn target(directory: &Directory, name: &[u8]) -> OpResult<ExplainTarget> {
    if name.eq_ignore_ascii_case(b"entry") {
        return Ok(ExplainTarget::Entry);
    }
    if name.eq_ignore_ascii_case(b"children") {
        return Ok(ExplainTarget::Children);
    }
    let unknown = |_| {
        let name = String::from_utf8_lossy(name);
        let text = format!("{name}: attribute type undefined");
        refuse(ResultCode::UndefinedAttributeType, text)
    };
    let description = directory.schema().describe(name).map_err(unknown)?;
    Ok(ExplainTarget::Attribute(description, None))
}

/// Returns a session of the subject over a connection with the stated facts.
fn session_of(given: &[&[u8]], subject: &Dn) -> OpResult<Session> {
    let mut connection = Connection::default();
    for fact in given {
        let fact = String::from_utf8_lossy(fact);
        let is_taken = fact
            .split_once('=')
            .is_some_and(|(name, value)| connection.take_fact(name, value));
        if !is_taken {
            let text = format!("{fact}: no fact about a connection");
            return Err(refuse(ResultCode::ProtocolError, text));
        }
    }
    let mut asked = Session::on(Arc::new(connection));
    if !subject.is_root() {
        asked.set_identity(Identity::User(Name::from(subject)));
    }
    Ok(asked)
}

fn failure(error: &ExplainError) -> LdapResult {
    match error {
        ExplainError::Name(..) => refuse(ResultCode::InvalidDnSyntax, "invalid DN"),
        ExplainError::NoDatabase(_) => refuse(
            ResultCode::UnwillingToPerform,
            "no rules of entries that the server generates",
        ),
        ExplainError::NoEntry(_) => LdapResult::new(ResultCode::NoSuchObject),
        ExplainError::Store(error) => result::store(error),
    }
}

fn part(answer: &RightsExplanation) -> PartAccess {
    let explanation = &answer.explanation;
    let allowed = KINDS.iter().filter(|(_, rights)| answer.allows(*rights));
    let allowed: Vec<&str> = allowed.map(|(word, _)| *word).collect();
    if answer.is_withheld {
        return PartAccess {
            part: answer.name.clone(),
            is_withheld: true,
            ..PartAccess::default()
        };
    }
    PartAccess {
        part: answer.name.clone(),
        rights: explanation.to_string(),
        is_withheld: false,
        allowed: allowed.join(" "),
        is_root: explanation.is_root,
        steps: steps(explanation),
    }
}

fn steps(explanation: &Explanation) -> Vec<AccessStep> {
    let steps = explanation.steps.iter();
    let steps = steps.map(|step| AccessStep {
        rule: step.rule as u64,
        origin: step.origin.to_string(),
        target: step.target.clone(),
        by: step.by.clone(),
        outcome: match step.outcome {
            Outcome::NoMatch => String::new(),
            Outcome::Applied(rights) => rights.to_string(),
            Outcome::Closed => "=0".to_owned(),
        },
    });
    steps.collect()
}
