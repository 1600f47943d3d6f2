"""python-ldap, unmodified, against the server named on the command line."""

import sys

import ldap
import ldap.modlist
from ldap.controls import SimplePagedResultsControl

url, suffix, root_dn, root_password, user_dn, user_password = sys.argv[1:]


def refused(error, call, *arguments):
    """The call must raise that error; gives what the server said with it."""
    try:
        call(*arguments)
    except error as reason:
        return reason.args[0]
    raise AssertionError(f"{call.__name__}{arguments} was not refused with {error.__name__}")


anonymous = ldap.initialize(url)
anonymous.protocol_version = 3
anonymous.set_option(ldap.OPT_REFERRALS, 0)
found = anonymous.search_s(suffix, ldap.SCOPE_SUBTREE, "(uid=ada)", ["cn", "sn", "userPassword"])
found = [(dn, values) for dn, values in found if dn is not None]
assert len(found) == 1 and found[0][0] == user_dn, found
assert "userPassword" not in found[0][1], "anonymous must not see passwords"
said = refused(ldap.NO_SUCH_OBJECT, anonymous.search_s, "ou=absent," + suffix, ldap.SCOPE_BASE)
assert said["matched"] == suffix, said
refused(ldap.INVALID_CREDENTIALS, anonymous.simple_bind_s, user_dn, "wrong")
assert anonymous.whoami_s() == ""

user = ldap.initialize(url)
user.simple_bind_s(user_dn, user_password)
assert user.whoami_s() == "dn:" + user_dn
refused(ldap.INSUFFICIENT_ACCESS, user.delete_s, user_dn)

root = ldap.initialize(url)
root.set_option(ldap.OPT_REFERRALS, 0)
root.simple_bind_s(root_dn, root_password)
dn = "uid=python,ou=People," + suffix
entry = {
    "objectClass": [b"inetOrgPerson"],
    "uid": [b"python"],
    "cn": ["Größe".encode()],
    "sn": [b"Python"],
    "description": [b"one", b"two"],
    "jpegPhoto": [bytes(range(256)) * 40],
}
root.add_s(dn, ldap.modlist.addModlist(entry))
refused(ldap.ALREADY_EXISTS, root.add_s, dn, ldap.modlist.addModlist(entry))
back = root.search_s(dn, ldap.SCOPE_BASE)[0][1]
assert {name: sorted(values) for name, values in back.items()} == {
    name: sorted(values) for name, values in entry.items()
}, back
changed = dict(entry, description=[b"two", b"three"], sn=[b"Snake"])
root.modify_s(dn, ldap.modlist.modifyModlist(entry, changed))
assert root.compare_s(dn, "sn", b"SNAKE") is True
assert root.compare_s(dn, "description", b"one") is False
refused(ldap.OBJECT_CLASS_VIOLATION, root.modify_s, dn, [(ldap.MOD_DELETE, "sn", None)])
root.rename_s(dn, "uid=adder", "ou=Groups," + suffix, 1)
assert root.search_s("uid=adder,ou=Groups," + suffix, ldap.SCOPE_BASE, attrlist=["uid"])[0][1] == {"uid": [b"adder"]}
root.delete_s("uid=adder,ou=Groups," + suffix)
refused(ldap.NO_SUCH_OBJECT, root.delete_s, "uid=adder,ou=Groups," + suffix)

# Page by page, everybody once.
control = SimplePagedResultsControl(True, size=17, cookie="")
names = []
while True:
    request = root.search_ext(suffix, ldap.SCOPE_SUBTREE, "(objectClass=person)", ["1.1"], serverctrls=[control])
    _, page, _, controls = root.result3(request)
    page = [dn for dn, _ in page if dn is not None]
    assert len(page) <= 17
    names += page
    control.cookie = next(c for c in controls if c.controlType == control.controlType).cookie
    if not control.cookie:
        break
assert len(names) == len(set(names)) == 220, len(names)

# The schema as python-ldap's own parser understands it.
import ldap.schema  # noqa: E402

where = root.search_subschemasubentry_s(suffix)
schema = ldap.schema.SubSchema(root.read_subschemasubentry_s(where))
assert schema.get_obj(ldap.schema.AttributeType, "uidNumber").single_value
must, may = schema.attribute_types(["inetOrgPerson"])
assert {"sn", "cn"} <= {a.names[0] for a in must.values()}
assert "mail" in {a.names[0] for a in may.values()}

print("all is well")
