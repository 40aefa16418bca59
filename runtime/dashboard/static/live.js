// What the page does beyond HTML: it follows what happens, selects all rows, and
// takes two keys. Everything else works without.
"use strict";

// morph makes the children of an element those of another one, and leaves alone
// what is the same: what is open, selected, written or focused stays so.
function morph(now, next) {
  const kept = new Map();
  for (const child of now.children) if (idOf(child)) kept.set(idOf(child), child);
  let at = now.firstChild;
  for (const wanted of [...next.childNodes]) {
    const named = idOf(wanted) && kept.get(idOf(wanted));
    if (named && named !== at) {
      now.insertBefore(named, at);
      at = named;
    }
    if (at && alike(at, wanted)) {
      update(at, wanted);
      at = at.nextSibling;
    } else {
      now.insertBefore(document.importNode(wanted, true), at);
    }
  }
  while (at) {
    const gone = at;
    at = at.nextSibling;
    gone.remove();
  }
}

function alike(a, b) {
  return a.nodeName === b.nodeName && idOf(a) === idOf(b);
}

// idOf is a node's id. The property would be a form's field of that name.
function idOf(node) {
  return node.nodeType === Node.ELEMENT_NODE ? node.getAttribute("id") : null;
}

function update(now, next) {
  if (now.nodeType !== Node.ELEMENT_NODE) {
    if (now.nodeValue !== next.nodeValue) now.nodeValue = next.nodeValue;
    return;
  }
  if (now.matches("input, select, option, textarea")) {
    if (now.value === next.value && now.nodeName !== "SELECT") return;
    if (now.type !== "hidden") return; // what somebody writes or chooses is theirs
  }
  const theirs = now.nodeName === "DETAILS" ? ["open"] : [];
  for (const a of [...now.attributes]) {
    if (!next.hasAttribute(a.name) && !theirs.includes(a.name)) now.removeAttribute(a.name);
  }
  for (const a of next.attributes) {
    if (now.getAttribute(a.name) !== a.value && !theirs.includes(a.name)) now.setAttribute(a.name, a.value);
  }
  morph(now, next);
}

function follow(main) {
  const state = document.getElementById("live-state");
  const say = (text, on) => {
    if (state.textContent !== text) state.textContent = text;
    state.classList.toggle("on", on);
  };
  let stream;
  const open = () => {
    stream = new EventSource(main.dataset.live);
    stream.onopen = () => say("live", true);
    stream.onerror = () => say("not live", false); // the browser tries again
    stream.addEventListener("page", (e) => {
      const next = new DOMParser().parseFromString("<main>" + e.data + "</main>", "text/html").querySelector("main");
      morph(main, next);
      selection();
    });
    stream.addEventListener("over", () => {
      stream.close();
      say("", false);
    });
  };
  // A page that nobody sees costs nothing.
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) {
      stream.close();
    } else if (stream.readyState === EventSource.CLOSED) {
      open();
    }
  });
  open();
}

// selection shows the box that selects all rows, and keeps it true.
function selection() {
  const all = document.getElementById("select-all");
  if (!all) return;
  const boxes = [...document.querySelectorAll('input[name="id"][type="checkbox"]')];
  const chosen = boxes.filter((b) => b.checked).length;
  all.hidden = false;
  all.checked = boxes.length > 0 && chosen === boxes.length;
  all.indeterminate = chosen > 0 && chosen < boxes.length;
}

document.addEventListener("change", (e) => {
  if (e.target.id === "select-all") {
    for (const box of document.querySelectorAll('input[name="id"][type="checkbox"]')) box.checked = e.target.checked;
  }
  selection();
});

// "/" goes to the first field of the page, Escape closes what asks.
document.addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  if (e.key === "/" && !e.target.matches('input:not([type="checkbox"]), select, textarea')) {
    const field = document.querySelector('form[role="search"] input:not([type="checkbox"])');
    if (field) {
      e.preventDefault();
      field.focus();
    }
  }
  if (e.key === "Escape") {
    for (const open of document.querySelectorAll("details.confirm[open]")) {
      open.open = false;
      open.querySelector("summary").focus();
    }
  }
});

const main = document.getElementById("main");
if (main.dataset.live) follow(main);
selection();
