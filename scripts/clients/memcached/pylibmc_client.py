"""pylibmc, on libmemcached: commands, and objects of Python as values."""
import os

import pylibmc


def check(what, expected, found):
    print(f"{'ok' if expected == found else 'FAILED'} pylibmc: {what}" + ("" if expected == found else f": {found!r} for {expected!r}"))


server = f"127.0.0.1:{os.environ['PORT']}"
client = pylibmc.Client([server], binary=False, behaviors={"cas": True, "tcp_nodelay": True})
client.flush_all()
for value in ["text", b"bytes", 42, True, [1, 2, {"three": 4}], "x" * 500_000]:
    check(f"an object of {type(value).__name__}", value, client.set("a", value) and client.get("a"))
check("add refuses", False, client.add("a", 1))
check("replace", True, client.replace("a", 1))
check("incr", 3, client.incr("a", 2))
check("decr", 1, client.decr("a", 2))
check("set_multi", [], client.set_multi({f"k{n}": n for n in range(500)}))
check("get_multi", {f"k{n}": n for n in range(500)}, client.get_multi([f"k{n}" for n in range(1000)]))
check("delete_multi", True, client.delete_multi([f"k{n}" for n in range(500)]))
value, cas = client.gets("a")
check("cas", True, client.cas("a", "new", cas))
check("cas refuses", False, client.cas("a", "newer", cas))
check("touch", True, client.touch("a", 100))
check("append", True, client.set("s", "b") and client.append("s", "c") and client.prepend("s", "a"))
check("get", "abc", client.get("s"))
with_compression = client.set("z", "y" * 100_000, min_compress_len=100, compress_level=6)
check("compression", "y" * 100_000, with_compression and client.get("z"))
check("stats", True, int(client.get_stats()[0][1][b"curr_items" if b"curr_items" in client.get_stats()[0][1] else "curr_items"]) > 0)
check("delete", True, client.delete("a"))
check("delete of nothing", False, client.delete("a"))
print("done")
