//! Type names that say nothing: pronouns, participles and private words.

use syn::visit::Visit;

/// Names that no type, trait or alias may have: none of them says what it holds.
const FORBIDDEN: [&str; 13] = [
    "Deed", "Found", "Haste", "Held", "Kept", "Known", "Left", "Mistake", "Place", "What", "Which",
    "Who", "Wrong",
];

/// Reports every definition of a forbidden type name in one parsed file.
pub(crate) fn faults(name: &str, file: &syn::File) -> Vec<String> {
    let mut definitions = Definitions {
        name,
        faults: Vec::new(),
    };
    definitions.visit_file(file);
    definitions.faults
}

struct Definitions<'f> {
    name: &'f str,
    faults: Vec<String>,
}

impl Definitions<'_> {
    fn check(&mut self, ident: &syn::Ident) {
        if FORBIDDEN.iter().any(|word| ident == word) {
            self.faults.push(format!(
                "{}:{}: no type is named {ident}: say what it holds",
                self.name,
                ident.span().start().line
            ));
        }
    }
}

impl<'ast> Visit<'ast> for Definitions<'_> {
    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.check(&item.ident);
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        self.check(&item.ident);
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        self.check(&item.ident);
    }

    fn visit_item_type(&mut self, item: &'ast syn::ItemType) {
        self.check(&item.ident);
    }

    fn visit_item_union(&mut self, item: &'ast syn::ItemUnion) {
        self.check(&item.ident);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_type_is_looked_at() {
        let text = "struct Place; enum Found {} trait Who {} type Left = u8;\nmod m { struct Held; }\nfn f() { struct Kept; }";
        let file = syn::parse_file(text).expect("Rust");
        assert_eq!(faults("a.rs", &file).len(), 6);
        assert!(faults("a.rs", &file)[4].starts_with("a.rs:2: "));
    }

    #[test]
    fn parts_of_longer_names_pass() {
        let file = syn::parse_file("struct PlaceHolder; enum NotFound {}").expect("Rust");
        assert!(faults("a.rs", &file).is_empty());
    }
}
