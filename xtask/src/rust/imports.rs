//! The arrows of a crate: each file with the files that it uses.

use super::module_path::{is_test_file, module_path};
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use syn::{Attribute, Item, UseTree, Visibility};

/// The files of a crate without its tests, and the arrows between them.
pub(crate) struct CrateImports {
    /// Paths relative to `src`.
    pub(crate) files: Vec<String>,
    /// Pairs of indices into `files`: the first uses the second.
    pub(crate) arrows: BTreeSet<(usize, usize)>,
}

/// Reads the arrows of one crate from `(path below src, text)` pairs.
///
/// # Errors
/// Returns the file and the parser's message for a file that is not Rust.
pub(crate) fn read_crate(sources: &[(String, String)]) -> Result<CrateImports, String> {
    let kept = sources.iter().filter(|(path, _)| !is_test_file(path));
    let mut files = Vec::new();
    let mut parsed = Vec::new();
    for (path, text) in kept {
        let file = syn::parse_file(text).map_err(|error| format!("{path}: {error}"))?;
        files.push(path.clone());
        parsed.push(file);
    }
    let modules: HashMap<Vec<String>, usize> = files
        .iter()
        .enumerate()
        .map(|(index, path)| (module_path(path), index))
        .collect();
    let mut reader = Reader {
        exports: vec![BTreeMap::new(); files.len()],
        modules,
    };
    let own: Vec<Vec<String>> = files.iter().map(|path| module_path(path)).collect();
    for (index, file) in parsed.iter().enumerate() {
        reader.read_exports(index, &own[index], &file.items);
    }
    let mut arrows = BTreeSet::new();
    for (index, file) in parsed.iter().enumerate() {
        let mut paths = Vec::new();
        reader.read_uses(&own[index], &file.items, &mut paths);
        let targets = paths.iter().filter_map(|path| reader.resolve(path, 0));
        arrows.extend(targets.filter(|to| *to != index).map(|to| (index, to)));
    }
    Ok(CrateImports { files, arrows })
}

struct Reader {
    modules: HashMap<Vec<String>, usize>,
    /// For each file: a re-exported name and the path it comes from.
    exports: Vec<BTreeMap<String, Vec<String>>>,
}

impl Reader {
    /// Collects `pub use` items: they name another home for an item and are no arrows.
    fn read_exports(&mut self, index: usize, own: &[String], items: &[Item]) {
        for item in items {
            let Item::Use(item) = item else { continue };
            if matches!(item.vis, Visibility::Inherited) {
                continue;
            }
            for (name, path) in expand(&item.tree) {
                if let Some(path) = self.absolute(own, &path) {
                    self.exports[index].insert(name, path);
                }
            }
        }
    }

    /// Collects the absolute paths that `items` use, without test modules and re-exports.
    fn read_uses(&self, module: &[String], items: &[Item], paths: &mut Vec<Vec<String>>) {
        let mut aliases: HashMap<String, Vec<String>> = HashMap::new();
        for item in items {
            let Item::Use(item) = item else { continue };
            if is_test(&item.attrs) || !matches!(item.vis, Visibility::Inherited) {
                continue;
            }
            for (name, path) in expand(&item.tree) {
                let Some(path) = self.absolute(module, &path) else {
                    continue;
                };
                // A `use` of a folder's module alone is an arrow only through what is used of it.
                let folder = self.modules.contains_key(&path);
                if !folder || self.is_leaf(&path) {
                    paths.push(path.clone());
                }
                aliases.insert(name, path);
            }
        }
        for item in items {
            match item {
                Item::Use(_) => {}
                Item::Mod(inner) => {
                    if let (false, Some((_, items))) = (is_test(&inner.attrs), &inner.content) {
                        let mut module = module.to_vec();
                        module.push(inner.ident.to_string());
                        self.read_uses(&module, items, paths);
                    }
                }
                other if is_test(attributes(other)) => {}
                other => {
                    let mut found = Vec::new();
                    token_paths(other.to_token_stream(), &mut found);
                    for path in found {
                        let path = match aliases.get(&path[0]) {
                            Some(start) if path.len() > 1 => {
                                Some([start.as_slice(), &path[1..]].concat())
                            }
                            _ => self.absolute(module, &path),
                        };
                        paths.extend(path);
                    }
                }
            }
        }
    }

    fn is_leaf(&self, module: &[String]) -> bool {
        !self
            .modules
            .keys()
            .any(|other| other.len() > module.len() && other.starts_with(module))
    }

    /// Turns a path as written in `module` into a path from the root of this crate.
    ///
    /// Returns `None` for a path into another crate.
    fn absolute(&self, module: &[String], path: &[String]) -> Option<Vec<String>> {
        let mut base = module.to_vec();
        let mut rest = path;
        match rest.first()?.as_str() {
            "crate" => {
                base.clear();
                rest = &rest[1..];
            }
            "self" => rest = &rest[1..],
            "super" => {
                while rest.first().is_some_and(|part| part == "super") {
                    base.pop()?;
                    rest = &rest[1..];
                }
            }
            child => {
                let mut inner = base.clone();
                inner.push(child.to_owned());
                if !self.modules.contains_key(&inner) {
                    return None;
                }
            }
        }
        base.extend_from_slice(rest);
        Some(base)
    }

    /// Returns the file that defines what an absolute path names, following re-exports.
    fn resolve(&self, path: &[String], depth: usize) -> Option<usize> {
        let length = (0..=path.len())
            .rev()
            .find(|length| self.modules.contains_key(&path[..*length]))?;
        let file = self.modules[&path[..length]];
        let export = path
            .get(length)
            .and_then(|name| self.exports[file].get(name));
        match export {
            Some(target) if depth < 16 => {
                let target = [target.as_slice(), &path[length + 1..]].concat();
                self.resolve(&target, depth + 1)
            }
            _ => Some(file),
        }
    }
}

/// Returns each name that a `use` brings in, with its path as written.
fn expand(tree: &UseTree) -> Vec<(String, Vec<String>)> {
    let mut found = Vec::new();
    expand_into(tree, &mut Vec::new(), &mut found);
    found
}

fn expand_into(tree: &UseTree, prefix: &mut Vec<String>, found: &mut Vec<(String, Vec<String>)>) {
    let last = |prefix: &[String]| prefix.last().cloned().unwrap_or_default();
    match tree {
        UseTree::Path(path) => {
            prefix.push(path.ident.to_string());
            expand_into(&path.tree, prefix, found);
            prefix.pop();
        }
        UseTree::Group(group) => {
            for tree in &group.items {
                expand_into(tree, prefix, found);
            }
        }
        UseTree::Name(name) if name.ident == "self" => found.push((last(prefix), prefix.clone())),
        UseTree::Name(name) => {
            let mut path = prefix.clone();
            path.push(name.ident.to_string());
            found.push((name.ident.to_string(), path));
        }
        UseTree::Rename(rename) => {
            let mut path = prefix.clone();
            if rename.ident != "self" {
                path.push(rename.ident.to_string());
            }
            found.push((rename.rename.to_string(), path));
        }
        UseTree::Glob(_) => found.push((last(prefix), prefix.clone())),
    }
}

/// Collects every `a::b` sequence of identifiers, also inside macro calls.
fn token_paths(tokens: TokenStream, found: &mut Vec<Vec<String>>) {
    let mut path: Vec<String> = Vec::new();
    let mut colons = 0;
    for token in tokens {
        match token {
            TokenTree::Ident(ident) => {
                if colons != 2 {
                    finish(&mut path, found);
                }
                path.push(ident.to_string());
                colons = 0;
            }
            TokenTree::Punct(punct) if punct.as_char() == ':' => colons += 1,
            TokenTree::Group(group) => {
                finish(&mut path, found);
                colons = 0;
                token_paths(group.stream(), found);
            }
            _ => {
                finish(&mut path, found);
                colons = 0;
            }
        }
    }
    finish(&mut path, found);
}

fn finish(path: &mut Vec<String>, found: &mut Vec<Vec<String>>) {
    let path = std::mem::take(path);
    if path.len() > 1 {
        found.push(path);
    }
}

/// Returns true for an item that only test builds compile.
pub(crate) fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg") && attribute.to_token_stream().to_string().contains("test")
    })
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Const(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrows(sources: &[(&str, &str)]) -> Vec<String> {
        let sources: Vec<(String, String)> = sources
            .iter()
            .map(|(path, text)| ((*path).to_owned(), (*text).to_owned()))
            .collect();
        let imports = read_crate(&sources).expect("Rust");
        let name = |index: usize| &imports.files[index];
        imports
            .arrows
            .iter()
            .map(|(from, to)| format!("{} -> {}", name(*from), name(*to)))
            .collect()
    }

    #[test]
    fn a_reexport_leads_to_the_file_that_defines_the_item() {
        let found = arrows(&[
            ("lib.rs", "mod a; mod b;"),
            ("a/mod.rs", "mod c; pub(crate) use c::Thing;"),
            ("a/c.rs", "pub(crate) struct Thing;"),
            ("b.rs", "use crate::a::Thing;"),
        ]);
        assert_eq!(found, ["b.rs -> a/c.rs"]);
    }

    #[test]
    fn paths_in_bodies_and_macros_count() {
        let found = arrows(&[
            ("lib.rs", "mod a; mod b; mod c;"),
            ("a.rs", "fn f() { crate::b::g(); }"),
            ("b.rs", "fn g() { println!(\"{}\", super::c::N); }"),
            ("c.rs", "pub(crate) const N: u8 = 1;"),
        ]);
        assert_eq!(found, ["a.rs -> b.rs", "b.rs -> c.rs"]);
    }

    #[test]
    fn a_module_named_by_use_is_followed() {
        let found = arrows(&[
            ("lib.rs", "mod a; mod b;"),
            ("a/mod.rs", "mod c; pub(crate) use c::f;"),
            ("a/c.rs", "pub(crate) fn f() {}"),
            ("b.rs", "use crate::a; fn g() { a::f(); }"),
        ]);
        assert_eq!(found, ["b.rs -> a/c.rs"]);
    }

    #[test]
    fn tests_make_no_arrows() {
        let found = arrows(&[
            ("lib.rs", "mod a; mod b;"),
            (
                "a.rs",
                "#[cfg(test)] mod tests { use crate::b::X; } #[cfg(test)] fn t() { crate::b::f() }",
            ),
            ("b.rs", "pub(crate) struct X;"),
            ("b/tests.rs", "use crate::a::X;"),
        ]);
        assert!(found.is_empty(), "{found:?}");
    }
}
