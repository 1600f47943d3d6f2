//! The settings table as the manual page fulgurite.toml(5).

use crate::document::{INTRODUCTION, facts, parts, settings_of};

const EXAMPLE: &str = "\
suffix = \"dc=example,dc=org\"
data = \"/var/lib/fulgurite\"
listen = [\"ldap:///\", \"ldaps:///\"]

[root]
dn = \"cn=admin,dc=example,dc=org\"
password_file = \"/etc/fulgurite/root-password\"

[tls]
certificate = \"/etc/fulgurite/tls/server.pem\"
key = \"/etc/fulgurite/tls/server-key.pem\"
";

/// Returns the manual page of the settings, `packaging/man/fulgurite.toml.5`.
#[must_use]
pub fn manual() -> String {
    let version = env!("CARGO_PKG_VERSION");
    let mut out = format!(
        ".\\\" This page is made from the settings table.\n\
         .TH FULGURITE.TOML 5 \"\" \"fulgurite {version}\" \"Fulgurite\"\n\
         .SH NAME\nfulgurite.toml \\- settings of the Fulgurite directory server\n\
         .SH DESCRIPTION\n"
    );
    for paragraph in INTRODUCTION.split("\n\n") {
        out.push_str(&format!("{}\n.PP\n", text(paragraph)));
    }
    out.push_str("Each setting follows with its names in other sources.\n");
    for part in parts() {
        out.push_str(&format!(".SH {}\n", part.heading.to_uppercase()));
        if !part.text.is_empty() {
            out.push_str(&format!("{}\n", text(part.text)));
        }
        for setting in settings_of(part) {
            let doc = text(&setting.info.text());
            out.push_str(&format!(".TP\n\\fB{}\\fR\n{doc}\n", literal(setting.key)));
            let facts: Vec<String> = facts(setting.info).iter().map(|fact| text(fact)).collect();
            out.push_str(&format!(".IP\n{}\n", facts.join("\n")));
        }
    }
    out.push_str(".SH EXAMPLE\n.nf\n");
    out.extend(EXAMPLE.lines().map(|line| match line {
        "" => ".sp\n".to_owned(),
        line => format!("{}\n", literal(line)),
    }));
    out.push_str(".fi\n.SH SEE ALSO\n");
    out.push_str(
        ".BR fulgurite (1),\n.BR fulgurite\\-serve (1),\n.BR fulgurite\\-config\\-check (1),\n\
         .BR slapd.conf (5),\n.BR slapd.access (5)\n",
    );
    out
}

/// Returns a paragraph of Markdown as text of troff: code in bold, links as their words.
fn text(markdown: &str) -> String {
    let words = markdown.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut out = String::new();
    for (at, part) in words.split('`').enumerate() {
        match at % 2 {
            0 => out.push_str(&literal(&without_links(part))),
            _ => out.push_str(&format!("\\fB{}\\fR", literal(part))),
        }
    }
    match out.starts_with(['.', '\'']) {
        true => format!("\\&{out}"),
        false => out,
    }
}

/// Returns a text whose links `[words](target)` are words alone.
fn without_links(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("](") {
        let (Some((lead, words)), Some((_, behind))) =
            (before.rsplit_once('['), after.split_once(')'))
        else {
            break;
        };
        out.push_str(lead);
        out.push_str(words);
        rest = behind;
    }
    out.push_str(rest);
    out
}

/// Returns a text that troff prints as it is.
fn literal(text: &str) -> String {
    text.replace('\\', "\\e")
        .replace('-', "\\-")
        .replace('\'', "\\(aq")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_becomes_text_of_troff() {
        assert_eq!(
            text("Use `a-b` of\n[the page](x.md), `c\\d`."),
            "Use \\fBa\\-b\\fR of the page, \\fBc\\ed\\fR."
        );
        assert_eq!(text("`.x` is first"), "\\fB.x\\fR is first");
        assert_eq!(text(".x is first"), "\\&.x is first");
        assert_eq!(
            text("[[database]] (not a link)"),
            "[[database]] (not a link)"
        );
    }

    #[test]
    fn every_setting_is_in_the_manual() {
        let manual = manual();
        for info in crate::settings_info() {
            let key = literal(info.key.unwrap_or_default());
            assert!(manual.contains(&format!(".TP\n\\fB{key}\\fR\n")), "{key}");
        }
    }
}
