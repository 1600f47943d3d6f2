//! The files that callgrind leaves: where instructions ran, and how often.

use std::collections::HashMap;

/// Number of bytes that a processor's cache fetches together.
const LINE: u64 = 64;

/// Where instructions are.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CodePlace<'t> {
    pub(crate) object: &'t str,
    pub(crate) function: &'t str,
    /// Within the object, if the file has addresses. Otherwise 0.
    pub(crate) address: u64,
}

/// Names of one kind by their numbers. A name has its text once: `(3) text`, later `(3)`.
#[derive(Debug, Default)]
struct Numbered<'t>(HashMap<&'t str, &'t str>);

#[derive(Debug, Default)]
struct Names<'t> {
    objects: Numbered<'t>,
    functions: Numbered<'t>,
}

impl<'t> Numbered<'t> {
    fn text(&mut self, name: &'t str) -> &'t str {
        match name.split_once(' ') {
            Some((number, text)) => {
                self.0.insert(number, text);
                text
            }
            None => self.0.get(name).copied().unwrap_or_default(),
        }
    }
}

/// Returns place and instructions of each line of costs. Those of called functions are at their own
/// lines.
pub(crate) fn own_costs(file: &str) -> impl Iterator<Item = (CodePlace<'_>, u64)> {
    let mut names = Names::default();
    let mut place = CodePlace::default();
    let mut is_call = false;
    file.lines().filter_map(move |line| {
        if let Some(name) = line.strip_prefix("ob=") {
            place.object = names.objects.text(name);
        } else if let Some(name) = line.strip_prefix("cob=") {
            names.objects.text(name);
        } else if let Some(name) = line.strip_prefix("fn=") {
            place.function = names.functions.text(name);
        } else if let Some(name) = line.strip_prefix("cfn=") {
            names.functions.text(name);
        } else if line.starts_with("calls=") {
            is_call = true;
        } else if line.starts_with(|first: char| first.is_ascii_digit() || "+-*".contains(first)) {
            let mut words = line.split_whitespace();
            let address = words.next()?.strip_prefix("0x");
            place.address = address.map_or(Some(0), |hex| u64::from_str_radix(hex, 16).ok())?;
            let cost = words.next()?.parse().ok()?;
            return (!std::mem::take(&mut is_call)).then_some((place, cost));
        }
        None
    })
}

/// Returns the bytes of a library's code, in whole cache lines, in which some instruction ran
/// `runs` times or more. The file has addresses.
pub(crate) fn touched_code(file: &str, library: &str, runs: u64) -> u64 {
    let mut instructions = HashMap::<u64, u64>::new();
    for (place, cost) in own_costs(file) {
        let name = place.object.rsplit('/').next().unwrap_or_default();
        if name.starts_with(library) {
            // One instruction has a line for each function it was inlined into.
            *instructions.entry(place.address).or_default() += cost;
        }
    }
    let often = instructions.iter().filter(|(_, cost)| **cost >= runs);
    let mut lines: Vec<u64> = often.map(|(address, _)| address / LINE).collect();
    lines.sort_unstable();
    lines.dedup();
    lines.len() as u64 * LINE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_counted_in_lines_that_run_often() {
        let file = "positions: instr\nevents: Ir\n\nob=(1) /lib/liblmdb.so.0\nfn=(1) mdb_get\n0x1000 10\n0x103f 10\n\
                    0x1040 9\n0x2000 6\ncob=(2) /lib/libc.so\ncfn=(2) memcmp\ncalls=5 0x9000\n0x3000 500\n\n\
                    fn=(3) other\n0x2000 4\n\nob=(2)\nfn=(2)\n0x9000 500\n";
        assert_eq!(touched_code(file, "liblmdb", 10), 2 * LINE);
        assert_eq!(touched_code(file, "liblmdb", 9), 3 * LINE);
        assert_eq!(touched_code(file, "libc", 10), LINE);
        assert_eq!(touched_code(file, "libm", 1), 0);
    }
}
