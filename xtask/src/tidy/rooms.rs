//! Circles: between the folders of a crate none, between its files pairs at most.

use crate::rust::{CrateImports, read_crate, strong_components};
use std::collections::{BTreeMap, BTreeSet};

/// Checks every crate; `pairs` lists the pairs of files that may still use each other.
///
/// `sources` holds `(path from the root, text)` of all Rust files.
pub(crate) fn faults(
    sources: &[(String, String)],
    pairs: &BTreeSet<(String, String)>,
) -> Vec<String> {
    let mut crates: BTreeMap<&str, Vec<(String, String)>> = BTreeMap::new();
    for (path, text) in sources {
        if let Some((folder, file)) = path.split_once("/src/") {
            let file = (file.to_owned(), text.clone());
            crates.entry(folder).or_default().push(file);
        }
    }
    let mut faults = Vec::new();
    let mut seen = BTreeSet::new();
    for (folder, sources) in &crates {
        match read_crate(sources) {
            Ok(imports) => {
                faults.extend(file_circles(folder, &imports, pairs, &mut seen));
                faults.extend(folder_circles(folder, &imports));
            }
            Err(error) => faults.push(format!("{folder}/src/{error}")),
        }
    }
    for (first, second) in pairs.difference(&seen) {
        faults.push(format!(
            "{first} and {second} no longer use each other: remove their row from xtask/tidy.txt"
        ));
    }
    faults
}

fn file_circles(
    folder: &str,
    imports: &CrateImports,
    pairs: &BTreeSet<(String, String)>,
    seen: &mut BTreeSet<(String, String)>,
) -> Vec<String> {
    let arrows: Vec<(usize, usize)> = imports.arrows.iter().copied().collect();
    let mut faults = Vec::new();
    for circle in strong_components(imports.files.len(), &arrows) {
        let names: Vec<String> = circle
            .iter()
            .map(|file| format!("{folder}/src/{}", imports.files[*file]))
            .collect();
        if let [first, second] = names.as_slice() {
            let pair = (first.clone(), second.clone());
            if pairs.contains(&pair) {
                seen.insert(pair);
                continue;
            }
        }
        faults.push(format!(
            "these {} files use each other in a circle: {}",
            names.len(),
            names.join(", ")
        ));
    }
    faults
}

/// Checks the folders directly below each folder against each other.
fn folder_circles(folder: &str, imports: &CrateImports) -> Vec<String> {
    let mut parents = BTreeSet::from([String::new()]);
    for file in &imports.files {
        let mut path = file.as_str();
        while let Some((parent, _)) = path.rsplit_once('/') {
            parents.insert(format!("{parent}/"));
            path = parent;
        }
    }
    let mut faults = Vec::new();
    for parent in &parents {
        let room = |file: usize| {
            let (name, _) = imports.files[file]
                .strip_prefix(parent.as_str())?
                .split_once('/')?;
            Some(name)
        };
        let rooms: BTreeSet<&str> = (0..imports.files.len()).filter_map(room).collect();
        let rooms: Vec<&str> = rooms.into_iter().collect();
        let index = |name: &str| rooms.iter().position(|room| *room == name);
        let mut arrows = BTreeMap::new();
        for (from, to) in &imports.arrows {
            let rooms = room(*from).and_then(index).zip(room(*to).and_then(index));
            if let Some((above, below)) = rooms.filter(|(above, below)| above != below) {
                arrows.entry((above, below)).or_insert((*from, *to));
            }
        }
        let edges: Vec<(usize, usize)> = arrows.keys().copied().collect();
        for circle in strong_components(rooms.len(), &edges) {
            let names: Vec<&str> = circle.iter().map(|room| rooms[*room]).collect();
            let examples: Vec<String> = arrows
                .iter()
                .filter(|((above, below), _)| circle.contains(above) && circle.contains(below))
                .map(|(_, (from, to))| {
                    format!("{} -> {}", imports.files[*from], imports.files[*to])
                })
                .collect();
            faults.push(format!(
                "folders of {folder}/src/{parent} use each other in a circle: {} ({})",
                names.join(", "),
                examples.join("; ")
            ));
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(files: &[(&str, &str)], pairs: &[(&str, &str)]) -> Vec<String> {
        let sources: Vec<(String, String)> = files
            .iter()
            .map(|(path, text)| (format!("crates/x/src/{path}"), (*text).to_owned()))
            .collect();
        let path = |file: &str| format!("crates/x/src/{file}");
        let pairs = pairs.iter().map(|(a, b)| (path(a), path(b))).collect();
        faults(&sources, &pairs)
    }

    #[test]
    fn a_pair_needs_its_row_and_the_row_needs_its_pair() {
        let files = [
            ("lib.rs", "mod a; mod b;"),
            ("a.rs", "use crate::b::B; pub(crate) struct A;"),
            ("b.rs", "use crate::a::A; pub(crate) struct B;"),
        ];
        assert_eq!(check(&files, &[]).len(), 1);
        assert!(check(&files, &[("a.rs", "b.rs")]).is_empty());
        assert!(check(&files[..1], &[("a.rs", "b.rs")])[0].contains("remove their row"));
    }

    #[test]
    fn three_files_are_never_allowed() {
        let files = [
            ("lib.rs", "mod a; mod b; mod c;"),
            ("a.rs", "use crate::b::B;"),
            ("b.rs", "use crate::c::C;"),
            ("c.rs", "use crate::a::A;"),
        ];
        assert!(check(&files, &[])[0].contains("3 files"));
    }

    #[test]
    fn folders_may_not_use_each_other_even_through_different_files() {
        let files = [
            ("lib.rs", "mod a; mod b;"),
            ("a/mod.rs", "mod x; mod y;"),
            ("a/x.rs", "use crate::b::p::P;"),
            ("a/y.rs", "pub(crate) struct Y;"),
            ("b/mod.rs", "pub(crate) mod p; mod q;"),
            ("b/p.rs", "pub(crate) struct P;"),
            ("b/q.rs", "use crate::a::y::Y;"),
        ];
        let found = check(&files, &[]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("a, b"), "{found:?}");
    }
}
