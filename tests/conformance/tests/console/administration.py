"""The journeys of administrators; the server has a configuration directory (cn=config)."""

import time

from selenium.webdriver.common.by import By

from browser import SUFFIX, body, browser, check, click, fill, follow, go, look_at, run, sign_in
from browser import sign_out

ADA, BJORN = (f"uid={name},ou=people,{SUFFIX}" for name in ["ada", "bjorn"])


def link(text):
    follow(browser.find_element(By.LINK_TEXT, text))


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


def strangers_see_nothing():
    sign_in("ada", "ada-secret")
    for page in ["overview", "clients", "searches", "copies"]:
        go(f"/{page}")
        check("You may not see the figures" in body(), f"{page} is closed to users")
    go("/settings")
    check("You may not read the settings" in body(), "settings are closed to users")
    go(f"/access?who=ada&access=write&part=title&entry={BJORN}")
    check("no manage access to entry" in body() and "by self" not in body(), "rules are closed to users")
    go("/access?who=ada&access=write&part=title&entry=uid%3Dnobody%2Cdc%3Dexample%2Cdc%3Dcom")
    check("no manage access to entry" in body(), "missing entries are as closed")
    sign_out()


def health():
    sign_in("admin", "secret")
    go("/overview")
    check("File of dc=example,dc=com" in body(), "the health is told")
    check("Disk of" in body() and "Readers of" in body() and "Backups" in body(), "all is looked at")


def clients():
    go("/clients")
    check("Search" in body() and f"{ADA}" in body(), "operations and clients are shown")
    row = browser.find_element(By.XPATH, f"//tr[contains(., '{ADA}')]//button")
    follow(row)
    check("The connection is closed" in body(), "a connection is closed")
    for _ in range(100):
        go("/clients")
        if ADA not in body():
            break
        time.sleep(0.1)
    check(ADA not in body(), "the closed connection is gone")


def searches():
    go("/searches")
    check("(employeeType=?)" in body() and "would help" in body(), "a search that lacks an index")
    check("secret-value" not in body(), "values of filters are not kept")
    check("all entries" in body(), "the plan is told")
    look_at(["/searches"])
    click("Add the index employeeType:eq")
    check("The server builds the index employeeType:eq." in body(), "the index is added")
    for _ in range(100):
        click("Look again")
        if "is complete" in body():
            break
        time.sleep(0.1)
    check("The index employeeType:eq is complete." in body(), "the index is complete")


def access():
    go("/access")
    fill("who", "ada")
    fill("entry", "bjorn")
    click("Ask")
    check(f"No {ADA} may not write title of {BJORN}" in body().replace("\n", " "), "the verdict")
    check("to attrs=title" in body() and "by * read" in body(), "the rule is named")
    fill("who", "bjorn")
    click("Ask")
    check("Yes" in body() and "by self write" in body(), "another clause decides")
    fill("part", "nothing")
    click("Ask")
    check("attribute type undefined" in body(), "an unknown attribute is told")
    fill("who", "")
    fill("part", "entry userPassword")
    click("Ask")
    check("A client without identity may not write userPassword" in body(), "several parts")
    fill("entry", "nobody")
    click("Ask")
    check("There is no user nobody." in body(), "a missing user is told")


def settings():
    go("/settings")
    check("olcIdleTimeout" in body() and "limits.idle" in body(), "settings have keys")
    values = [element.text for element in browser.find_elements(By.CSS_SELECTOR, "code.value")]
    check("cn=admin,dc=example,dc=com" in values and "secret" not in values, "passwords are hidden")
    fill("q", "idletimeout")
    click("Search")
    check("olcIdleTimeout" in body() and "olcSuffix" not in body(), "settings are searched")
    link("edit")
    fill("v.olcIdleTimeout", "1800")
    click("Save")
    check("The entry is saved." in body(), "a setting is changed")
    fill("v.olcIdleTimeout", "soon")
    click("Save")
    check("The entry is not saved" in body(), "a wrong value is refused")
    go("/settings?q=idletimeout")
    check("1800" in body(), "the change is in force")


def pages():
    look_at(["/overview", "/clients", "/copies", "/settings",
             f"/access?who=ada&access=write&part=title&entry={BJORN}",
             "/schema?q=mail", "/schema?kind=attributes&name=cn",
             "/schema?kind=classes&name=inetOrgPerson"])


run(strangers_see_nothing, health, schema, clients, searches, access, settings, pages)
