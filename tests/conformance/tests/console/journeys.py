"""The journeys of people in a real browser; the directory has been filled by main.rs."""

from selenium.common.exceptions import NoSuchElementException
from selenium.webdriver.common.by import By

from browser import SUFFIX, accessible, body, browser, check, click, fill, follow, go, look_at, run
from browser import shot, sign_in, sign_out

EVIL = '<img src=x onerror="document.title=1"><script>document.title=2</script>&amp;"\''


def pages():
    look_at(["/me", "/users", "/users/new", "/groups", "/tree", "/me/password",
             f"/tree?dn={SUFFIX}", f"/user?dn=uid%3Dada%2Cou%3Dpeople%2C{SUFFIX}",
             f"/entry?dn=uid%3Dada%2Cou%3Dpeople%2C{SUFFIX}",
             "/entry/new?parent=dc%3Dexample&class=person", "/nothing"])


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


run(strangers, own_page, people, groups, pages, forms_need_their_token, entries, sessions_end)
