//! `fulgurite auth`.

use anyhow::{Context as _, bail};
use fulgurite_auth::AuthzId;
use fulgurite_directory::Session;
use fulgurite_server::open_directory;

use crate::arguments::tools::Auth;

pub(crate) fn run(command: Auth) -> anyhow::Result<()> {
    let directory = open_directory(&command.config.settings()?)?;
    let users = command.user.iter().chain(&command.identities);
    let mechanism = command.mechanism.as_deref();
    let mut some = false;
    // As at a bind, the session is anonymous.
    let nobody = Session::new();
    for user in users {
        some = true;
        let is_external = mechanism.is_some_and(|name| name.eq_ignore_ascii_case("EXTERNAL"));
        let name = if is_external {
            directory.mapped(&nobody, user)
        } else {
            directory.sasl_identity(&nobody, user, command.realm.as_deref(), mechanism)
        };
        let name = name.with_context(|| format!("identity {user}"))?;
        println!("{user} is {}", name.pretty());
        let Some(authorize) = &command.authorize else {
            continue;
        };
        let Some(id) = AuthzId::parse(authorize) else {
            bail!("{authorize} is neither dn:<name> nor u:<user>");
        };
        let target = directory.authorization_identity(&nobody, &id, mechanism);
        let target = target.with_context(|| format!("identity {authorize}"))?;
        let may = directory.may_act_for(&nobody, &name, &target);
        let verb = if may { "may" } else { "may not" };
        println!("{user} {verb} act for {}", target.pretty());
    }
    if some {
        Ok(())
    } else {
        bail!("no identity: use --user ID or the argument ID")
    }
}
