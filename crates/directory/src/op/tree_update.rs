//! Updates of generated entries whose owner takes them: those of the configuration.
//!
//! ```text
//!   begin: controls -> rights -> schema      the owner carries the change out      finish: the reply
//! ```
//!
//! The directory decides who may do what, and what an entry may hold. The owner decides if it can
//! work with the result.

use fulgurite_access::{Decisions, EntryRights, Rights};
use fulgurite_ldap::{
    AddRequest, LdapResult, Message, MessageId, ModifyDnRequest, ModifyOperation, ModifyRequest,
    Operation, Request, ResultCode, encode,
};
use fulgurite_schema::{
    Attribute, AttributeDescription, CheckOptions, CheckedEntry, Dn, Entry, Schema,
};

use crate::core::result::{self, OpResult, refuse, require};
use crate::core::session::Session;
use crate::core::transaction_queue::unknown_transaction;
use crate::directory::Directory;
use crate::generated::namespace::NamespaceTarget;
use crate::generated::tree::{Tree, TreeEntry};
use crate::op::{add, modify};
use crate::request::change::Change;
use crate::request::controls::RequestKind;
use crate::request::modifiers::Modifiers;
use crate::request::restrictions::{OperationKind, password_change_required};
use crate::rights::facts::UnstoredFacts;
use crate::rights::{assertion, read_entry};
use crate::write::changes;
use crate::write::context::ResponseValues;
use crate::write::multi_value::MultiValueAttributes;
use crate::write::ordered_values;
use crate::write::request::{WriteReply, WriteRequest, WriteWork};
use crate::write::stamp::Stamp;

/// Attributes that the server computes for every generated entry.
const COMPUTED: [&str; 3] = ["entryDN", "subschemaSubentry", "hasSubordinates"];

/// The entry with the access to the configuration, and its attribute.
const OWN_DATABASE: &str = "olcDatabase={0}config,cn=config";
const ACCESS: &[u8] = b"olcAccess";

/// The classes of new entries, with the beginning of the name above them.
const PLACES: [(&str, &str); 7] = [
    ("olcModuleList", "cn=config"),
    ("olcIncludeFile", "cn=config"),
    ("olcBackendConfig", "cn=config"),
    ("olcDatabaseConfig", "cn=config"),
    ("olcSchemaConfig", "cn=schema,"),
    ("olcOverlayConfig", "olcdatabase="),
    // The servers of an overlay `chain`.
    ("olcLDAPConfig", "olcoverlay="),
];

/// A change that its owner carries out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TreeChange {
    /// The entry of that name gets these attributes.
    Replace(TreeEntry),
    /// A new entry. The owner may give it another number.
    Add(TreeEntry),
    /// The entry of this name goes. None is below it.
    Remove(String),
    /// An entry gets another name.
    Rename {
        /// The name of the entry.
        dn: String,
        /// The new first part of the name.
        rdn: String,
    },
}

/// The reason why an owner refuses a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TreeRefusal {
    /// There is no entry, or none above a new one.
    Missing,
    /// An entry of that name exists.
    Exists,
    /// The number of the name belongs to another entry.
    Number,
    /// The name is not one that the entry can have.
    Naming(String),
    /// The change is never possible, for this reason.
    Unwilling(String),
    /// The change fails, for this reason.
    Failed(String),
    /// This server only copies the entries. The servers of these URLs change them.
    Elsewhere(Vec<String>),
}

impl std::fmt::Display for TreeRefusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            TreeRefusal::Missing => "an entry is missing",
            TreeRefusal::Exists => "an entry exists already",
            TreeRefusal::Number => "a number is taken",
            TreeRefusal::Elsewhere(_) => "another server changes it",
            TreeRefusal::Naming(text)
            | TreeRefusal::Unwilling(text)
            | TreeRefusal::Failed(text) => text,
        })
    }
}

/// An update that is permitted and fits the schema.
#[derive(Debug)]
pub struct TreeUpdate {
    change: TreeChange,
    is_trial: bool,
    relaxed: bool,
    request: UpdateId,
    session: Session,
    returned: ResponseValues,
}

/// The request that a reply belongs to.
#[derive(Clone, Copy, Debug)]
struct UpdateId {
    id: MessageId,
    operation: Operation,
}

impl Directory {
    /// Returns true for an update that the owner of generated entries carries out.
    #[must_use]
    pub fn is_tree_update(&self, request: &WriteRequest) -> bool {
        let WriteWork::Update(update) = &request.work else {
            return false;
        };
        let mut trees = self.generated().trees.iter();
        if !trees.any(|tree| tree.refusal.is_none()) {
            return false;
        }
        let message = update.message();
        let Some(name) = name(&message.request) else {
            return false;
        };
        if !may_be_of_configuration(name) {
            return false;
        }
        let dn = result::dn(self.schema(), name);
        dn.is_ok_and(|dn| match self.target(&dn) {
            NamespaceTarget::Tree(tree) => tree.refusal.is_none(),
            _ => false,
        })
    }

    /// Checks such an update.
    ///
    /// # Errors
    /// The reply to an update that is refused.
    pub fn begin_tree_update(&self, request: &WriteRequest) -> Result<TreeUpdate, Box<WriteReply>> {
        let WriteWork::Update(update) = &request.work else {
            let result = LdapResult::new(ResultCode::Other);
            return Err(Box::new(reply(None, result, &ResponseValues::default())));
        };
        let message = update.message();
        let id = UpdateId {
            id: message.id,
            operation: message.request.operation(),
        };
        self.check_tree_update(&request.session, &message)
            .map(|checked| TreeUpdate {
                change: checked.change,
                is_trial: checked.modifiers.no_op,
                relaxed: checked.modifiers.relaxed,
                request: id,
                session: checked.session,
                returned: checked.returned,
            })
            .map_err(|result| Box::new(reply(Some(id), result, &ResponseValues::default())))
    }

    /// Returns true if a session may change the access to the entries of the configuration.
    fn may_change_access(&self, session: &Session) -> bool {
        let Ok(dn) = Dn::parse(self.schema(), OWN_DATABASE) else {
            return false;
        };
        let NamespaceTarget::Tree(tree) = self.target(&dn) else {
            return false;
        };
        let kind = OperationKind::Other(Operation::Modify);
        let is_permitted = self
            .policy()
            .permit_configuration(session, &tree.restrictions, kind)
            .is_ok();
        let access = self.schema().describe(ACCESS);
        let entry = tree.entry(self.schema(), &dn).ok().flatten();
        let (Some(entry), Ok(access)) = (entry.filter(|_| is_permitted), access) else {
            return false;
        };
        let decisions = tree.decisions(session);
        let facts = UnstoredFacts::unstored(self.core(), Some(&entry));
        let rights = decisions.at(entry.dn.normal(), &facts);
        rights.attribute(&access).allows(Rights::WRITE)
    }

    fn check_tree_update(&self, session: &Session, message: &Message<'_>) -> OpResult<Checked> {
        let operation = message.request.operation();
        let kind = RequestKind::Operation(operation);
        let (controls, acting) = self.controls_of(session, kind, &message.controls)?;
        if controls.transaction.is_some() {
            return Err(unknown_transaction());
        }
        self.require_password_policy(&controls)?;
        let session = acting.as_ref().unwrap_or(session);
        if session.must_change_password() {
            return Err(password_change_required());
        }
        let modifiers = Modifiers::resolve(self.schema(), &controls)?;
        let reads = [&controls.pre_read, &controls.post_read];
        let mut reads = reads.into_iter().flatten();
        if !matches!(message.request, Request::Modify(_)) && reads.any(|read| read.critical) {
            let text = "critical control unavailable in context";
            return Err(refuse(ResultCode::UnavailableCriticalExtension, text));
        }
        let dn = result::dn(self.schema(), name(&message.request).unwrap_or_default())?;
        let NamespaceTarget::Tree(tree) = self.target(&dn) else {
            return Err(result::no_global_superior());
        };
        let kind = OperationKind::Other(operation);
        self.policy()
            .permit_configuration(session, &tree.restrictions, kind)?;
        let checker = TreeChecker {
            directory: self,
            tree,
            session,
            decisions: tree.decisions(session),
            modifiers: &modifiers,
        };
        let (change, returned) = match &message.request {
            Request::Add(request) => (checker.add(dn, request)?, ResponseValues::default()),
            Request::Delete(_) => (checker.delete(&dn)?, ResponseValues::default()),
            Request::Modify(request) => checker.modify(&dn, request)?,
            Request::ModifyDn(request) => {
                (checker.rename(&dn, request)?, ResponseValues::default())
            }
            _ => return Err(refuse(ResultCode::ProtocolError, "not an update")),
        };
        Ok(Checked {
            change,
            session: session.clone(),
            modifiers,
            returned,
        })
    }
}

impl TreeUpdate {
    /// Returns the change.
    #[must_use]
    pub fn change(&self) -> &TreeChange {
        &self.change
    }

    /// Returns true if the client wants to know the result of a change that it does not make.
    #[must_use]
    pub fn is_trial(&self) -> bool {
        self.is_trial
    }

    /// Returns true if the client gives up the protection against locking itself out.
    #[must_use]
    pub fn is_relaxed(&self) -> bool {
        self.relaxed
    }

    /// Returns true if the requester loses the access to the rules of the tree, now or after a new
    /// bind.
    #[must_use]
    pub fn locks_out(&self, before: &Directory, after: &Directory) -> bool {
        let session = &self.session;
        if !before.may_change_access(session) {
            return false;
        }
        !after.may_change_access(session)
            || before.could_bind_again(session) && !after.could_bind_again(session)
    }

    /// Returns the reply.
    #[must_use]
    pub fn finish(self, outcome: Result<(), TreeRefusal>) -> WriteReply {
        let result = match outcome {
            Ok(()) if self.is_trial => LdapResult::new(ResultCode::NoOperation),
            Ok(()) => {
                return reply(Some(self.request), LdapResult::success(), &self.returned);
            }
            Err(TreeRefusal::Missing) => LdapResult::new(ResultCode::NoSuchObject),
            Err(TreeRefusal::Exists) => LdapResult::new(ResultCode::EntryAlreadyExists),
            Err(TreeRefusal::Number) => LdapResult::new(ResultCode::ConstraintViolation),
            Err(TreeRefusal::Naming(text)) => refuse(ResultCode::NamingViolation, text),
            Err(TreeRefusal::Unwilling(text)) => refuse(ResultCode::UnwillingToPerform, text),
            Err(TreeRefusal::Failed(text)) => refuse(ResultCode::Other, text),
            Err(TreeRefusal::Elsewhere(urls)) if urls.is_empty() => {
                let text = "shadow context; no update referral";
                refuse(ResultCode::UnwillingToPerform, text)
            }
            Err(TreeRefusal::Elsewhere(urls)) => LdapResult {
                referrals: urls,
                ..LdapResult::new(ResultCode::Referral)
            },
        };
        reply(Some(self.request), result, &ResponseValues::default())
    }
}

/// A change that is permitted.
struct Checked {
    change: TreeChange,
    /// The session that it is done for.
    session: Session,
    modifiers: Modifiers,
    returned: ResponseValues,
}

/// The check of one update.
struct TreeChecker<'c> {
    directory: &'c Directory,
    tree: &'c Tree,
    session: &'c Session,
    decisions: Decisions<'c>,
    modifiers: &'c Modifiers,
}

impl TreeChecker<'_> {
    fn modify(
        &self,
        dn: &Dn,
        request: &ModifyRequest<'_>,
    ) -> OpResult<(TreeChange, ResponseValues)> {
        let schema = self.directory.schema();
        let changes = changes::resolve(schema, request)?;
        require_settable(schema, changes.iter().map(|change| &change.attribute))?;
        // A delete cleans files that were written by hand.
        let given = changes.iter();
        let given = given.filter(|change| change.operation != ModifyOperation::Delete);
        require_no_options(schema, given.map(|change| &change.attribute))?;
        let before = self.entry(dn)?;
        self.require_assertion(&before)?;
        let allowed = self.rights(&before, |rights| {
            changes
                .iter()
                .all(|change| modify::may_change(&rights, change))
        });
        require(allowed, "")?;
        self.require_same_kind(dn, &changes)?;
        let mut entry = before.clone();
        for change in &changes {
            require_staying(schema, change)?;
            self.apply(&mut entry, change)?;
        }
        let types = &self.directory.core().types;
        let class = entry.values(types.structural_object_class.attribute);
        let class = class
            .first()
            .and_then(|name| std::str::from_utf8(name).ok());
        let class = class.and_then(|name| schema.object_class(name));
        let options = CheckOptions {
            structural_class: class.map(|class| class.index),
            skip_values: true,
            ..CheckOptions::default()
        };
        let checked = schema.check(entry, &options);
        let mut entry = checked.map_err(result::violation)?.into_entry();
        self.stamp().modify(&mut entry, types, &[]);
        let read = |entry: &Entry, selection| {
            self.rights(entry, |rights| {
                read_entry::value(schema, rights, entry, selection)
            })
        };
        let (pre_read, post_read) = (&self.modifiers.pre_read, &self.modifiers.post_read);
        let returned = ResponseValues {
            pre_read: pre_read.as_ref().and_then(|wanted| read(&before, wanted)),
            post_read: post_read.as_ref().and_then(|wanted| read(&entry, wanted)),
            ..ResponseValues::default()
        };
        Ok((TreeChange::Replace(owned(schema, entry)), returned))
    }

    fn add(&self, dn: Dn, request: &AddRequest<'_>) -> OpResult<TreeChange> {
        let core = self.directory.core();
        let schema = &core.schema;
        let mut entry = add::requested_entry(schema, dn, request)?;
        add::require_once(schema, &entry)?;
        require_settable(schema, entry.attributes.iter())?;
        require_no_options(schema, entry.attributes.iter())?;
        name_with_number(&mut entry);
        entry.add_missing_rdn_values(schema);
        ordered_values::number_all(schema, &mut entry);
        let checked = schema.check(entry, &CheckOptions::default());
        let mut checked = checked.map_err(result::violation)?;
        let above = checked.entry().dn.parent().unwrap_or_else(Dn::root);
        let above = self.entry(&above)?;
        self.require_assertion(checked.entry())?;
        let allowed = self.rights(&above, |rights| rights.children().allows(Rights::ADD));
        require(allowed, "no write access to parent")?;
        let allowed = self.rights(checked.entry(), |rights| rights.entry().allows(Rights::ADD));
        require(allowed, "no write access to entry")?;
        require_place(schema, &checked)?;
        self.stamp()
            .create(&mut checked, schema, &core.types, &*core.entropy, &[]);
        Ok(TreeChange::Add(owned(schema, checked.into_entry())))
    }

    fn delete(&self, dn: &Dn) -> OpResult<TreeChange> {
        let entry = self.entry(dn)?;
        self.require_assertion(&entry)?;
        self.require_taking(dn, &entry, Rights::DELETE)?;
        let schema = self.directory.schema();
        let mut entries = self.tree.entries(schema, dn)?.into_iter();
        if entries.any(|other| other.entry.dn.is_under(dn)) {
            return Err(LdapResult::new(ResultCode::NotAllowedOnNonLeaf));
        }
        Ok(TreeChange::Remove(dn.pretty().to_owned()))
    }

    fn rename(&self, dn: &Dn, request: &ModifyDnRequest<'_>) -> OpResult<TreeChange> {
        let schema = self.directory.schema();
        let rdn = result::dn(schema, request.new_rdn).ok();
        let rdn = rdn.filter(|rdn| rdn.depth() == 1);
        let rdn = rdn.ok_or_else(|| refuse(ResultCode::InvalidDnSyntax, "invalid new RDN"))?;
        let entry = self.entry(dn)?;
        self.require_assertion(&entry)?;
        self.require_taking(dn, &entry, Rights::WRITE)?;
        let superior = request.new_superior.map(|name| result::dn(schema, name));
        let superior = superior.transpose()?;
        if superior.is_some() && superior != dn.parent() {
            return Err(LdapResult::new(ResultCode::UnwillingToPerform));
        }
        Ok(TreeChange::Rename {
            dn: dn.pretty().to_owned(),
            rdn: rdn.pretty().to_owned(),
        })
    }

    /// Returns the entry without its computed attributes.
    fn entry(&self, dn: &Dn) -> OpResult<Entry> {
        let core = self.directory.core();
        let entries = self.tree.entries(&core.schema, dn)?;
        let mut entries: Vec<Entry> = entries.into_iter().map(|made| made.entry).collect();
        if let Some(at) = entries.iter().position(|entry| entry.dn == *dn) {
            let mut entry = entries.swap_remove(at);
            entry
                .attributes
                .retain(|held| !COMPUTED.contains(&&*held.description.text(&core.schema)));
            return Ok(entry);
        }
        let above = entries.iter().filter(|entry| dn.is_under(&entry.dn));
        let deepest = above.max_by_key(|entry| entry.dn.depth());
        let shown = deepest
            .filter(|entry| self.rights(entry, |rights| rights.entry().allows(Rights::DISCLOSE)));
        let missing = LdapResult::new(ResultCode::NoSuchObject);
        Err(match shown {
            Some(entry) => missing.matched(entry.dn.pretty()),
            None => missing,
        })
    }

    fn rights<R>(&self, entry: &Entry, ask: impl FnOnce(EntryRights<'_>) -> R) -> R {
        let facts = UnstoredFacts::unstored(self.directory.core(), Some(entry));
        ask(self.decisions.at(entry.dn.normal(), &facts))
    }

    fn require_assertion(&self, entry: &Entry) -> OpResult {
        let schema = self.directory.schema();
        match &self.modifiers.assertion {
            None => Ok(()),
            Some(filter) => self.rights(entry, |rights| {
                assertion::require(schema, rights, entry, filter)
            }),
        }
    }

    /// Requires a right to the entry and to the list of its superior's children.
    fn require_taking(&self, dn: &Dn, entry: &Entry, wanted: Rights) -> OpResult {
        let above = dn
            .parent()
            .filter(|above| above.is_within(&self.tree.suffix));
        if let Some(above) = above {
            let above = self.entry(&above)?;
            let allowed = self.rights(&above, |rights| rights.children().allows(wanted));
            require(allowed, "no write access to parent")?;
        }
        let allowed = self.rights(entry, |rights| rights.entry().allows(wanted));
        require(allowed, "no write access to entry")
    }

    /// Fails for changes of the name and of the object classes.
    fn require_same_kind(&self, dn: &Dn, changes: &[Change]) -> OpResult {
        let schema = self.directory.schema();
        let names: Vec<_> = dn.rdn().into_iter().flat_map(|rdn| rdn.avas()).collect();
        for change in changes {
            let attribute = change.attribute.description.attribute;
            if names.iter().any(|ava| ava.attribute == attribute) {
                let text = "Use modrdn to change the entry name";
                return Err(refuse(ResultCode::NotAllowedOnRdn, text));
            }
            if attribute == schema.object_class_attribute() {
                let text = "objectclass modification disallowed";
                return Err(refuse(ResultCode::UnwillingToPerform, text));
            }
        }
        Ok(())
    }

    fn apply(&self, entry: &mut Entry, change: &Change) -> OpResult {
        let (schema, permissive) = (self.directory.schema(), self.modifiers.permissive);
        if ordered_values::are_ordered(schema, &change.attribute.description) {
            return ordered_values::apply(schema, entry, change, permissive);
        }
        let change = std::slice::from_ref(change);
        let mut large = MultiValueAttributes::none();
        changes::apply(schema, entry, &mut large, change, permissive)
    }

    fn stamp(&self) -> Stamp<'_> {
        let core = self.directory.core();
        let now = core.clock.now();
        Stamp {
            time: now,
            csn: core.csn.next(now, None),
            by: self.session.name(),
            kept: true,
        }
    }
}

/// Returns the name in a request for an update.
fn name<'r>(request: &Request<'r>) -> Option<&'r [u8]> {
    match request {
        Request::Add(request) => Some(request.dn),
        Request::Delete(request) => Some(request.dn),
        Request::Modify(request) => Some(request.dn),
        Request::ModifyDn(request) => Some(request.dn),
        _ => None,
    }
}

/// Returns false for most names outside `cn=config`, without parsing them.
fn may_be_of_configuration(name: &[u8]) -> bool {
    let start = name.iter().rposition(|byte| *byte == b',').unwrap_or(0);
    let last = name.get(start..).unwrap_or_default();
    let mut windows = last.windows(6);
    last.contains(&b'\\')
        || last.contains(&b'#')
        || windows.any(|part| part.eq_ignore_ascii_case(b"config"))
}

/// Fails for attributes that only the server sets.
fn require_settable<'a>(
    schema: &Schema,
    mut attributes: impl Iterator<Item = &'a Attribute>,
) -> OpResult {
    let kept = attributes.find(|attribute| {
        let definition = schema.attribute_at(attribute.description.attribute);
        definition.no_user_modification
    });
    match kept {
        None => Ok(()),
        Some(attribute) => {
            let name = attribute.description.text(schema);
            let text = format!("{name}: no user modification allowed");
            Err(refuse(ResultCode::ConstraintViolation, text))
        }
    }
}

/// Fails for attributes with options, which have no meaning in a configuration.
fn require_no_options<'a>(
    schema: &Schema,
    mut attributes: impl Iterator<Item = &'a Attribute>,
) -> OpResult {
    let with_options = attributes.find(|attribute| attribute.description.options().is_some());
    with_options.map_or(Ok(()), |attribute| {
        let name = attribute.description.text(schema);
        let text = format!("{name}: attributes of the configuration have no options");
        Err(refuse(ResultCode::UnwillingToPerform, text))
    })
}

/// Fails for a change that takes values from a list of modules. As in slapd, it fails whatever
/// values there are: a replacement deletes the values before it adds any.
fn require_staying(schema: &Schema, change: &Change) -> OpResult {
    let name = change.attribute.description.text(schema);
    let takes = matches!(
        change.operation,
        ModifyOperation::Delete | ModifyOperation::Replace
    );
    match takes && matches!(&*name, "olcModuleLoad" | "olcModulePath") {
        true => Err(refuse(ResultCode::Other, format!("cannot delete {name}"))),
        false => Ok(()),
    }
}

/// Gives the value of the name the number that the name has.
fn name_with_number(entry: &mut Entry) {
    let Some(rdn) = entry.dn.rdn() else { return };
    let named: Vec<(AttributeDescription, Vec<u8>)> = rdn
        .avas()
        .map(|ava| {
            (
                AttributeDescription::plain(ava.attribute),
                ava.value.to_vec(),
            )
        })
        .collect();
    for (description, value) in named {
        let Some(held) = entry.attribute_mut(&description) else {
            continue;
        };
        let mut values = held.values.iter_mut();
        let bare = ordered_values::without_number(&value);
        let same =
            |held: &&mut Vec<u8>| ordered_values::without_number(held).eq_ignore_ascii_case(bare);
        if let Some(held) = values.find(same) {
            held.clone_from(&value);
        }
    }
}

/// Fails for an entry that has no meaning below its superior.
fn require_place(schema: &Schema, checked: &CheckedEntry) -> OpResult {
    let class = schema.object_class_at(checked.structural_class());
    let above = checked.entry().dn.parent().unwrap_or_else(Dn::root);
    let derives = |name: &str| {
        let base = schema.object_class(name);
        base.is_some_and(|base| {
            base.index == class.index || class.all_superiors.contains(&base.index)
        })
    };
    let is_here = |start: &str| match start {
        "cn=config" => above.normal() == start,
        start => above.normal().starts_with(start),
    };
    let mut places = PLACES.iter();
    match places.any(|(name, start)| derives(name) && is_here(start)) {
        true => Ok(()),
        false => Err(LdapResult::new(ResultCode::ObjectClassViolation)),
    }
}

/// Returns an entry for its owner.
fn owned(schema: &Schema, entry: Entry) -> TreeEntry {
    let mut owned = TreeEntry::new(entry.dn.pretty());
    for held in entry.attributes {
        let name = held.description.text(schema).into_owned();
        owned.attributes.push((name, held.values));
    }
    owned
}

fn reply(request: Option<UpdateId>, result: LdapResult, returned: &ResponseValues) -> WriteReply {
    let mut bytes = Vec::new();
    if let Some(UpdateId { id, operation }) = request {
        encode::result(&mut bytes, id, operation, &result, &returned.controls());
    }
    WriteReply {
        result,
        bytes,
        audit: None,
    }
}
