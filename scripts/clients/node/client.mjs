// Asks a directory what ldapts can ask, and prints a line for each check.
import { readFileSync } from "node:fs";
import { Attribute, Change, Client, Control } from "ldapts";

const { URL: url, SUFFIX: suffix, USER_DN: user, USER_PASSWORD: password, CA } = process.env;

function check(what, good, details = "") {
  console.log(good ? `ok ${what}` : `FAILED ${what} ${details}`);
}

async function code(work) {
  try {
    await work();
    return 0;
  } catch (error) {
    return error.code ?? error;
  }
}

const client = new Client({ url, timeout: 20_000, connectTimeout: 20_000, strictDN: false });
check("StartTLS", (await code(() => client.startTLS({ ca: [readFileSync(CA)], servername: "localhost" }))) === 0);
check("a wrong password", (await code(() => client.bind(user, "wrong"))) === 49);
check("bind", (await code(() => client.bind(user, password))) === 0);

const search = (options) => client.search(suffix, { scope: "sub", ...options });
const one = await search({ filter: "(uid=ada)", attributes: ["cn", "mail"] });
check("search", one.searchEntries.length === 1 && one.searchEntries[0].mail !== undefined, JSON.stringify(one));
const all = await search({ filter: "(objectClass=*)", attributes: ["1.1"] });
check("everything", all.searchEntries.length > 30, all.searchEntries.length);
const paged = await search({ filter: "(objectClass=*)", attributes: ["1.1"], paged: { pageSize: 6 } });
check("pages", paged.searchEntries.length === all.searchEntries.length, paged.searchEntries.length);
const limited = await search({ filter: "(objectClass=*)", sizeLimit: 3 });
check("a size limit", limited.searchEntries.length === 3, limited.searchEntries.length);
const some = await search({ filter: "(&(objectClass=person)(|(cn=*a*)(sn>=m))(!(uid=ada)))" });
check("a filter of several parts", some.searchEntries.length > 0);
check("a base that is not there", (await code(() => client.search(`ou=absent,${suffix}`))) === 32);

const dn = `cn=Grüße Ω,ou=People,${suffix}`;
const entry = { objectClass: ["person"], cn: ["Grüße Ω", "second"], sn: "Node", userPassword: "first secret" };
check("add", (await code(() => client.add(dn, entry))) === 0);
check("add again", (await code(() => client.add(dn, entry))) === 68);
const change = (operation, type, values) => new Change({ operation, modification: new Attribute({ type, values }) });
const modified = await code(() =>
  client.modify(dn, [
    change("add", "description", ["one", "two", "three"]),
    change("delete", "description", ["two"]),
    change("replace", "telephoneNumber", ["+1 555 0199"]),
  ]),
);
check("modify", modified === 0, modified);
const found = await search({ filter: "(telephoneNumber=+1-555-0199)", attributes: ["description"] });
check("what was modified", found.searchEntries.length === 1 && found.searchEntries[0].description.length === 2);
check("a value twice", (await code(() => client.modify(dn, change("add", "description", ["ONE"])))) === 20);
check("compare, true", (await client.compare(dn, "sn", "NODE")) === true);
check("compare, false", (await client.compare(dn, "sn", "other")) === false);
const moved = `cn=renamed,ou=Groups,${suffix}`;
check("rename and move", (await code(() => client.modifyDN(dn, moved))) === 0);
check("who am I", (await client.exop("1.3.6.1.4.1.4203.1.11.3")).value === `dn:${user}`);
check("an unknown extended operation", (await code(() => client.exop("1.2.3.4"))) === 2);
const critical = [new Control("1.2.3.4", { critical: true })];
check("an unknown critical control", (await code(() => client.search(suffix, {}, critical))) === 12);
check("delete", (await code(() => client.del(moved))) === 0);
check("delete again", (await code(() => client.del(moved))) === 32);
const together = await Promise.all([...Array(40).keys()].map((n) => search({ filter: `(|(uid=ada)(uid=none${n}))` })));
check("forty searches at once", together.every((found) => found.searchEntries.length === 1));
await client.unbind();
console.log("done");
