//! Stores as LDIF, in the order of ids and with every attribute in its stored order, as slapcat
//! writes them.

use std::io::{self, Write};
use std::sync::Arc;

use fulgurite_ldap::Scope as LdapScope;
use fulgurite_ldif::{Writer, WriterOptions};
use fulgurite_schema::{AttributeSelector, Dn, Filter};
use fulgurite_store::{AllEntries, DnCache, EntryId, EntryView, Store, View, compile_filter};

use crate::context::{CONTEXT_CSN, Context};
use crate::export::ExportError;

/// The choice of entries, and the form in which they are written.
#[derive(Clone, Debug, Default)]
pub struct CatOptions {
    /// Entries that the filter does not match are left out.
    pub filter: Option<Filter<AttributeSelector>>,
    /// Entries outside this subtree are left out.
    pub subtree: Option<Dn>,
    /// How far below `subtree`: the base alone, one level, or everything.
    pub scope: CatScope,
    /// A comment with the entry's id before each.
    pub ids: bool,
    /// How lines are folded.
    pub ldif: WriterOptions,
}

/// How far below a name entries are taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CatScope {
    /// The entry itself.
    Base,
    /// The entries directly below.
    One,
    /// The entry and everything below.
    #[default]
    Subtree,
    /// Everything below.
    Children,
}

impl CatScope {
    /// Returns true for a name in this scope of a base.
    #[must_use]
    pub fn holds(self, name: &Dn, base: &Dn) -> bool {
        match self {
            CatScope::Base => name == base,
            CatScope::One => name.parent().as_ref() == Some(base),
            CatScope::Subtree => name.is_within(base),
            CatScope::Children => name.is_under(base),
        }
    }
}

impl From<LdapScope> for CatScope {
    fn from(scope: LdapScope) -> CatScope {
        match scope {
            LdapScope::Base => CatScope::Base,
            LdapScope::One => CatScope::One,
            LdapScope::Subtree => CatScope::Subtree,
            LdapScope::Children => CatScope::Children,
        }
    }
}

/// Writes the stores one after the other, each as it is at one moment. Gives the number of entries.
///
/// The output should be buffered; it is flushed at the end. Places of entries that have not come
/// are passed over.
///
/// # Errors
/// [`ExportError`].
pub fn cat(
    stores: &[Arc<Store>],
    output: impl Write,
    options: &CatOptions,
) -> Result<u64, ExportError> {
    let mut writer = Writer::with_options(output, options.ldif);
    let mut count = 0;
    for store in stores {
        let view = store.snapshot()?;
        let context = Context::of(&view)?;
        each_entry(&view, options, &mut |entry, name| {
            if options.ids {
                writer.comment(&format!("id={:08x}", entry.id().0))?;
            }
            write_entry(&mut writer, name, entry, context.values(entry))?;
            count += 1;
            Ok(())
        })?;
    }
    writer.into_inner()?.flush()?;
    Ok(count)
}

/// Calls `visit` for every entry of a view that the options choose, in order of ids, with its name.
pub(crate) fn each_entry(
    view: &View<'_>,
    options: &CatOptions,
    visit: &mut dyn FnMut(&EntryView<'_>, &str) -> Result<(), ExportError>,
) -> Result<(), ExportError> {
    let filter = options.filter.clone();
    let filter = filter.map(|filter| compile_filter(view, filter));
    let base = match &options.subtree {
        None => None,
        Some(dn) => match view.find(dn)?.entry() {
            Some(id) => Some(id),
            // Above the store's suffix: everything is in the subtree.
            None if view
                .store()
                .suffixes()
                .iter()
                .any(|suffix| suffix.is_within(dn)) =>
            {
                None
            }
            None => return Ok(()),
        },
    };
    let (mut names, mut name) = (DnCache::new(), String::new());
    let mut entries = AllEntries::of(view)?;
    while let Some(entry) = entries.next()? {
        let chosen = !entry.is_placeholder()
            && is_in_scope(view, &entry, base, options.scope)?
            && (filter.as_ref()).is_none_or(|filter| filter.test(view.schema(), &entry).is_true());
        if chosen {
            name.clear();
            entry.write_dn(&mut names, &mut name)?;
            visit(&entry, &name)?;
        }
    }
    Ok(())
}

fn is_in_scope(
    view: &View<'_>,
    entry: &EntryView<'_>,
    base: Option<EntryId>,
    scope: CatScope,
) -> Result<bool, ExportError> {
    let Some(base) = base else { return Ok(true) };
    let id = entry.id();
    Ok(match scope {
        CatScope::Base => id == base,
        CatScope::One => entry.parent() == Some(base),
        CatScope::Subtree => id == base || view.is_descendant(id, base)?,
        CatScope::Children => id != base && view.is_descendant(id, base)?,
    })
}

fn write_entry(
    writer: &mut Writer<impl Write>,
    name: &str,
    entry: &EntryView<'_>,
    context: &[String],
) -> io::Result<()> {
    writer.name(name)?;
    for attribute in entry.attributes() {
        let text = &attribute.info.text;
        let is_password = text.eq_ignore_ascii_case("userPassword");
        for value in attribute.values {
            if is_password && !value.is_empty() {
                writer.encoded(text, value)?;
            } else {
                writer.value(text, value)?;
            }
        }
    }
    for value in context {
        writer.value(CONTEXT_CSN, value.as_bytes())?;
    }
    writer.end()
}
