// Puts the parts together: what is heard goes into the book, and what changed there is drawn once a frame at most.
import {Announcer} from "./announcer.js";
import {Book} from "./book.js";
import {Chart} from "./chart.js";
import {CommandDialog, ServersDialog} from "./dialogs.js";
import {byId, count, serverUrl, setText, several} from "./element.js";
import {Sampler} from "./metrics.js";
import {PagedTable} from "./paged_table.js";
import {clusterRow, fleetRow, nodeRow} from "./rows.js";
import {legend} from "./states.js";
import {FleetStream} from "./stream.js";

const drawEvery = 100;  // ms
const reorderEvery = 1_000;  // rows that jump about cannot be read
const sampleEvery = 2_000;
const minutes = 5;
const pauseAfter = 60_000;  // hidden for so long

const announcer = new Announcer(byId("announcer"));
const book = new Book();
const commands = new CommandDialog();
const servers = new ServersDialog();
const byName = new Intl.Collator("en", {numeric: true}).compare;

const fleetTable = new PagedTable(byId("fleet-table"), byId("fleet-pages"), "fleets", () => fleetRow({
  servers: (fleet) => servers.open(fleet, book.isLocal(fleet.cluster)),
  allocate: (fleet) => commands.open(fleet, book.isLocal(fleet.cluster)),
}));
const nodeTable = new PagedTable(byId("node-table"), byId("node-pages"), "nodes", nodeRow);
const clusterTable = new PagedTable(byId("cluster-table"), byId("cluster-pages"), "clusters", clusterRow);
byId("legend").append(...legend());

const nameOrder = (a, b) => byName(a.name, b.name) || byName(a.namespace, b.namespace) || byName(a.cluster, b.cluster);
const orders = {
  name: nameOrder,
  ready: (a, b) => a.shares.ready - b.shares.ready || nameOrder(a, b),
  allocated: (a, b) => b.shares.allocated - a.shares.allocated || nameOrder(a, b),
  servers: (a, b) => b.shares.total - a.shares.total || nameOrder(a, b),
};

// Which fleets, in which order, is looked at when that may have changed; their rows are taken from the book each time.
const choice = {words: [], order: "name", keys: [], membership: -1, at: 0, stale: true};

function chosenFleets(now) {
  const moving = choice.order !== "name" && now - choice.at >= reorderEvery;
  if (choice.stale || moving || choice.membership !== book.membership) {
    const found = [];
    for (const fleet of book.fleets.values()) {
      if (choice.words.every((word) => fleet.words.includes(word))) found.push(fleet);
    }
    found.sort(orders[choice.order]);
    choice.keys = found.map(({key}) => key);
    Object.assign(choice, {membership: book.membership, at: now, stale: false});
    return found;
  }
  return choice.keys.map((key) => book.fleets.get(key));
}

const nodeChoice = {keys: [], size: -1, at: 0};

function orderedNodes(now) {
  if (nodeChoice.size !== book.nodes.size || now - nodeChoice.at >= reorderEvery) {
    const nodes = [...book.nodes.values()].sort((a, b) => b.allocated - a.allocated || b.total - a.total || byName(a.name, b.name));
    Object.assign(nodeChoice, {keys: nodes.map(({key}) => key), size: nodes.length, at: now});
    return nodes;
  }
  return nodeChoice.keys.map((key) => book.nodes.get(key)).filter(Boolean);
}

let endpoints = new Map();  // of /v1/clusters, by cluster
let clusterRows = new Map();

function knownClusters() {
  const out = new Map();
  for (const name of [...new Set([...book.clusters.keys(), ...endpoints.keys()])].sort(byName)) {
    const heard = book.clusters.get(name);
    const row = {
      key: name, name, local: heard?.local ?? false, endpoint: heard?.endpoint ?? "", code: heard?.code, message: heard?.message ?? "",
      synced: heard?.synced ?? false, stale: heard?.stale ?? false, observed: heard?.observedTime ?? "",
      fleets: book.fleetsIn.get(name) ?? 0, endpoints: endpoints.get(name) ?? [],
    };
    const old = clusterRows.get(name);
    out.set(name, old !== undefined && JSON.stringify(old) === JSON.stringify(row) ? old : row);
  }
  clusterRows = out;
  return [...out.values()];
}

function draw(now) {
  const fleets = chosenFleets(now);
  fleetTable.show(fleets);
  const nodes = orderedNodes(now);
  nodeTable.show(nodes);
  const busy = nodes.reduce((sum, {allocated}) => sum + (allocated > 0 ? 1 : 0), 0);
  setText(byId("packing"), nodes.length === 0 ? "No node is known."
    : `${count(busy)} of ${several(nodes.length, "node", "nodes")} with allocated servers, ${count(nodes.length - busy)} without.`);
  clusterTable.show(knownClusters());
  const {totals} = book;
  setText(byId("total-fleets"), count(book.fleets.size));
  setText(byId("total-servers"), count(totals.total));
  setText(byId("total-ready"), count(totals.ready));
  setText(byId("total-allocated"), count(totals.allocated));
}

let drawn = 0;
let asked = false;

/// Soon, together with what else changes until then.
function drawSoon() {
  if (asked) return;
  asked = true;
  setTimeout(() => requestAnimationFrame((now) => {
    asked = false;
    drawn = now;
    draw(now);
  }), Math.max(0, drawEvery - (performance.now() - drawn)));
}

// Rows of an order that moves come to rest after the last change.
let lastChanges = 0;
setInterval(() => {
  if (!document.hidden && book.changes !== lastChanges) {
    lastChanges = book.changes;
    drawSoon();
  }
}, reorderEvery);

const staleBefore = new Set();

function tellOfClusters() {
  for (const {clusterName, stale} of book.clusters.values()) {
    if (stale && !staleBefore.has(clusterName)) announcer.say(`Cluster ${clusterName} is stale`);
    if (!stale && staleBefore.has(clusterName)) announcer.say(`Cluster ${clusterName} is heard again`);
    if (stale) staleBefore.add(clusterName);
    else staleBefore.delete(clusterName);
  }
}

const streamUrl = serverUrl("v1/fleets");
streamUrl.searchParams.set("include", "nodes");
for (const [name, value] of new URLSearchParams(location.search)) {
  if (["namespace", "cluster", "labelSelector", "multiCluster"].includes(name)) streamUrl.searchParams.set(name, value);
}
let before = "connecting";
const stream = new FleetStream(book, streamUrl, {
  told(state, text) {
    byId("connection").dataset.state = state;
    setText(byId("connection-text"), text);
    if (state === before) return;
    if (state === "lost") announcer.say("Connection lost");
    if (state === "live") announcer.say("Connected: the numbers are live");
    before = state;
  },
  changed(what) {
    drawSoon();
    if (what === "CLUSTER_STATUS") tellOfClusters();
    if (servers.fleet !== null && book.fleets.get(servers.fleet.key) !== servers.seen) {
      servers.seen = book.fleets.get(servers.fleet.key);
      servers.changed(servers.fleet.key);
    }
  },
});

const words = byId("words");
byId("search").addEventListener("submit", (event) => event.preventDefault());
words.addEventListener("input", () => {
  choice.words = words.value.toLowerCase().split(/\s+/).filter(Boolean);
  choice.stale = true;
  fleetTable.first();
  drawSoon();
  setTimeout(() => announcer.say(`${several(choice.keys.length, "fleet", "fleets")} found`), 500);
});
byId("order").addEventListener("change", ({target}) => {
  choice.order = target.value;
  choice.stale = true;
  fleetTable.first();
  drawSoon();
});

const points = (minutes * 60_000) / sampleEvery;
const perSecond = (value) => `${value >= 100 ? count(Math.round(value)) : value.toFixed(1)}/s`;
const duration = (value) => (value >= 1 ? `${value.toFixed(2)} s` : `${(value * 1000).toFixed(value < 0.01 ? 2 : 0)} ms`);
const rates = new Chart(byId("rate-chart"), "Allocations a second",
  [{name: "allocated", label: "allocated"}, {name: "others", label: "not allocated"}], {points, minutes, say: perSecond});
const latencies = new Chart(byId("latency-chart"), "Latency",
  [{name: "mean", label: "mean of allocations"}, {name: "p95", label: "95 of 100 requests within about"}], {points, minutes, say: duration});

new Sampler(serverUrl("metrics"), {
  every: sampleEvery,
  wanted: () => !document.hidden,
  told(sample, growth, why) {
    setText(byId("metrics-note"), sample === null ? `/metrics cannot be read: ${why}` : "");
    for (const chart of [rates, latencies]) {
      chart.add(growth);
      chart.draw();
    }
    if (sample === null) return;
    setText(byId("waiting"), sample.waiting === 0 ? "0" : `${count(sample.waiting)} (${sample.oldest.toFixed(1)} s)`);
    setText(byId("in-flight"), count(sample.inFlight));
  },
}).run();

async function lookAtClusters() {
  if (!document.hidden) {
    try {
      const answer = await fetch(serverUrl("v1/clusters"), {cache: "no-store", signal: AbortSignal.timeout(10_000)});
      if (answer.ok) endpoints = new Map((await answer.json()).clusters.map((one) => [one.name, one.endpoints]));
    } catch {
      // The connection's state says it; what was known stays.
    }
    drawSoon();
  }
  setTimeout(lookAtClusters, 5_000);
}
lookAtClusters();

let pausing = 0;
document.addEventListener("visibilitychange", () => {
  clearTimeout(pausing);
  if (document.hidden) pausing = setTimeout(() => stream.pause(), pauseAfter);
  else if (stream.source === null) stream.open();
});

stream.open();
drawSoon();
