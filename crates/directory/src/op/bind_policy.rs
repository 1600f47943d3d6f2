//! The point `bind`: a password policy judges a bind before and after the check of the password.
//! A successful bind is recorded.
//!
//! ```text
//!   state in a snapshot: locked? -> refused, without a look at the password
//!   the password is checked -> verdict, on the state of now
//!   the bind state changes -> the writer judges once more, and the answer waits for the disk
//! ```
//!
//! The last judgement sees the state of all binds before. So parallel guesses all count. Most of it
//! is bind state, of which other servers do not learn (`write/bind_change`).

use std::sync::Arc;

use fulgurite_ldap::control::{PasswordPolicyResponse, PasswordWarning};
use fulgurite_ldap::{LdapResult, ResultCode, oid};
use fulgurite_schema::Dn;
use fulgurite_store::{EntryId, NameLookup};

use crate::auth::{BindOutcome, PasswordCheck, PolicedBind, PolicyAnswer};
use crate::core::database::Database;
use crate::core::forwarded_bind::{BindDelivery, ForwardedBind};
use crate::core::result::{self, OpResult, refuse};
use crate::core::session::Session;
use crate::directory::Directory;
use crate::features::password_policy::bind_verdict::{self, BindVerdict};
use crate::features::password_policy::overlay::PasswordPolicy;
use crate::features::set::Features;
use crate::op::bind_record;
use crate::request::controls::RequestControls;
use crate::write::bind_change::BindStateChange;
use crate::write::context::Context;
use crate::write::password_policy::{self, PolicySubject};
use crate::write::request::{BindAttempt, WriteRequest};

/// Reasons for the log.
const LOCKED: &str = "the password policy has locked the entry";
const EXPIRED: &str = "the password has expired";

impl Directory {
    /// Fails for a critical control of password policies if no database has one.
    pub(crate) fn require_password_policy(&self, controls: &RequestControls<'_>) -> OpResult {
        let mut databases = self.databases().iter();
        let has_policy = |database| self.features_of(database).password_policy.is_some();
        if !controls.password_policy_critical || databases.any(has_policy) {
            return Ok(());
        }
        let text = "critical extension is not recognized";
        Err(refuse(ResultCode::UnavailableCriticalExtension, text))
    }
}

/// Returns the bind to judge or to record; `None` if its database does neither. The root has no
/// policies.
pub(super) fn policed(
    directory: &Directory,
    dn: &Dn,
    session: &Session,
    (wants_control, is_judged): (bool, bool),
) -> Option<Box<PolicedBind>> {
    let database = directory.core().databases.database_of(dn)?;
    let features = directory.features_of(database);
    let overlay = overlay_of(features, database, dn).filter(|_| is_judged);
    if overlay.is_none() && features.bind_times.is_empty() {
        return None;
    }
    Some(Box::new(PolicedBind {
        dn: dn.clone(),
        session: session.clone(),
        wants_control,
        is_judged,
    }))
}

/// Refuses the bind of a locked name that proves itself without a password.
///
/// # Errors
/// A failure of the store.
pub(super) fn unless_locked(directory: &Directory, outcome: BindOutcome) -> OpResult<BindOutcome> {
    let Some(dn) = outcome.authenticated() else {
        return Ok(outcome);
    };
    let Some((database, overlay)) = database_and_overlay(directory, dn) else {
        return Ok(outcome);
    };
    let now = directory.core().clock.now();
    let subject = read(directory, database, overlay, dn)?;
    let is_locked = subject.is_some_and(|subject| {
        let rules = subject.rules_of_binds(directory.auth_options());
        rules.is_some_and(|rules| bind_verdict::is_locked(&rules, &subject.state, now))
    });
    Ok(if is_locked {
        BindOutcome::invalid_credentials().because(LOCKED)
    } else {
        outcome
    })
}

/// Checks the password, judges the bind and records it.
pub(super) fn run(
    directory: &Directory,
    policed: &PolicedBind,
    check: PasswordCheck,
) -> BindOutcome {
    judged(directory, policed, check).unwrap_or_else(BindOutcome::failure)
}

fn judged(
    directory: &Directory,
    policed: &PolicedBind,
    check: PasswordCheck,
) -> OpResult<BindOutcome> {
    let authenticator = directory.authenticator();
    // The settings may have changed since the bind began.
    let Some(database) = directory.core().databases.database_of(&policed.dn) else {
        return Ok(check.verify(authenticator));
    };
    let overlay = overlay_of(directory.features_of(database), database, &policed.dn);
    let overlay = overlay.filter(|_| policed.is_judged);
    let judge = |is_right| {
        let Some(overlay) = overlay else {
            return Ok(None);
        };
        let subject = read(directory, database, overlay, &policed.dn)?;
        let now = directory.core().clock.now();
        let subject = subject.filter(|subject| subject.has_password);
        let verdict = subject.and_then(|subject| {
            let rules = subject.rules_of_binds(directory.auth_options())?;
            Some(bind_verdict::judge(&rules, &subject.state, is_right, now))
        });
        Ok::<_, LdapResult>(verdict)
    };
    // A locked name is refused without a look at the password.
    if let Some(verdict) = judge(false)?.filter(|verdict| verdict.is_locked) {
        let mut outcome = BindOutcome::invalid_credentials().because(LOCKED);
        outcome.policy = answer(overlay, policed, &verdict);
        return Ok(outcome);
    }
    let mut outcome = check.verify(authenticator);
    let is_right = outcome.authenticated().is_some();
    if !is_right && outcome.result.code != ResultCode::InvalidCredentials {
        return Ok(outcome);
    }
    // The verification takes long. A lock that came meanwhile counts.
    let mut verdict = judge(is_right)?.unwrap_or_else(|| BindVerdict {
        is_allowed: true,
        ..BindVerdict::default()
    });
    let mut forwarded = None;
    let must_record = must_record(directory, database, policed, is_right, &verdict);
    // A failure of the store changes no answer, as below.
    if must_record.unwrap_or_else(|result| {
        warn_of_loss(directory, policed, &result);
        false
    }) {
        let attempt = Arc::new(BindAttempt::new(
            policed.dn.clone(),
            is_right,
            policed.is_judged,
        ));
        record_attempt(directory, database, policed, &attempt);
        verdict = attempt.verdict().unwrap_or(verdict);
        forwarded = for_provider(directory, database, policed, &attempt);
    }
    if is_right && !verdict.is_allowed {
        let reason = if verdict.is_locked { LOCKED } else { EXPIRED };
        outcome = BindOutcome::invalid_credentials().because(reason);
    }
    outcome.forwarded = forwarded;
    let name = outcome.authenticated();
    outcome.is_recorded = name.is_some_and(|name| name.normal() == policed.dn.normal());
    outcome.policy = answer(overlay, policed, &verdict);
    Ok(outcome)
}

/// Returns true if the bind changes the bind state of its name.
fn must_record(
    directory: &Directory,
    database: &Database,
    policed: &PolicedBind,
    is_right: bool,
    verdict: &BindVerdict,
) -> OpResult<bool> {
    let features = directory.features_of(database);
    if directory.is_read_only(database) {
        return Ok(false);
    }
    let overlay = overlay_of(features, database, &policed.dn);
    if !verdict.changes.is_empty() && overlay.is_some_and(|overlay| !overlay.disable_write) {
        return Ok(true);
    }
    if !is_right || !verdict.is_allowed || features.bind_times.is_empty() {
        return Ok(false);
    }
    let failed = |error| result::store(&error);
    let view = database.store.snapshot().map_err(failed)?;
    let NameLookup::Entry(id) = view.find(&policed.dn).map_err(failed)? else {
        return Ok(false);
    };
    let now = directory.core().clock.now();
    let entry = view.entry(id).map_err(failed)?;
    Ok(entry.is_some_and(|entry| {
        let mut due = bind_record::due_times(features, &entry, now);
        due.next().is_some()
    }))
}

/// Hands a bind to the writer, which judges and records it. Binds of several threads share a
/// commit.
///
/// As in slapd, a failure changes no answer: a full disk locks nobody out. The log names it.
fn record_attempt(
    directory: &Directory,
    database: &Database,
    policed: &PolicedBind,
    attempt: &Arc<BindAttempt>,
) {
    let request = WriteRequest::attempt(&policed.session, Arc::clone(attempt));
    let Some(queue) = directory.attempts_of(database) else {
        return;
    };
    let reply = queue.ask(request, |requests: Vec<WriteRequest>| {
        directory.apply(&requests)
    });
    let Some(result) = reply.map(|reply| reply.result) else {
        return;
    };
    if !matches!(result.code, ResultCode::Success | ResultCode::NoOperation) {
        warn_of_loss(directory, policed, &result);
    }
}

/// Returns what the provider of a copy has to learn of a recorded bind, and the way there.
fn for_provider(
    directory: &Directory,
    database: &Database,
    policed: &PolicedBind,
    attempt: &BindAttempt,
) -> Option<(Arc<ForwardedBind>, Arc<BindDelivery>)> {
    let changes = attempt.take_forwarded();
    if changes.is_empty() {
        return None;
    }
    let Some(binds) = database.replication.forwarded_bind() else {
        let text = "too many others are on their way to the provider";
        warn_of_loss(directory, policed, &refuse(ResultCode::Busy, text));
        return None;
    };
    let (delivery, receipt) = BindDelivery::begin(binds);
    let bind = Arc::new(ForwardedBind {
        dn: policed.dn.pretty().to_owned(),
        changes,
        receipt,
    });
    Some((bind, delivery))
}

fn warn_of_loss(directory: &Directory, policed: &PolicedBind, result: &LdapResult) {
    let core = directory.core();
    core.notices.warn(&*core.clock, "bind: record", || {
        let (dn, code, text) = (policed.dn.pretty(), result.code, &result.diagnostic);
        format!("the bind of {dn:?} is not recorded: {code:?} {text:?}")
    });
}

/// Returns the controls of the response, and the restriction of the connection.
fn answer(
    overlay: Option<&PasswordPolicy>,
    policed: &PolicedBind,
    verdict: &BindVerdict,
) -> PolicyAnswer {
    let Some(overlay) = overlay else {
        return PolicyAnswer::default();
    };
    let is_hidden = verdict.is_locked && !overlay.use_lockout;
    let mut controls = Vec::new();
    if policed.wants_control {
        let response = if is_hidden {
            PasswordPolicyResponse::default()
        } else {
            verdict.response
        };
        controls.push((oid::PASSWORD_POLICY, response.encode()));
    } else if overlay.netscape_controls {
        let is_expired = verdict.is_expired || (verdict.is_locked && overlay.use_lockout);
        if is_expired {
            controls.push((oid::NETSCAPE_PASSWORD_EXPIRED, b"0".to_vec()));
        } else if let Some(PasswordWarning::TimeBeforeExpiration(left_s)) = verdict.response.warning
        {
            let seconds = left_s.to_string().into_bytes();
            controls.push((oid::NETSCAPE_PASSWORD_EXPIRING, seconds));
        }
    }
    PolicyAnswer {
        controls,
        must_change: verdict.must_change,
    }
}

fn database_and_overlay<'d>(
    directory: &'d Directory,
    dn: &Dn,
) -> Option<(&'d Database, &'d PasswordPolicy)> {
    let database = directory.core().databases.database_of(dn)?;
    let overlay = overlay_of(directory.features_of(database), database, dn)?;
    Some((database, overlay))
}

/// Returns the policies that are about a name. None are about the root.
fn overlay_of<'f>(
    features: &'f Features,
    database: &Database,
    dn: &Dn,
) -> Option<&'f PasswordPolicy> {
    let root = database.root.as_ref();
    let is_root = root.is_some_and(|root| root.name.normal() == dn.normal());
    features.password_policy.as_ref().filter(|_| !is_root)
}

/// Reads rules and state of a name in a snapshot; `None` if there is no entry.
fn read(
    directory: &Directory,
    database: &Database,
    overlay: &PasswordPolicy,
    dn: &Dn,
) -> OpResult<Option<PolicySubject>> {
    let failed = |error| result::store(&error);
    let view = database.store.snapshot().map_err(failed)?;
    let NameLookup::Entry(id) = view.find(dn).map_err(failed)? else {
        return Ok(None);
    };
    password_policy::subject(directory.core(), &view, overlay, id)
}

/// Judges a bind in the writer, and records what it changes.
///
/// # Errors
/// noOperation if nothing changes. No client gets the result.
pub(super) fn record(context: &mut Context<'_, '_>, attempt: &BindAttempt) -> OpResult {
    let NameLookup::Entry(id) = context.find(&attempt.dn)? else {
        return Err(LdapResult::new(ResultCode::NoOperation));
    };
    let mut changes = Vec::new();
    let overlay = overlay_of(context.features, context.database, &attempt.dn);
    let overlay = overlay.filter(|_| attempt.is_judged);
    if let Some(overlay) = overlay {
        changes = judge_attempt(context, overlay, attempt, id)?;
    }
    let of_policy = changes.len();
    let verdict = attempt.verdict();
    if attempt.is_right && verdict.is_none_or(|verdict| verdict.is_allowed) {
        changes.extend(bind_record::due(context, id)?);
    }
    if context.features.forwards_binds() && context.database.replication.forwards_binds() {
        let (state, times) = changes.split_at(of_policy);
        let forwards_state = overlay.is_some_and(|overlay| overlay.forward_updates);
        let state = state.iter().filter(|_| forwards_state);
        let times = times
            .iter()
            .filter(|(time, _)| context.features.forwards_time(time));
        let forwarded = bind_record::forwarded(context, id, state.chain(times))?;
        attempt.set_forwarded(forwarded);
    }
    context.change_by_bind(id, changes)
}

/// Judges a bind on the state of the writer. Returns what it changes.
fn judge_attempt(
    context: &Context<'_, '_>,
    overlay: &PasswordPolicy,
    attempt: &BindAttempt,
    id: EntryId,
) -> OpResult<Vec<BindStateChange>> {
    let subject = password_policy::subject(context.core, context.writer, overlay, id)?;
    let subject = subject.filter(|subject| subject.has_password);
    let Some(subject) = subject else {
        return Ok(Vec::new());
    };
    let Some(rules) = subject.rules_of_binds(context.auth) else {
        return Ok(Vec::new());
    };
    let mut verdict = bind_verdict::judge(&rules, &subject.state, attempt.is_right, context.now);
    let changes = std::mem::take(&mut verdict.changes);
    attempt.set_verdict(verdict);
    if overlay.disable_write {
        return Ok(Vec::new());
    }
    let changes = changes.into_iter();
    Ok(changes.map(|change| overlay.types.values(change)).collect())
}
