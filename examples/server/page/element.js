// Elements without any markup in text: whatever a name holds stays text.

/// `element("td", {class: "number", text: 5}, child...)`; other members become attributes.
export function element(tag, {text, ...attributes} = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  made.append(...children);
  return made;
}

const svgSpace = "http://www.w3.org/2000/svg";

export function svgElement(tag, attributes = {}, ...children) {
  const made = document.createElementNS(svgSpace, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/// Writes only what differs: an untouched node costs no layout.
export function setText(node, text) {
  const wanted = String(text);
  if (node.textContent !== wanted) node.textContent = wanted;
}

/// A button that goes dead gives the focus to its neighbour: otherwise the keyboard would be nowhere.
export function setDisabled(button, disabled, neighbour) {
  if (button.disabled === disabled) return;
  const focused = document.activeElement === button;
  button.disabled = disabled;
  if (disabled && focused && !neighbour.disabled) neighbour.focus();
}

export const byId = (id) => document.getElementById(id);

const counting = new Intl.NumberFormat("en");
export const count = (number) => counting.format(number);

export function several(number, one, many) {
  return `${count(number)} ${number === 1 ? one : many}`;
}

/// Of this server, wherever it is mounted.
export const serverUrl = (path) => new URL(path, document.baseURI);
