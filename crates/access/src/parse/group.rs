//! Groups, named by rules and limits.

use fulgurite_ldap::FilterBuf;
use fulgurite_schema::{AttributeDescription, Filter, Schema};

use super::parser::{DN_SYNTAX, normal_name};
use crate::rule::{Group, GroupName};

/// The OID of the Name And Optional UID syntax (RFC 4517, section 3.3.21).
const NAME_AND_UID_SYNTAX: &str = "1.3.6.1.4.1.1466.115.121.1.34";

/// Returns a group by its name.
pub(crate) fn fixed_group(
    schema: &Schema,
    class: &str,
    member: &str,
    name: &str,
) -> Result<Group, String> {
    let name = GroupName::Fixed(normal_name(schema, name)?);
    group_named(schema, class, member, name)
}

pub(super) fn group_named(
    schema: &Schema,
    class: &str,
    member: &str,
    name: GroupName,
) -> Result<Group, String> {
    let class = schema
        .object_class(class)
        .ok_or_else(|| format!("{class}: object class undefined"))?;
    let member = schema
        .describe(member.as_bytes())
        .map_err(|why| why.to_string())?;
    let attribute = &member.attribute;
    let everything = class.is_kind_of(schema.extensible_object());
    if !everything && !class.must.contains(attribute) && !class.may.contains(attribute) {
        let name = member.text(schema);
        return Err(format!("{name} is not allowed by {}", class.name()));
    }
    let urls = schema.attribute("labeledURI");
    let dynamic = urls.is_some_and(|urls| urls.covers(member.attribute));
    if !dynamic && !holds_names(schema, &member) {
        let name = member.text(schema);
        return Err(format!("{name} holds neither names nor search URLs"));
    }
    let of_class = FilterBuf::parse(&format!("(objectClass={})", class.name()))
        .map_err(|why| why.to_string())?;
    Ok(Group {
        number: 0,
        name,
        class: Filter::resolve(schema, &of_class.filter()),
        member,
        dynamic,
    })
}

pub(super) fn holds_names(schema: &Schema, attribute: &AttributeDescription) -> bool {
    let syntax = schema.attribute_at(attribute.attribute).syntax.oid;
    syntax == DN_SYNTAX || syntax == NAME_AND_UID_SYNTAX
}
