//! Members of groups: the forms of their names, and the groups of a user.

use anyhow::{anyhow, bail};
use fulgurite_client::{Change, Client, Entry, ResultCode};

use super::answer::{MissingEntry, expect};
use super::entries::{all_below, is_same, read};
use super::kinds::{GROUP, USER};
use fulgurite_client::names::{filter_value, is_dn};

/// The form in which a group names its members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MemberForm {
    Dn,
    UniqueDn,
    Uid,
}

impl MemberForm {
    const ALL: [MemberForm; 3] = [MemberForm::Dn, MemberForm::UniqueDn, MemberForm::Uid];

    /// Returns the class of a new group.
    pub(crate) const fn class(self) -> &'static str {
        match self {
            MemberForm::Dn => "groupOfNames",
            MemberForm::UniqueDn => "groupOfUniqueNames",
            MemberForm::Uid => "posixGroup",
        }
    }

    /// Returns the attribute of members.
    pub(crate) const fn attribute(self) -> &'static str {
        match self {
            MemberForm::Dn => "member",
            MemberForm::UniqueDn => "uniqueMember",
            MemberForm::Uid => "memberUid",
        }
    }

    /// Returns the form of a group that is there. Groups of names may be posixGroups, too.
    pub(crate) fn of(group: &Entry) -> MemberForm {
        let classes = group.values("objectClass");
        let has = |name: &str| {
            classes
                .iter()
                .any(|class| class.eq_ignore_ascii_case(name.as_bytes()))
        };
        if has("groupOfUniqueNames") {
            MemberForm::UniqueDn
        } else if has("posixGroup") && !(has("groupOfNames") || has("groupOfMembers")) {
            MemberForm::Uid
        } else {
            MemberForm::Dn
        }
    }

    /// Returns true if two values name the same member.
    pub(crate) fn is_same(self, one: &str, other: &str) -> bool {
        match self {
            MemberForm::Uid => one == other,
            MemberForm::Dn | MemberForm::UniqueDn => is_same(one, other),
        }
    }
}

/// Returns a member as a group of this form names it.
pub(crate) fn member_value(
    client: &mut Client,
    suffix: &str,
    (form, member): (MemberForm, &str),
) -> anyhow::Result<String> {
    if is_dn(member) && form != MemberForm::Uid {
        // Groups may be members of groups, so any entry will do.
        let found = read(client, member, "(objectClass=*)", &["1.1"])?;
        let missing = || MissingEntry(format!("there is no entry {member}"));
        return Ok(found.ok_or_else(missing)?.dn);
    }
    let user = USER.get(client, (suffix, member), &["uid"])?;
    match form {
        MemberForm::Uid => user
            .first("uid")
            .ok_or_else(|| anyhow!("{} has no uid", user.dn)),
        MemberForm::Dn | MemberForm::UniqueDn => Ok(user.dn),
    }
}

/// Returns the groups that name a user, with the values that do.
pub(crate) fn groups_of(
    client: &mut Client,
    suffix: &str,
    (dn, uid): (&str, Option<&str>),
) -> anyhow::Result<Vec<Entry>> {
    let name = filter_value(dn);
    let uid = uid.map(|uid| format!("(memberUid={})", filter_value(uid)));
    let filter = format!(
        "(&{}(|(member={name})(uniqueMember={name}){}))",
        GROUP.filter,
        uid.unwrap_or_default()
    );
    all_below(client, suffix, &filter, &["1.1"])
}

/// Removes a user from a group, in each form.
pub(crate) fn leave(
    client: &mut Client,
    group: &Entry,
    (dn, uid): (&str, Option<&str>),
) -> anyhow::Result<()> {
    for form in MemberForm::ALL {
        let value = match form {
            MemberForm::Uid => uid,
            MemberForm::Dn | MemberForm::UniqueDn => Some(dn),
        };
        let Some(value) = value else { continue };
        let result = client.modify(
            &group.dn,
            &[Change::delete(form.attribute(), &[value.as_bytes()])],
        )?;
        match result.code {
            // The group names it in another form.
            ResultCode::NoSuchAttribute => {}
            ResultCode::ObjectClassViolation => bail!("it is the only member"),
            _ => expect(&result, || format!("cannot change {}", group.dn))?,
        }
    }
    Ok(())
}
