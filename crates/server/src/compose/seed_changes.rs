//! Changes of LDIF files that a start makes once.
//!
//! ```text
//!   file --digest--> made before?  yes: passed over
//!                                  no:  each change in the name of the root, then the digest is kept
//! ```
//!
//! As in the container images, a refused change is logged, and the others are made.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use fulgurite_config::{SeedAction, SeedChange, SeedFile, SeedOperation, Settings};
use fulgurite_directory::{Directory, Identity, Name, Session, WriteRequest};
use fulgurite_ldap::{
    AddRequest, Change, Controls, DeleteRequest, Message, ModifyDnRequest, ModifyOperation,
    ModifyRequest, PartialAttribute, Request,
};
use fulgurite_schema::Dn;
use sha2::{Digest as _, Sha256};

use super::seed::{SeedError, password_hash};

/// The file with the digests of the files whose changes were made, in the folder of the store.
const MADE: &str = "seeds";

/// Makes the changes of files that have not been made yet. Returns their number.
///
/// # Errors
/// [`SeedError`], if the files cannot be read, or nobody may change the database.
pub(crate) fn make(settings: &Settings, directory: &Directory) -> Result<u64, SeedError> {
    let files = settings.seed_files(&password_hash(settings))?;
    if files.is_empty() {
        return Ok(0);
    }
    let Some(first) = settings.stores().next() else {
        return Ok(0);
    };
    let root = first.content.root_dn.as_deref();
    let root = root.and_then(|root| Dn::parse(directory.schema(), root).ok());
    let session = Session::of(root.map_or(Identity::Anonymous, |root| {
        Identity::User(Name::from(&root))
    }));
    let path = first.directory()?.join(MADE);
    let failed = |error| SeedError::Digests(path.clone(), error);
    let made = read(&path).map_err(failed)?;
    let mut count = 0;
    for file in files {
        let digest = digest(&file);
        if made.lines().any(|line| line.starts_with(&digest)) {
            continue;
        }
        for change in &file.changes {
            count += u64::from(make_one(directory, &session, change));
        }
        let name = file.path.file_name().unwrap_or_default();
        let line = format!("{digest} {}\n", name.to_string_lossy());
        append(&path, &line).map_err(failed)?;
    }
    Ok(count)
}

/// Makes a change. Returns false if it is refused.
fn make_one(directory: &Directory, session: &Session, change: &SeedChange) -> bool {
    let Some(update) = update(session, change) else {
        return false;
    };
    let replies = directory.apply(std::slice::from_ref(&update));
    let refused = replies.iter().find(|reply| !reply.result.is_success());
    if let Some(reply) = refused {
        let (origin, dn, result) = (&change.origin, &change.dn, &reply.result);
        let (code, text) = (result.code, &result.diagnostic);
        tracing::warn!("{origin}: the change of {dn} is refused: {code:?} {text:?}");
    }
    refused.is_none()
}

/// Returns a change as the update that a client would send.
pub(super) fn update(session: &Session, change: &SeedChange) -> Option<WriteRequest> {
    let dn = change.dn.as_bytes();
    match &change.action {
        SeedAction::Add(attributes) => {
            let values = attributes.iter().map(|(_, values)| values);
            let values = values.map(|values| values.iter().map(Vec::as_slice).collect());
            let values: Vec<Vec<&[u8]>> = values.collect();
            let attributes = attributes.iter().zip(&values);
            let attributes =
                attributes.map(|((name, _), values)| PartialAttribute::new(name, values));
            let attributes = attributes.collect();
            request(session, Request::Add(AddRequest { dn, attributes }))
        }
        SeedAction::Delete => request(session, Request::Delete(DeleteRequest { dn })),
        SeedAction::Rename {
            new_rdn,
            delete_old_rdn,
            new_superior,
        } => {
            let rename = ModifyDnRequest {
                dn,
                new_rdn,
                delete_old_rdn: *delete_old_rdn,
                new_superior: new_superior.as_deref(),
            };
            request(session, Request::ModifyDn(rename))
        }
        SeedAction::Modify(parts) => {
            let values: Vec<Vec<&[u8]>> = parts
                .iter()
                .map(|part| part.values.iter().map(Vec::as_slice).collect())
                .collect();
            let changes = parts.iter().zip(&values).map(|(part, values)| Change {
                operation: operation(part.operation),
                attribute: PartialAttribute::new(&part.attribute, values),
            });
            let changes = changes.collect();
            request(session, Request::Modify(ModifyRequest { dn, changes }))
        }
    }
}

fn request(session: &Session, request: Request<'_>) -> Option<WriteRequest> {
    let message = Message {
        id: 1,
        request,
        controls: Controls::NONE,
    };
    WriteRequest::new(session, &message)
}

const fn operation(operation: SeedOperation) -> ModifyOperation {
    match operation {
        SeedOperation::Add => ModifyOperation::Add,
        SeedOperation::Delete => ModifyOperation::Delete,
        SeedOperation::Replace => ModifyOperation::Replace,
        SeedOperation::Increment => ModifyOperation::Increment,
    }
}

fn digest(file: &SeedFile) -> String {
    let bytes = Sha256::digest(&file.text);
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn read(path: &Path) -> io::Result<String> {
    match std::fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        other => other,
    }
}

fn append(path: &Path, line: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    let mut file = options.append(true).create(true).mode(0o600).open(path)?;
    file.write_all(line.as_bytes())?;
    file.sync_all()
}
