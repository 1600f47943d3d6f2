"""pymemcache: every command of its client."""
import os
import time

from pymemcache.client.base import Client

failures = 0


def check(what, expected, found):
    print(f"{'ok' if expected == found else 'FAILED'} pymemcache: {what}" + ("" if expected == found else f": {found!r} for {expected!r}"))


client = Client(("127.0.0.1", int(os.environ["PORT"])), timeout=30)
client.flush_all()
check("set", True, client.set("a", b"one", noreply=False))
check("get", b"one", client.get("a"))
check("add refuses", False, client.add("a", b"two", noreply=False))
check("replace", True, client.replace("a", b"two", noreply=False))
check("append", True, client.append("a", b"!", noreply=False))
check("prepend", True, client.prepend("a", b"!", noreply=False))
check("get again", b"!two!", client.get("a"))
value, cas = client.gets("a")
check("cas", True, client.cas("a", b"three", cas, noreply=False))
check("cas refuses", False, client.cas("a", b"four", cas, noreply=False))
check("cas of nothing", None, client.cas("nothing", b"four", cas, noreply=False))
check("set_many", [], client.set_many({f"k{n}": str(n) for n in range(100)}, noreply=False))
check("get_many", {f"k{n}": str(n).encode() for n in range(100)}, client.get_many([f"k{n}" for n in range(200)]))
check("set without reply", True, client.set("n", b"9"))
check("incr", 10, client.incr("n", 1))
check("decr", 0, client.decr("n", 100))
check("incr of nothing", None, client.incr("nothing", 1))
check("touch", True, client.touch("n", 100, noreply=False))
check("delete", True, client.delete("n", noreply=False))
check("delete of nothing", False, client.delete("n", noreply=False))
client.set("short", b"x", expire=1, noreply=False)
deadline = time.time() + 30
while client.get("short") is not None and time.time() < deadline:
    time.sleep(0.1)
check("expiry", None, client.get("short"))
check("a large value", b"x" * 1_000_000, client.set("large", b"x" * 1_000_000, noreply=False) and client.get("large"))
check("stats", True, client.stats()[b"curr_items"] > 100)
check("version", True, len(client.version()) > 0)
check("flush_all", True, client.flush_all(noreply=False))
check("nothing is left", None, client.get("a"))
client.quit()
print("done")
