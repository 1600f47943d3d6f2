//! Accounts of a mail server. Back-hdb and back-mdb were measured with such data in 2013.
//!
//! ```text
//!   dc=com / dc=vmware / dc=eng / dc=zre-ldap001      cn=groups, empty
//!                                                     ou=people: uid=user.1, uid=user.2, ...
//! ```
//!
//! Their tree begins at the empty name and has `cn=zimbra` too, whose contents are not known.

use std::fmt::Write as _;
use std::io::{self, Write};

use crate::workload::data::mix;

/// Name of the entry at the top.
pub(crate) const SUFFIX: &str = "dc=com";

/// The mail domain's entry, its path, and the domain.
const TREE: [(&str, &str); 4] = [
    ("com", "dc=com"),
    ("vmware", "dc=vmware,dc=com"),
    ("eng", "dc=eng,dc=vmware,dc=com"),
    ("zre-ldap001", "dc=zre-ldap001,dc=eng,dc=vmware,dc=com"),
];
const BASE: &str = "dc=zre-ldap001,dc=eng,dc=vmware,dc=com";
const DOMAIN: &str = "zre-ldap001.eng.vmware.com";

pub(crate) const INDEXES: &str = "index objectClass,entryUUID,entryCSN,zimbraForeignPrincipal,zimbraYahooId,zimbraId,\
    zimbraVirtualHostname,zimbraVirtualIPAddress,zimbraAuthKerberos5Realm,zimbraMailForwardingAddress,zimbraMailHost,\
    zimbraMailTransport,zimbraCalResCapacity eq\n\
    index zimbraMailDeliveryAddress,zimbraMailCatchAllAddress,zimbraMailAlias,zimbraDomainName,zimbraCalResSite,\
    zimbraCalResRoom,zimbraCalResBuilding,zimbraCalResFloor eq,sub\n\
    index uid pres,eq\n\
    index cn,mail,givenName,displayName,sn pres,eq,sub\n\
    index zimbraShareInfo,zimbraACE sub\n";

/// The attributes of the schema: all are texts.
const ATTRIBUTES: &str = "zimbraForeignPrincipal zimbraYahooId zimbraId zimbraVirtualHostname zimbraVirtualIPAddress \
    zimbraAuthKerberos5Realm zimbraMailForwardingAddress zimbraMailHost zimbraMailTransport zimbraCalResCapacity \
    zimbraMailDeliveryAddress zimbraMailCatchAllAddress zimbraMailAlias zimbraDomainName zimbraCalResSite \
    zimbraCalResRoom zimbraCalResBuilding zimbraCalResFloor zimbraShareInfo zimbraACE zimbraPrefReplyToAddress \
    zimbraAllowFromAddress zimbraPasswordModifiedTime zimbraLastLogonTimestamp zimbraMailStatus zimbraAccountStatus \
    zimbraPrefSkin zimbraPrefReadingPaneEnabled zimbraPrefSortOrder zimbraZimletUserProperties zimbraDomainType \
    zimbraDomainStatus zimbraCreateTimestamp";

/// Auxiliary classes, each of which allows all attributes.
const CLASSES: [&str; 3] = ["amavisAccount", "zimbraAccount", "zimbraDomain"];

/// The arc that OpenLDAP keeps for local experiments.
const ARC: &str = "1.3.6.1.4.1.4203.666.7777";

/// Views of folders; together 64 bytes.
const SORT_ORDER: &str = "BDLV:,CALVW:,CLV:,CNS:,CV:,TKL:,TV:,TrV:,MLVIEW:,SLVIEW:dateDesc";

/// Settings of an extension, the same in all accounts.
const PROPERTIES: [&str; 13] = [
    "com_zimbra_social:emoticons_are_shown_in_messages:true",
    "com_zimbra_social:show_new_messages_in_the_toolbar:true",
    "com_zimbra_social:automatic_update_of_all_columns:true",
    "com_zimbra_social:trends_are_shown_when_it_starts:false",
    "com_zimbra_social:popular_items_are_shown_first:false",
    "com_zimbra_social:names_are_shortened_in_lists:true",
    "com_zimbra_social:pictures_are_loaded_with_items:true",
    "com_zimbra_social:links_open_in_a_new_window:false",
    "com_zimbra_social:number_of_items_in_each_column:50",
    "com_zimbra_social:number_of_items_that_are_kept:50",
    "com_zimbra_social:milliseconds_until_next_update:300000",
    "com_zimbra_social:width_of_each_column_of_items:400px",
    "com_zimbra_social:day_of_the_last_complete_update:2013-05-10",
];

const GIVEN: [&str; 16] = [
    "Aaren", "Bertil", "Calla", "Dorothea", "Ewan", "Florian", "Gisela", "Henrik", "Imke",
    "Jolanda", "Kasper", "Leonora", "Marius", "Nadja", "Oswin", "Petra",
];
const SYLLABLES: [&str; 16] = [
    "ber", "lin", "stad", "rok", "mont", "gil", "har", "wick", "sen", "dal", "fors", "ney", "tor",
    "vel", "quin", "ash",
];

/// Entries of a directory with this many accounts.
pub(crate) const fn entries(people: u64) -> u64 {
    people + 6
}

/// The schema, as slapd reads it.
pub(crate) fn schema() -> String {
    let mut out = String::new();
    for (number, name) in ATTRIBUTES.split_whitespace().enumerate() {
        let _ = writeln!(
            out,
            "attributetype ( {ARC}.1.{number} NAME '{name}' EQUALITY caseIgnoreMatch \
             SUBSTR caseIgnoreSubstringsMatch SYNTAX 1.3.6.1.4.1.1466.115.121.1.15 )"
        );
    }
    let all: Vec<&str> = ATTRIBUTES.split_whitespace().collect();
    for (number, name) in CLASSES.iter().enumerate() {
        let _ = writeln!(
            out,
            "objectclass ( {ARC}.2.{number} NAME '{name}' SUP top AUXILIARY MAY ( {} ) )",
            all.join(" $ ")
        );
    }
    out
}

/// Writes them.
pub(crate) fn write(people: u64, out: &mut impl Write) -> io::Result<()> {
    for (name, dn) in TREE {
        // slapadd wants the values of an attribute together.
        writeln!(
            out,
            "dn: {dn}\nobjectClass: organization\nobjectClass: dcObject"
        )?;
        if dn == BASE {
            writeln!(
                out,
                "objectClass: zimbraDomain\nobjectClass: amavisAccount\nzimbraDomainType: local\n\
                 zimbraDomainStatus: active\nzimbraMailStatus: enabled\nzimbraDomainName: {DOMAIN}\n\
                 zimbraId: {}\nzimbraCreateTimestamp: 20130510000000Z\nzimbraACE: {} grp +domainAdminRights",
                uuid(0),
                uuid(1)
            )?;
        }
        writeln!(out, "o: {name}\ndc: {name}\n")?;
    }
    for role in ["cn=groups", "ou=people"] {
        let (kind, name) = role.split_once('=').unwrap_or_default();
        writeln!(
            out,
            "dn: {role},{BASE}\nobjectClass: organizationalRole\ncn: {name}"
        )?;
        if kind == "ou" {
            writeln!(out, "ou: {name}")?;
        }
        writeln!(out)?;
    }
    for number in 1..=people {
        account(number, out)?;
    }
    Ok(())
}

fn account(number: u64, out: &mut impl Write) -> io::Result<()> {
    let any = mix(number);
    let given = GIVEN[(any % 16) as usize];
    let syllable = |shift: u32| SYLLABLES[(any >> shift) as usize % 16];
    let mut sn = format!("{}{}{}", syllable(8), syllable(16), syllable(24));
    sn[..1].make_ascii_uppercase();
    let address = format!("user.{number}@{DOMAIN}");
    let password = password(any);
    let host = format!("mbs0{password}.{DOMAIN}");
    let time = time(mix(any));
    writeln!(out, "dn: uid=user.{number},ou=people,{BASE}")?;
    for class in [
        "top",
        "person",
        "organizationalPerson",
        "inetOrgPerson",
        "amavisAccount",
        "zimbraAccount",
    ] {
        writeln!(out, "objectClass: {class}")?;
    }
    writeln!(
        out,
        "givenName: {given}\nsn: {sn}\ncn: {given} {sn}\ndisplayName: {given} {sn}\nuid: user.{number}\nmail: {address}\n\
         zimbraMailDeliveryAddress: {address}\nzimbraMailAlias: {address}\nzimbraPrefReplyToAddress: {address}\n\
         zimbraAllowFromAddress: {address}\nuserPassword: {password}\nzimbraId: {}\n\
         zimbraPasswordModifiedTime: {time}\nzimbraLastLogonTimestamp: {time}\nzimbraMailHost: {host}\n\
         zimbraMailTransport: lmtp:{host}:7025\nzimbraMailStatus: enabled\nzimbraAccountStatus: active\n\
         zimbraPrefSkin: carbon\nzimbraPrefReadingPaneEnabled: TRUE\nzimbraPrefSortOrder: {SORT_ORDER}",
        uuid(number + 2)
    )?;
    for property in PROPERTIES {
        writeln!(out, "zimbraZimletUserProperties: {property}")?;
    }
    writeln!(out)
}

/// Twelve letters and digits.
fn password(any: u64) -> String {
    const SIGNS: &[u8; 36] = b"abcdefghijklmnopqrstuvwxyz0123456789";
    (0..12)
        .map(|at| char::from(SIGNS[(mix(any ^ at) % 36) as usize]))
        .collect()
}

/// A UUID in capital letters.
fn uuid(number: u64) -> String {
    let (high, low) = (mix(number ^ 0x5eed), mix(mix(number)));
    format!(
        "{:08X}-{:04X}-{:04X}-{:04X}-{:012X}",
        high >> 32,
        high >> 16 & 0xffff,
        high & 0xffff,
        low >> 48,
        low & 0xffff_ffff_ffff
    )
}

/// A time of the years from 1979 to 2012.
fn time(any: u64) -> String {
    format!(
        "{:04}{:02}{:02}{:02}{:02}{:02}Z",
        1979 + any % 34,
        1 + (any >> 8) % 12,
        1 + (any >> 16) % 28,
        (any >> 24) % 24,
        (any >> 32) % 60,
        (any >> 40) % 60
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn accounts_have_their_shape() {
        let mut ldif = Vec::new();
        write(500, &mut ldif).unwrap();
        let text = String::from_utf8(ldif).unwrap();
        assert_eq!(text.matches("dn: ").count() as u64, entries(500));
        let accounts: Vec<&str> = text
            .split("\n\n")
            .filter(|entry| entry.contains("\nuid: "))
            .collect();
        assert_eq!(accounts.len(), 500);
        // The DN, 6 classes, 21 attributes and 13 settings.
        assert!(accounts.iter().all(|one| one.trim().lines().count() == 41));
        let ids: HashSet<_> = accounts
            .iter()
            .filter_map(|one| one.split("zimbraId: ").nth(1)?.lines().next())
            .collect();
        assert_eq!(ids.len(), 500);
    }

    #[test]
    fn all_indexed_attributes_are_in_the_schema() {
        let names = INDEXES
            .lines()
            .filter_map(|line| line.split_whitespace().nth(1));
        let names: Vec<&str> = names.flat_map(|names| names.split(',')).collect();
        assert_eq!(names.len(), 29);
        let schema = schema();
        for name in names.iter().filter(|name| name.starts_with("zimbra")) {
            assert!(schema.contains(&format!("'{name}'")), "{name}");
        }
        assert_eq!(SORT_ORDER.len(), 64);
    }
}
