#!/usr/bin/env python3
"""The live page of the built server in a real Chromium.

Usage: page_test.py PATH-OF-agones-alloc-server [WORD-OF-A-CASE|picture=FILE]
Prints one line a case and a summary, and exits with 1 when a case failed. Needs chromium, chromium-driver, python3-selenium.
"""
import gzip
import http.client
import json
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading

sys.dont_write_bytecode = True  # nothing is written into the source tree
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "server"))

from browser import Browser  # noqa: E402
import kit  # noqa: E402
from kit import KUBERNETES, PATIENCE, ROOT, WANTED, WithFleets, case, certificates, expect, policy, until  # noqa: E402
from kit import manifest as fleet  # noqa: E402

PICTURE = "picture="  # then one for the documents is taken in place of the cases


class Server(WithFleets):
    """One that runs."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.url = f"{'https' if self.tls else 'http'}://127.0.0.1:{self.port}/"

    def ask(self, method, path, body=None, headers=None):
        """Status, fields and bytes: files are packed."""
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        link.request(method, path, None if body is None else json.dumps(body), {"Content-Type": "application/json", **(headers or {})})
        answer = link.getresponse()
        data = answer.read()
        link.close()
        return answer.status, dict(answer.getheaders()), data

    def allocate(self, name=None):
        selector = {"matchLabels": {"agones.dev/fleet": name}} if name else {}
        status, _, data = self.ask("POST", KUBERNETES, {"spec": {"selectors": [selector]}})
        expect(status in (200, 201), data)
        return json.loads(data)["status"]["state"]

    def stop(self):
        super().stop(signal.SIGKILL)


ROWS = """return [...document.querySelectorAll("#fleet-table tbody tr")].map((row) => ({
  name: row.querySelector(".name").textContent, where: row.querySelector(".where").textContent,
  words: row.querySelector(".counts").innerText, stale: row.classList.contains("stale"),
  numbers: [...row.querySelectorAll("td.number")].map((cell) => cell.textContent), room: row.cells[5].textContent}))"""


def rows(w):
    return {row["name"]: row for row in w.browser.run(ROWS)}


def row_with(w, name, holds, what):
    return until(lambda: next((row for row in [rows(w).get(name)] if row and holds(row)), None),
                 lambda: f"{what}: {rows(w).get(name)}, {w.browser.text('connection-text')}")


@case
def rows_show_and_numbers_move_while_allocations_run(w):
    one = w.server("one", fleet("arena", 20, {"tier": "gold"}) + fleet("lobby", 3, counters={"rooms": {"count": 0, "capacity": 8}}))
    w.browser.open(one.url)
    row_with(w, "arena", lambda row: row["numbers"] == ["20", "0", "20"], "the fleet is not shown")
    row_with(w, "lobby", lambda row: "rooms: 24 of 24 free" in row["room"], "free capacity is not shown")
    until(lambda: w.browser.text("connection-text") == "Live", "it does not say that it is live")
    for taken in range(1, 8):
        expect(one.allocate("arena") == "Allocated", "an allocation")
        row_with(w, "arena", lambda row: row["numbers"] == [str(20 - taken), str(taken), "20"], "the numbers do not move")
    row = rows(w)["arena"]
    expect("13 ready" in row["words"] and "7 allocated" in row["words"], row)
    until(lambda: w.browser.text("total-allocated") == "7" and w.browser.text("total-servers") == "23", "the totals")
    until(lambda: re.search(r"allocated: [0-9.]*[1-9]", w.chart("rate-chart", one)), "the chart says nothing of allocations")
    until(lambda: re.search(r"mean of allocations: [0-9.]+ m?s", w.chart("latency-chart", one)), "nor of their latency")
    until(lambda: re.fullmatch(r"[1-9]\d* of [1-9]\d* nodes? with allocated servers, \d+ without\.", w.browser.text("packing")),
          lambda: w.browser.text("packing"))
    nodes = w.browser.run("return [...document.querySelectorAll('#node-table tbody tr')].map((row) => row.cells[2].textContent)")
    expect(sum(map(int, nodes)) >= 7, nodes)
    w.browser.clean()


@case
def a_killed_server_is_told_and_a_restarted_one_is_caught_up_with(w):
    one = w.server("one", fleet("arena", 4) + fleet("gone", 2))
    w.browser.open(one.url)
    row_with(w, "gone", lambda row: row["numbers"][2] == "2", "the fleet is not shown")
    one.stop()
    until(lambda: w.browser.text("connection-text").startswith("Connection lost"), "nothing is said of the connection")
    expect(w.browser.run("return document.getElementById('connection').dataset.state") == "lost", "the state")
    expect(set(rows(w)) == {"arena", "gone"}, "the last values stay in sight")
    until(lambda: w.browser.text("announcer") == "Connection lost", "a screen reader is not told")
    w.server("one", fleet("arena", 9) + fleet("fresh", 1), port=one.port)
    until(lambda: w.browser.text("connection-text") == "Live", "it does not come again")
    row_with(w, "arena", lambda row: row["numbers"] == ["9", "0", "9"], "it does not catch up")
    until(lambda: set(rows(w)) == {"arena", "fresh"}, lambda: f"what is gone is still there: {set(rows(w))}")
    w.browser.clean(expected=["net::ERR", "Failed to load resource"])


@case
def the_keyboard_is_enough(w):
    one = w.server("one", "".join(fleet(f"fleet-{i}", 1) for i in range(3)) + fleet("wanted", 60))
    w.browser.open(one.url)
    row_with(w, "wanted", lambda row: row["numbers"][0] == "60", "the fleet is not shown")
    at = lambda: w.browser.run("""const e = document.activeElement, s = getComputedStyle(e);
      return {what: e.id || e.getAttribute("aria-label") || e.textContent, seen: s.outlineStyle !== "none" && parseFloat(s.outlineWidth) >= 2}""")

    def step():
        w.browser.keys("tab")
        found = at()
        expect(found["seen"], f"the focus on {found['what']} cannot be seen")
        return found["what"]

    expect(step() == "Skip to the fleets", at())
    w.browser.keys("enter")
    expect(step() == "words", at())
    w.browser.keys("wanted")
    until(lambda: list(rows(w)) == ["wanted"], lambda: f"the search finds {list(rows(w))}")
    until(lambda: w.browser.text("announcer") == "1 fleet found", lambda: w.browser.text("announcer"))
    expect(step() == "order" and step() == "Servers of wanted", at())
    w.browser.keys("enter")
    opened = lambda name: w.browser.run("return document.getElementById(arguments[0]).open", name)
    expect(opened("servers-dialog"), "the servers")
    server_names = lambda: w.browser.run("""return [...document.querySelectorAll("#server-table tbody tr")]
      .filter((row) => !row.hidden).map((row) => row.querySelector(".name").textContent)""")
    first = until(lambda: len(server_names()) == 50 and server_names(), lambda: f"{len(server_names())} servers")
    expect(step() == "servers-next", at())
    w.browser.keys("enter")
    second = until(lambda: len(server_names()) == 10 and server_names(), lambda: f"{len(server_names())} servers on page 2")
    expect(not set(first) & set(second), "another page has other servers")
    w.browser.keys("escape")
    expect(not opened("servers-dialog") and at()["what"] == "Servers of wanted", at())
    expect(step() == "Commands that allocate from wanted", at())
    w.browser.keys("space")
    expect(opened("command-dialog"), "the commands")
    seen = [step() for _ in range(4)]
    expect("Copy the curl line" in seen and "Copy the kubectl line" in seen, seen)
    # The dialog keeps the focus.
    inside = set()
    for _ in range(8):
        w.browser.keys("tab")
        inside.add(w.browser.run("return document.activeElement === document.body || document.activeElement.closest('dialog') !== null"))
    expect(inside == {True}, "the focus leaves the dialog")
    w.browser.keys("escape")
    expect(not opened("command-dialog") and at()["what"] == "Commands that allocate from wanted", at())
    w.browser.clean()


@case
def the_lines_allocate(w):
    one = w.server("one", fleet("arena", 5))
    w.browser.open(one.url)
    row_with(w, "arena", lambda row: row["numbers"][0] == "5", "the fleet is not shown")
    w.browser.devtools("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"], origin=one.url.rstrip("/"))
    w.browser.run("document.querySelector('#fleet-table tbody .actions button:last-child').click()")
    until(lambda: w.browser.text("command-room") == "There is room for 5 allocations now.", lambda: w.browser.text("command-room"))
    line = w.browser.text("curl-line")
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, timeout=PATIENCE, check=False)
    expect('"Allocated"' in done.stdout, f"{line}: {done.stdout}{done.stderr}")
    row_with(w, "arena", lambda row: row["numbers"][1] == "1", "its allocation is not shown")
    line = w.browser.text("kubectl-line")
    expect(line.startswith("echo '{") and line.endswith(" create -o yaml -f -"), line)
    named = " | kubectl --server '" + one.url.removesuffix("/") + "' create "
    until(lambda: named in w.browser.text("kubectl-line"), "it does not name this cluster")
    w.browser.run("document.querySelector('[data-copies=curl-line]').click()")
    until(lambda: w.browser.text("copied") in ("The curl line is copied.",
                                               "The browser does not let this page copy; the curl line is selected."), "nothing is said")
    w.browser.clean()


@case
def a_phone_and_the_dark(w):
    one = w.server("one", fleet("a" * 63, 3, {"a-long-label-of-a-fleet": "b" * 63}, lists={"rooms": {"capacity": 1000}}) + fleet("arena", 120))
    w.browser.width(375)
    w.browser.open(one.url)
    row_with(w, "arena", lambda row: row["numbers"][0] == "120", "the fleet is not shown")
    fits = lambda: w.browser.run("return document.documentElement.scrollWidth <= innerWidth && innerWidth === 375")
    until(lambda: len(w.browser.run("return [...document.querySelectorAll('#node-table tbody tr')]")) > 0, "no nodes")
    expect(fits(), "the page is wider than the phone")
    for number in (1, 2):
        w.browser.run(f"document.querySelector('#fleet-table tbody .actions button:nth-child({number})').click()")
        expect(fits() and w.browser.run("const d = document.querySelector('dialog[open]'); return d.scrollWidth <= d.clientWidth"),
               "a dialog is wider than the phone")
        w.browser.run("document.querySelector('dialog[open]').close()")
    colour = lambda: w.browser.run("const s = getComputedStyle(document.body); return [s.color, s.backgroundColor]")
    light = lambda text: sum(map(int, re.findall(r"\d+", text)[:3])) / 3
    for scheme in ("light", "dark"):
        w.browser.scheme(scheme)
        front, back = map(light, colour())
        expect((back > 200 and front < 60) if scheme == "light" else (back < 60 and front > 200), f"{scheme}: {colour()}")
    w.browser.clean()


@case
def hostile_names_stay_text(w):
    bad = "<img src=x onerror='window.hacked=1'>"
    one = w.server("one", fleet("arena", 2, {"note": bad, "more": "</table><script>window.hacked=1</script>"}) + fleet("b", 1))
    w.browser.open(one.url + "?labelSelector=note")
    row_with(w, "arena", lambda row: row["numbers"][0] == "2", "the fleet is not shown")
    expect(set(rows(w)) == {"arena"}, "the selector of the page's address counts")
    labels = w.browser.run("return document.querySelector('#fleet-table .labels').textContent")
    expect(bad in labels and "<script>" in labels, labels)
    # What no manifest may say, another cluster may: names as a stream could tell them.
    w.browser.run("""const done = arguments[0]; import("/page/book.js").then(({Book}) => import("/page/rows.js").then(({fleetRow, nodeRow, clusterRow}) => {
      const book = new Book();
      const row = book.put({clusterName: done, namespace: done, fleetName: done, labels: {[done]: done},
        recount: {states: {[done]: 1}, totalGameservers: 1, counters: {[done]: {capacity: 1}}, nodes: {[done]: {totalGameservers: 1, readyGameservers: 1, allocatedGameservers: 0}}}});
      const table = document.querySelector("#fleet-table tbody");
      for (const [make, item] of [[fleetRow({}), row], [nodeRow(), [...book.nodes.values()][0]],
        [clusterRow(), {key: done, name: done, endpoint: done, message: done, observed: done, fleets: 1, endpoints: [{endpoint: done, breaker: done, calls: 1, lastOutcome: done}]}]]) {
        make.fill(item);
        make.row.classList.add("hostile");
        table.append(make.row);
      }
      window.put = true;
    }))""", bad)
    until(lambda: w.browser.run("return window.put === true"), "the rows are not made")
    expect(len(w.browser.run("return [...document.querySelectorAll('.hostile')].filter((row) => row.textContent.includes(arguments[0]))", bad)) == 3,
           "the names are not shown as they are")
    expect(w.browser.run("return document.images.length === 0 && window.hacked === undefined && document.scripts.length === 1"), "markup came in")
    commands = w.browser.run("""window.lines = null; import("/page/commands.js").then((m) => {
      const f = {name: arguments[0], namespace: "default"}; window.lines = [m.curlLine(f, true), m.kubectlLine(f, true, true)]; })""", "a'; touch hacked; '$(id)")
    commands = until(lambda: w.browser.run("return window.lines"), "no lines")
    for line in commands:
        # The shell's own reading of the words: the hostile name is within one of them.
        words = subprocess.run(["bash", "-c", f"printf '%s\\n' {line.split(' | ')[0]}"], capture_output=True, text=True, check=True).stdout
        expect("a'; touch hacked; '$(id)" in words, words)
    sources = [path for path in (ROOT / "examples/server/page").iterdir() if path.suffix in (".js", ".html")]
    for path in sources:
        expect(not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|https?://(?!www\.w3\.org/)", path.read_text()), path)
    w.browser.clean()
    # What would be a violation is one, and is seen.
    caught = w.browser.run("try { document.body.innerHTML = '<b>'; return false } catch { return window.violations.length > 0 || 'unseen' }")
    expect(caught in (True, "unseen"), "markup can be written")
    until(lambda: w.browser.run("return window.violations.length") > 0, "a violation is not noticed by this test")


@case
def ten_thousand_servers_write_only_rows_that_change(w):
    one = w.server("one", "".join(fleet(f"fleet-{i:04}", 10) for i in range(1000)), "--nodes", "50")
    w.browser.open(one.url)
    until(lambda: w.browser.text("total-servers") == "10,000" and w.browser.text("total-ready") == "10,000",
          lambda: f"{w.browser.text('total-servers')} servers, {w.browser.text('total-ready')} ready")
    expect(len(rows(w)) == 50, "only a page of rows is in the document")
    w.browser.run("""
      window.written = new Set(); window.gaps = []; window.longest = 0;
      new MutationObserver((list) => list.forEach(({target}) => {
        const row = (target.nodeType === 1 ? target : target.parentElement).closest("#fleet-table tbody tr");
        if (row) written.add(row.querySelector(".name").textContent);
      })).observe(document.getElementById("fleet-table"), {subtree: true, childList: true, characterData: true, attributes: true});
      new PerformanceObserver((list) => list.getEntries().forEach((e) => { longest = Math.max(longest, e.duration); })).observe({type: "longtask"});
      let last = performance.now();
      const frame = (now) => { gaps.push(now - last); last = now; requestAnimationFrame(frame); };
      requestAnimationFrame(frame);""")
    stopping = threading.Event()

    def elsewhere(first):
        number = first
        while not stopping.is_set():
            one.allocate(f"fleet-{500 + number % 500:04}")
            number += 2

    threads = [threading.Thread(target=elsewhere, args=(i,), daemon=True) for i in range(2)]
    for thread in threads:
        thread.start()
    for name in ("fleet-0003", "fleet-0007", "fleet-0003"):
        one.allocate(name)
    row_with(w, "fleet-0003", lambda row: row["numbers"][1] == "2", "the numbers do not move")
    until(lambda: int(w.browser.text("total-allocated").replace(",", "")) >= 500, lambda: w.browser.text("total-allocated"))
    stopping.set()
    for thread in threads:
        thread.join()
    expect(set(w.browser.run("return [...written]")) == {"fleet-0003", "fleet-0007"}, w.browser.run("return [...written]"))
    gaps = sorted(w.browser.run("return gaps"))
    longest = w.browser.run("return longest")
    print(f"        {len(gaps)} frames; 99 of 100 within {gaps[len(gaps) * 99 // 100]:.0f} ms, the longest {gaps[-1]:.0f} ms; longest task "
          f"{longest:.0f} ms; {w.browser.text('total-allocated')} allocations", flush=True)
    expect(w.browser.run("return PerformanceObserver.supportedEntryTypes.includes('longtask')"), "this browser tells of no long tasks")
    # Far above what it takes, and far below what writing all rows or reading all fleets at once would.
    expect(longest < 1000, f"a task of {longest:.0f} ms: the page stands still meanwhile")
    w.browser.run("document.querySelector('#fleet-pages button:last-child').click()")
    expect(next(iter(rows(w))) == "fleet-0050", "the next page")
    w.browser.run("const e = document.getElementById('words'); e.value = 'fleet-0777 local'; e.dispatchEvent(new Event('input'))")
    until(lambda: list(rows(w)) == ["fleet-0777"], "the search finds any fleet")
    w.browser.clean()


METRICS = """# HELP x Something with {braces} 7
agones_gameserver_allocations_duration_seconds_count{fleet_name="a\\"} 9",status="Allocated"} 10
agones_gameserver_allocations_duration_seconds_count{fleet_name="b",status="UnAllocated"} 4
agones_gameserver_allocations_duration_seconds_sum{fleet_name="b",status="UnAllocated"} 0.5
agones_alloc_http_request_duration_seconds_bucket{code="200",method="POST",route="rest",le="0.001"} 50
agones_alloc_http_request_duration_seconds_bucket{code="200",method="POST",route="rest",le="0.002"} 100
agones_alloc_http_request_duration_seconds_bucket{code="200",method="POST",route="rest",le="+Inf"} 100
agones_alloc_http_request_duration_seconds_bucket{code="200",method="GET",route="metrics",le="+Inf"} 1000
agones_alloc_requests_waiting 3
process_start_time_seconds 1.5e+09
"""


@case
def charts_read_metrics_as_they_are_meant(w):
    one = w.server("one", fleet("arena", 1))
    w.browser.open(one.url)
    w.browser.run("""window.read = null; import("/page/metrics.js").then((m) => {
      const first = {...m.readMetrics(""), started: 1.5e9, at: 0}, second = {...m.readMetrics(arguments[0]), at: 2000};
      const late = {...second, at: 4000, buckets: new Map([[0.001, 50], [0.002, 100], [Infinity, 110]])};
      window.read = {second: {...second, buckets: [...second.buckets.keys()].length}, growth: m.between(first, second), still: m.between(second, {...second, at: 3000}),
        slow: m.between(second, late).p95, restarted: m.between(second, {...second, started: 2e9, at: 3000}) };
    })""", METRICS)
    read = until(lambda: w.browser.run("return window.read"), "nothing is read")
    second = read["second"]
    expect(second["allocated"] == 10 and second["others"] == 4 and second["waiting"] == 3 and second["buckets"] == 3, read)
    growth = read["growth"]
    expect(growth["allocated"] == 5 and growth["others"] == 2 and abs(growth["mean"] - 0.5 / 14) < 1e-9, read)
    expect(abs(growth["p95"] - 0.0019) < 1e-9, "95 of 100, straight between 1 and 2 ms")
    expect(read["still"] == {"allocated": 0, "others": 0, "mean": None, "p95": None}, "a time without allocations is a gap")
    expect(read["slow"] == 0.002 and read["restarted"] is None, "beyond the last edge; after a restart")
    w.browser.clean()


@case
def a_screen_reader_finds_its_way(w):
    one = w.server("one", fleet("arena", 3) + "".join(fleet(f"fleet-{i}", 1) for i in range(50)))
    w.browser.open(one.url)
    row_with(w, "arena", lambda row: row["numbers"][0] == "3", "the fleet is not shown")
    until(lambda: not w.browser.run("return document.getElementById('fleet-pages').hidden"), "51 fleets have pages")
    for width in (1280, 375):
        w.browser.width(width)
        tree = w.browser.tree()
        roles = [role for role, _, _ in tree]
        for role in ("banner", "main", "contentinfo", "search", "region", "navigation", "status"):
            expect(role in roles, f"no {role} at {width} px: {sorted(set(roles))}")
        expect([name for role, name, _ in tree if role == "table"] == ["Fleets", "Nodes", "Clusters"], "tables have names")
        for role, name in (("columnheader", "Allocated"), ("button", "Servers of arena"), ("searchbox", "Search by name, namespace, cluster or label"),
                           ("combobox", "Order")):
            expect((role, name) in [(r, n) for r, n, _ in tree], f"no {role} {name} at {width} px")
        expect(any(role == "rowheader" and name.startswith("arena") for role, name, _ in tree), "rows have headers")
        expect(any(role == "image" or role == "img" for role, name, _ in tree if name.startswith("Allocations a second. allocated: ")),
               "the chart is in words")
        unnamed = [role for role, name, _ in tree if role in ("button", "link", "searchbox", "combobox", "table") and not name]
        expect(not unnamed, f"without a name: {unnamed}")
        expect(any(p.get("live") == "polite" for role, _, p in tree if role == "status"), "nothing is announced")
    headings = w.browser.run("return [...document.querySelectorAll('h1, body > main h2')].map((e) => e.tagName)")
    expect(headings == ["H1", "H2", "H2", "H2", "H2"], headings)
    w.browser.clean()


@case
def a_cluster_that_is_killed_turns_stale_on_the_page(w):
    certificates(w.place)
    east = w.server("east", fleet("far", 4), tls=True)
    here = w.server("here", fleet("near", 2), policies=[policy("here", []), policy("east", [f"127.0.0.1:{east.port}"])])
    w.browser.open(here.url)
    row_with(w, "far", lambda row: row["numbers"][0] == "4" and row["where"] == "default · east" and not row["stale"], "the other cluster")
    clusters = lambda: w.browser.run("return [...document.querySelectorAll('#cluster-table tbody tr')].map((row) => row.innerText)")
    until(lambda: len(clusters()) == 2 and any("breaker closed" in text for text in clusters()), clusters)
    east.stop()
    row_with(w, "far", lambda row: row["stale"] and row["numbers"][0] == "4", "it does not turn stale")
    until(lambda: any("cannot be reached" in text and "stale" in text for text in clusters()), clusters)
    expect(here.allocate("near") == "Allocated", "the rest goes on")
    row_with(w, "near", lambda row: row["numbers"][1] == "1" and not row["stale"], "the rest does not move")
    w.browser.run("[...document.querySelectorAll('#fleet-table .actions button')].find((b) => b.ariaLabel === 'Servers of far').click()")
    until(lambda: "another cluster" in w.browser.text("servers-note"), "its servers are not told here")
    w.browser.run("document.querySelector('dialog[open]').close()")
    w.server("east", fleet("far", 6), tls=True, port=east.port)
    row_with(w, "far", lambda row: not row["stale"] and row["numbers"][0] == "6", "it does not catch up")
    w.browser.clean()


@case
def who_waits_and_an_open_breaker_are_seen(w):
    certificates(w.place)
    here = w.server("here", fleet("near", 40), policies=[policy("here", [], priority=2), policy("east", ["127.0.0.1:1"])])
    w.browser.open(here.url)
    row_with(w, "near", lambda row: row["numbers"][0] == "40", "the fleet is not shown")
    until(lambda: w.browser.text("waiting") == "0", lambda: w.browser.text("waiting"))
    clusters = lambda: w.browser.run("return [...document.querySelectorAll('#cluster-table tbody tr')].map((row) => row.innerText)")
    marked = lambda kind: w.browser.run("return document.querySelectorAll('#cluster-table .breaker-' + arguments[0]).length", kind)
    until(lambda: marked("closed") == 1 and any("127.0.0.1:1: breaker closed" in text for text in clusters()), clusters)
    for _ in range(10):
        status, _, data = here.ask("POST", KUBERNETES, {"spec": {"multiClusterSetting": {"enabled": True}}})
        expect(status == 201 and json.loads(data)["status"]["state"] == "Allocated", data)
    until(lambda: marked("open") == 1 and any("127.0.0.1:1: breaker open" in text for text in clusters()), clusters)
    while here.allocate("near") == "Allocated":
        pass
    answers = []
    waiting = threading.Thread(daemon=True, target=lambda: answers.append(
        here.ask("POST", KUBERNETES, {"spec": {}}, {"Prefer": "wait=55", "Idempotency-Key": "late"})))
    waiting.start()
    until(lambda: re.fullmatch(r"1 \([0-9.]+ s\)", w.browser.text("waiting")), lambda: w.browser.text("waiting"))
    names = json.loads(here.ask("GET", "/v1/gameservers?namespace=default")[2])["gameServers"]
    status, _, data = here.ask("DELETE", f"/apis/agones.dev/v1/namespaces/default/gameservers/{names[0]['metadata']['name']}")
    expect(status == 200, data)
    waiting.join(PATIENCE)
    expect(answers and json.loads(answers[0][2])["status"]["state"] == "Allocated", answers)
    until(lambda: w.browser.text("waiting") == "0", lambda: w.browser.text("waiting"))
    w.browser.clean()


@case
def files_have_tags_types_and_a_strict_policy(w):
    one = w.server("one", fleet("arena", 1))
    paths = ["/"] + [f"/page/{file.name}" for file in (ROOT / "examples/server/page").iterdir() if file.suffix in (".js", ".css", ".svg")]
    types = {"": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
    for path in paths:
        status, headers, data = one.ask("GET", path)
        expect(status == 200 and headers["Content-Type"].split(";")[0] == types[pathlib.PurePath(path).suffix], (path, status, headers))
        policies = headers["Content-Security-Policy"]
        expect("default-src 'none'" in policies and "unsafe" not in policies and "frame-ancestors 'none'" in policies, policies)
        expect(headers["X-Content-Type-Options"] == "nosniff" and headers["Referrer-Policy"] == "no-referrer", headers)
        expect(one.ask("GET", path, headers={"If-None-Match": headers["ETag"]})[::2] == (304, b""), "nothing has changed")
        expect(one.ask("HEAD", path)[::2] == (200, b""), "HEAD has no body")
        status, packed, small = one.ask("GET", path, headers={"Accept-Encoding": "br, gzip"})
        if "Content-Encoding" in packed:
            expect(gzip.decompress(small) == data and packed["ETag"] != headers["ETag"] and packed["Vary"] == "Accept-Encoding", packed)
        expect("Content-Encoding" not in one.ask("GET", path, headers={"Accept-Encoding": "gzip;q=0"})[1], "gzip is refused")
    expect("Content-Encoding" in one.ask("GET", "/", headers={"Accept-Encoding": "gzip"})[1], "the page is packed")
    expect(one.ask("GET", "/page/nothing.js")[0] == 404 and one.ask("GET", "/page/../options.hpp")[0] == 404, "only its own files")
    expect(one.ask("POST", "/", {})[0] == 405, "it is only read")
    for option in ("--no-page", "--no-fleet-directory"):
        off = w.server("off", fleet("arena", 1), option)
        expect(off.ask("GET", "/")[2] == b"" and off.ask("GET", "/page/main.js")[0] == 404, "no page is wanted")  # / as Agones has it
    certificates(w.place)
    closed = w.server("closed", fleet("arena", 1), tls=True)
    curl = ["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "--cacert", str(w.place / "certs/ca.crt"), f"https://localhost:{closed.port}/"]
    pair = ["--cert", str(w.place / "certs/clients/client/tls.crt"), "--key", str(w.place / "certs/clients/client/tls.key")]
    expect(subprocess.run(curl, capture_output=True, text=True, check=False).stdout == "401", "a stranger sees no page")
    expect(subprocess.run([*curl, *pair], capture_output=True, text=True, check=False).stdout == "200", "who may allocate sees it")


class World:
    """What a case has started, and ends with it. The browser stays."""

    def __init__(self, folder, browser):
        self.place, self.browser, self.running = pathlib.Path(folder), browser, []

    def server(self, *arguments, **options):
        self.running.append(Server(self.place, *arguments, **options))
        return self.running[-1]

    def chart(self, identity, server):
        """Its text, after one more allocation: a rate is seen only while there is something to see."""
        server.allocate("arena")
        return self.browser.text(identity)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.browser.open("about:blank")
        self.browser.plain()
        for one in self.running:
            one.stop()


def take_picture(w, path):
    names = ("arena-eu", "arena-us", "lobby", "ranked", "training")
    one = w.server("one", "".join(fleet(name, 20 + 7 * i, {"tier": "gold" if i % 2 else "silver"}) for i, name in enumerate(names)), "--nodes", "6")
    w.browser.scheme("light")
    w.browser.width(1100, 1180)
    w.browser.open(one.url)
    until(lambda: len(rows(w)) == len(names), "the fleets")
    number = 0
    curve = "return document.querySelector('#rate-chart path').getAttribute('d')"
    for burst in (5, 12, 22, 17, 9, 26, 14, 7, 11):
        drawn = w.browser.run(curve)
        for _ in range(burst):
            number += 1
            one.allocate(names[number * number // 3 % 5])
        until(lambda: w.browser.run(curve) != drawn, "the chart")
    w.browser.driver.save_screenshot(path)


def main():
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Browser(profile)
        try:
            if not WANTED.startswith(PICTURE):
                return kit.run_cases(lambda folder: World(folder, browser))
            with tempfile.TemporaryDirectory() as folder, World(folder, browser) as w:
                take_picture(w, WANTED.removeprefix(PICTURE))
            return 0
        finally:
            browser.close()


if __name__ == "__main__":
    sys.exit(main())
