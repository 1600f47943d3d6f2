"""python-ldap's consumer of content synchronisation, as its own example uses it.

    syncrepl_consumer.py URL SUFFIX ROOT PASSWORD
"""

import sys

import ldap
import ldap.modlist
from ldap.ldapobject import SimpleLDAPObject
from ldap.syncrepl import SyncreplConsumer

url, suffix, root, password = sys.argv[1:]


class Consumer(SimpleLDAPObject, SyncreplConsumer):
    def __init__(self, held):
        SimpleLDAPObject.__init__(self, url)
        self.simple_bind_s(root, password)
        self.held = held
        self.named = set()
        self.is_refreshed = False
        self.deletions = 0

    def syncrepl_get_cookie(self):
        return self.held.get("cookie")

    def syncrepl_set_cookie(self, cookie):
        self.held["cookie"] = cookie

    def syncrepl_entry(self, dn, attributes, uuid):
        self.held[uuid] = (dn, attributes)

    def syncrepl_delete(self, uuids):
        for uuid in uuids:
            self.deletions += 1
            self.held.pop(uuid, None)

    def syncrepl_present(self, uuids, refreshDeletes=False):
        if uuids is not None:
            self.named.update(uuids)
            return
        if not refreshDeletes:
            for uuid in set(self.held) - self.named - {"cookie"}:
                del self.held[uuid]
        self.named.clear()

    def syncrepl_refreshdone(self):
        self.is_refreshed = True

    def begin(self, mode):
        self.id = self.syncrepl_search(suffix, ldap.SCOPE_SUBTREE, mode=mode, filterstr="(objectClass=*)")

    def refresh(self):
        self.begin("refreshOnly")
        while self.syncrepl_poll(msgid=self.id, timeout=30):
            pass
        compare(self.held)

    def follow(self, is_done):
        while not is_done():
            assert self.syncrepl_poll(msgid=self.id, timeout=30)


writer = ldap.initialize(url)
writer.simple_bind_s(root, password)


def names(held):
    return {uuid: held[uuid] for uuid in held if uuid != "cookie"}


def compare(held):
    found = writer.search_s(suffix, ldap.SCOPE_SUBTREE, "(objectClass=*)", ["*", "entryUUID"])
    expected = {}
    for dn, attributes in found:
        uuid = attributes.pop("entryUUID")[0].decode()
        expected[uuid] = (dn, attributes)
    assert names(held) == expected, (held, expected)


def add(number):
    dn = f"cn=python {number},{suffix}"
    writer.add_s(dn, [("objectClass", [b"person"]), ("sn", [b"%d" % number]), ("cn", [b"python %d" % number])])
    return dn


held = {}
Consumer(held).refresh()
entries = [add(number) for number in range(6)]
Consumer(held).refresh()

# Behind a cookie: a change, a new name, and deletions.
writer.modify_s(entries[0], [(ldap.MOD_REPLACE, "description", [b"new"])])
writer.rename_s(entries[1], "cn=renamed")
writer.delete_s(entries[2])
writer.delete_s(entries[3])
again = Consumer(held)
again.refresh()

# The persist stage.
waiting = Consumer(held)
waiting.begin("refreshAndPersist")
waiting.follow(lambda: waiting.is_refreshed)
entries.append(add(7))
writer.modify_s(entries[0], [(ldap.MOD_REPLACE, "description", [b"newer"])])
writer.delete_s(entries[4])
waiting.follow(lambda: waiting.deletions == 1)
compare(held)
print("all is well")
