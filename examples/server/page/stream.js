// The stream of fleets: events into the book, again and again until the page is closed.

const silence = 60_000;  // ms; more where heartbeats turn out to be rarer
const longestWait = 15_000;

export class FleetStream {
  /// `told(state, text)`: state is "connecting", "live", "lost" or "paused".
  constructor(book, url, {told, changed}) {
    this.book = book;
    this.url = url;
    this.told = told;
    this.changed = changed;
    this.token = "";
    this.failures = 0;
    this.source = null;
    this.timer = 0;
    this.lastHeard = 0;
    this.longestGap = 0;
    setInterval(() => this.#watch(), 5_000);
  }

  open() {
    clearTimeout(this.timer);
    this.source?.close();
    const url = new URL(this.url);
    if (this.token !== "") url.searchParams.set("resume", this.token);
    else this.book.begin();
    const source = new EventSource(url);
    this.source = source;
    this.lastHeard = performance.now();
    if (this.failures === 0) this.told("connecting", "Connecting");
    source.onopen = () => {
      this.failures = 0;
      this.lastHeard = performance.now();
      this.told("live", "Live");
    };
    source.onerror = () => {
      ++this.failures;
      this.told("lost", `Connection lost: trying again (${this.failures})`);
      if (source.readyState !== EventSource.CLOSED) return;  // it comes again by itself
      this.timer = setTimeout(() => this.open(), Math.min(longestWait, 500 * 2 ** Math.min(this.failures, 6)));
    };
    const on = (what, take) => source.addEventListener(what, (event) => {
      if (this.source !== source) return;
      this.#heard();
      if (event.lastEventId !== "") this.token = event.lastEventId;
      take(JSON.parse(event.data));
      this.changed(what);
    });
    for (const what of ["SNAPSHOT_ITEM", "ADDED", "MODIFIED"]) on(what, ({fleet}) => this.book.put(fleet));
    on("DELETED", ({fleet}) => this.book.remove(fleet));
    on("CLUSTER_STATUS", ({cluster}) => this.book.putCluster(cluster));
    on("CLUSTER_GONE", ({cluster}) => this.book.removeCluster(cluster));
    on("RESET", () => this.book.begin());
    on("SYNCED", ({token}) => {
      this.book.synced();
      this.token = token;
    });
    on("HEARTBEAT", () => {});
  }

  /// Nobody looks: a browser has few connections to one server, other tabs may want them.
  pause() {
    clearTimeout(this.timer);
    this.source?.close();
    this.source = null;
    this.told("paused", "Paused");
  }

  #heard() {
    const now = performance.now();
    this.longestGap = Math.max(this.longestGap, now - this.lastHeard);
    this.lastHeard = now;
  }

  // A connection can be dead without telling: then heartbeats are missed.
  #watch() {
    if (this.source?.readyState !== EventSource.OPEN) return;
    if (performance.now() - this.lastHeard > Math.max(silence, 3 * this.longestGap)) {
      ++this.failures;
      this.told("lost", "Nothing heard for long: connecting again");
      this.open();
    }
  }
}
