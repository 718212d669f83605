// A table of which one page is in the document: rows are kept by key, and only those that changed are written.
import {count, element, setDisabled, setText} from "./element.js";

const pageSize = 50;

export class PagedTable {
  /// `make()` gives {row, fill(item)}; items have a `key`, and another item means another content.
  constructor(table, pages, noun, make) {
    this.body = table.tBodies[0];
    this.make = make;
    this.noun = noun;
    this.rows = new Map();
    this.page = 0;
    this.items = [];
    this.previous = element("button", {type: "button", text: "Previous"});
    this.next = element("button", {type: "button", text: "Next"});
    this.place = element("span", {});
    pages.append(this.previous, this.place, this.next);
    this.pages = pages;
    this.previous.addEventListener("click", () => this.#turn(-1));
    this.next.addEventListener("click", () => this.#turn(1));
  }

  /// All items, in order.
  show(items) {
    this.items = items;
    const last = Math.max(0, Math.ceil(items.length / pageSize) - 1);
    this.page = Math.min(this.page, last);
    const from = this.page * pageSize;
    const shown = items.slice(from, from + pageSize);
    this.#place(shown);
    this.pages.hidden = items.length <= pageSize && items.length > 0;
    this.previous.hidden = this.next.hidden = items.length === 0;
    const [atFirst, atLast] = [this.page === 0, this.page === last];
    if (!atFirst) this.previous.disabled = false;  // before the other may want to give the focus
    setDisabled(this.next, atLast, this.previous);
    setDisabled(this.previous, atFirst, this.next);
    setText(this.place, items.length === 0 ? `No ${this.noun}`
      : `${count(from + 1)} to ${count(from + shown.length)} of ${count(items.length)} ${this.noun}`);
  }

  first() {
    this.page = 0;
  }

  #turn(by) {
    this.page += by;
    this.show(this.items);
    this.body.closest("table").scrollIntoView({block: "nearest"});
  }

  #place(shown) {
    const wanted = new Set(shown.map((item) => item.key));
    for (const [key, one] of this.rows) {
      if (wanted.has(key)) continue;
      one.row.remove();
      this.rows.delete(key);
    }
    const focused = document.activeElement;
    let at = this.body.firstElementChild;
    let moved = false;
    for (const item of shown) {
      let one = this.rows.get(item.key);
      if (one === undefined) {
        one = {...this.make(), item: undefined};
        this.rows.set(item.key, one);
      }
      if (one.item !== item) {
        one.item = item;
        one.fill(item);
      }
      if (one.row === at) {
        at = at.nextElementSibling;
      } else {
        moved = moved || one.row.contains(focused);
        this.body.insertBefore(one.row, at);
      }
    }
    if (moved) focused.focus({preventScroll: true});  // a row that moves would lose it
  }
}
