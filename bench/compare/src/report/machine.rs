//! Tables that are about the machine and about threads, and not about any workload.

use std::fmt::Write as _;

use crate::limits::Limits;
use crate::shared::Shared;

/// The limits of memory, kernel, disk and sockets.
pub(crate) fn limits(limits: &Limits) -> String {
    let mut out = String::from("\n## What the machine allows\n\n");
    for (name, text) in &limits.circumstances {
        let _ = writeln!(out, "- {name}: {text}");
    }
    out.push_str("\n| what | measured | bounds |\n| --- | --- | --- |\n");
    for line in &limits.lines {
        let _ = writeln!(
            out,
            "| {} | {:.1} {} | {} |",
            line.what, line.amount, line.unit, line.bounds
        );
    }
    out
}

/// The stores of readers, and how many of them other readers read.
pub(crate) fn shared(lines: &[Shared]) -> String {
    let mut out = String::from(
        "\n## Stores on the path of readers\n\nTwo threads, counted exactly (valgrind, lackey): stores into cache lines that the other thread touches as well are shared.\n\n\
         | engine | transactions and as many renewals | lookups | stores | shared stores | shared lines |\n\
         | --- | --- | --- | --- | --- | --- |\n",
    );
    for line in lines {
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | **{}** | {} |",
            line.title,
            line.transactions,
            line.lookups,
            line.stores,
            line.shared_stores,
            line.shared_lines
        );
    }
    out
}
