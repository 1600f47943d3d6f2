"""ldap3, unmodified, against the server named on the command line."""

import sys

from ldap3 import (
    ALL,
    ALL_ATTRIBUTES,
    ALL_OPERATIONAL_ATTRIBUTES,
    ASYNC,
    BASE,
    MODIFY_ADD,
    MODIFY_DELETE,
    MODIFY_INCREMENT,
    MODIFY_REPLACE,
    SUBTREE,
    Connection,
    Server,
)
from ldap3.utils.conv import escape_filter_chars

url, suffix, root_dn, root_password, user_dn, user_password = sys.argv[1:]


def expect(connection, result):
    """The last operation must have had that result."""
    assert connection.result["description"] == result, (result, connection.result)


# Reading the root entry and the schema is ldap3's own affair; it raises if either cannot be parsed.
server = Server(url, get_info=ALL)
root = Connection(server, root_dn, root_password, auto_bind=True, auto_referrals=False)
assert suffix in server.info.naming_contexts, server.info
assert "3" in server.info.supported_ldap_versions
assert "uidNumber" in server.schema.attribute_types
assert "sn" in server.schema.object_classes["person"].must_contain
assert root.extend.standard.who_am_i() == "dn:" + root_dn

wrong = Connection(server, user_dn, "wrong")
assert not wrong.bind()
expect(wrong, "invalidCredentials")

user = Connection(server, user_dn, user_password, auto_bind=True)
user.delete(user_dn)
expect(user, "insufficientAccessRights")

dn = "uid=three,ou=People," + suffix
values = {
    "cn": "Drei (3) * \\ Größe",
    "sn": "Three",
    "uid": "three",
    "uidNumber": 70000,
    "gidNumber": 70000,
    "homeDirectory": "/home/three",
}
assert root.add(dn, ["inetOrgPerson", "posixAccount"], values), root.result
assert not root.add(dn, ["inetOrgPerson", "posixAccount"], values)
expect(root, "entryAlreadyExists")
text = escape_filter_chars(values["cn"])
assert root.search(suffix, f"(cn={text})", SUBTREE, attributes=[ALL_ATTRIBUTES, ALL_OPERATIONAL_ATTRIBUTES])
entry = root.entries[0]
# ldap3 gives types their meaning by the server's schema: an integer, a time, a UUID.
assert entry.uidNumber.value == 70000 and entry.createTimestamp.value.year >= 2024, entry
assert len(str(entry.entryUUID)) == 36 and str(entry.structuralObjectClass) == "inetOrgPerson"
assert str(entry.creatorsName).lower() == root_dn.lower(), entry

changes = {
    "sn": [(MODIFY_REPLACE, ["Trois"])],
    "mail": [(MODIFY_ADD, ["three@example.org", "drei@example.org"])],
    "uidNumber": [(MODIFY_INCREMENT, ["5"])],
}
assert root.modify(dn, changes), root.result
assert root.modify(dn, {"mail": [(MODIFY_DELETE, ["three@example.org"])]}), root.result
assert not root.modify(dn, {"cn": [(MODIFY_DELETE, [])]})
expect(root, "objectClassViolation")
assert root.compare(dn, "sn", "TROIS") and not root.compare(dn, "sn", "Deux")
root.search(dn, "(objectClass=*)", BASE, attributes=["uidNumber", "mail"])
assert root.entries[0].uidNumber.value == 70005 and root.entries[0].mail.values == ["drei@example.org"]
assert root.modify_dn(dn, "uid=four", new_superior="ou=Groups," + suffix), root.result
assert root.delete("uid=four,ou=Groups," + suffix), root.result
assert not root.delete("uid=four,ou=Groups," + suffix)
expect(root, "noSuchObject")

paged = root.extend.standard.paged_search(
    suffix, "(objectClass=person)", SUBTREE, attributes=["uid"], paged_size=31, generator=True
)
names = [one["dn"] for one in paged if one["type"] == "searchResEntry"]
assert len(names) == len(set(names)) == 220, len(names)

# Many requests in flight on one connection.
busy = Connection(server, user_dn, user_password, client_strategy=ASYNC, auto_bind=True)
requests = [busy.search(suffix, f"(uid=user.{number})", SUBTREE, attributes=["mail"]) for number in range(1, 101)]
for number, request in enumerate(requests, 1):
    response, result = busy.get_response(request)
    found = [one for one in response if one["type"] == "searchResEntry"]
    assert result["result"] == 0 and found[0]["dn"].startswith(f"uid=user.{number},"), (result, found)

for connection in (root, user, busy):
    connection.unbind()
print("all is well")
