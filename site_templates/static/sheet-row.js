// A row in full: its text and fields, each arm's whole output and scores, every label, and a diff by words.
"use strict";
(function (sheet) {
  const MOST_CELLS = 4e6; // of the table of a diff; above, the differing middle is shown as a whole
  const MOST_CHARACTERS = 200000;

  // The words, spaces and marks of a text.
  function words(text) { return text.slice(0, MOST_CHARACTERS).match(/\s+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu) || []; }

  // What changed from one text to another: [kind, text] with kind "same", "del" or "ins". The longest common
  // subsequence of words, between what the two begin and end with; bounded, whatever the lengths.
  sheet.diff = (before, after) => {
    const a = words(before), b = words(after);
    let head = 0, tail = 0;
    while (head < a.length && head < b.length && a[head] === b[head]) head++;
    while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
    const x = a.slice(head, a.length - tail), y = b.slice(head, b.length - tail);
    const parts = [];
    const add = (kind, word) => {
      if (!word) return;
      const last = parts[parts.length - 1];
      if (last && last[0] === kind) last[1] += word; else parts.push([kind, word]);
    };
    add("same", a.slice(0, head).join(""));
    const whole = (x.length + 1) * (y.length + 1) > MOST_CELLS;
    if (whole) { add("del", x.join("")); add("ins", y.join("")); } else common(x, y, add);
    add("same", a.slice(a.length - tail).join(""));
    return { parts, whole, cut: before.length > MOST_CHARACTERS || after.length > MOST_CHARACTERS };
  };

  function common(x, y, add) {
    const wide = y.length + 1, best = new Uint16Array((x.length + 1) * wide);
    for (let i = x.length - 1; i >= 0; i--)
      for (let j = y.length - 1; j >= 0; j--)
        best[i * wide + j] = x[i] === y[j] ? best[(i + 1) * wide + j + 1] + 1 : Math.max(best[(i + 1) * wide + j], best[i * wide + j + 1]);
    let i = 0, j = 0;
    while (i < x.length && j < y.length) {
      if (x[i] === y[j]) { add("same", x[i]); i++; j++; }
      else if (best[(i + 1) * wide + j] >= best[i * wide + j + 1]) add("del", x[i++]);
      else add("ins", y[j++]);
    }
    add("del", x.slice(i).join(""));
    add("ins", y.slice(j).join(""));
  }

  const named = (one) => one.id || one.getAttribute("aria-label") || one.name || one.textContent;
  const said = (arm) => (arm ? (arm.output ? arm.output[0] : arm.decision || "") : "");

  function block(text) {
    return [sheet.h("pre", { class: "text", tabindex: "0" }, text[0]),
      text[1] ? sheet.h("p", { class: "quiet" }, "Cut here: " + text[1].toLocaleString("en") + " more characters.") : null];
  }

  // A note: the build made its HTML from Markdown, with every tag of the note's own escaped.
  function written(html) {
    return html ? sheet.h("div", { class: "written" }, ...new DOMParser().parseFromString(html, "text/html").body.childNodes) : "";
  }

  sheet.Panel = class {
    constructor(place, view) {
      this.place = place;
      this.view = view;
      this.row = -1;
      this.arm = 0;
      this.comparing = false;
      this.against = 0;
    }
    get open() { return this.row >= 0; }
    show(i) {
      this.row = i;
      this.place.hidden = false;
      this.draw(null);
      const model = this.view.model;
      model.full(i, (full) => { if (this.row === i) { this.full = full || {}; this.draw(full); } });
    }
    close() {
      this.row = -1;
      this.full = null;
      this.place.hidden = true;
      this.place.replaceChildren();
    }
    redraw() { if (this.open) this.draw(this.full); }
    toggleDiff() { this.comparing = !this.comparing; this.redraw(); }
    toArm(arm) {
      this.arm = arm;
      this.redraw();
      const shown = this.place.querySelector("[data-arm='" + arm + "']");
      if (shown) shown.scrollIntoView({ block: "nearest" });
    }
    // What `c` copies: the arm's whole output.
    output() { return this.full && this.full.arms ? said(this.full.arms[this.arm]) : ""; }

    draw(full) {
      const h = sheet.h, view = this.view, model = view.model, i = this.row, id = model.id(i), scroll = this.place.scrollTop;
      const button = (label, told, does, more) => h("button", { type: "button", class: "quiet-button", "aria-label": told, onclick: does, ...more }, label);
      const head = h("header", null,
        h("h2", { tabindex: "-1", id: "sheet-open-heading" }, id),
        h("div", { class: "open-tools" },
          button("↑", "The row before", () => view.step(-1)), button("↓", "The next row", () => view.step(1)),
          button("Copy id", "Copy the item’s id", () => sheet.copy(id, "the id")),
          button(view.selected.has(i) ? "Selected" : "Select", "Select this row", () => view.toggle(i), { "aria-pressed": String(view.selected.has(i)) }),
          button("Close", "Close the row", () => view.closeRow())));
      const parts = [head, this.about(full, i)];
      if (full === undefined) parts.push(h("p", { class: "note" }, "The row in full could not be read: its file is not beside this page."));
      else if (full === null) parts.push(h("p", { class: "quiet" }, "Reading the row …"));
      else parts.push(this.arms(full, i), this.labels(full, i), this.text(full), this.fields(full));
      const focused = this.place.contains(document.activeElement) ? named(document.activeElement) : null;
      this.place.replaceChildren(...parts);
      this.place.scrollTop = full ? scroll : 0;
      if (focused === null) return; // what had the focus was made anew: give it back
      const again = [...this.place.querySelectorAll("button, select, a, [tabindex]")].find((one) => named(one) === focused);
      (again || document.getElementById("sheet-open-heading")).focus({ preventScroll: true });
    }
    about(full, i) {
      const h = sheet.h, model = this.view.model, bits = model.bits[i];
      const told = h("div", { class: "open-about" }, sheet.SIGNALS.filter((_, at) => bits >> at & 1).map((kind) => h("span", { class: "signal s-" + kind }, kind)));
      const fresh = model.new && model.data("new:" + model.new).get(i);
      if (fresh) told.append(h("span", { class: "quiet" }, "new to " + model.new + ": " + fresh + " "));
      for (const one of model.columns) if (one.role === "winner" && model.winner(i, one.key)) told.append(h("span", { class: "quiet" }, one.title + ": " + model.winner(i, one.key) + " "));
      const pick = full && full.pick;
      if (pick) told.append(h("p", null, h("span", { class: "badge" }, "picked"), pick.for ? " for " + pick.for : null,
        pick.in.length ? ", in " + pick.in.join(", ") : pick.used.length ? ", used for " + pick.used.join(", ") : null, pick.tags.map((tag) => [" ", h("span", { class: "chip" }, tag)]).flat(),
        h("span", { class: "quiet" }, " " + [pick.by, pick.at].filter(Boolean).join(", "))), written(pick.note));
      if (full && full.path) told.append(h("p", null, h("a", { href: full.path }, "The item’s page")));
      return told;
    }
    arms(full, i) {
      const h = sheet.h, model = this.view.model, arms = full.arms || [];
      const made = h("section", null, h("h3", null, "What the arms answered ", h("button", { type: "button", class: "quiet-button", "aria-pressed": String(this.comparing), onclick: () => this.toggleDiff() }, "Differences")));
      if (this.comparing) made.append(this.compared(arms));
      const won = model.winners(i);
      model.arms.forEach((arm, at) => {
        const held = arms[at];
        const name = h("h4", null, arm.path ? h("a", { href: arm.path }, arm.name) : arm.name, arm.recorded ? [" ", h("span", { class: "badge" }, "recorded")] : null, won.includes(at) ? [" ", h("span", { class: "crown" }, "won the row")] : null);
        const box = h("div", { class: "open-arm" + (at === this.arm ? " here" : ""), "data-arm": String(at) }, name);
        if (!held) box.append(h("p", { class: "quiet" }, "It did not answer."));
        else {
          if (held.error) box.append(h("p", null, h("span", { class: "flag" }, "failed"), " " + held.error));
          if (held.decision !== undefined) box.append(h("p", { class: "decided" }, held.decision));
          if (held.output) box.append(...block(held.output).filter(Boolean));
          const scores = model.columns.filter((one) => one.arm === at && one.role === "score" && one.get(i) !== null);
          if (scores.length) box.append(h("p", { class: "open-scores" }, scores.map((one) => h("span", null, one.title + (one.set === undefined ? "" : " against " + model.sets[one.set].short) + " ", h("b", null, sheet.figure(one.get(i))), (one.flags || []).map((flag) => [" ", h("span", { class: "flag" }, flag)]).flat(), " ", this.why(i, one)))));
        }
        made.append(box);
      });
      return made;
    }
    // A button that copies the command which tells what a score rests on.
    why(i, column) {
      const model = this.view.model, line = "evh why " + sheet.quote("sheet:" + model.dataset + "/" + model.id(i) + "#" + column.key);
      return sheet.h("button", { type: "button", class: "quiet-button", title: line, "aria-label": "Copy the command that tells what " + column.title + " rests on", onclick: () => sheet.copy(line, line) }, "why?");
    }
    compared(arms) {
      const h = sheet.h, model = this.view.model;
      if (this.against === this.arm) this.against = this.arm ? 0 : Math.min(1, model.arms.length - 1);
      const choose = (name, label) => h("label", null, label, h("select", { name, onchange: (event) => { this[name] = Number(event.target.value); this.redraw(); } },
        model.arms.map((arm, at) => h("option", { value: String(at), selected: at === this[name] }, arm.name))));
      const found = sheet.diff(said(arms[this.against]), said(arms[this.arm]));
      const same = found.parts.every((one) => one[0] === "same");
      return h("div", { class: "open-diff" },
        h("p", { class: "bar-fields" }, choose("against", "from "), choose("arm", "to ")),
        h("p", { class: "text" }, found.parts.map(([kind, text]) => (kind === "same" ? text : h(kind, null, text)))),
        same ? h("p", { class: "quiet" }, "The two say the same.") : null,
        found.whole ? h("p", { class: "quiet" }, "Too long to compare word by word: what differs is shown as a whole.") : null,
        found.cut ? h("p", { class: "quiet" }, "Only the first " + MOST_CHARACTERS.toLocaleString("en") + " characters are compared.") : null);
    }
    labels(full, i) {
      const h = sheet.h, model = this.view.model, wrong = model.wrongBy(i);
      const rows = (full.labels || []).map((label, at) => label && h("tr", null,
        h("th", { scope: "row" }, sheet.mark(model.sets[at]), model.sets[at].wrong ? null : h("span", { class: "quiet" }, " " + model.sets[at].task)),
        h("td", null, wrong.includes(at) ? h("span", { class: "wrong", title: "production is wrong by it" }, "✗ ") : null, h("b", null, label[0]),
          written(label[1]), label[2] ? h("p", { class: "quiet" }, label[2]) : null, model.sets[at].reason ? h("p", { class: "quiet" }, "promoted: " + model.sets[at].reason) : null))).filter(Boolean);
      return h("section", null, h("h3", null, "Labels"), rows.length ? h("table", null, h("tbody", null, rows)) : h("p", { class: "quiet" }, "No labels yet."));
    }
    text(full) {
      return sheet.h("section", null, sheet.h("h3", null, "The item"), full.text ? block(full.text).filter(Boolean) : sheet.h("p", { class: "quiet" }, "Its text is not here."));
    }
    fields(full) {
      const h = sheet.h, list = (pairs) => h("dl", { class: "facts" }, pairs.map(([name, value]) => h("div", null, h("dt", null, name), h("dd", null, value))));
      return h("section", null, full.fields ? [h("h3", null, "Fields"), list(full.fields)] : null,
        h("h3", null, "Where it comes from"), list([...(full.from || []), ["sha256", full.sha256]]));
    }
  };
})(window.evhSheet);
