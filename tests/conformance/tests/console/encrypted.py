"""The console over TLS, of a server with a file of settings."""

from browser import URL, body, browser, check, click, go, look_at, run, sign_in


def signing_in():
    check(URL.startswith("https://"), "the console speaks TLS")
    sign_in("admin", "secret")
    check("cn=admin" in body(), "the administrator signs in")
    cookies = {cookie["name"]: cookie for cookie in browser.get_cookies()}
    cookie = cookies["__Host-fulgurite-console"]
    check(cookie["secure"] and cookie["httpOnly"] and cookie["path"] == "/", "the cookie is bound to TLS")
    go("/login")
    check("not encrypted" not in body(), "nobody is warned of plain HTTP")


def health():
    go("/overview")
    check("Certificate" in body() and "more days" in body(), "the certificate is looked at")


def backups():
    go("/copies")
    check("Every" in body() and "1 h 0 min" in body(), "the plan of backups is told")
    look_at(["/copies"])


def lines_to_write():
    go("/searches")
    check("would help" in body(), "a search that lacks an index")
    click("Add the index employeeType:eq")
    check('employeeType = "eq"' in body() and "[index]" in body(), "the line for the file is told")
    look_at(["/searches"])


run(signing_in, health, backups, lines_to_write)
