// Which states of game servers are shown as one.
import {count, element, setText} from "./element.js";

export const groups = [
  {id: "ready", label: "ready"},
  {id: "allocated", label: "allocated"},
  {id: "allocating", label: "being allocated"},
  {id: "reserved", label: "reserved"},
  {id: "starting", label: "starting"},
  {id: "ending", label: "ending"},
  {id: "failed", label: "failed"},
  {id: "other", label: "other"},
];

const groupOf = new Map([
  ["Ready", "ready"], ["Allocated", "allocated"], ["Allocating", "allocating"], ["Reserved", "reserved"],
  ["PortAllocation", "starting"], ["Creating", "starting"], ["Starting", "starting"], ["Scheduled", "starting"],
  ["RequestReady", "starting"], ["Unset", "starting"], ["Shutdown", "ending"], ["Error", "failed"], ["Unhealthy", "failed"],
]);

export function noServers() {
  return {ready: 0, allocated: 0, allocating: 0, reserved: 0, starting: 0, ending: 0, failed: 0, other: 0, total: 0};
}

/// Servers of one fleet by group. Its servers' own count goes before the Fleet's status, which is behind.
export function sharesOf(fleet) {
  const out = noServers();
  const recount = fleet.recount;
  if (recount !== undefined) {
    for (const [state, number] of Object.entries(recount.states ?? {})) out[groupOf.get(state) ?? "other"] += number;
    out.ending += recount.shuttingDownGameservers ?? 0;
    out.total = recount.totalGameservers ?? 0;
    return out;
  }
  out.ready = fleet.readyGameservers ?? 0;
  out.allocated = fleet.allocatedGameservers ?? 0;
  out.reserved = fleet.reservedGameservers ?? 0;
  out.total = fleet.totalGameservers ?? 0;
  out.other = Math.max(0, out.total - out.ready - out.allocated - out.reserved);
  return out;
}

/// A bar for the eye, and the same in words for everybody.
export class StateBar {
  constructor() {
    this.bar = element("div", {class: "bar", "aria-hidden": "true"});
    this.words = element("div", {class: "counts"});
    this.parts = groups.map(({id, label}) => {
      const share = element("span", {class: `share-${id}`});
      const words = element("span", {});
      this.bar.append(share);
      this.words.append(words);
      return {id, label, share, words, shown: -1};
    });
  }

  show(shares) {
    for (const part of this.parts) {
      const number = shares[part.id] ?? 0;
      if (number === part.shown) continue;
      part.shown = number;
      part.share.style.flexGrow = String(number);
      part.words.hidden = number === 0;
      setText(part.words, `${count(number)} ${part.label}`);
    }
  }
}

export function legend() {
  return groups.map(({id, label}) =>
    element("li", {}, element("span", {class: `swatch share-${id}`, "aria-hidden": "true"}), label));
}

/// `12 of 40 players free`, for players, counters and lists.
export function roomOf(told) {
  const out = [];
  const say = (name, sums) => {
    const free = sums.free ?? Math.max(0, (sums.capacity ?? 0) - (sums.count ?? 0));
    out.push(`${name}: ${count(free)} of ${count(sums.capacity ?? 0)} free`);
  };
  if (told.players) say("players", told.players);  // a game server says null
  for (const [name, sums] of Object.entries(told.counters ?? {})) say(name, sums);
  for (const [name, sums] of Object.entries(told.lists ?? {})) say(name, sums);
  return out;
}
