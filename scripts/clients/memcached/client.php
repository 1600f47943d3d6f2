<?php
// PHP's memcached extension, on libmemcached: commands, several keys, cas, sessions' locks.
function check($what, $expected, $found) {
    echo $expected === $found ? "ok" : "FAILED", " php-memcached: $what",
        $expected === $found ? "" : ": " . var_export($found, true), "\n";
}
$client = new Memcached();
$client->addServer("127.0.0.1", (int) getenv("PORT"));
$client->setOption(Memcached::OPT_BINARY_PROTOCOL, false);
check("flush", true, $client->flush());
check("set", true, $client->set("a", ["one" => 1, "two" => [2.5, null]]));
check("get", ["one" => 1, "two" => [2.5, null]], $client->get("a"));
check("add refuses", false, $client->add("a", 1));
check("result code", Memcached::RES_NOTSTORED, $client->getResultCode());
check("replace", true, $client->replace("a", 5));
check("increment", 7, $client->increment("a", 2));
check("decrement", 4, $client->decrement("a", 3));
$many = [];
for ($n = 0; $n < 200; $n++) $many["k$n"] = "v$n";
check("setMulti", true, $client->setMulti($many));
check("getMulti", $many, $client->getMulti(array_keys($many)));
$item = $client->get("k1", null, Memcached::GET_EXTENDED);
check("cas", true, $client->cas($item["cas"], "k1", "new"));
check("cas refuses", false, $client->cas($item["cas"], "k1", "newer"));
check("touch", true, $client->touch("k1", 100));
$client->setOption(Memcached::OPT_COMPRESSION, false);
check("append", true, $client->set("s", "b") && $client->append("s", "c") && $client->prepend("s", "a"));
check("get a text", "abc", $client->get("s"));
check("delete", true, $client->delete("s"));
check("delete of nothing", false, $client->delete("s"));
check("a large value", str_repeat("x", 900000), $client->set("l", str_repeat("x", 900000)) ? $client->get("l") : null);
check("version", true, count($client->getVersion()) === 1);
check("stats", true, current($client->getStats())["curr_items"] > 0);
echo "done\n";
