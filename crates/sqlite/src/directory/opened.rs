//! The stores that the statements of a connection read.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::{Rc, Weak};
use std::sync::Arc;

use fulgurite_store::{OpenError, Store, StoreOptions, View};
use rusqlite::ffi;
use self_cell::self_cell;

use super::{failures, schema};
use crate::error::{Result, failure};
use crate::shared::Shared;

self_cell!(
    /// A snapshot together with its store.
    pub(super) struct ViewCell {
        owner: Arc<Store>,
        #[covariant]
        dependent: View,
    }
);

/// The stores of a connection, by their folders and schemas.
#[derive(Default)]
pub(crate) struct Directories {
    open: RefCell<HashMap<Key, Weak<Opened>>>,
}

type Key = (PathBuf, Option<PathBuf>);

/// The stores of a connection, as its modules get them.
pub(crate) type SharedDirectories = Shared<Directories>;

/// An open store.
pub(super) struct Opened {
    store: Arc<Store>,
    view: RefCell<Weak<ViewCell>>,
}

impl Directories {
    /// Opens the store of a folder, unless a running statement has it open.
    pub(super) fn open(&self, path: &Path, schema: Option<&Path>) -> Result<Rc<Opened>> {
        let path = path.canonicalize().map_err(|error| {
            let text = format!("cannot open {}: {error}", path.display());
            failure(ffi::SQLITE_CANTOPEN, text)
        })?;
        let mut open = self.open.borrow_mut();
        open.retain(|_, opened| opened.strong_count() > 0);
        let key = (path, schema.map(Path::to_owned));
        if let Some(opened) = open.get(&key).and_then(Weak::upgrade) {
            return Ok(opened);
        }
        let opened = Rc::new(Opened {
            store: Arc::new(open_store(&key.0, schema)?),
            view: RefCell::default(),
        });
        open.insert(key, Rc::downgrade(&opened));
        Ok(opened)
    }
}

/// Opens a store with the first schema that suits it.
fn open_store(path: &Path, schema: Option<&Path>) -> Result<Store> {
    let options = StoreOptions {
        read_only: true,
        ..StoreOptions::default()
    };
    let mut first_error = None;
    for schema in schema::schemas(schema)? {
        match Store::open(path, &options, schema) {
            Ok(store) => return Ok(store),
            Err(error @ (OpenError::SchemaLacks { .. } | OpenError::IndexRules { .. })) => {
                first_error.get_or_insert(error);
            }
            Err(error) => return Err(failures::opening(error)),
        }
    }
    Err(match first_error {
        Some(error) => failures::opening(error),
        None => failure(ffi::SQLITE_CANTOPEN, "the built-in schema does not resolve"),
    })
}

impl Opened {
    /// Returns the snapshot for a scan that begins: that of the scans which run already.
    pub(super) fn view(&self) -> Result<Rc<ViewCell>> {
        if let Some(view) = self.view.borrow().upgrade() {
            return Ok(view);
        }
        let cell = ViewCell::try_new(Arc::clone(&self.store), |store| store.snapshot());
        let view = Rc::new(cell.map_err(failures::store)?);
        *self.view.borrow_mut() = Rc::downgrade(&view);
        Ok(view)
    }
}
