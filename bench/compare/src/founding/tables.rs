//! All tables, in their order.

use super::papers::Table;
use super::servers::{F8, F9, F10, F11, F12, F13, F14, F15, F16, F17, F18, F19, F20, F22};
use super::stores::{F1, F2, F3, F4, F5, F6, F7, F21};

/// All tables.
pub(crate) const TABLES: &[Table] = &[
    F1, F2, F3, F4, F5, F6, F7, F8, F9, F10, F11, F12, F13, F14, F15, F16, F17, F18, F19, F20, F21,
    F22,
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn tables_are_complete() {
        let ids: Vec<String> = (1..=22).map(|number| format!("F{number}")).collect();
        let found: Vec<&str> = TABLES.iter().map(|table| table.id).collect();
        assert_eq!(found, ids);
        for table in TABLES {
            let lines: HashSet<_> = table.lines.iter().map(|line| line.what).collect();
            assert_eq!(lines.len(), table.lines.len(), "{}", table.id);
            let most = table.contenders.len();
            assert!(
                table.lines.iter().all(|line| line.theirs.len() <= most),
                "{}",
                table.id
            );
        }
    }

    #[test]
    fn their_ratios_are_those_of_the_texts() {
        let ratio = |table: &Table, line: usize, other: usize| {
            let line = table.lines[line];
            let ratio = line.unit.better(line.theirs[0], line.theirs[other]);
            (ratio.unwrap_or_default() * 100.0).round() / 100.0
        };
        assert_eq!(ratio(&F1, 0, 1), 17.37);
        assert_eq!((ratio(&F2, 0, 1), ratio(&F2, 1, 1)), (16.48, 4.43));
        assert_eq!((ratio(&F3, 0, 2), ratio(&F3, 2, 1)), (171.27, 215.26));
        assert_eq!((ratio(&F8, 0, 1), ratio(&F8, 1, 1)), (2.24, 4.1));
        assert_eq!((ratio(&F9, 0, 1), ratio(&F9, 1, 1)), (20.48, 1.63));
        assert_eq!((ratio(&F12, 0, 1), ratio(&F13, 0, 1)), (1.77, 0.3));
        assert_eq!((ratio(&F16, 0, 1), ratio(&F17, 0, 1)), (5.65, 1.85));
        assert_eq!((ratio(&F18, 0, 1), ratio(&F21, 0, 1)), (2.95, 1.04));
    }
}
