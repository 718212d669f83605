// What /metrics says, and what it says about the time between two looks.

const names = new Set([
  "agones_gameserver_allocations_duration_seconds_count", "agones_gameserver_allocations_duration_seconds_sum",
  "agones_alloc_http_request_duration_seconds_bucket", "agones_alloc_requests_waiting", "agones_alloc_oldest_wait_seconds",
  "agones_alloc_allocations_in_flight", "process_start_time_seconds",
]);
const allocatingRoutes = new Set(["kubernetes", "rest"]);

function labelsOf(text) {
  const out = {};
  for (const [, name, value] of text.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)) {
    out[name] = value.replace(/\\(.)/g, (_, c) => (c === "n" ? "\n" : c));
  }
  return out;
}

/// Prometheus' text format, only the series that are shown here.
export function readMetrics(text) {
  const out = {allocated: 0, others: 0, seconds: 0, finished: 0, buckets: new Map(), waiting: 0, oldest: 0, inFlight: 0, started: 0};
  for (const line of text.split("\n")) {
    const end = line.search(/[{ ]/);
    const name = line.slice(0, end);
    if (!names.has(name)) continue;
    const space = line.lastIndexOf(" ");
    const value = Number(line.slice(space + 1));
    const labels = () => labelsOf(line.slice(end, space));
    switch (name) {
      case "agones_gameserver_allocations_duration_seconds_count":
        if (labels().status === "Allocated") out.allocated += value;
        else out.others += value;
        out.finished += value;
        break;
      case "agones_gameserver_allocations_duration_seconds_sum":
        out.seconds += value;
        break;
      case "agones_alloc_http_request_duration_seconds_bucket": {
        const {route, method, le} = labels();
        if (method !== "POST" || !allocatingRoutes.has(route)) break;
        const edge = le === "+Inf" ? Infinity : Number(le);
        out.buckets.set(edge, (out.buckets.get(edge) ?? 0) + value);
        break;
      }
      case "agones_alloc_requests_waiting": out.waiting = value; break;
      case "agones_alloc_oldest_wait_seconds": out.oldest = value; break;
      case "agones_alloc_allocations_in_flight": out.inFlight = value; break;
      case "process_start_time_seconds": out.started = value; break;
    }
  }
  return out;
}

/// Of a histogram's growth: the value that `share` of the observations do not exceed, straight within a bucket; null: none.
export function quantile(share, before, after) {
  const edges = [...after.keys()].sort((a, b) => a - b);
  const grown = edges.map((edge) => after.get(edge) - (before.get(edge) ?? 0));
  const all = grown.at(-1) ?? 0;
  if (all <= 0) return null;
  const wanted = share * all;
  let lower = 0;
  let below = 0;
  for (let i = 0; i !== edges.length; ++i) {
    if (grown[i] >= wanted) {
      if (edges[i] === Infinity) return lower;  // no more is known than that it took longer
      return lower + (edges[i] - lower) * ((wanted - below) / Math.max(1e-12, grown[i] - below));
    }
    lower = edges[i];
    below = grown[i];
  }
  return lower;
}

/// Between two looks; null after a restart, when counters begin anew.
export function between(before, after) {
  const time = (after.at - before.at) / 1000;
  if (before.started !== after.started || time <= 0 || after.finished < before.finished) return null;
  const finished = after.finished - before.finished;
  return {
    allocated: (after.allocated - before.allocated) / time,
    others: (after.others - before.others) / time,
    mean: finished > 0 ? (after.seconds - before.seconds) / finished : null,
    p95: quantile(0.95, before.buckets, after.buckets),
  };
}

/// Looks every so often while `wanted()`; `told(sample, growth)`, or `told(null, null, why)`.
export class Sampler {
  constructor(url, {every, wanted, told}) {
    this.url = url;
    this.every = every;
    this.wanted = wanted;
    this.told = told;
    this.last = null;
  }

  async run() {
    for (;;) {
      const began = performance.now();
      if (this.wanted()) await this.#look();
      const took = performance.now() - began;  // a server with much to tell is asked less often
      await new Promise((done) => setTimeout(done, Math.max(this.every - took, 4 * took, 100)));
    }
  }

  async #look() {
    try {
      const answer = await fetch(this.url, {cache: "no-store", signal: AbortSignal.timeout(10_000)});
      if (!answer.ok) throw new Error(`it is answered ${answer.status}`);
      const sample = {...readMetrics(await answer.text()), at: performance.now()};
      const growth = this.last === null ? null : between(this.last, sample);
      this.last = sample;
      this.told(sample, growth);
    } catch (problem) {
      this.last = null;
      this.told(null, null, problem.message);
    }
  }
}
