//! `cargo xtask survey`: figures of the code as one table, for a comparison over time.

use crate::checkout::tracked_texts;
use crate::rust::{is_test_file, read_crate, strong_components};
use crate::tidy;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::ExitCode;
use syn::spanned::Spanned;
use syn::visit::Visit;

/// Lines of a function above which it counts as long.
const LONG_FUNCTION_LINES: usize = 60;

/// Parameters of a function, `self` included, above which it counts as wide.
const PARAMETERS_MAX: usize = 5;

/// Folders whose assertions are counted: they hold the invariants.
const ASSERTED: [&str; 7] = [
    "crates/engine/src/space/",
    "crates/engine/src/tree/",
    "crates/engine/src/txn/",
    "crates/store/src/idset/",
    "crates/store/src/write/",
    "crates/store/src/plan/",
    "crates/directory/src/write/",
];

/// Prints the table for the checkout at `root`.
pub(crate) fn run(root: &Path) -> ExitCode {
    match table(root) {
        Ok(rows) => {
            println!("| figure | value |\n| --- | --- |");
            for (name, value) in rows {
                println!("| {name} | {value} |");
            }
            ExitCode::SUCCESS
        }
        Err(reason) => {
            eprintln!("survey: {reason}");
            ExitCode::FAILURE
        }
    }
}

fn table(root: &Path) -> Result<Vec<(String, String)>, String> {
    let texts = tracked_texts(root)?;
    let rust: Vec<&(String, String)> = texts
        .iter()
        .filter(|(name, _)| name.ends_with(".rs"))
        .collect();
    let mut rows = Vec::new();
    rows.extend(circle_rows(&rust)?);
    rows.extend(size_rows(&rust));
    rows.extend(code_rows(&rust)?);
    rows.extend(prose_rows(&texts));
    rows.extend(lock_rows(root)?);
    Ok(rows)
}

fn circle_rows(rust: &[&(String, String)]) -> Result<Vec<(String, String)>, String> {
    let mut crates: BTreeMap<&str, Vec<(String, String)>> = BTreeMap::new();
    for (path, text) in rust {
        if let Some((folder, file)) = path.split_once("/src/") {
            let source = (file.to_owned(), text.clone());
            crates.entry(folder).or_default().push(source);
        }
    }
    let mut sizes = Vec::new();
    let mut largest = (0, "");
    for (folder, sources) in &crates {
        let imports = read_crate(sources)?;
        let arrows: Vec<(usize, usize)> = imports.arrows.iter().copied().collect();
        for circle in strong_components(imports.files.len(), &arrows) {
            sizes.push(circle.len());
            largest = largest.max((circle.len(), folder));
        }
    }
    sizes.sort_unstable_by(|one, other| other.cmp(one));
    let pairs = sizes.iter().filter(|size| **size == 2).count();
    let longer: Vec<String> = sizes
        .iter()
        .filter(|size| **size > 2)
        .map(usize::to_string)
        .collect();
    Ok(vec![
        row("circles of files, sizes above two", longer.join(" ")),
        row("pairs of files that use each other", pairs),
        row(
            "files in the largest circle",
            format!("{} ({})", largest.0, largest.1),
        ),
    ])
}

fn size_rows(rust: &[&(String, String)]) -> Vec<(String, String)> {
    let product = rust.iter().filter(|(name, _)| is_product(name));
    let mut lines: Vec<(usize, &str)> = product
        .map(|(name, text)| (text.lines().count(), name.as_str()))
        .collect();
    lines.sort_unstable();
    let total: usize = lines.iter().map(|(count, _)| count).sum();
    let median = lines.get(lines.len() / 2).map_or(0, |(count, _)| *count);
    let (longest, name) = lines.last().copied().unwrap_or_default();
    vec![
        row("Rust files without tests", lines.len()),
        row("lines in them", total),
        row("median file, lines", median),
        row("longest file, lines", format!("{longest} ({name})")),
    ]
}

fn code_rows(rust: &[&(String, String)]) -> Result<Vec<(String, String)>, String> {
    let mut total = Counts::default();
    let mut rows = Vec::new();
    let mut asserted = vec![Counts::default(); ASSERTED.len()];
    for (name, text) in rust.iter().filter(|(name, _)| is_product(name)) {
        let file = syn::parse_file(text).map_err(|error| format!("{name}: {error}"))?;
        let mut counts = Counts::default();
        counts.visit_file(&file);
        total.add(&counts);
        if let Some(index) = ASSERTED.iter().position(|folder| name.starts_with(folder)) {
            asserted[index].add(&counts);
        }
    }
    rows.push(row("functions", total.functions));
    rows.push(row("functions over 60 lines", total.long));
    rows.push(row("functions over 5 parameters", total.wide));
    rows.push(row("unsafe blocks and impls", total.unsafe_blocks));
    let arguments = safety_arguments(rust);
    let alone = arguments.iter().filter(|text| stands_alone(text)).count();
    rows.push(row("SAFETY arguments", arguments.len()));
    rows.push(row(
        "SAFETY arguments without a reference to another",
        alone,
    ));
    for (folder, counts) in ASSERTED.iter().zip(&asserted) {
        let ratio = counts.assertions as f64 / counts.functions.max(1) as f64;
        let text = format!("{ratio:.2} ({} / {})", counts.assertions, counts.functions);
        rows.push(row(&format!("assertions per function in {folder}"), text));
    }
    Ok(rows)
}

fn prose_rows(texts: &[(String, String)]) -> Vec<(String, String)> {
    let sentences: usize = texts
        .iter()
        .map(|(name, text)| tidy::sentence_count(name, text))
        .sum();
    let faults: Vec<String> = texts
        .iter()
        .flat_map(|(name, text)| tidy::prose_faults(name, text))
        .collect();
    let with = |words: &str| faults.iter().filter(|fault| fault.contains(words)).count();
    vec![
        row("sentences in comments and documents", sentences),
        row("sentences over 20 words", with(" words, ")),
        row(
            "sentences with a forbidden opening",
            with(": do not open with "),
        ),
        row("banned phrases", with(" has a plainer form: ")),
        row(
            "sentences with two colons or semicolons",
            with(" colons or semicolons, "),
        ),
        row("lines of prose over 100 columns", with(": wrap this line ")),
    ]
}

fn lock_rows(root: &Path) -> Result<Vec<(String, String)>, String> {
    let lock =
        std::fs::read_to_string(root.join("Cargo.lock")).map_err(|error| error.to_string())?;
    let names: Vec<&str> = lock
        .lines()
        .filter_map(|line| line.strip_prefix("name = "))
        .map(|name| name.trim_matches('"'))
        .collect();
    let distinct: BTreeSet<&str> = names.iter().copied().collect();
    let more = |name: &str| names.iter().filter(|other| **other == name).count() > 1;
    let doubles: Vec<&str> = distinct.into_iter().filter(|name| more(name)).collect();
    Ok(vec![
        row("crates in Cargo.lock", names.len()),
        row(
            "crates there in several versions",
            format!("{} ({})", doubles.len(), doubles.join(" ")),
        ),
    ])
}

fn row(name: &str, value: impl ToString) -> (String, String) {
    (name.to_owned(), value.to_string())
}

/// Returns true for sources of the crates, without tests, benches and the tools around them.
fn is_product(name: &str) -> bool {
    let tools = ["bench/", "fuzz/", "xtask/", "tests/"];
    !tools.iter().any(|folder| name.starts_with(folder))
        && !is_test_file(name)
        && !name.contains("/benches/")
        && !name.contains("/examples/")
}

/// Returns each `SAFETY:` comment of all sources as one text.
fn safety_arguments(rust: &[&(String, String)]) -> Vec<String> {
    let mut arguments = Vec::new();
    for (_, text) in rust.iter().filter(|(name, _)| is_product(name)) {
        let mut open: Option<String> = None;
        for line in text.lines() {
            let comment = line.trim_start().strip_prefix("//");
            match (comment, &mut open) {
                (Some(comment), _) if comment.trim_start().starts_with("SAFETY:") => {
                    arguments.extend(open.replace(comment.to_owned()));
                }
                (Some(comment), Some(argument)) => argument.push_str(comment),
                _ => arguments.extend(open.take()),
            }
        }
        arguments.extend(open);
    }
    arguments
}

fn stands_alone(argument: &str) -> bool {
    let lower = argument.to_lowercase();
    ![
        "as above",
        "see above",
        "caller's promise",
        "caller promises",
        "as before",
        "likewise",
    ]
    .iter()
    .any(|phrase| lower.contains(phrase))
}

/// Counts of the code in one or several files, without test modules.
#[derive(Clone, Default)]
struct Counts {
    functions: usize,
    long: usize,
    wide: usize,
    unsafe_blocks: usize,
    assertions: usize,
}

impl Counts {
    fn add(&mut self, other: &Self) {
        self.functions += other.functions;
        self.long += other.long;
        self.wide += other.wide;
        self.unsafe_blocks += other.unsafe_blocks;
        self.assertions += other.assertions;
    }

    fn function(&mut self, signature: &syn::Signature, block: &syn::Block) {
        let span = block.span();
        let lines = span.end().line + 1 - signature.span().start().line;
        self.functions += 1;
        self.long += usize::from(lines > LONG_FUNCTION_LINES);
        self.wide += usize::from(signature.inputs.len() > PARAMETERS_MAX);
    }
}

impl<'ast> Visit<'ast> for Counts {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !crate::rust::is_test(&item.attrs) {
            syn::visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        if !crate::rust::is_test(&item.attrs) {
            self.function(&item.sig, &item.block);
            syn::visit::visit_item_fn(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.function(&item.sig, &item.block);
        syn::visit::visit_impl_item_fn(self, item);
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        self.unsafe_blocks += usize::from(item.unsafety.is_some());
        syn::visit::visit_item_impl(self, item);
    }

    fn visit_expr_unsafe(&mut self, block: &'ast syn::ExprUnsafe) {
        self.unsafe_blocks += 1;
        syn::visit::visit_expr_unsafe(self, block);
    }

    fn visit_macro(&mut self, item: &'ast syn::Macro) {
        let name = item.path.segments.last().map(|part| part.ident.to_string());
        let name = name.unwrap_or_default();
        self.assertions +=
            usize::from(name.starts_with("assert") || name.starts_with("debug_assert"));
        syn::visit::visit_macro(self, item);
    }
}
