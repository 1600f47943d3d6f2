//! `.schema` files in OpenLDAP's syntax: keyword lines, continued by leading white space, `#`
//! comments.

use super::statement::Statement;

/// Returns all statements of a file: logical lines with the number of their first physical line. A
/// comment or an empty line inside a continued statement is skipped, as OpenLDAP does.
pub(super) fn statements(text: &str) -> Vec<Statement> {
    let mut all: Vec<(usize, String)> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim_end();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        match all.last_mut() {
            Some((_, statement)) if line.starts_with([' ', '\t']) => {
                statement.push(' ');
                statement.push_str(line.trim_start());
            }
            _ => all.push((number + 1, line.trim_start().to_owned())),
        }
    }
    all.into_iter()
        .map(|(line, text)| {
            let (keyword, value) = text
                .split_once(char::is_whitespace)
                .unwrap_or((text.as_str(), ""));
            Statement {
                line,
                // Both `attributetype` and `attributetype:` are written.
                keyword: keyword.trim_end_matches(':').to_ascii_lowercase(),
                value: value.trim().to_owned(),
            }
        })
        .collect()
}
