//! The words of `dynlist-attrset`, as plain data.

use crate::OverlaySettings;

/// One directive `dynlist-attrset`: lists of a class, their URLs and their values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DynlistSet {
    /// The class of the lists.
    pub class: String,
    /// The URL that the lists should match, as slapd writes it; it restricts nothing.
    pub uri: Option<String>,
    /// The attribute with URLs.
    pub url: String,
    /// The attributes to show.
    pub items: Vec<DynlistItem>,
}

/// One attribute of a set: `[MAPPED:]ATTRIBUTE[+MEMBEROF[@CLASS][*]]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DynlistItem {
    /// The item as written.
    pub text: String,
    /// The attribute that shows the values of `attribute`.
    pub mapped: Option<String>,
    /// The attribute with the names of entries that the URLs find, or the mapped one.
    pub attribute: String,
    /// The attribute that lists groups in the entries of their members.
    pub member_of: Option<String>,
    /// The class of static groups.
    pub static_class: Option<String>,
    /// True if members of groups within groups count.
    pub nested: bool,
}

impl DynlistSet {
    /// Parses the arguments of a directive; `None` with fewer than two.
    #[must_use]
    pub fn parse(arguments: &[String]) -> Option<DynlistSet> {
        let mut words = arguments.iter();
        let class = words.next()?.clone();
        let mut url = words.next()?.clone();
        let mut uri = None;
        let scheme = url.get(..5).unwrap_or_default();
        if scheme.eq_ignore_ascii_case("ldap:") {
            uri = Some(url);
            url = words.next()?.clone();
        }
        Some(DynlistSet {
            class,
            uri,
            url,
            items: words.map(|word| DynlistItem::parse(word)).collect(),
        })
    }

    /// Returns the sets of an overlay `dynlist`; no others have any.
    pub fn of(overlay: &OverlaySettings) -> impl Iterator<Item = DynlistSet> {
        let lines = overlay.lines.iter();
        let own = lines.filter(|line| line.directive.keyword == "dynlist-attrset");
        own.filter_map(|line| DynlistSet::parse(&line.arguments))
    }
}

impl DynlistItem {
    fn parse(text: &str) -> DynlistItem {
        let (mapped, rest) = match text.split_once(':') {
            Some((mapped, rest)) => (Some(mapped.to_owned()), rest),
            None => (None, text),
        };
        let (attribute, groups) = match rest.split_once('+') {
            Some((attribute, groups)) => (attribute, Some(groups)),
            None => (rest, None),
        };
        let nested = groups.is_some_and(|groups| groups.ends_with('*'));
        let groups = groups.map(|groups| groups.strip_suffix('*').unwrap_or(groups));
        let (member_of, class) = match groups.map(|groups| groups.split_once('@')) {
            Some(Some((member_of, class))) => (Some(member_of), Some(class)),
            Some(None) => (groups, None),
            None => (None, None),
        };
        DynlistItem {
            text: text.to_owned(),
            mapped,
            attribute: attribute.to_owned(),
            member_of: member_of.map(str::to_owned),
            static_class: class.map(str::to_owned),
            nested,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(line: &str) -> Option<DynlistSet> {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        DynlistSet::parse(&words)
    }

    #[test]
    fn every_form_of_a_set_is_parsed() {
        assert_eq!(set("groupOfURLs"), None);
        assert_eq!(set("groupOfURLs ldap:///dc=x"), None);
        let plain = set("groupOfURLs memberURL").expect("a set");
        assert!(plain.items.is_empty() && plain.uri.is_none());
        let full = set("c LDAP:///dc=x??sub u a:b member+memberOf@groupOfNames* m+o* x+y");
        let full = full.expect("a set");
        assert_eq!(
            (full.class.as_str(), full.uri.as_deref(), full.url.as_str()),
            ("c", Some("LDAP:///dc=x??sub"), "u")
        );
        let parts = |item: &DynlistItem| {
            let text = |part: &Option<String>| part.clone().unwrap_or_default();
            let texts = [
                text(&item.mapped),
                item.attribute.clone(),
                text(&item.member_of),
                text(&item.static_class),
            ];
            (texts.join(" "), item.nested)
        };
        let items: Vec<_> = full.items.iter().map(parts).collect();
        let expected = [
            ("a b  ", false),
            (" member memberOf groupOfNames", true),
            (" m o ", true),
            (" x y ", false),
        ];
        assert_eq!(
            items,
            expected.map(|(text, nested)| (text.to_owned(), nested))
        );
    }
}
