//! Sentences in string literals that users read: texts of errors and of help.

use syn::visit::Visit;

use super::paragraphs::Paragraph;

/// Folders whose texts are those of slapd and of LMDB's tools.
const QUOTING: [&str; 3] = ["crates/lmdb/", "crates/lmdb-tools/", "crates/cli/src/slap/"];

/// A comment that begins so marks the literals of the next line as a foreign text.
const QUOTED: &str = "// Quoted from ";

/// Keys of clap's attributes with texts.
const HELP_KEYS: [&str; 6] = [
    "about",
    "after_help",
    "before_help",
    "help",
    "long_about",
    "long_help",
];

/// Methods whose first argument is a text for users.
const TEXT_METHODS: [&str; 7] = [
    "about",
    "after_help",
    "before_help",
    "context",
    "help",
    "long_about",
    "long_help",
];

/// Macros that make an error of a text.
const ERROR_MACROS: [&str; 3] = ["anyhow", "bail", "ensure"];

/// Returns the paragraphs of the literals in one file of Rust.
pub(super) fn read(name: &str, text: &str) -> Vec<Paragraph> {
    let is_test = name.contains("/tests/") || name.ends_with("tests.rs");
    if !name.ends_with(".rs") || is_test || QUOTING.iter().any(|folder| name.starts_with(folder)) {
        return Vec::new();
    }
    // The compiler reports a file that does not parse.
    let Ok(file) = syn::parse_file(text) else {
        return Vec::new();
    };
    let mut literals = Literals {
        lines: text.lines().collect(),
        paragraphs: Vec::new(),
    };
    literals.visit_file(&file);
    literals.paragraphs
}

struct Literals<'t> {
    lines: Vec<&'t str>,
    paragraphs: Vec<Paragraph>,
}

impl Literals<'_> {
    fn add(&mut self, literal: &syn::LitStr) {
        let line = literal.span().start().line;
        let above = line.checked_sub(2).and_then(|above| self.lines.get(above));
        if above.is_some_and(|above| above.trim_start().starts_with(QUOTED)) {
            return;
        }
        let text = without_fields(&literal.value());
        let mut paragraph = Paragraph::new();
        for part in text.lines() {
            // Indented lines are examples.
            if part.is_empty() || part.starts_with("  ") {
                self.paragraphs.extend(Some(std::mem::take(&mut paragraph)));
            } else {
                paragraph.push((line, part.to_owned()));
            }
        }
        self.paragraphs.push(paragraph);
        self.paragraphs.retain(|paragraph| !paragraph.is_empty());
    }

    fn add_first_of(&mut self, tokens: &proc_macro2::TokenStream) {
        let literal = tokens.clone().into_iter().find_map(|token| match token {
            proc_macro2::TokenTree::Literal(literal) => {
                syn::parse_str::<syn::LitStr>(&literal.to_string())
                    .ok()
                    .map(|text| syn::LitStr::new(&text.value(), literal.span()))
            }
            _ => None,
        });
        if let Some(literal) = literal {
            self.add(&literal);
        }
    }
}

impl<'ast> Visit<'ast> for Literals<'_> {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !crate::rust::is_test(&item.attrs) {
            syn::visit::visit_item_mod(self, item);
        }
    }

    fn visit_attribute(&mut self, attribute: &'ast syn::Attribute) {
        let syn::Meta::List(list) = &attribute.meta else {
            return;
        };
        if list.path.is_ident("error") {
            self.add_first_of(&list.tokens);
        }
        if list.path.is_ident("command") || list.path.is_ident("arg") {
            let mut keyed = None;
            for token in list.tokens.clone() {
                match &token {
                    proc_macro2::TokenTree::Ident(ident) => {
                        keyed = Some(HELP_KEYS.iter().any(|key| ident == key));
                    }
                    proc_macro2::TokenTree::Literal(_) if keyed == Some(true) => {
                        self.add_first_of(&token.clone().into());
                    }
                    _ => {}
                }
            }
        }
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        if TEXT_METHODS.iter().any(|method| call.method == method)
            && let Some(syn::Expr::Lit(first)) = call.args.first()
            && let syn::Lit::Str(text) = &first.lit
        {
            self.add(text);
        }
        syn::visit::visit_expr_method_call(self, call);
    }

    fn visit_macro(&mut self, item: &'ast syn::Macro) {
        let name = item.path.segments.last();
        if name.is_some_and(|name| ERROR_MACROS.iter().any(|error| name.ident == error)) {
            self.add_first_of(&item.tokens);
        }
    }
}

/// Replaces each `{field}` and each quotation by one word. A colon after a field separates a place
/// and does not count.
fn without_fields(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        let Some((_, after)) = after.split_once('}') else {
            return out;
        };
        out.push_str("value");
        rest = after.strip_prefix(':').unwrap_or(after);
    }
    out.push_str(rest);
    without_quotations(&out)
}

/// Replaces each text in double quotes or backticks by one word.
fn without_quotations(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['"', '`']) {
        let (before, quotation) = rest.split_at(at);
        let (quote, quoted) = quotation.split_at(1);
        let Some((_, after)) = quoted.split_once(quote) else {
            break;
        };
        out.push_str(before);
        out.push_str("value");
        rest = after;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::super::faults;

    #[test]
    fn texts_of_errors_and_of_help_are_read() {
        let long = "word ".repeat(21);
        for text in [
            format!("#[derive(Debug)]\nenum E {{\n    #[error(\"{long}\")]\n    A,\n}}\n"),
            format!("#[command(name = \"x\", after_help = \"{long}\")]\nstruct S;\n"),
            format!("fn f() {{ arg.help(\"{long}\"); }}\n"),
            format!("fn f() {{ bail!(\"{long}\"); }}\n"),
            "fn f() { bail!(\"the page lies there\") }\n".to_owned(),
        ] {
            assert_eq!(faults("crates/a/src/a.rs", &text).len(), 1, "{text}");
        }
    }

    #[test]
    fn foreign_texts_and_tests_pass() {
        let text = "fn f() { bail!(\"the page lies there\") }\n";
        assert!(faults("crates/cli/src/slap/a.rs", text).is_empty());
        assert!(faults("crates/a/tests/a.rs", text).is_empty());
        let quoted = "fn f() {\n    // Quoted from slapd.\n    bail!(\"it lies\")\n}\n";
        assert!(faults("crates/a/src/a.rs", quoted).is_empty());
        let test = "#[cfg(test)]\nmod tests { fn f() { bail!(\"it lies\") } }\n";
        assert!(faults("crates/a/src/a.rs", test).is_empty());
    }

    #[test]
    fn fields_are_words_and_examples_are_none() {
        let text = "fn f() { bail!(\"{path}: line {line}: it is wrong: see {other}\") }\n";
        assert!(faults("crates/a/src/a.rs", text).is_empty());
        let quotation = "fn f() { bail!(\"the form is \\\"name: value: more\\\"; see `a: b`\") }\n";
        assert!(faults("crates/a/src/a.rs", quotation).is_empty());
        let example = format!(
            "fn f() {{ a.help(\"Example:\\n  x {}\") }}\n",
            "y ".repeat(30)
        );
        assert!(faults("crates/a/src/a.rs", &example).is_empty());
    }
}
