//! The short file of settings that a setup writes.

use super::plan::{Plan, TlsPlan};

const SECURITY: &str = "\
# A password crosses the network only under TLS. Remove the line for old clients.
security = [\"simple_bind=64\"]
";

/// Returns the access rules.
fn rules(plan: &Plan) -> String {
    let figures = format!(
        "to dn.subtree=\"cn=Monitor\" by dn.exact={} read by * none",
        quoted(&plan.root_dn)
    );
    format!(
        "\
# Everybody learns the name of the directory, its schema, and the ways to log in. Users read
# everything but passwords, and change their own. For reading without a login, write \"by * read\"
# instead of \"by * none\" in the last rule.
access = [
    'to dn.base=\"\" by * read',
    'to dn.base=\"cn=Subschema\" by * read',
    {figures},
    \"to attrs=userPassword by self =xw by anonymous auth by * none\",
    \"to attrs=authPassword,pwdHistory by * none\",
    \"to * by users read by * none\",
]

# cn=Monitor has the figures of fulgurite status. By the rules above, only the root reads them.
monitor = true
",
        figures = quoted(&figures)
    )
}

const OVERLAYS: &str = "\
# memberOf lists the groups of an entry. Groups follow renamed and deleted members.
[[overlay]]
name = \"memberof\"

[[overlay]]
name = \"refint\"
lines = [\"refint_attributes member uniqueMember\"]

# Passwords that clients send in clear are stored as hashes. A policy entry can have more rules for
# passwords; docs/overlays.md describes it.
[[overlay]]
name = \"ppolicy\"
lines = [\"ppolicy_hash_cleartext\"]

# A user locked by fulgurite user lock stays out, also without a policy entry.
[ppolicy]
locks_need_no_policy = true
";

const LIMITS: &str = "\
# After three wrong passwords for a name, answers to its binds come late, by 4 seconds at most.
[limits]
bind_delay = 4
";

/// Returns the file of settings.
pub(super) fn settings_text(plan: &Plan) -> String {
    let mut parts = vec![names(plan)];
    if !matches!(plan.tls, TlsPlan::None) {
        parts.push(SECURITY.to_owned());
    }
    parts.extend([rules(plan), OVERLAYS.to_owned()]);
    parts.push(LIMITS.to_owned());
    parts.extend([identities(plan), start(plan)]);
    parts.extend(tls(plan));
    parts.join("\n")
}

fn names(plan: &Plan) -> String {
    format!(
        "# Settings of this directory, made by fulgurite setup. `man fulgurite.toml` has all others.\n\
         # After a change, ask fulgurite config check {config}.\n\
         # Then systemctl reload fulgurite, or SIGHUP, puts it in force.\n\
         \n\
         # The name at the top of the data, and the folder of the store.\n\
         suffix = {suffix}\n\
         data = {data}\n\
         \n\
         # ldap:// takes StartTLS if there is a certificate. ldapi:// is for programs of this machine.\n\
         listen = [{listen}]\n",
        config = plan.config.display(),
        suffix = quoted(&plan.suffix),
        data = quoted(&plan.data.display().to_string()),
        listen = list(&plan.listen),
    )
}

fn identities(plan: &Plan) -> String {
    let uid = plan.local_uid();
    let local = match uid {
        0 => "root".to_owned(),
        user => format!("User {user}"),
    };
    format!(
        "# The root passes all rules. The file has a hash, which fulgurite passwd makes.\n\
         [root]\n\
         dn = {root}\n\
         password_file = {file}\n\
         \n\
         # {local} of this machine is the root of the directory too, by ldapsearch -Y EXTERNAL.\n\
         [authz]\n\
         regexp = [[\"gidNumber=[0-9]+\\\\+uidNumber={uid},cn=peercred,cn=external,cn=auth\", {root}]]\n",
        root = quoted(&plan.root_dn),
        file = quoted(&plan.password_file.display().to_string()),
    )
}

fn start(plan: &Plan) -> String {
    format!(
        "# The server makes the entry at the top if it is missing.\n\
         [start]\n\
         create_suffix = true\n\
         organization = {}\n",
        quoted(&plan.organisation)
    )
}

fn tls(plan: &Plan) -> Option<String> {
    let (certificate, key) = match &plan.tls {
        TlsPlan::None => return None,
        TlsPlan::Own(files) => (&files.certificate, &files.key),
        TlsPlan::Files { certificate, key } => (certificate, key),
    };
    Some(format!(
        "# The server reads changed files by itself.\n[tls]\ncertificate = {}\nkey = {}\n",
        quoted(&certificate.display().to_string()),
        quoted(&key.display().to_string()),
    ))
}

fn list(values: &[String]) -> String {
    values
        .iter()
        .map(|value| quoted(value))
        .collect::<Vec<_>>()
        .join(", ")
}

/// Returns a text as a basic string of TOML.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => out.extend(['\\', letter]),
            letter if letter.is_control() => {
                out.push_str(&format!("\\u{:04X}", u32::from(letter)));
            }
            letter => out.push(letter),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use fulgurite_config::{Layer, Settings};

    use super::*;
    use crate::commands::setup::authority::AuthorityFiles;
    use crate::commands::setup::plan::{LOCAL_URL, RootPassword};

    fn plan(tls: TlsPlan) -> Plan {
        Plan {
            suffix: "o=A \\\"B\\\" Ltd".to_owned(),
            organisation: "A \"B\" Ltd".to_owned(),
            root_dn: "cn=a,o=\\\"B\\\"".to_owned(),
            password: RootPassword::Kept,
            password_file: "/etc/fulgurite/root-password".into(),
            tls,
            hosts: vec!["localhost".to_owned()],
            data: "/var/lib/fulgurite".into(),
            config: "/etc/fulgurite/fulgurite.toml".into(),
            user: "fulgurite".to_owned(),
            listen: vec!["ldap:///".to_owned(), LOCAL_URL.to_owned()],
            has_service: true,
        }
    }

    #[test]
    fn the_text_has_the_answers() {
        let own = AuthorityFiles::beside(Path::new("/etc/fulgurite/fulgurite.toml"));
        for (tls, certificate) in [
            (TlsPlan::None, None),
            (TlsPlan::Own(own), Some("/etc/fulgurite/tls/server.pem")),
        ] {
            let text = settings_text(&plan(tls));
            let layer = Layer::from_toml(&text, Path::new("x.toml")).unwrap();
            let settings = Settings::new(layer).unwrap();
            assert_eq!(settings.suffix().unwrap(), "o=A \\\"B\\\" Ltd");
            let global = &settings.global;
            assert_eq!(global.organization.as_deref(), Some("A \"B\" Ltd"));
            assert_eq!(global.listen.len(), 2);
            assert!(*global.create_suffix);
            let rule = r#"to dn.subtree="cn=Monitor" by dn.exact="cn=a,o=\\\"B\\\"" read"#;
            let rules = settings.frontend.access.iter();
            let rules: Vec<String> = rules.map(|one| one.value.to_string()).collect();
            assert!(rules.iter().any(|one| one.starts_with(rule)), "{rules:#?}");
            let file = global.tls_certificate.as_deref();
            assert_eq!(file, certificate.map(Path::new));
            assert_eq!(text.contains("simple_bind"), certificate.is_some());
            assert!(
                text.lines().all(|line| line.chars().count() <= 100),
                "{text}"
            );
        }
    }
}
