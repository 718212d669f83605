// What is known of fleets, clusters and nodes, kept up by events. Rows are never changed, others take their place: who
// shows one sees by identity whether it is still the same.
import {noServers, roomOf, sharesOf} from "./states.js";

const keyOf = (...parts) => JSON.stringify(parts);
const noShare = {totalGameservers: 0, readyGameservers: 0, allocatedGameservers: 0};

function rowOf(fleet) {
  const labels = Object.entries(fleet.labels ?? {}).map(([name, value]) => `${name}=${value}`);
  return {
    key: keyOf(fleet.clusterName, fleet.namespace, fleet.fleetName),
    cluster: fleet.clusterName,
    namespace: fleet.namespace,
    name: fleet.fleetName,
    labels,
    words: [fleet.fleetName, fleet.namespace, fleet.clusterName, ...labels].join("\n").toLowerCase(),
    shares: sharesOf(fleet),
    desired: fleet.desiredGameservers,
    room: roomOf(fleet.recount ?? fleet),
    nodes: fleet.recount?.nodes ?? {},
    stale: fleet.stale === true,
    observed: fleet.observedTime,
  };
}

export class Book {
  constructor() {
    this.fleets = new Map();
    this.clusters = new Map();
    this.nodes = new Map();
    this.totals = noServers();
    this.membership = 0;  ///< another number: fleets came or went
    this.changes = 0;
    this.fleetsIn = new Map();  ///< number by cluster
    this.kept = null;  ///< while the state is told: keys that were told already
  }

  /// The state is told from the start; what is not in it is gone. Until then the old rows stay in sight.
  begin() {
    this.kept = {fleets: new Set(), clusters: new Set()};
  }

  synced() {
    if (this.kept === null) return;
    const {fleets, clusters} = this.kept;
    this.kept = null;
    for (const key of [...this.fleets.keys()]) if (!fleets.has(key)) this.#drop(key);
    for (const key of [...this.clusters.keys()]) if (!clusters.has(key)) this.clusters.delete(key);
    ++this.changes;
  }

  put(fleet) {
    const row = rowOf(fleet);
    const old = this.fleets.get(row.key);
    this.kept?.fleets.add(row.key);
    this.fleets.set(row.key, row);
    this.#count(old, row);
    if (old === undefined) ++this.membership;
    ++this.changes;
    return row;
  }

  remove(fleet) {
    this.#drop(keyOf(fleet.clusterName, fleet.namespace, fleet.fleetName));
    ++this.changes;
  }

  putCluster(cluster) {
    const key = cluster.clusterName;
    this.kept?.clusters.add(key);
    this.clusters.set(key, {...cluster, key});
    ++this.changes;
  }

  removeCluster(cluster) {
    this.clusters.delete(cluster.clusterName);
    ++this.changes;
  }

  isLocal(cluster) {
    return this.clusters.get(cluster)?.local === true;
  }

  #drop(key) {
    const old = this.fleets.get(key);
    if (old === undefined) return;
    this.fleets.delete(key);
    this.#count(old, undefined);
    ++this.membership;
  }

  #count(old, row) {
    for (const name of Object.keys(this.totals)) {
      this.totals[name] += (row?.shares[name] ?? 0) - (old?.shares[name] ?? 0);
    }
    const cluster = (row ?? old).cluster;
    this.fleetsIn.set(cluster, (this.fleetsIn.get(cluster) ?? 0) + (row ? 1 : 0) - (old ? 1 : 0));
    const before = old?.nodes ?? {};
    const after = row?.nodes ?? {};
    for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
      this.#countNode(cluster, name, before[name], after[name]);
    }
  }

  #countNode(cluster, name, was, is) {
    const a = was ?? noShare;
    const b = is ?? noShare;
    const total = b.totalGameservers - a.totalGameservers;
    const ready = b.readyGameservers - a.readyGameservers;
    const allocated = b.allocatedGameservers - a.allocatedGameservers;
    const fleets = (is ? 1 : 0) - (was ? 1 : 0);
    if (total === 0 && ready === 0 && allocated === 0 && fleets === 0) return;
    const key = keyOf(cluster, name);
    const old = this.nodes.get(key) ?? {total: 0, ready: 0, allocated: 0, fleets: 0};
    const node = {
      key, cluster, name,
      total: old.total + total, ready: old.ready + ready, allocated: old.allocated + allocated, fleets: old.fleets + fleets,
    };
    if (node.fleets > 0) this.nodes.set(key, node);
    else this.nodes.delete(key);
  }
}
