//! Password modify (RFC 3062).
//!
//! ```text
//!   request -> the entry and its stored passwords -> PasswordChange::run, which may take long
//!           -> an update of userPassword, with the rights and stamps of any modify
//! ```

use fulgurite_access::Rights;
use fulgurite_auth::{Scheme, ScramHash};
use fulgurite_ldap::{
    LdapResult, MessageId, ModifyOperation, PasswordModifyRequest, ResultCode, generated_password,
};
use fulgurite_schema::{Attribute, AttributeDescription, Dn};

use crate::core::clock::Entropy;
use crate::core::database::Database;
use crate::core::result::{self, OpResult, refuse};
use crate::core::session::Session;
use crate::directory::Directory;
use crate::features::password_policy::change_rules::Comparisons;
use crate::request::change::Change;
use crate::request::referral::{self, Referrals};
use crate::request::restrictions::OperationKind;
use crate::rights::facts::EntryFacts;
use crate::write::password_policy::{self, PolicySubject};
use crate::write::request::{PasswordExchange, PasswordUpdate, WriteRequest};

/// The number of characters of a generated password, about 95 bits.
const GENERATED_CHARACTERS: usize = 16;

/// The characters of generated passwords, without similar ones.
const ALPHABET: &[u8; 64] = b"abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789-_.+=%#";

/// Passwords to verify and hash. Any thread may do so.
pub struct PasswordChange {
    session: Session,
    id: MessageId,
    dn: Dn,
    attribute: AttributeDescription,
    /// The old password of the request, and the stored values to verify it with.
    old: Option<(Vec<u8>, Vec<Vec<u8>>)>,
    new: Vec<u8>,
    /// The stored passwords that a policy compares with the new one.
    compared: Vec<Vec<u8>>,
    schemes: Vec<Scheme>,
    crypt_salt_format: Option<String>,
    /// The attribute for SCRAM keys, if the schema has one.
    keys: Option<AttributeDescription>,
    scram: Vec<ScramHash>,
    /// The value of the response.
    value: Option<Vec<u8>>,
    wants_policy: bool,
    wants_position: bool,
}

impl std::fmt::Debug for PasswordChange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PasswordChange")
            .field("id", &self.id)
            .field("dn", &self.dn.pretty())
            .finish_non_exhaustive()
    }
}

impl PasswordChange {
    /// Answers with the control of password policies, if the client wants it.
    pub(crate) fn with_policy(mut self: Box<Self>, wants_policy: bool) -> Box<PasswordChange> {
        self.wants_policy = wants_policy;
        self
    }

    /// Tells the position of the update in the log of a cluster, if the client wants it.
    pub(crate) fn with_position(mut self: Box<Self>, wants_position: bool) -> Box<PasswordChange> {
        self.wants_position = wants_position;
        self
    }

    /// Verifies the old password and hashes the new one. An Argon2 hash takes milliseconds.
    ///
    /// # Errors
    /// The result for the client if the old password is wrong.
    pub fn run(self) -> Result<WriteRequest, LdapResult> {
        let hashes = self.schemes.iter().map(|&scheme| {
            fulgurite_auth::hash_with(scheme, &self.new, self.crypt_salt_format.as_deref())
                .map(String::into_bytes)
                .map_err(|error| refuse(ResultCode::Other, error.to_string()))
        });
        let replaced = match &self.old {
            None => None,
            Some((old, stored)) => Some(verified(old, stored)?),
        };
        let new: Vec<Vec<u8>> = hashes.collect::<Result<_, _>>()?;
        let change = |operation, values| Change {
            operation,
            attribute: Attribute {
                description: self.attribute.clone(),
                values,
            },
        };
        let changes = match replaced {
            // Like slapd, replace all passwords. The delete fails if the verified one has changed
            // meanwhile.
            Some(old) => vec![
                change(ModifyOperation::Delete, vec![old]),
                change(ModifyOperation::Replace, new),
            ],
            None => vec![change(ModifyOperation::Replace, new)],
        };
        let derived = self.derived()?;
        let update = PasswordUpdate {
            id: self.id,
            dn: self.dn,
            changes,
            derived,
            value: self.value,
            exchange: PasswordExchange {
                compared: Comparisons::of(self.compared, &self.new),
                new: self.new,
                has_old: self.old.is_some(),
            },
            wants_policy: self.wants_policy,
        };
        let request = WriteRequest::password(&self.session, update);
        Ok(request.with_position(self.wants_position))
    }
}

impl PasswordChange {
    /// Returns the keys for the new password. The modify itself removes those of the old one.
    fn derived(&self) -> OpResult<Vec<Change>> {
        let Some(description) = &self.keys else {
            return Ok(Vec::new());
        };
        let values = self.scram.iter().map(|&hash| {
            fulgurite_auth::ScramKeys::generate(hash, &self.new)
                .map(|keys| keys.to_value().into_bytes())
                .map_err(|error| refuse(ResultCode::Other, error.to_string()))
        });
        Ok(vec![Change {
            operation: ModifyOperation::Replace,
            attribute: Attribute {
                description: description.clone(),
                values: values.collect::<Result<_, _>>()?,
            },
        }])
    }
}

/// Returns the stored password that the old one matches.
fn verified(old: &[u8], stored: &[Vec<u8>]) -> OpResult<Vec<u8>> {
    let is_right = |stored: &&Vec<u8>| fulgurite_auth::verify(stored, old).unwrap_or(false);
    stored.iter().find(is_right).cloned().ok_or_else(unverified)
}

fn unverified() -> LdapResult {
    refuse(
        ResultCode::UnwillingToPerform,
        "unwilling to verify old password",
    )
}

/// Finds the entry and its stored passwords.
pub(crate) fn begin(
    directory: &Directory,
    session: &Session,
    id: MessageId,
    value: Option<&[u8]>,
) -> OpResult<Box<PasswordChange>> {
    if !session.is_authenticated() {
        return Err(refuse(
            ResultCode::StrongerAuthRequired,
            "only authenticated users may change passwords",
        ));
    }
    let request = PasswordModifyRequest::decode(value)
        .map_err(|_| LdapResult::new(ResultCode::ProtocolError))?;
    let empty = |password: Option<&[u8]>| password.is_some_and(<[u8]>::is_empty);
    let unwilling = |text| Err(refuse(ResultCode::UnwillingToPerform, text));
    if empty(request.old_password) {
        return unwilling("old password value is empty");
    }
    if empty(request.new_password) {
        return unwilling("new password value is empty");
    }
    // With an old password to prove, every failure looks like a wrong password.
    let hidden = |result| match request.old_password {
        Some(_) => unverified(),
        None => result,
    };
    let dn = subject(directory, session, request.user_identity)?;
    let database = directory.updatable(&dn).map_err(hidden)?;
    directory.policy().permit(
        session,
        Some(&database.restrictions),
        OperationKind::PasswordModify,
    )?;
    directory.refuse_shadow(session, database, None)?;
    let passwords = stored_passwords(directory, session, database, &dn).map_err(hidden)?;
    let given = request.new_password.map(<[u8]>::to_vec);
    let value = given
        .is_none()
        .then(|| generate(&*directory.core().entropy));
    let new = given.or_else(|| value.clone()).unwrap_or_default();
    let value = value.map(|new| generated_password(&new));
    Ok(Box::new(PasswordChange {
        session: session.clone(),
        id,
        dn,
        attribute: directory.core().types.user_password.clone(),
        old: request
            .old_password
            .map(|old| (old.to_vec(), passwords.stored)),
        new,
        compared: passwords.compared,
        schemes: directory.auth_options().schemes(),
        crypt_salt_format: directory.auth_options().crypt_salt_format.clone(),
        keys: directory.core().types.auth_password.clone(),
        scram: directory.auth_options().scram_keys.clone(),
        value,
        wants_policy: false,
        wants_position: false,
    }))
}

/// Returns the name whose password a request changes; `None` for a request that is wrong.
pub(crate) fn target(directory: &Directory, session: &Session, value: Option<&[u8]>) -> Option<Dn> {
    let request = PasswordModifyRequest::decode(value).ok()?;
    subject(directory, session, request.user_identity).ok()
}

/// Returns the name whose password changes: the one in the request, with or without `dn:`, or the
/// requester's own.
fn subject(directory: &Directory, session: &Session, identity: Option<&[u8]>) -> OpResult<Dn> {
    let invalid = |_| refuse(ResultCode::InvalidAttributeSyntax, "Invalid DN");
    let named = identity.filter(|identity| !identity.is_empty());
    let text = named.unwrap_or_else(|| session.name().as_bytes());
    let text = text.strip_prefix(b"dn:").unwrap_or(text);
    result::dn(directory.schema(), text).map_err(invalid)
}

/// The stored passwords of an entry.
#[derive(Default)]
struct StoredPasswords {
    stored: Vec<Vec<u8>>,
    /// Those that a policy compares with a new one, also old ones.
    compared: Vec<Vec<u8>>,
}

/// Returns the stored passwords; none if the requester may not change them, so that their values
/// stay secret.
fn stored_passwords(
    directory: &Directory,
    session: &Session,
    database: &Database,
    dn: &Dn,
) -> OpResult<StoredPasswords> {
    let failed = |error| result::store(&error);
    let view = database.store.snapshot().map_err(failed)?;
    let decisions = database.decisions(session);
    let referrals = Referrals {
        core: directory.core(),
        scope: None,
        managed: false,
        ignored: false,
    };
    // slapd gives no matched name.
    let unnamed = |result: LdapResult| match result.code {
        ResultCode::NoSuchObject => result.matched(""),
        _ => result,
    };
    let id = referral::locate(&view, dn, &decisions, referrals).map_err(unnamed)?;
    let password = &directory.core().types.user_password;
    let facts = EntryFacts::of(directory.core(), &view, id).map_err(failed)?;
    let rights = facts.rights(&decisions, dn.normal()).attribute(password);
    if !rights.allows(Rights::WRITE) {
        // The time of a hash would reveal a hidden entry, so none is computed for it.
        let refused = LdapResult::new(ResultCode::InsufficientAccessRights);
        let refused = referrals.refusal(&view, &decisions, (dn, id), refused);
        return match refused.code {
            ResultCode::InsufficientAccessRights => Ok(StoredPasswords::default()),
            _ => Err(unnamed(refused)),
        };
    }
    let entry = view.entry(id).map_err(failed)?;
    let values = entry.and_then(|entry| entry.values(password));
    let overlay = directory.features_of(database).password_policy.as_ref();
    let subject = match overlay {
        Some(overlay) => password_policy::subject(directory.core(), &view, overlay, id)?,
        None => None,
    };
    Ok(StoredPasswords {
        stored: values.into_iter().flatten().map(<[u8]>::to_vec).collect(),
        compared: subject.map_or_else(Vec::new, PolicySubject::compared_with_new),
    })
}

fn generate(entropy: &dyn Entropy) -> Vec<u8> {
    let bytes = entropy.random();
    let character = |byte: &u8| {
        let index = usize::from(byte % 64);
        ALPHABET.get(index).copied().unwrap_or(b'x')
    };
    bytes
        .iter()
        .take(GENERATED_CHARACTERS)
        .map(character)
        .collect()
}
