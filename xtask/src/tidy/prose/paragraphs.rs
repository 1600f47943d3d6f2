//! Prose out of files: comments of Rust and of scripts, and Markdown.

/// Columns of a line of prose.
const COLUMNS_MAX: usize = 100;

/// One paragraph as `(line number, text)` pairs.
pub(super) type Paragraph = Vec<(usize, String)>;

/// Returns the paragraphs of a file, without code, tables and headings.
pub(super) fn read(name: &str, text: &str) -> Vec<Paragraph> {
    let mut splitter = Splitter::default();
    let mut previous = None;
    for (number, line) in text.lines().enumerate() {
        let prose = prose_of(name, line);
        // Another kind of comment, or code between two comments, ends a paragraph.
        let kind = prose.map(|(marker, _)| marker);
        if kind != previous {
            splitter.end_block();
            previous = kind;
        }
        if let Some((_, prose)) = prose {
            splitter.push(number + 1, prose);
        }
    }
    splitter.end_block();
    splitter.paragraphs
}

/// Returns the numbers of lines of prose that are too wide and could be wrapped.
pub(super) fn wide_lines(name: &str, text: &str) -> Vec<usize> {
    let mut fenced = false;
    let mut wide = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let Some((_, prose)) = prose_of(name, line) else {
            fenced = false;
            continue;
        };
        let prose = prose.trim();
        if prose.starts_with("```") {
            fenced = !fenced;
        }
        let breakable = !fenced && !prose.starts_with('|') && !prose.starts_with('#');
        let breakable = breakable && prose.split_whitespace().count() > 1;
        if breakable && line.chars().count() > COLUMNS_MAX {
            wide.push(number + 1);
        }
    }
    wide
}

/// Returns the comment's marker and text, or the whole line of a Markdown file.
fn prose_of<'l>(name: &str, line: &'l str) -> Option<(&'static str, &'l str)> {
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    let trimmed = line.trim_start();
    match extension {
        "md" => Some(("", line)),
        "rs" => ["///", "//!", "//"].into_iter().find_map(|marker| {
            let text = trimmed.strip_prefix(marker)?;
            Some((marker, text.strip_prefix(' ').unwrap_or(text)))
        }),
        "sh" | "toml" | "yml" => {
            let text = trimmed.strip_prefix('#')?;
            // Commented-out settings have no space, shown commands have several.
            let is_prose = text.starts_with(' ') && !text.starts_with("   ");
            Some(("#", if is_prose { &text[1..] } else { "" }))
        }
        _ => None,
    }
}

#[derive(Default)]
struct Splitter {
    paragraphs: Vec<Paragraph>,
    open: Paragraph,
    fenced: bool,
    in_list: bool,
}

impl Splitter {
    fn push(&mut self, number: usize, line: &str) {
        let text = line.trim();
        if text.starts_with("```") {
            self.fenced = !self.fenced;
            return self.end_paragraph();
        }
        let is_code = line.starts_with("    ") && !self.in_list && self.open.is_empty();
        let is_break = text.is_empty() || text.starts_with(['#', '|', '<']);
        if self.fenced || is_code || is_break || is_link_definition(text) {
            self.in_list &= !is_break;
            return self.end_paragraph();
        }
        match list_item(text) {
            Some(item) => {
                self.end_paragraph();
                self.in_list = true;
                self.open.push((number, item.to_owned()));
            }
            None => self.open.push((number, text.to_owned())),
        }
    }

    fn end_paragraph(&mut self) {
        if !self.open.is_empty() {
            self.paragraphs.push(std::mem::take(&mut self.open));
        }
    }

    fn end_block(&mut self) {
        self.end_paragraph();
        self.fenced = false;
        self.in_list = false;
    }
}

/// Returns the text behind a list marker such as `- ` or `12. `.
fn list_item(text: &str) -> Option<&str> {
    if let Some(item) = text.strip_prefix("- ").or_else(|| text.strip_prefix("* ")) {
        return Some(item);
    }
    let (number, item) = text.split_once(". ")?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then_some(item)
}

fn is_link_definition(text: &str) -> bool {
    text.starts_with('[') && text.contains("]: ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(name: &str, text: &str) -> Vec<String> {
        let paragraphs = read(name, text);
        let join = |one: &Paragraph| {
            let lines: Vec<&str> = one.iter().map(|(_, line)| line.as_str()).collect();
            lines.join(" ")
        };
        paragraphs.iter().map(join).collect()
    }

    #[test]
    fn code_tables_and_headings_are_no_prose() {
        let text = "# Title\n\nOne\ntwo.\n\n```sh\nWhat is code\n```\n| What | table |\n\n    code of four\n- item\n  goes on\n";
        assert_eq!(texts("a.md", text), ["One two.", "item goes on"]);
    }

    #[test]
    fn kinds_of_comments_are_separate() {
        let text = "//! Module.\n/// Item\n/// goes on.\nfn f() {\n    // Inner.\n}\n";
        assert_eq!(texts("a.rs", text), ["Module.", "Item goes on.", "Inner."]);
    }

    #[test]
    fn wide_code_is_not_wrapped() {
        let wide = format!("/// {}\n", "word ".repeat(30));
        assert_eq!(wide_lines("a.rs", &wide), [1]);
        let fenced = format!("/// ```\n{wide}/// ```\n");
        assert!(wide_lines("a.rs", &fenced).is_empty());
        let address = format!("/// {}\n", "x".repeat(120));
        assert!(wide_lines("a.rs", &address).is_empty());
    }
}
