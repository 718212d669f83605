"""A real Chromium without a window, as a person and as a screen reader would use it."""
import json
import os
import sys

try:
    from selenium import webdriver
except ModuleNotFoundError:  # another Python than Debian's: it has Debian's packages
    if sys.executable != "/usr/bin/python3" and os.path.exists("/usr/bin/python3"):
        os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.argv])
    raise
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from kit import PATIENCE, expect

KEYS = {"tab": Keys.TAB, "enter": Keys.ENTER, "escape": Keys.ESCAPE, "space": Keys.SPACE}

# Before any script of the page: violations of the policy, and what nobody caught.
WATCH = """
window.violations = [];
window.faults = [];
addEventListener("securitypolicyviolation", (e) => violations.push(`${e.violatedDirective} ${e.blockedURI} ${e.sample}`));
addEventListener("error", (e) => faults.push(String(e.message)));
addEventListener("unhandledrejection", (e) => faults.push(String(e.reason)));
"""


class Browser:
    def __init__(self, profile):
        options = webdriver.ChromeOptions()
        options.binary_location = "/usr/bin/chromium"
        # No sandbox: containers and root have none; only our own page is opened.
        for switch in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--no-first-run",
                       "--disable-background-networking", "--window-size=1280,900", f"--user-data-dir={profile}"):
            options.add_argument(switch)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
        self.driver.set_page_load_timeout(PATIENCE)
        self.devtools("Page.addScriptToEvaluateOnNewDocument", source=WATCH)

    def devtools(self, command, **parameters):
        return self.driver.execute_cdp_cmd(command, parameters)

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def open(self, url):
        self.driver.get_log("browser")  # what was before is of another case
        self.driver.get(url)

    def width(self, pixels, height=812):
        self.devtools("Emulation.setDeviceMetricsOverride", width=pixels, height=height, deviceScaleFactor=1, mobile=pixels < 500)

    def scheme(self, name):
        self.devtools("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])

    def plain(self):
        self.devtools("Emulation.clearDeviceMetricsOverride")
        self.devtools("Emulation.setEmulatedMedia", features=[])

    def keys(self, *names):
        actions = ActionChains(self.driver)
        for name in names:
            actions.send_keys(KEYS.get(name, name))
        actions.perform()

    def text(self, identity):
        return self.run("return document.getElementById(arguments[0]).textContent", identity)

    def tree(self):
        """What a screen reader is told: (role, name, properties) of all that is not hidden from it."""
        self.devtools("Accessibility.enable")
        out = []
        for node in self.devtools("Accessibility.getFullAXTree")["nodes"]:
            if node.get("ignored"):
                continue
            properties = {one["name"]: one["value"].get("value") for one in node.get("properties", [])}
            out.append((node["role"]["value"], node.get("name", {}).get("value", ""), properties))
        return out

    def clean(self, expected=()):
        """No error in the console but those with an expected word, no violation, no fault."""
        expect(self.run("return window.violations") == [], self.run("return window.violations"))
        expect(self.run("return window.faults") == [], self.run("return window.faults"))
        told = [line for line in self.driver.get_log("browser") if line["level"] in ("SEVERE", "WARNING")]
        bad = [line for line in told if not any(word in line["message"] for word in expected)]
        expect(not bad, json.dumps(bad))

    def close(self):
        self.driver.quit()
