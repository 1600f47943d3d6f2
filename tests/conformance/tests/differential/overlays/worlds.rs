//! The databases of the histories: one for each set of overlays.

use std::fmt::Write as _;
use std::path::Path;

use crate::servers::{DATA, ROOT_DN, ROOT_PASSWORD, Setup, USER_DN};

/// A kind of entry that requests add.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Person,
    Group,
    /// A subclass of the class of groups.
    Team,
    UniqueGroup,
    Unit,
    /// A group whose members an URL finds.
    UrlGroup,
}

/// The requests of a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    Entries,
    Passwords,
    /// Both in turn.
    Mixed,
}

/// A database with overlays.
pub(crate) struct World {
    pub(crate) name: &'static str,
    /// The lines of the overlays. `SUFFIX` means the suffix.
    overlays: &'static str,
    pub(crate) style: Style,
    pub(crate) kinds: &'static [Kind],
    /// The attributes that requests are about.
    pub(crate) attributes: &'static [&'static str],
    /// Attributes whose values get weights.
    pub(crate) weighted: &'static [&'static str],
    /// True if slapd changes references behind its answer.
    pub(crate) is_late: bool,
}

impl World {
    pub(crate) fn suffix(&self) -> String {
        format!("dc={}", self.name)
    }

    pub(crate) fn has(&self, overlay: &str) -> bool {
        self.overlays
            .lines()
            .any(|line| line.split_once(' ') == Some(("overlay", overlay)))
    }
}

/// The folders of entries in each world. Requests leave them in place.
pub(crate) const CONTAINERS: [&str; 3] = ["people", "groups", "other"];

use Kind::{Group, Person, Team, UniqueGroup, Unit, UrlGroup};

/// Names of entries. Each of them is in an attribute of references.
const REFERENCES: &[&str] = &[
    "member",
    "member",
    "member",
    "owner",
    "manager",
    "seeAlso",
    "secretary",
    "uniqueMember",
];

const ALL: World = World {
    name: "none",
    overlays: "",
    style: Style::Entries,
    kinds: &[Person, Group, Unit],
    attributes: &[],
    weighted: &[],
    is_late: false,
};

/// All worlds.
pub(crate) const WORLDS: &[World] = &[
    World {
        name: "memberof",
        overlays: "overlay memberof\noverlay memberof\nmemberof-group-oc groupOfUniqueNames\n\
            memberof-member-ad uniqueMember\n",
        kinds: &[Person, Person, Group, Group, Team, UniqueGroup, Unit],
        attributes: &[
            "member",
            "member",
            "uniqueMember",
            "description",
            "memberOf",
        ],
        ..ALL
    },
    World {
        name: "memberof-follow",
        overlays: "overlay memberof\nmemberof-refint TRUE\nmemberof-dangling drop\n",
        kinds: &[Person, Person, Group, Group, Unit],
        attributes: &["member", "member", "description"],
        ..ALL
    },
    World {
        name: "memberof-error",
        overlays: "overlay memberof\nmemberof-dangling error\noverlay refint\n\
            refint_attributes member owner\n",
        kinds: &[Person, Person, Group, Group, Unit],
        attributes: &["member", "member", "owner", "description"],
        is_late: true,
        ..ALL
    },
    World {
        name: "refint",
        overlays: "overlay refint\nrefint_attributes member manager seeAlso\n\
            refint_attributes secretary owner uniqueMember\n",
        kinds: &[Person, Person, Group, UniqueGroup, Unit, Unit],
        attributes: REFERENCES,
        is_late: true,
        ..ALL
    },
    World {
        name: "refint-nothing",
        overlays: "overlay refint\nrefint_attributes member manager seeAlso owner\n\
            refint_nothing cn=nobody,SUFFIX\nrefint_modifiersname cn=references\n",
        kinds: &[Person, Person, Group, UniqueGroup, Unit, Unit],
        attributes: REFERENCES,
        is_late: true,
        ..ALL
    },
    World {
        name: "unique",
        overlays: "overlay unique\nunique_uri ldap:///?mail,title?sub\n\
            unique_uri \"serialize ldap:///ou=people,SUFFIX?uid,employeeNumber?one\"\n\
            unique_uri \"strict ldap:///?carLicense?sub?(employeeType=two)\"\n\
            unique_uri \"ldap:///ou=people,SUFFIX?description?sub?(objectClass=inetOrgPerson) \
            ldap:///ou=groups,SUFFIX?description?one\"\n",
        kinds: &[Person, Person, Person, Person, Unit],
        attributes: &[
            "mail",
            "title",
            "employeeNumber",
            "carLicense",
            "description",
            "employeeType",
            "uid",
        ],
        ..ALL
    },
    World {
        name: "unique-older",
        overlays: "overlay unique\nunique_base ou=people,SUFFIX\n\
            unique_ignore objectClass cn sn uid ou title\n",
        kinds: &[Person, Person, Person, Unit],
        attributes: &["mail", "title", "carLicense", "description", "seeAlso"],
        ..ALL
    },
    World {
        name: "constraint",
        overlays: "overlay constraint\nconstraint_attribute title count 2\n\
            constraint_attribute mail regex ^[a-z]+@x.org$\n\
            constraint_attribute description size 4\n\
            constraint_attribute street count 1\n\
            constraint_attribute uid negregex ^p7\n\
            constraint_attribute employeeNumber regex ^[[:digit:]]$\n\
            constraint_attribute carLicense set \"(this/carLicense & [one]) | (this/l & [two])\"\n\
            constraint_attribute l uri ldap:///ou=people,SUFFIX?title,street?sub?(objectClass=person)\n\
            constraint_attribute o size 3 restrict=\"ldap:///ou=people,SUFFIX??one?(title=one)\"\n\
            constraint_attribute pager count 0\n\
            constraint_attribute manager,seeAlso uri ldap:///SUFFIX?entryDN?sub?(objectClass=person)\n",
        kinds: &[Person, Person, Person, Unit, Group],
        attributes: &[
            "title",
            "mail",
            "description",
            "street",
            "uid",
            "employeeNumber",
            "carLicense",
            "l",
            "o",
            "pager",
            "manager",
            "seeAlso",
        ],
        ..ALL
    },
    World {
        name: "valsort",
        overlays: "overlay valsort\nvalsort-attr title ou=people,SUFFIX weighted\n\
            valsort-attr description SUFFIX alpha-ascend\n\
            valsort-attr mail ou=people,SUFFIX alpha-descend\n\
            valsort-attr rank SUFFIX numeric-ascend\n\
            valsort-attr uidNumber SUFFIX numeric-descend\n\
            valsort-attr l ou=people,SUFFIX weighted alpha-descend\n",
        kinds: &[Person, Person, Person, Unit],
        attributes: &["title", "description", "mail", "rank", "l", "l", "title"],
        weighted: &["title", "l"],
        ..ALL
    },
    World {
        name: "dynlist",
        overlays: "overlay dynlist\n\
            dynlist-attrset groupOfURLs memberURL member+memberOf@groupOfNames*\n",
        kinds: &[Person, Person, Group, Group, UrlGroup, UrlGroup, Unit],
        attributes: &[
            "title",
            "member",
            "member",
            "memberURL",
            "memberURL",
            "mail",
        ],
        ..ALL
    },
    World {
        name: "dynlist-static",
        overlays: "overlay dynlist\n\
            dynlist-attrset groupOfURLs memberURL member+memberOf@groupOfNames\n",
        kinds: &[Person, Person, Group, Group, UrlGroup, UrlGroup, Unit],
        attributes: &[
            "title",
            "member",
            "member",
            "memberURL",
            "memberURL",
            "mail",
        ],
        ..ALL
    },
    World {
        name: "dynlist-lists",
        overlays: "overlay dynlist\ndynlist-attrset groupOfURLs memberURL\n",
        kinds: &[Person, Person, Person, UrlGroup, UrlGroup, Unit],
        attributes: &["title", "mail", "description", "memberURL"],
        ..ALL
    },
    World {
        name: "ppolicy",
        overlays: "overlay ppolicy\nppolicy_default cn=default,ou=other,SUFFIX\n",
        style: Style::Passwords,
        ..ALL
    },
    World {
        name: "ppolicy-hash",
        overlays: "overlay ppolicy\nppolicy_default cn=default,ou=other,SUFFIX\n\
            ppolicy_hash_cleartext\nppolicy_use_lockout\n",
        style: Style::Passwords,
        ..ALL
    },
    World {
        name: "together",
        overlays: "overlay ppolicy\nppolicy_default cn=default,ou=other,SUFFIX\n\
            overlay memberof\noverlay refint\nrefint_attributes member manager owner seeAlso\n\
            overlay unique\nunique_uri ldap:///?mail,employeeNumber?sub\n\
            overlay constraint\nconstraint_attribute title count 2\n\
            constraint_attribute mail regex ^[a-c]@x.org$\n\
            overlay valsort\nvalsort-attr description ou=people,SUFFIX alpha-ascend\n",
        style: Style::Mixed,
        kinds: &[Person, Person, Group, Group, Unit],
        attributes: &[
            "member",
            "member",
            "owner",
            "manager",
            "seeAlso",
            "mail",
            "employeeNumber",
            "title",
            "description",
        ],
        is_late: true,
        ..ALL
    },
];

/// Classes and attributes of the histories.
const SCHEMA: &str = "\
attributetype ( 1.3.6.1.4.1.32473.1 NAME 'rank' EQUALITY integerMatch
  ORDERING integerOrderingMatch SYNTAX 1.3.6.1.4.1.1466.115.121.1.27 )
objectclass ( 1.3.6.1.4.1.32473.2 NAME 'ranked' SUP top AUXILIARY MAY rank )
objectclass ( 1.3.6.1.4.1.32473.3 NAME 'team' SUP groupOfNames STRUCTURAL )
";

/// The same files for both servers.
pub(crate) fn setup() -> Setup {
    Setup {
        configuration,
        databases: WORLDS.iter().map(|world| world.name.to_owned()).collect(),
        ldif: DATA.to_owned(),
    }
}

/// slapd gets no indexes of the attributes in question. It loses entries of an index if one request
/// removes and adds the same value.
fn configuration(root: &Path, data: &Path, is_original: bool) -> String {
    let indexes = match is_original {
        true => "objectClass",
        false => "objectClass,member,uniqueMember,manager,owner,seeAlso,mail,title,uid",
    };
    let (root, data) = (root.display(), data.display());
    let mut text = String::new();
    for name in ["core", "cosine", "inetorgperson", "nis", "dyngroup"] {
        let _ = writeln!(text, "include {root}/etc/ldap/schema/{name}.schema");
    }
    let _ = writeln!(
        text,
        "modulepath {root}/usr/lib/ldap\nmoduleload back_mdb.so"
    );
    let overlays = [
        "memberof",
        "refint",
        "unique",
        "constraint",
        "valsort",
        "dynlist",
        "ppolicy",
    ];
    for name in overlays {
        let _ = writeln!(text, "moduleload {name}.so");
    }
    let _ = write!(
        text,
        "{SCHEMA}password-hash {{SSHA}}\n\
         access to attrs=userPassword by dn.exact=\"{USER_DN}\" manage by self write by anonymous auth\n\
         access to * by users write by anonymous read\n\
         database mdb\nmaxsize 67108864\ndbnosync\nsuffix \"dc=example,dc=org\"\n\
         rootdn \"{ROOT_DN}\"\nrootpw \"{ROOT_PASSWORD}\"\ndirectory {data}\n"
    );
    for world in WORLDS {
        let suffix = world.suffix();
        let _ = write!(
            text,
            "database mdb\nmaxsize 67108864\ndbnosync\nsuffix \"{suffix}\"\nrootdn \"{ROOT_DN}\"\n\
             directory {data}/{}\nindex {indexes} eq\n{}",
            world.name,
            world.overlays.replace("SUFFIX", &suffix)
        );
    }
    text
}
