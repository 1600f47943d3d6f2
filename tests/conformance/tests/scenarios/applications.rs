//! Users and groups as applications look them up: SSSD, Keycloak and Nextcloud, by their filters.
//! The answers are those of slapd.

use crate::data::{PASSWORD, ROOT, SUFFIX};
use crate::stage::{Running, Stage};

const OVERLAYS: &str = "index uid,cn,member,memberUid,mail eq\noverlay memberof\noverlay deref\n";
const MODULES: &str = "moduleload memberof.so\nmoduleload deref.so\n";

/// Three users, a group of each kind, and a group within another.
fn entries() -> String {
    let mut text = format!(
        "dn: {SUFFIX}\nobjectClass: dcObject\nobjectClass: organization\ndc: example\no: x\n\n"
    );
    for unit in ["people", "groups"] {
        text += &format!("dn: ou={unit},{SUFFIX}\nobjectClass: organizationalUnit\nou: {unit}\n\n");
    }
    for (number, name) in ["ann", "bob", "cid"].iter().enumerate() {
        let id = 1000 + number;
        text += &format!(
            "dn: uid={name},ou=people,{SUFFIX}\nobjectClass: inetOrgPerson\n\
             objectClass: posixAccount\nuid: {name}\ncn: {name} of people\nsn: {name}\n\
             mail: {name}@example.com\nuidNumber: {id}\ngidNumber: {id}\n\
             homeDirectory: /home/{name}\nloginShell: /bin/sh\nuserPassword: {name}\n\n"
        );
    }
    let member = |name: &str| format!("member: uid={name},ou=people,{SUFFIX}\n");
    let group = |name: &str, members: &str| {
        format!(
            "dn: cn={name},ou=groups,{SUFFIX}\nobjectClass: groupOfNames\ncn: {name}\n{members}\n"
        )
    };
    text += &group("staff", &(member("ann") + &member("bob")));
    text += &group(
        "all",
        &format!("member: cn=staff,ou=groups,{SUFFIX}\n{}", member("cid")),
    );
    text + &format!(
        "dn: cn=unix,ou=groups,{SUFFIX}\nobjectClass: posixGroup\ncn: unix\ngidNumber: 2000\n\
         memberUid: ann\nmemberUid: cid\n"
    )
}

/// The searches: arguments of ldapsearch behind the base.
fn questions() -> Vec<Vec<String>> {
    let ann = format!("uid=ann,ou=people,{SUFFIX}");
    let staff = format!("cn=staff,ou=groups,{SUFFIX}");
    let (of_posix, of_names) = ("(objectClass=posixAccount)", "(objectClass=groupOfNames)");
    let people = "(|(objectclass=inetOrgPerson))";
    let texts: Vec<String> = [
        // SSSD: a user, its groups by number, by name and by the user's entry, all users.
        format!("(&(uid=ann){of_posix}(&(uidNumber=*)(!(uidNumber=0)))) uid uidNumber gidNumber homeDirectory loginShell modifyTimestamp"),
        format!("(&(uidNumber=1001){of_posix}(uid=*)(&(uidNumber=*)(!(uidNumber=0)))) uid"),
        "(&(memberUid=ann)(objectClass=posixGroup)(cn=*)(&(gidNumber=*)(!(gidNumber=0)))) cn gidNumber".to_owned(),
        format!("(&(member={ann}){of_names}(cn=*)) cn"),
        format!("(&(member={staff}){of_names}(cn=*)) cn"),
        format!("(&(cn=staff){of_names}(cn=*)) -E deref=member:uid,uidNumber cn member"),
        format!("(&(uid=*){of_posix}) -E pr=2/noprompt uid"),
        // Keycloak: a user by name, its groups by both strategies, the members of a group.
        "(&(uid=ann)(objectclass=inetOrgPerson)(objectclass=organizationalPerson)) uid mail memberOf entryUUID".to_owned(),
        format!("(&(member={ann}){of_names}) cn member"),
        format!("(&(memberOf={staff})(objectclass=inetOrgPerson)) uid"),
        "(&(mail=bob@example.com)(objectclass=inetOrgPerson)) -E pr=10/noprompt uid".to_owned(),
        // Nextcloud: users of a group, a login, a search by a part, groups, a user's own groups.
        format!("(&{people}(|(memberof={staff}))) dn uid cn mail"),
        format!("(&(&{people}(|(memberof={staff})))(|(uid=ann)(mail=ann))) dn"),
        format!("(&(&{people}(|(memberof={staff})))(|(cn=*o*)(mail=*bo*))) -E pr=500/noprompt dn"),
        format!("(&(|{of_names})(cn=*)) cn member"),
        format!("(&(|{of_names})(|(member={ann})(memberUid=ann))) dn"),
        format!("(!(memberOf={staff})) uid"),
        format!("(&{of_posix}(!(memberOf=*))) uid"),
    ]
    .to_vec();
    let words = |text: &String| text.split(' ').map(str::to_owned).collect();
    texts.iter().map(words).collect()
}

/// Returns the answers, with lines in a fixed order and without values that each server makes.
fn answers(server: &Running<'_>) -> Vec<String> {
    let ask = |question: Vec<String>| {
        let (mut options, mut rest) = (Vec::new(), Vec::new());
        let mut words = question.iter().map(String::as_str);
        while let Some(word) = words.next() {
            match word {
                "-E" => options.extend([word].into_iter().chain(words.next())),
                other => rest.push(other),
            }
        }
        let head = ["-LLL", "-o", "ldif-wrap=no", "-b", SUFFIX];
        let arguments = [&head[..], &options, &rest].concat();
        let found = server.client_as((ROOT, PASSWORD), "ldapsearch", &arguments, "");
        let is_own = |line: &&str| {
            let own = ["entryUUID", "modifyTimestamp", "# pagedresults"];
            !line.is_empty() && !own.iter().any(|name| line.starts_with(name))
        };
        let mut lines: Vec<&str> = found.out.lines().filter(is_own).collect();
        lines.sort_unstable();
        format!("{question:?} {}: {}", found.status, lines.join("\n"))
    };
    questions().into_iter().map(ask).collect()
}

#[test]
fn users_and_groups_are_found_as_in_slapd() {
    let mut seen = Vec::new();
    for stage in [Stage::new("apps-ours"), Stage::with_original("apps-slapd")] {
        let database = stage.database("db", SUFFIX, OVERLAYS);
        stage.configure(&format!("{MODULES}{database}"));
        let server = stage.start();
        server.root("ldapadd", &[], &entries()).well();
        seen.push(answers(&server));
        server.stop();
    }
    let (ours, theirs) = (&seen[0], &seen[1]);
    for (ours, theirs) in ours.iter().zip(theirs) {
        assert_eq!(ours, theirs);
    }
    // The answers have content: most questions find entries.
    let found = ours.iter().filter(|answer| answer.contains("dn: ")).count();
    assert!(found >= 15, "{found}: {ours:#?}");
}
