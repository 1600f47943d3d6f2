//! The rules of language for comments, documents and messages, as far as a program can check them.
//!
//! ```text
//! file -> lines of prose and literals -> paragraphs -> sentences -> rules
//! ```
//!
//! CONTRIBUTING.md has all eight rules. Checked here are the length of a sentence, its first word,
//! banned phrases and the width of a line.

mod literals;
mod paragraphs;
mod rules;
mod sentences;

/// Reports every breach in one file; `name` is its path from the root.
pub(crate) fn faults(name: &str, text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    for number in paragraphs::wide_lines(name, text) {
        faults.push(format!("{name}:{number}: wrap this line at 100 columns"));
    }
    let comments = paragraphs::read(name, text);
    for paragraph in comments.into_iter().chain(literals::read(name, text)) {
        for sentence in sentences::split(&paragraph) {
            for fault in rules::check(&sentence.text) {
                faults.push(format!(
                    "{name}:{}: {fault}: {}",
                    sentence.line, sentence.text
                ));
            }
        }
    }
    faults
}

/// Returns the number of sentences in one file.
pub(crate) fn sentence_count(name: &str, text: &str) -> usize {
    let paragraphs = paragraphs::read(name, text);
    let counts = paragraphs.iter().map(|one| sentences::split(one).len());
    counts.sum()
}

/// Reports a commit subject that is too long or opens as no statement may.
pub(crate) fn subject_faults(subject: &str) -> Vec<String> {
    const LENGTH_MAX: usize = 65;
    let mut faults = Vec::new();
    let length = subject.chars().count();
    if length > LENGTH_MAX {
        faults.push(format!(
            "commit subject of {length} characters, {LENGTH_MAX} at most: {subject}"
        ));
    }
    if let Some(fault) = rules::opening(subject) {
        faults.push(format!("commit subject: {fault}: {subject}"));
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_names_the_line_of_its_sentence() {
        let text =
            "/// Reads one page. The page\n/// is checked. What is wrong is an error.\nfn f() {}\n";
        let found = faults("a.rs", text);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("a.rs:2: "), "{found:?}");
    }

    #[test]
    fn markdown_and_shell_are_read_too() {
        assert_eq!(faults("a.md", "Whoever reads this, stops.\n").len(), 1);
        assert_eq!(
            faults("a.sh", "#!/bin/sh\n# What is this\necho What\n").len(),
            1
        );
        assert!(faults("a.ldif", "# What is this\n").is_empty());
    }

    #[test]
    fn subjects_are_short() {
        assert!(subject_faults("Move the public Environment above txn").is_empty());
        assert_eq!(subject_faults(&"x".repeat(66)).len(), 1);
        assert_eq!(subject_faults("What is asked for is prefetched").len(), 1);
    }
}
