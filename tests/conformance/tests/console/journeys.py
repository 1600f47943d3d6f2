"""The journeys of the console in a real browser.

journeys.py CONSOLE-URL DRIVER BROWSER SHOTS [AXE]    the directory has been filled by main.rs
"""

import base64
import sys
from pathlib import Path

from selenium import webdriver
from selenium.common.exceptions import NoSuchElementException, WebDriverException
from selenium.webdriver.common.by import By
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.expected_conditions import staleness_of
from selenium.webdriver.support.ui import WebDriverWait

URL, DRIVER, BROWSER, SHOTS = sys.argv[1:5]
AXE = Path(sys.argv[5]).read_text() if len(sys.argv) > 5 else None
SUFFIX = "dc=example,dc=com"
EVIL = '<img src=x onerror="document.title=1"><script>document.title=2</script>&amp;"\''
faults = []


def check(truth, text):
    if not truth:
        shot("failed")
        raise AssertionError(f"{text}\n{browser.current_url}\n{body()}")


def open_browser():
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for argument in ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]:
        options.add_argument(argument)
    return webdriver.Chrome(options=options, service=Service(DRIVER))


def body():
    return browser.find_element(By.TAG_NAME, "main").text


def go(path):
    browser.get(URL + path)


def fill(name, text):
    field = browser.find_element(By.CSS_SELECTOR, f"main [name='{name}']:not([type=hidden])")
    field.clear()
    field.send_keys(text)


def follow(element):
    """Clicks, and waits until another page is there."""
    page = browser.find_element(By.TAG_NAME, "html")
    element.click()
    # A page that is just leaving is an error of the driver, too.
    wait = WebDriverWait(browser, 20, ignored_exceptions=[WebDriverException])
    wait.until(staleness_of(page))


def click(text):
    path = f"//main//button[normalize-space()='{text}'] | //main//a[normalize-space()='{text}']"
    follow(browser.find_element(By.XPATH, path))


def sign_in(name, password):
    go("/login")
    fill("name", name)
    fill("password", password)
    click("Sign in")


def sign_out():
    follow(browser.find_element(By.XPATH, "//header//button"))
    check("Login name" in body(), "the form to sign in comes back")


def accessible(page):
    """Lets axe-core look at a page. Its serious findings are faults."""
    if AXE is None:
        return
    browser.execute_script(AXE)
    found = browser.execute_async_script(
        "const done = arguments[0]; axe.run().then(r => done(r.violations.map("
        "v => [v.impact, v.id, v.nodes.map(n => n.html).slice(0, 3).join(' | ')])))"
    )
    for impact, name, places in found:
        line = f"{page}: {impact} {name}: {places}"
        print(line)
        if impact in ("serious", "critical"):
            faults.append(line)


def shot(name, width=1100, dark=False):
    scheme = "dark" if dark else "light"
    feature = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", feature)
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    data = browser.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})["data"]
    Path(SHOTS, f"{name}.png").write_bytes(base64.b64decode(data))
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def shot_name(path):
    """The page, with its kind and a word if there is a list of each."""
    path, _, query = path.partition("?")
    words = [word.split("=")[1] for word in query.split("&") if word.startswith(("kind", "name"))]
    return "-".join([path.strip("/").replace("/", "-"), *words])


def pages_are_accessible():
    for path in ["/me", "/users", "/users/new", "/groups", "/tree", "/overview", "/me/password",
                 "/schema?q=mail", "/schema?kind=attributes&name=cn",
                 "/schema?kind=classes&name=inetOrgPerson",
                 f"/tree?dn={SUFFIX}", f"/user?dn=uid%3Dada%2Cou%3Dpeople%2C{SUFFIX}",
                 f"/entry?dn=uid%3Dada%2Cou%3Dpeople%2C{SUFFIX}",
                 "/entry/new?parent=dc%3Dexample&class=person", "/nothing"]:
        go(path)
        accessible(path)
        for dark in [False, True]:
            name = shot_name(path)
            shot(f"{name}-{'dark' if dark else 'light'}", dark=dark)
        shot(f"{name}-phone", width=375)
        width = browser.execute_script("return document.documentElement.scrollWidth - innerWidth")
        check(width <= 0, f"{path} is wider than the window")


def strangers():
    go("/users")
    check("Login name" in body(), "a stranger is sent to the form")
    accessible("/login")
    shot("login-light")
    shot("login-dark", dark=True)
    shot("login-phone", width=375)
    for name in ["ada", "nobody", f"uid=ada,ou=people,{SUFFIX}"]:
        sign_in(name, "wrong")
        check("Name or password is wrong" in body(), "a wrong password is refused")
        check(name in browser.find_element(By.NAME, "name").get_attribute("value"), "the name stays")


def own_page():
    sign_in("ada@example.com", "ada-secret")
    check("uid=ada" in body(), "the mail address signs in")
    fill("telephoneNumber", "+46 1\n+46 2")
    click("Save")
    check("Your profile is saved." in body(), "the profile is saved")
    check("+46 2" in browser.find_element(By.NAME, "telephoneNumber").get_attribute("value"), "two numbers")
    fill("telephoneNumber", "\u00e9")
    click("Save")
    check("The profile is not saved" in body(), "the server's reason is shown")
    go("/me/password")
    fill("old", "wrong")
    fill("new", "ada-new")
    fill("again", "ada-new")
    click("Change")
    check("The password is not changed" in body(), "the old password is needed")
    fill("old", "ada-secret")
    fill("new", "ada-new")
    fill("again", "ada-new")
    click("Change")
    check("Your password is changed." in body(), "the password is changed")
    go(f"/user?dn=uid%3Dbjorn%2Cou%3Dpeople%2C{SUFFIX}")
    fill("title", "Boss")
    click("Save")
    check("your rights do not allow it" in body(), "the rights are those of LDAP")
    sign_out()
    sign_in("ada", "ada-new")
    check("uid=ada" in body(), "the new password signs in")
    sign_out()


def people():
    sign_in("admin", "secret")
    check(f"cn=admin,{SUFFIX}" in body(), "the administrator signs in by the short name")
    go("/users/new")
    for name, text in [("uid", "cleo"), ("givenName", EVIL), ("sn", "Quist"), ("password", "cleo-1")]:
        fill(name, text)
    click("Create")
    check("cleo is created." in body(), "a user is created")
    check(EVIL == browser.find_element(By.NAME, "givenName").get_attribute("value"), "HTML is text")
    check(browser.title.startswith("cleo"), "no script of a value runs")
    fill("new", "cleo-2")
    click("Reset the password")
    check("The password is reset." in body(), "the password is reset")
    click("Lock")
    check("The user is locked." in body(), "the user is locked")
    go("/users?q=cleo")
    check("locked" in body() and EVIL in body(), "the list shows the lock and the name")
    follow(browser.find_element(By.LINK_TEXT, "cleo"))
    sign_out()
    sign_in("cleo", "cleo-2")
    check("Name or password is wrong" in body(), "a locked user stays out")
    sign_in("admin", "secret")
    go("/users?q=cleo")
    follow(browser.find_element(By.LINK_TEXT, "cleo"))
    click("Unlock")
    check("The user is unlocked." in body(), "the user is unlocked")


def groups():
    go("/groups/new")
    fill("cn", "staff")
    fill("member", "ada")
    click("Create")
    check("staff is created." in body() and "1 members" in body(), "a group is created")
    fill("member", "nobody")
    click("Add")
    check("There is no user nobody." in body(), "a missing member is named")
    fill("member", "cleo")
    click("Add")
    check("uid=cleo" in body() and "2 members" in body(), "a member is added")
    shot("group-light")
    follow(browser.find_element(By.XPATH, "//button[@aria-label[contains(., 'uid=cleo')]]"))
    check("1 members" in body(), "a member is removed")


def entries():
    go("/tree")
    for part in ["▸ dc=example,dc=com", "▸ ou=people", "uid=cleo"]:
        follow(browser.find_element(By.LINK_TEXT, part))
    fill("v.sn", "Quist\nOther")
    click("Save")
    check("The entry is saved." in body(), "an entry is saved")
    fill("v.sn", "")
    click("Save")
    check("The entry is not saved" in body() and "sn" in body(), "the schema speaks")
    follow(browser.find_element(By.LINK_TEXT, "Rename …"))
    fill("rdn", "uid=cleopatra")
    click("Rename")
    check("The entry is renamed." in body() and "uid=cleopatra" in body(), "an entry is renamed")
    follow(browser.find_element(By.LINK_TEXT, "Delete …"))
    click("Delete")
    check("is deleted." in body(), "an entry is deleted")
    go(f"/entry/new?parent={SUFFIX}&class=organizationalUnit")
    fill("v.ou", EVIL)
    fill("rdn", "ou")
    click("Create")
    check("The entry is created." in body(), "an entry is created")
    check(EVIL == browser.find_element(By.NAME, "v.ou").get_attribute("value"), "HTML is text")
    check(browser.title.startswith("Entry"), "no script of a name runs")


def schema():
    go("/schema")
    fill("q", "telephone")
    click("Search")
    check("telephoneNumber" in body() and "mobile" in body(), "names and descriptions are searched")
    check("homePostalAddress" not in body(), "others are not shown")
    click("Syntaxes")
    check("1.3.6.1.4.1.1466.115.121.1.50" in body(), "the search goes on in another list")
    go("/schema?kind=attributes&name=CN")
    check(browser.title.startswith("cn"), "a name of any case is found")
    for text in ["commonName", "2.5.4.3", "caseIgnoreMatch", "Directory String", "any number"]:
        check(text in body(), f"{text} is told")
    holders = [e.text for e in browser.find_elements(By.CSS_SELECTOR, "dl.facts:last-of-type a")]
    check("inetOrgPerson" in holders and "device" in holders, "classes by inheritance hold it")
    follow(browser.find_element(By.LINK_TEXT, "name"))
    check("Inferior" in body() and "surname" not in browser.title, "the superior links down")
    follow(browser.find_element(By.LINK_TEXT, "sn"))
    click("person")
    check("structural" in body() and "Demands" in body(), "the class tells what it demands")
    follow(browser.find_element(By.LINK_TEXT, "organizationalPerson"))
    follow(browser.find_element(By.LINK_TEXT, "inetOrgPerson"))
    check("Demands by its superiors" in body(), "a class inherits")
    go("/schema?kind=rules&name=caseIgnoreMatch")
    check("Attributes that use it" in body() and "Directory String" in body(), "a rule has users")
    follow(browser.find_element(By.LINK_TEXT, "Directory String"))
    check("Matching rules" in body() and "caseIgnoreMatch" in body(), "a syntax has rules")
    go("/schema?kind=attributes&name=entryUUID")
    check("operational" in body() and "only the server sets it" in body(), "attributes of the server")
    go("/schema?kind=attributes&name=%3Cb%3E")
    check("The schema has no <b> among its attributes." in body(), "a missing name is text")


def forms_need_their_token():
    go("/me/password")
    browser.execute_script("document.querySelector('main input[name=token]').value = 'x'.repeat(64)")
    for name in ["old", "new", "again"]:
        fill(name, "secret")
    click("Change")
    check("The form is too old." in body(), "a form without the token is refused")


def sessions_end():
    cookie = next(one for one in browser.get_cookies() if one["name"].endswith("fulgurite-console"))
    check(cookie["httpOnly"] and cookie["sameSite"] == "Strict", "the cookie is guarded")
    sign_out()
    browser.add_cookie({"name": cookie["name"], "value": cookie["value"]})
    go("/me")
    check("Your session is over." in body(), "an old cookie opens nothing")
    try:
        browser.find_element(By.NAME, "title")
        check(False, "no page of the user is left")
    except NoSuchElementException:
        pass


browser = open_browser()
try:
    strangers()
    own_page()
    people()
    groups()
    schema()
    pages_are_accessible()
    forms_need_their_token()
    entries()
    sessions_end()
finally:
    browser.quit()
assert not faults, "\n".join(faults)
print("all is well")
