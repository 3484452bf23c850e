#!/usr/bin/python3
"""Opens pages of a server in headless Chromium and says what is wrong with them.

usage: check_served.py URL…

Each page at 360 and 1280 pixels, light and dark: nothing is wider than the window, the console is silent, nothing
that was asked for was refused. One line per problem on standard output; exit code 1 when there is one, 77 when a
program is missing.
"""
import sys
import tempfile

from check_pages import command, start


def problems(driver, url):
    for width in [360, 1280]:
        for scheme in ["light", "dark"]:
            command(driver, "Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=1,
                    mobile=width < 600)
            command(driver, "Emulation.setEmulatedMedia",
                    features=[{"name": "prefers-color-scheme", "value": scheme}])
            driver.get(url)
            wide = driver.execute_script(
                "return document.documentElement.scrollWidth > window.innerWidth")
            if wide:
                yield f"{url}: wider than {width} pixels"
            if not driver.execute_script("return document.styleSheets.length"):
                yield f"{url}: no style"
            back = driver.execute_script(
                "return getComputedStyle(document.documentElement).colorScheme")
            if back != "light dark":
                yield f"{url}: color scheme {back}"
            for entry in driver.get_log("browser"):
                yield f"{url}: {entry['message']}"


def main():
    with tempfile.TemporaryDirectory() as profile:
        driver = start(profile)
        try:
            found = [problem for url in sys.argv[1:] for problem in problems(driver, url)]
        finally:
            driver.quit()
    for problem in found:
        print(problem)
    sys.exit(1 if found else 0)


main()
