// What opens over the page: one fleet's servers, and the lines that allocate. The browser's own dialogs keep the focus in,
// end with Escape and give the focus back.
import {allocationOf, curlLine, kubectlLine} from "./commands.js";
import {byId, serverUrl, setDisabled, setText, several} from "./element.js";
import {serverRow} from "./rows.js";
import {roomOf} from "./states.js";

const inOnePage = 50;

function closes(dialog) {
  dialog.querySelector("button.close").addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => {
    // The row it was opened from may be gone meanwhile.
    if (document.activeElement === document.body || document.activeElement === null) byId("words").focus();
  });
}

async function askJson(path, options = {}) {
  const answer = await fetch(serverUrl(path), {cache: "no-store", signal: AbortSignal.timeout(10_000), ...options});
  const told = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Error(told.message ?? `answered ${answer.status}`);
  return told;
}

function rowOf({metadata, status = {}}) {
  const ports = (status.ports ?? []).map(({name, port}) => (name === "default" || !name ? port : `${name} ${port}`));
  return {
    key: metadata.name,
    name: metadata.name,
    note: metadata.deletionTimestamp ? "being deleted" : "",
    state: status.state ?? "",
    address: [status.address ?? "", ports.join(", ")].filter(Boolean).join(":"),
    node: status.nodeName ?? "",
    room: roomOf(status).join("; "),
  };
}

export class ServersDialog {
  constructor() {
    this.dialog = byId("servers-dialog");
    this.body = byId("server-table").tBodies[0];
    this.fleet = null;
    this.tokens = [];  // of the pages so far
    this.next = "";
    this.rows = [];
    this.asking = false;
    this.again = false;
    closes(this.dialog);
    this.dialog.addEventListener("close", () => { this.fleet = null; });
    byId("servers-previous").addEventListener("click", () => this.#turn(-1));
    byId("servers-next").addEventListener("click", () => this.#turn(1));
  }

  open(fleet, local) {
    this.fleet = fleet;
    this.tokens = [""];
    this.next = "";
    setText(byId("servers-title"), `Game servers of ${fleet.name}`);
    this.#show([]);
    this.dialog.showModal();
    if (local) this.refresh();
    else setText(byId("servers-note"), `${fleet.cluster} is another cluster: its servers are told by its own page.`);
    byId("server-pages").hidden = !local;
  }

  /// The fleet has changed. One question at a time, at most one a second.
  changed(key) {
    if (this.fleet?.key === key && !byId("server-pages").hidden) this.refresh();
  }

  async refresh() {
    if (this.asking) {
      this.again = true;
      return;
    }
    this.asking = true;
    await this.#ask();
    setTimeout(() => {
      this.asking = false;
      if (!this.again) return;
      this.again = false;
      if (this.fleet !== null) this.refresh();
    }, 1_000);
  }

  async #ask() {
    const fleet = this.fleet;
    const token = this.tokens.at(-1);
    const query = new URLSearchParams({namespace: fleet.namespace, fleet: fleet.name, limit: inOnePage});
    if (token !== "") query.set("continue", token);
    try {
      const told = await askJson(`v1/gameservers?${query}`);
      if (this.fleet !== fleet || token !== this.tokens.at(-1)) return;  // another page is wanted by now
      this.next = told.continue ?? "";
      this.#show(told.gameServers.map(rowOf));
      setText(byId("servers-note"), told.gameServers.length === 0 ? "There are none." : "");
    } catch (problem) {
      setText(byId("servers-note"), `They cannot be listed: ${problem.message}`);
    }
  }

  async #turn(by) {
    if (by > 0) this.tokens.push(this.next);
    else this.tokens.pop();
    this.next = "";
    await this.#ask();
  }

  #show(items) {
    while (this.rows.length < items.length) {
      const one = serverRow();
      this.rows.push(one);
      this.body.append(one.row);
    }
    this.rows.forEach(({row, fill}, i) => {
      row.hidden = i >= items.length;
      if (i < items.length) fill(items[i]);
    });
    const [previous, next] = [byId("servers-previous"), byId("servers-next")];
    const [atFirst, atLast] = [this.tokens.length < 2, this.next === ""];
    if (!atFirst) previous.disabled = false;  // before the other may want to give the focus
    setDisabled(next, atLast, previous);
    setDisabled(previous, atFirst, next);
    setText(byId("servers-page"), `Page ${this.tokens.length}: ${several(items.length, "server", "servers")}`);
  }
}

export class CommandDialog {
  constructor() {
    this.dialog = byId("command-dialog");
    this.direct = false;
    closes(this.dialog);
    for (const button of this.dialog.querySelectorAll("[data-copies]")) {
      button.addEventListener("click", () => this.#copy(byId(button.dataset.copies), button.dataset.copies.split("-")[0]));
    }
  }

  open(fleet, local) {
    setText(byId("command-title"), `Allocate from ${fleet.name}`);
    setText(byId("curl-line"), curlLine(fleet, local));
    setText(byId("kubectl-line"), kubectlLine(fleet, local, this.direct));
    setText(byId("copied"), "");
    setText(byId("command-room"), local ? "Asking whether there is room"
      : `${fleet.cluster} is another cluster: the policies of namespace ${fleet.namespace} say when it is asked.`);
    this.dialog.showModal();
    if (local) this.#ask(fleet);
    this.#discover().then(() => setText(byId("kubectl-line"), kubectlLine(fleet, local, this.direct)));
  }

  // Whether kubectl can create things here, as it finds out itself.
  async #discover() {
    this.known ??= askJson("apis").then(({groups = []}) => {
      this.direct = groups.some(({name}) => name === "agones.dev");
    }).catch(() => { this.known = undefined; });
    await this.known;
  }

  // Asked, not taken.
  async #ask(fleet) {
    this.asked = fleet;
    let text;
    try {
      const room = await askJson("v1/query", {
        method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(allocationOf(fleet, true)),
      });
      text = room.fits > 0 ? `There is room for ${several(room.fits, "allocation", "allocations")} now.`
        : "There is no room now: an allocation would be answered UnAllocated.";
    } catch (problem) {
      text = `Whether there is room is not known: ${problem.message}`;
    }
    if (this.asked === fleet) setText(byId("command-room"), text);
  }

  async #copy(code, name) {
    try {
      await navigator.clipboard.writeText(code.textContent);
      setText(byId("copied"), `The ${name} line is copied.`);
    } catch {  // plain HTTP from another host, or not allowed
      getSelection().selectAllChildren(code);
      setText(byId("copied"), `The browser does not let this page copy; the ${name} line is selected.`);
    }
  }
}
