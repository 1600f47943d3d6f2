//! The list of servers in osixia's variable `LDAP_REPLICATION_HOSTS`.

/// The mark of a list in the words of another language.
const MARKS: [&str; 3] = ["#PYTHON2BASH:", "#JSON2BASH:", "#YAML2BASH:"];

/// Returns the URLs of a list such as `#PYTHON2BASH:['ldap://a','ldap://b']`.
///
/// Blanks or commas divide other lists.
pub(crate) fn hosts(list: &str) -> Vec<&str> {
    let list = list.trim();
    let bare = MARKS.iter().find_map(|mark| list.strip_prefix(mark));
    let is_divider = |letter: char| letter.is_whitespace() || "[],'\"".contains(letter);
    let items = bare.unwrap_or(list).split(is_divider);
    items.filter(|item| !item.is_empty()).collect()
}

/// Returns the place of this machine, which has one of these names. A name may lack its domain.
pub(crate) fn own_place(hosts: &[&str], names: &[&str]) -> Option<usize> {
    let is = |url: &&str, same: &dyn Fn(&str, &str) -> bool| {
        let host = host(url);
        names.iter().any(|name| same(host, name))
    };
    let whole = |host: &str, name: &str| host.eq_ignore_ascii_case(name);
    let first = |text: &str| text.split('.').next().unwrap_or(text).to_ascii_lowercase();
    let label = |host: &str, name: &str| first(host) == first(name);
    let place = |same: &dyn Fn(&str, &str) -> bool| {
        let mut fitting = hosts.iter().enumerate().filter(|(_, url)| is(url, same));
        let (at, _) = fitting.next()?;
        fitting.next().is_none().then_some(at)
    };
    place(&whole).or_else(|| place(&label))
}

/// Returns the host of a URL, without its port.
fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let rest = rest.split('/').next().unwrap_or(rest);
    match rest.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|digit| digit.is_ascii_digit()) => host,
        _ => rest,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_come_in_several_forms() {
        let wanted = ["ldap://a.x", "ldap://b.x:1389"];
        for list in [
            "#PYTHON2BASH:['ldap://a.x','ldap://b.x:1389']",
            "#JSON2BASH:[\"ldap://a.x\", \"ldap://b.x:1389\"]",
            "ldap://a.x ldap://b.x:1389",
            "ldap://a.x,ldap://b.x:1389\n",
        ] {
            assert_eq!(hosts(list), wanted, "{list}");
        }
        assert!(hosts("").is_empty());
    }

    #[test]
    fn a_machine_finds_itself_by_name_or_by_its_first_part() {
        let list = ["ldap://a.x", "ldaps://B.x:1636/", "ldap://b.y"];
        for (names, place) in [
            (&["a.x"][..], Some(0)),
            (&["b.x"], Some(1)),
            (&["0c1d", "a"], Some(0)),
            (&["b"], None),
            (&["c"], None),
            (&[], None),
        ] {
            assert_eq!(own_place(&list, names), place, "{names:?}");
        }
    }
}
