// Rows of the tables: made once, filled again when their item is another one.
import {count, element, setText, several} from "./element.js";
import {StateBar} from "./states.js";

const cell = (column, attributes = {}, ...children) =>
  element("td", {role: "cell", "data-column": column, ...attributes}, ...children);
const bare = (...children) => element("td", {role: "cell"}, ...children);
const head = (...children) => element("th", {role: "rowheader", scope: "row"}, ...children);

function titled(markText) {
  const name = element("span", {class: "name"});
  const mark = element("span", {class: "stale-mark", text: markText});
  const where = element("span", {class: "where"});
  return {name, mark, where, all: [name, mark, where]};
}

/// `actions`: {servers(item), allocate(item)}.
export function fleetRow(actions) {
  const title = titled("stale");
  const labels = element("span", {class: "labels"});
  const bar = new StateBar();
  const numbers = ["Ready", "Allocated", "Servers"].map((column) => cell(column, {class: "number"}));
  const room = cell("Room");
  const servers = element("button", {type: "button", text: "Servers"});
  const allocate = element("button", {type: "button", text: "Allocate"});
  const row = element("tr", {role: "row"}, head(...title.all, labels), bare(bar.bar, bar.words), ...numbers, room,
    element("td", {role: "cell", class: "actions"}, servers, allocate));
  let shown;
  servers.addEventListener("click", () => actions.servers(shown));
  allocate.addEventListener("click", () => actions.allocate(shown));
  return {
    row,
    fill(fleet) {
      if (shown === undefined) {  // what does not change as long as it is the same fleet
        setText(title.name, fleet.name);
        setText(title.where, `${fleet.namespace} · ${fleet.cluster}`);
        servers.setAttribute("aria-label", `Servers of ${fleet.name}`);
        allocate.setAttribute("aria-label", `Commands that allocate from ${fleet.name}`);
      }
      if (shown?.stale !== fleet.stale) {
        row.classList.toggle("stale", fleet.stale);
        title.mark.hidden = !fleet.stale;
        title.mark.title = `as of ${fleet.observed}`;
      }
      shown = fleet;
      setText(labels, fleet.labels.join(", "));
      bar.show(fleet.shares);
      setText(numbers[0], count(fleet.shares.ready));
      setText(numbers[1], count(fleet.shares.allocated));
      const {total} = fleet.shares;
      setText(numbers[2], fleet.desired === undefined || fleet.desired === total ? count(total)
        : `${count(total)} (${count(fleet.desired)} wanted)`);
      setText(room, fleet.room.length === 0 ? several(fleet.shares.ready, "server", "servers") : fleet.room.join("; "));
    },
  };
}

export function nodeRow() {
  const title = titled("");
  title.mark.hidden = true;
  const bar = new StateBar();
  const numbers = ["Allocated", "Ready", "Servers", "Fleets"].map((column) => cell(column, {class: "number"}));
  const row = element("tr", {role: "row"}, head(...title.all), bare(bar.bar, bar.words), ...numbers);
  return {
    row,
    fill(node) {
      setText(title.name, node.name);
      setText(title.where, node.cluster);
      bar.show({ready: node.ready, allocated: node.allocated, other: Math.max(0, node.total - node.ready - node.allocated)});
      [node.allocated, node.ready, node.total, node.fleets].forEach((number, i) => setText(numbers[i], count(number)));
    },
  };
}

/// gRPC codes that the stream gives for clusters.
const heardWords = new Map([
  [7, "does not let this one look"], [8, "has too many streams"], [12, "has no fleet information"], [13, "is not understood"],
  [14, "cannot be reached"], [16, "does not know this one"],
]);

export function clusterRow() {
  const title = titled("stale");
  const heard = cell("Heard");
  const fleets = cell("Fleets", {class: "number"});
  const endpoints = cell("Endpoints");
  const row = element("tr", {role: "row"}, head(...title.all), heard, fleets, endpoints);
  return {
    row,
    fill(cluster) {
      row.classList.toggle("stale", cluster.stale);
      setText(title.name, cluster.name);
      title.mark.hidden = !cluster.stale;
      setText(title.where, cluster.local ? "this one" : cluster.endpoint);
      const word = cluster.code === undefined ? "not known"
        : cluster.code === 0 ? (cluster.synced ? "yes" : "being listed") : heardWords.get(cluster.code) ?? `code ${cluster.code}`;
      setText(heard, [word, cluster.message, cluster.stale ? `last values of ${cluster.observed}` : ""].filter(Boolean).join(" · "));
      setText(fleets, count(cluster.fleets));
      endpoints.replaceChildren(...cluster.endpoints.map(({endpoint, breaker, calls, lastOutcome}) =>
        element("div", {class: `breaker-${breaker === "closed" ? "closed" : "open"}`,
          text: `${endpoint}: breaker ${breaker}, ${several(calls, "call", "calls")}${lastOutcome ? `, last ${lastOutcome}` : ""}`})));
      if (cluster.endpoints.length === 0) setText(endpoints, "–");
    },
  };
}

export function serverRow() {
  const title = titled("");
  title.mark.hidden = true;
  const cells = ["State", "Address", "Node", "Room"].map((column) => cell(column));
  return {
    row: element("tr", {role: "row"}, head(...title.all), ...cells),
    fill(server) {
      setText(title.name, server.name);
      setText(title.where, server.note);
      [server.state, server.address, server.node, server.room].forEach((text, i) => setText(cells[i], text || "–"));
    },
  };
}
