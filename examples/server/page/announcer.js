// Words for screen readers: the last one of some seconds, so that a busy page does not talk all the time.

const rest = 5_000;

export class Announcer {
  constructor(region) {
    this.region = region;
    this.next = null;
    this.resting = false;
  }

  say(text) {
    this.next = text;
    if (!this.resting) this.#speak();
  }

  #speak() {
    if (this.next === null) return;
    this.region.textContent = this.next;
    this.next = null;
    this.resting = true;
    setTimeout(() => {
      this.resting = false;
      this.#speak();
    }, rest);
  }
}
