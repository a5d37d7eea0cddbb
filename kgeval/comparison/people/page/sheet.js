"use strict";
(() => {
  const sheet = JSON.parse(document.getElementById("sheet").textContent);
  const store = `kgeval-agree ${sheet.run} ${sheet.annotator}`;
  const state = { labels: {}, notes: {} };
  const articles = [...document.querySelectorAll("article")];
  const fieldsets = [...document.querySelectorAll("fieldset")];
  const one = (id) => document.getElementById(id);
  const key = (set) => `${set.dataset.item} ${set.dataset.aspect}`;
  let at = 0, kept = true, unsaved = false, address = null;

  const take = (value) => {
    if (!value || value.run !== sheet.run || value.annotator !== sheet.annotator) return false;
    for (const label of value.labels || []) {
      if (sheet.items.includes(label.id) && sheet.columns.includes(label.aspect) && sheet.words.includes(label.label)) {
        state.labels[`${label.id} ${label.aspect}`] = label.label;
      }
    }
    for (const [id, text] of Object.entries(value.notes || {})) if (sheet.items.includes(id)) state.notes[id] = String(text);
    return true;
  };
  const value = () => ({
    mark: sheet.mark, run: sheet.run, annotator: sheet.annotator, scope: sheet.scope,
    labels: fieldsets.filter((set) => key(set) in state.labels).map((set) => ({ id: set.dataset.item, aspect: set.dataset.aspect, label: state.labels[key(set)] })),
    notes: state.notes,
  });
  const keep = () => {
    try { localStorage.setItem(store, JSON.stringify(value())); }
    catch { kept = false; }
    unsaved = true;
    show();
  };
  const link = () => {
    if (address) URL.revokeObjectURL(address);
    address = URL.createObjectURL(new Blob([JSON.stringify(value(), null, 1) + "\n"], { type: "application/json" }));
    one("save").href = address;
  };
  const show = () => {
    for (const set of fieldsets) {
      const label = state.labels[key(set)];
      set.classList.toggle("done", label !== undefined);
      for (const input of set.querySelectorAll("input")) input.checked = input.value === label;
    }
    for (const input of document.querySelectorAll("[data-note]")) if (input !== document.activeElement) input.value = state.notes[input.dataset.note] || "";
    const every = one("all").checked;
    articles.forEach((article, place) => { article.hidden = !every && place !== at; });
    const done = Object.keys(state.labels).length;
    one("place").textContent = every ? "" : `item ${at + 1} of ${articles.length}`;
    one("progress").textContent = `${done} of ${fieldsets.length} labels`;
    one("kept").textContent = kept ? "" : "This browser keeps nothing: download your labels before you close the page.";
    document.body.dataset.labels = String(done);
    link();
  };
  const go = (place) => {
    at = Math.max(0, Math.min(articles.length - 1, place));
    show();
    articles[at].scrollIntoView();
    const first = articles[at].querySelector("fieldset:not(.done) input") || articles[at].querySelector("input[type=radio]");
    if (first) first.focus({ preventScroll: true });
  };
  const choose = (set, word) => {
    if (word === undefined) delete state.labels[key(set)]; else state.labels[key(set)] = word;
    keep();
  };

  for (const set of fieldsets) {
    set.addEventListener("change", (event) => choose(set, event.target.value));
    set.querySelector(".clear").addEventListener("click", () => choose(set, undefined));
    set.addEventListener("focusin", () => { fieldsets.forEach((other) => other.classList.toggle("here", other === set)); });
  }
  for (const input of document.querySelectorAll("[data-note]")) {
    input.addEventListener("input", () => {
      if (input.value) state.notes[input.dataset.note] = input.value; else delete state.notes[input.dataset.note];
      keep();
    });
  }
  one("previous").addEventListener("click", () => go(at - 1));
  one("next").addEventListener("click", () => go(at + 1));
  one("all").addEventListener("change", show);
  one("save").addEventListener("click", () => { unsaved = false; });
  one("load").addEventListener("change", async (event) => {
    const file = event.target.files[0];
    let read = false;
    try { read = take(JSON.parse(await file.text())); } catch { read = false; }
    if (read) keep(); else one("kept").textContent = "That file holds no labels of this sheet.";
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input[type=text], input[type=file]")) return;
    if (event.key === "n" || event.key === "p") { event.preventDefault(); go(at + (event.key === "n" ? 1 : -1)); return; }
    const here = fieldsets.find((set) => set.classList.contains("here") && !set.closest("article").hidden);
    const place = (sheet.scope === "pairs" ? "asdfg" : "012345").indexOf(event.key);
    if (!here || place < 0) return;
    event.preventDefault();
    choose(here, sheet.words[place]);
    const next = fieldsets[fieldsets.indexOf(here) + 1];
    if (next && next.closest("article") === here.closest("article")) next.querySelector("input").focus();
  });
  window.addEventListener("beforeunload", (event) => { if (!kept && unsaved) event.preventDefault(); });

  try { take(JSON.parse(localStorage.getItem(store) || "null")); } catch { kept = false; }
  show();
})();
