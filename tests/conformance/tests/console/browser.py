"""A browser for the journeys of the console, and its words.

The arguments of the scripts: CONSOLE-URL DRIVER BROWSER SHOTS [AXE]
"""

import base64
import sys
from pathlib import Path

from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.common.by import By
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.expected_conditions import staleness_of
from selenium.webdriver.support.ui import WebDriverWait

URL, DRIVER, BROWSER, SHOTS = sys.argv[1:5]
AXE = Path(sys.argv[5]).read_text() if len(sys.argv) > 5 else None
SUFFIX = "dc=example,dc=com"
faults = []


def check(truth, text):
    if not truth:
        shot("failed")
        raise AssertionError(f"{text}\n{browser.current_url}\n{body()}")


def open_browser():
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for argument in ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu",
                     "--ignore-certificate-errors"]:
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
    """Takes a picture. Returns by how much the page is wider than the window."""
    scheme = "dark" if dark else "light"
    feature = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", feature)
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    data = browser.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})["data"]
    Path(SHOTS, f"{name}.png").write_bytes(base64.b64decode(data))
    wide = "const e = document.documentElement; return e.scrollWidth - e.clientWidth"
    overflow = browser.execute_script(wide)
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    return overflow


def shot_name(path):
    """The page, with its kind and a word if there is a list of each."""
    path, _, query = path.partition("?")
    words = [word.split("=")[1] for word in query.split("&") if word.startswith(("kind", "name"))]
    return "-".join([path.strip("/").replace("/", "-"), *words])


def look_at(paths):
    """Looks at pages with axe-core, in light and dark and on a phone."""
    for path in paths:
        go(path)
        accessible(path)
        for dark in [False, True]:
            name = shot_name(path)
            shot(f"{name}-{'dark' if dark else 'light'}", dark=dark)
        shot(f"{name}-phone-dark", width=375, dark=True)
        overflow = shot(f"{name}-phone", width=375)
        check(overflow <= 0, f"{path} is {overflow} pixels wider than a phone")


def run(*journeys):
    """Goes the journeys in turn."""
    try:
        for journey in journeys:
            journey()
    finally:
        browser.quit()
    assert not faults, "\n".join(faults)
    print("all is well")


browser = open_browser()
