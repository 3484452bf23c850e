#!/usr/bin/python3
"""Opens pages in headless Chromium and says what is wrong with them.

usage: check_pages.py [--shots FOLDER] [--served] PAGE.html…

Each page: phone (390 px) and desktop (1280 px), light and dark, printed on A4 and Letter, validated.
One line per problem on standard output; exit code 1 when there is one, 77 when a program is missing.
"""
import base64
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

FOLDER = os.path.dirname(os.path.abspath(__file__))


def missing(what):
    print(f"skipped: {what} is not installed")
    sys.exit(77)


try:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
except ImportError:
    missing("python3-selenium")

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
if not CHROMIUM or not DRIVER:
    missing("chromium or chromium-driver")


def script(name):
    with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
        return file.read()


INSPECT, SORT = script("inspect.js"), script("sort.js")


def start(profile):
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for word in [
        "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
        "--hide-scrollbars", "--no-first-run", "--disable-background-networking",
        "--disable-component-update", f"--user-data-dir={profile}",
    ]:
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(service=Service(DRIVER), options=options)


def command(driver, name, **values):
    return driver.execute_cdp_cmd(name, values)


def requests(driver):
    """Addresses that the page asked for, since the last look."""
    found = []
    for entry in driver.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            found.append(message["params"]["request"]["url"])
    return found


def look(driver, width, scheme, say, most, whole=False):
    command(
        driver, "Emulation.setDeviceMetricsOverride", width=width, height=844 if width < 600 else 900,
        deviceScaleFactor=2 if width < 600 else 1, mobile=width < 600)
    command(
        driver, "Emulation.setEmulatedMedia", media="screen",
        features=[{"name": "prefers-color-scheme", "value": scheme}])
    for problem in driver.execute_script(INSPECT, {"most": most, "whole": whole}):
        say(f"{width} px, {scheme}: {problem}")


def shot(driver, path, whole):
    picture = command(driver, "Page.captureScreenshot", format="png", captureBeyondViewport=whole, **(
        {"clip": {"x": 0, "y": 0, "width": driver.execute_script("return innerWidth"),
                  "height": min(6000, driver.execute_script("return document.scrollingElement.scrollHeight")),
                  "scale": 1}} if whole else {}))
    with open(path, "wb") as file:
        file.write(base64.b64decode(picture["data"]))


def printed(driver, page, say, shots):
    # Black on white, whatever the screen has.
    command(
        driver, "Emulation.setEmulatedMedia", media="print",
        features=[{"name": "prefers-color-scheme", "value": "dark"}])
    colors = driver.execute_script(
        "const s = getComputedStyle(document.body); return [s.color, s.backgroundColor]")
    if colors != ["rgb(0, 0, 0)", "rgb(255, 255, 255)"]:
        say(f"printed in {colors[0]} on {colors[1]}")
    target = driver.execute_script(
        "const a = document.querySelector('a[href^=\"./\"]');"
        "return !a || getComputedStyle(a, '::after').content.includes(a.getAttribute('href'))")
    if not target:
        say("a printed link does not say where it leads")
    driver.execute_script("dispatchEvent(new Event('beforeprint'))")
    if driver.execute_script("return document.querySelectorAll('details:not([open])').length"):
        say("folded parts stay folded in print")
    driver.execute_script("dispatchEvent(new Event('afterprint'))")
    for name, width, height in [("A4", 8.27, 11.69), ("Letter", 8.5, 11)]:
        pdf = base64.b64decode(
            command(driver, "Page.printToPDF", paperWidth=width, paperHeight=height,
                    preferCSSPageSize=False)["data"])
        if not pdf.startswith(b"%PDF") or len(pdf) < 2000:
            say(f"no PDF on {name}")
        if shots:
            with open(os.path.join(shots, f"{stem(page)}-{name}.pdf"), "wb") as file:
                file.write(pdf)
    command(driver, "Emulation.setEmulatedMedia", media="screen")


def stem(page):
    return "-".join(os.path.abspath(page).split(os.sep)[-2:]).removesuffix(".html")


def validate(page, say):
    """By the Nu validator where SCANMILL_VNU names its jar, else by tidy."""
    jar = os.environ.get("SCANMILL_VNU")
    if jar and shutil.which("java"):
        done = subprocess.run(
            ["java", "-jar", jar, "--format", "gnu", "--errors-only", page], capture_output=True, text=True)
        for line in done.stderr.splitlines()[:20]:
            say(f"validator: {line[-300:]}")
        return
    if not shutil.which("tidy"):
        print("note: neither SCANMILL_VNU nor tidy: pages are not validated")
        return
    # It does not know `div` around `dt` and `dd`, which HTML has had since 5.2: they are taken away for it.
    with open(page, encoding="utf-8") as file:
        text = re.sub(
            r"<dl\b.*?</dl>", lambda found: re.sub(r"</?div\b[^>]*>", "", found[0]), file.read(), flags=re.S)
    done = subprocess.run(
        ["tidy", "-quiet", "-errors", "-utf8", "--gnu-emacs", "yes", "--show-warnings", "yes",
         "--drop-empty-elements", "no"],
        capture_output=True, text=True, input=text)
    known = ["proprietary attribute", "trimming empty", "nested emphasis"]
    lines = [line for line in done.stderr.splitlines() if not any(word in line for word in known)]
    for line in lines[:20]:
        say(f"validator: {line[-300:]}")


def check(driver, page, address, shots, say):
    size = os.path.getsize(page)
    most = 4000 if size < 1_000_000 else 300
    requests(driver)
    driver.get_log("browser")
    driver.get(address)
    own = requests(driver)
    views = [(390, "light"), (390, "dark"), (1280, "light"), (1280, "dark")]
    for width, scheme in views if size < 1_000_000 else views[::3]:
        look(driver, width, scheme, say, most, whole=(width, scheme) == views[0])
        if shots:
            name = f"{stem(page)}-{width}-{scheme}"
            shot(driver, os.path.join(shots, name + ".png"), False)
            shot(driver, os.path.join(shots, name + "-whole.png"), True)
    # A second time on the phone, with everything open.
    driver.execute_script("for (const part of document.querySelectorAll('details')) part.open = true")
    look(driver, 390, "light", say, most)
    driver.execute_script("for (const part of document.querySelectorAll('details')) part.open = false")
    result = driver.execute_script(SORT)
    for problem in result["problems"]:
        say(f"table: {problem}")
    if result["sortMs"] is not None:
        rows = driver.execute_script("return document.getElementById('captures').tBodies[0].rows.length")
        print(f"note: {page}: {rows} rows sorted in at most {result['sortMs']:.0f} ms, {size} bytes")
    if size < 1_000_000:
        printed(driver, page, say, shots)
    for asked in own[1:] + requests(driver):
        if not asked.startswith("data:"):
            say(f"request: {asked[:200]}")
    for entry in driver.get_log("browser"):
        say(f"console: {entry['message'][:300]}")
    validate(page, say)


def main():
    words = sys.argv[1:]
    shots = None
    if words[:1] == ["--shots"]:
        shots, words = words[1], words[2:]
        os.makedirs(shots, exist_ok=True)
    problems = []
    profile = tempfile.mkdtemp(prefix="scanmill-browser-")
    driver = None
    try:
        driver = start(profile)
        driver.set_script_timeout(60)
        command(driver, "Network.enable")
        for page in words:
            def say(text, page=page):
                problems.append(f"{page}: {text}")
            check(driver, page, "file://" + os.path.abspath(page), shots, say)
    finally:
        if driver:
            driver.quit()
        shutil.rmtree(profile, ignore_errors=True)
    print("\n".join(problems))
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
