//! Adding a value to a key that has some: the hot path of databases with duplicates. The entry is
//! looked at once, in the private leaf. Rare cases go to [`add_value`].

use fulgurite_format::PageKind;

use super::duplicates::{NO_VALUE, ValueAt, Values, add_value, store_inner, values_of};
use crate::Error;
use crate::boxed_error::BoxedError;
use crate::tree::{self, Pages, PagesMut, Path, Tree};

/// Adds a value to those of the entry that the path leads to, unless it is there. Makes the path
/// private in any case. Returns true if the path is still valid.
///
/// The values have no fixed size.
pub(crate) fn add_if_absent<P: PagesMut>(
    pages: &mut P,
    tree: &mut Tree,
    path: &mut Path,
    key: &[u8],
    value: &[u8],
) -> Result<bool, BoxedError> {
    debug_assert!(tree.has_duplicates() && !tree.has_fixed_values());
    tree::touch_path(pages, tree, path)?;
    let leaf = tree::leaf_of(path, tree)?;
    let at = {
        let view = pages.view();
        let page = view.tree_page_inlined(leaf.pgno, PageKind::Leaf)?;
        let node = page.leaf(leaf.index).map_err(Error::at(leaf.pgno))?;
        match values_of(view, tree, leaf.pgno, &node)? {
            Values::One(old) if tree.value_order.compare(value, old).is_eq() => return Ok(true),
            Values::One(_) => ValueAt::One,
            Values::Page(page) => {
                let found = tree::lower_bound(&page, tree.value_order, value);
                let (index, exact) = found.map_err(Error::at(leaf.pgno))?;
                if exact {
                    return Ok(true);
                }
                let (mut page, is_checked) = pages.sound_leaf_mut(leaf.pgno)?;
                let added = page.insert_in_sub_page(leaf.index, index, value, is_checked);
                if added.map_err(Error::at(leaf.pgno))? {
                    tree.record.entries = tree.record.entries.saturating_add(1);
                    return Ok(true);
                }
                ValueAt::Page(index)
            }
            Values::Tree(mut inner) => {
                let (mut inner_path, before) = (Path::new(), inner.record);
                if !tree::seek(pages.view(), &inner, value, &mut inner_path)? {
                    tree::touch_path(pages, &mut inner, &mut inner_path)?;
                    tree::insert(pages, &mut inner, &mut inner_path, value, NO_VALUE)?;
                    store_inner(pages, tree, leaf, &before, &inner.record)?;
                }
                return Ok(true);
            }
        }
    };
    add_value(pages, tree, path, at, key, value)
}
