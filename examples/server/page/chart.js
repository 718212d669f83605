// A small chart of the last minutes: two lines, told apart by colour and dashes, and their last values in words.
import {element, setText, svgElement} from "./element.js";

const width = 300;
const height = 100;

/// 1, 2 or 5 times a power of ten: an edge that does not move with each value.
function roundUp(value) {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  for (const step of [1, 2, 5, 10]) if (step * power >= value * (1 - 1e-9)) return step * power;
  return 10 * power;
}

export class Chart {
  /// `lines`: two of {name, label}; `say(value)`: with its unit.
  constructor(figure, title, lines, {points, minutes, say}) {
    this.lines = lines;
    this.points = points;
    this.say = say;
    this.title = title;
    this.values = [];
    this.paths = lines.map((_, i) => svgElement("path", {class: i === 0 ? "first" : "second"}));
    this.picture = svgElement("svg", {viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", role: "img"}, ...this.paths);
    this.top = element("span", {});
    this.captions = lines.map(() => element("span", {}));
    figure.append(
      element("figcaption", {}, element("strong", {text: title}), ...lines.flatMap((_, i) => [
        element("br", {}),
        element("span", {class: i === 0 ? "sample" : "sample second", "aria-hidden": "true"}),
        this.captions[i],
      ])),
      element("div", {class: "axis"}, this.top),
      this.picture,
      element("div", {class: "axis"}, element("span", {text: `${minutes} minutes ago`}), element("span", {text: "now"})));
    this.draw();
  }

  /// `values` by the lines' names, or null for a gap.
  add(values) {
    this.values.push(values);
    if (this.values.length > this.points) this.values.shift();
  }

  draw() {
    const all = this.values.flatMap((one) => (one === null ? [] : this.lines.map(({name}) => one[name] ?? 0)));
    const top = roundUp(Math.max(0, ...all));
    setText(this.top, this.say(top));
    const last = this.values.at(-1) ?? null;
    const words = [];
    this.lines.forEach(({name, label}, i) => {
      this.paths[i].setAttribute("d", this.#path(name, top));
      const value = last?.[name] ?? null;
      const text = `${label}: ${value === null ? "–" : this.say(value)}`;
      words.push(text);
      setText(this.captions[i], text);
    });
    this.picture.setAttribute("aria-label", `${this.title}. ${words.join(", ")}`);
  }

  #path(name, top) {
    let out = "";
    let pen = false;
    const from = this.points - this.values.length;
    this.values.forEach((one, i) => {
      const value = one?.[name] ?? null;
      if (value === null) {
        pen = false;
        return;
      }
      const x = ((from + i) / (this.points - 1)) * width;
      const y = height - (value / top) * height;
      out += `${pen ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`;
      pen = true;
    });
    return out;
  }
}
