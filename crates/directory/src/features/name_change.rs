//! The change that features at the point `follow` react to: an entry has lost its name.

use fulgurite_schema::Dn;

/// A name that no longer names an entry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NameChange<'n> {
    pub(crate) old: &'n Dn,
    /// The new name; `None` if the entry is deleted.
    pub(crate) new: Option<&'n Dn>,
    /// True if the entry has descendants, which it takes with it.
    pub(crate) subtree: bool,
}

impl NameChange<'_> {
    /// Returns the new name of an entry at or below the old one; `None` for a deleted entry.
    pub(crate) fn new_name(&self, dn: &Dn) -> Option<String> {
        debug_assert!(dn.is_within(self.old), "only these names change");
        let new = self.new?;
        let mut text = String::new();
        let kept = dn.depth().saturating_sub(self.old.depth());
        for rdn in dn.rdns().take(kept) {
            text.push_str(rdn.pretty());
            text.push(',');
        }
        text.push_str(new.pretty());
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fulgurite_schema::Schema;

    #[test]
    fn a_descendant_keeps_the_front_of_its_name() {
        let schema = Schema::standard();
        let dn = |text: &str| Dn::parse(&schema, text).expect(text);
        let (old, new) = (dn("ou=p,dc=x"), dn("ou=Q  r,ou=s,dc=x"));
        let change = NameChange {
            old: &old,
            new: Some(&new),
            subtree: true,
        };
        for (name, expected) in [
            ("OU=P, dc=x", "ou=Q  r,ou=s,dc=x"),
            (
                "uid=A\\2Cb+cn=c, ou=p,dc=x",
                "cn=c+uid=A\\2Cb,ou=Q  r,ou=s,dc=x",
            ),
            ("cn=1,cn=2,ou=p,dc=x", "cn=1,cn=2,ou=Q  r,ou=s,dc=x"),
        ] {
            assert_eq!(change.new_name(&dn(name)).as_deref(), Some(expected));
        }
        let deleted = NameChange {
            new: None,
            ..change
        };
        assert_eq!(deleted.new_name(&old), None);
    }
}
