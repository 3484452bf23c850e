#!/usr/bin/python3
"""Opens pages of a server in headless Chromium and says what is wrong with them.

usage: check_served.py URL…

Each page at 360 and 1280 pixels, light and dark: nothing is wider than the window, text has a contrast of 4.5 with what
is behind it, the console is silent, nothing that was asked for was refused. One line per problem on standard output; exit code 1 when there is one, 77 when a
program is missing.
"""
import sys
import tempfile

from check_pages import command, start

# Every element with text of its own: the contrast of its color with what is behind it.
CONTRAST = """
const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
const rgb = color => {
  canvas.clearRect(0, 0, 1, 1);
  canvas.fillStyle = color;
  canvas.fillRect(0, 0, 1, 1);
  return [...canvas.getImageData(0, 0, 1, 1).data];
};
const light = color => color.slice(0, 3).map(v => v / 255)
  .map(v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
  .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
const probe = document.createElement('i');
probe.style.background = 'Canvas';
document.body.append(probe);
const paper = rgb(getComputedStyle(probe).backgroundColor);
probe.remove();
document.querySelectorAll('details').forEach(e => e.open = true);
const found = [];
for (const e of document.body.querySelectorAll('*')) {
  if (![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim())) continue;
  let back = paper;
  for (let p = e; p; p = p.parentElement) {
    const own = rgb(getComputedStyle(p).backgroundColor);
    if (own[3] === 255) { back = own; break; }
  }
  const both = [light(rgb(getComputedStyle(e).color)), light(back)].sort((a, b) => b - a);
  const ratio = (both[0] + .05) / (both[1] + .05);
  if (ratio < 4.5) found.push(`${e.tagName} ${e.textContent.trim().slice(0, 40)}: contrast ${ratio.toFixed(1)}`);
}
return found;
"""


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
            for line in driver.execute_script(CONTRAST):
                yield f"{url}, {width} pixels, {scheme}: {line}"
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
