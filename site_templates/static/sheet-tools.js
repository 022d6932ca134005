// What a reader chose: kept in the page's address, and changed by the tools above the table.
"use strict";
(function (sheet) {
  const MOST_VALUES = 300; // of a column, in the filter's list

  const escape = (text) => text.replace(/[%,~]/g, (c) => "%" + c.charCodeAt(0).toString(16).toUpperCase());
  const unescape = (text) => { try { return decodeURIComponent(text); } catch { return text; } };
  const listed = (text) => (text ? text.split(",").map(unescape) : []);

  // The address: f= signals, q= text, s= sort, w= a column's value, r= a column's range, h= a column's text,
  // cols= columns shown, pin= columns pinned, b= baseline arm, row= opened item.
  sheet.State = class {
    constructor() {
      Object.assign(this, { q: "", signals: new Set(), values: new Map(), ranges: new Map(), holds: new Map(), sort: null, cols: null, pins: [], base: "", row: null });
    }
    static read(hash, model) {
      const made = new sheet.State(), given = new URLSearchParams(hash);
      const column = (key) => model.byKey.get(key) && model.byKey.get(key).role ? model.byKey.get(key) : null;
      made.q = given.get("q") || "";
      made.base = model.arms.some((arm) => arm.name === given.get("b")) ? given.get("b") : "";
      for (const name of listed(given.get("f"))) if (model.signal(name, made) || name.startsWith("worse")) made.signals.add(name);
      for (const [name, keep] of [["w", "values"], ["r", "ranges"], ["h", "holds"]])
        for (const text of given.getAll(name)) {
          const [key, ...rest] = text.split("~").map(unescape), found = column(key);
          if (!found || !rest.length || (keep === "ranges") !== (found.form === "number")) continue;
          if (keep === "values") made.values.set(key, rest);
          else if (keep === "holds") made.holds.set(key, rest[0]);
          else made.ranges.set(key, [rest[0] === "" ? -Infinity : Number(rest[0]), rest[1] ? Number(rest[1]) : Infinity].map((v, at) => (Number.isNaN(v) ? [-Infinity, Infinity][at] : v)));
        }
      const sort = given.get("s") || "", down = sort.startsWith("-") && !column(sort), key = down ? sort.slice(1) : sort;
      if (column(key)) made.sort = { key, down };
      const chosen = listed(given.get("cols")).filter(column);
      if (chosen.length) made.cols = new Set(chosen);
      made.pins = listed(given.get("pin")).filter(column);
      made.row = given.get("row");
      return made;
    }
    write() {
      const made = new URLSearchParams(), set = (name, value) => { if (value) made.set(name, value); };
      set("f", [...this.signals].map(escape).join(","));
      set("q", this.q);
      set("s", this.sort && (this.sort.down ? "-" : "") + this.sort.key);
      for (const [key, values] of this.values) made.append("w", [key, ...values].map(escape).join("~"));
      for (const [key, range] of this.ranges) made.append("r", [key, ...range.map((v) => (Number.isFinite(v) ? String(v) : ""))].map(escape).join("~"));
      for (const [key, text] of this.holds) made.append("h", [key, text].map(escape).join("~"));
      set("cols", this.cols && [...this.cols].map(escape).join(","));
      set("pin", this.pins.map(escape).join(","));
      set("b", this.base);
      if (this.row !== null) made.set("row", this.row);
      return made.toString().replaceAll("%3A", ":").replaceAll("%2F", "/").replaceAll("%2C", ",");
    }
  };

  // A set as it is named everywhere: a filled pill for a tier, an outlined chip for a source.
  sheet.mark = (set, bare) => {
    const h = sheet.h;
    const badge = set.kind === "reference" ? h("span", { class: "pill" + (["gold", "silver"].includes(set.tier) ? " " + set.tier : "") }, set.tier || "") : h("span", { class: "chip" }, set.source || "source unknown");
    return h("span", { class: "mark" }, badge, " ", set.path && !bare ? h("a", { href: set.path }, set.name) : set.name);
  };
  sheet.figure = (value) => (value === null ? "—" : (Number.isInteger(value) ? String(value) : value.toFixed(3)).replace("-", "−"));

  // How a column is named in a menu or a chip.
  sheet.named = (column, model) => {
    if (column.role === "score") return model.arms[column.arm].name + " " + column.title + (column.key.includes("@") && column.set !== undefined ? " against " + model.sets[column.set].short : "");
    if (column.role === "label") return model.sets[column.set].short;
    return column.title;
  };

  sheet.Tools = class {
    constructor(view) {
      this.view = view;
      const find = (id) => document.getElementById("sheet-" + id);
      [this.q, this.signals, this.filter, this.columns, this.compare, this.chips, this.counted] = ["q", "signals", "filter", "columns", "compare", "chips", "count"].map(find);
      this.buttons = new Map();
      for (const name of ["tools", "line"]) find(name).hidden = false;
      for (const name of ["radios", "rest"]) if (find(name)) find(name).hidden = true;
      find("radios").querySelector("input").checked = true;
      const fold = find("fold"), wide = matchMedia("(min-width: 46rem)");
      fold.open = wide.matches;
      wide.addEventListener("change", () => { fold.open = wide.matches; });
      this.makeSignals();
      this.makeFilter();
      this.makeCompare();
      let typing = 0;
      this.q.addEventListener("input", () => {
        clearTimeout(typing);
        typing = setTimeout(() => { view.state.q = this.q.value.trim(); view.apply(); }, view.model.n > 5000 ? 120 : 0);
      });
      for (const one of document.querySelectorAll(".sheet-menu")) one.addEventListener("toggle", () => { if (one.open) this.closeMenus(one); });
      document.addEventListener("click", (event) => { if (!event.target.closest(".sheet-menu")) this.closeMenus(null); });
    }
    closeMenus(but) {
      let closed = false;
      for (const one of document.querySelectorAll(".sheet-menu[open]")) if (one !== but) { one.open = false; closed = true; }
      return closed;
    }
    // A button that keeps only the rows with a signal; `this.buttons` has all of them by their name.
    toggle(name, label, kind) {
      const count = sheet.h("span", { class: "n" });
      const button = sheet.h("button", { type: "button", class: "toggle s-" + kind, "aria-pressed": "false", onclick: () => this.view.toggleSignal(name) }, label, " ", count);
      this.buttons.set(name, { button, count });
      return button;
    }
    makeSignals() {
      const { model } = this.view, sets = model.sets.filter((set) => set.wrong), fresh = model.governed.filter((one) => model.governed.length > 1 || one !== model.new);
      this.signals.append(...sheet.SIGNALS.map((name) => this.toggle(name, name, name)), this.toggle("picked", "picked", "picked"));
      const group = (label, toggles) => sheet.h("div", { role: "group", "aria-label": label, class: "sheet-signals" }, sheet.h("span", { class: "quiet" }, label), toggles);
      const body = this.filter.lastElementChild;
      if (sets.length > 1) body.append(group("Production is wrong by", sets.map((set) => this.toggle("wrong:" + set.short, set.short, "one"))));
      if (fresh.length) body.append(group("New to", fresh.map((one) => this.toggle("new:" + one, one, "one"))));
    }
    makeCompare() {
      const h = sheet.h, { view } = this, { model } = view;
      this.compare.hidden = model.scores.filter(Boolean).length < 2;
      this.base = h("select", { id: "sheet-base", onchange: () => { view.state.base = this.base.value; if (!this.base.value) view.state.signals.delete("worse"); view.rebuild(); } },
        h("option", { value: "" }, "no arm"), model.arms.filter((_, at) => model.scores[at]).map((arm) => h("option", { value: arm.name }, arm.name)));
      this.worse = h("button", { type: "button", class: "toggle", "aria-pressed": "false", onclick: () => view.toggleSignal("worse") }, "worse than it");
      this.compare.append(h("label", { for: "sheet-base" }, "Compare to "), this.base, this.worse);
    }
    makeFilter() {
      const h = sheet.h, { view } = this, { model } = view, body = this.filter.lastElementChild;
      const choices = model.columns.filter((one) => !["signals", "winner"].includes(one.role));
      const value = h("div", { class: "filter-value" });
      const column = h("select", { id: "sheet-filter-column", onchange: () => ask() }, choices.map((one, at) => h("option", { value: String(at) }, sheet.named(one, model))));
      const ask = () => {
        const one = choices[Number(column.value)];
        if (one.form === "number") value.replaceChildren(h("label", null, "from ", h("input", { type: "number", step: "any", name: "low" })), h("label", null, "to ", h("input", { type: "number", step: "any", name: "high" })));
        else if (one.form === "codes") value.replaceChildren(h("label", null, "is ", h("select", { name: "is" }, one.names.slice(0, MOST_VALUES).map((name, at) => h("option", { value: String(at) }, name === null ? "(nothing)" : name)))));
        else value.replaceChildren(h("label", null, "holds ", h("input", { type: "text", name: "holds" })));
      };
      const add = () => {
        const one = choices[Number(column.value)], get = (name) => value.querySelector("[name=" + name + "]").value, { state } = view;
        if (one.form === "number") {
          const [low, high] = [get("low"), get("high")];
          if (low === "" && high === "") return;
          state.ranges.set(one.key, [low === "" ? -Infinity : Number(low), high === "" ? Infinity : Number(high)]);
        } else if (one.form === "codes") {
          const name = one.names[Number(get("is"))] || "", had = state.values.get(one.key) || [];
          state.values.set(one.key, had.includes(name) ? had : [...had, name]);
        } else if (get("holds").trim()) state.holds.set(one.key, get("holds").trim());
        view.apply();
      };
      value.addEventListener("keydown", (event) => { if (event.key === "Enter") { event.preventDefault(); add(); } });
      body.append(h("label", null, "Column ", column), value, h("button", { type: "button", class: "quiet-button", onclick: add }, "Add the filter"));
      ask();
    }
    makeColumns() {
      const h = sheet.h, { view } = this, { model, state } = view, body = this.columns.lastElementChild, shown = new Set(view.columns.map((one) => one.key));
      const open = document.activeElement && body.contains(document.activeElement) ? document.activeElement.dataset.key : null;
      const choose = (keys) => { state.cols = keys; view.rebuild(); };
      const row = (one) => {
        const name = sheet.named(one, model), pinned = state.pins.includes(one.key), fixed = one.role === "item";
        return h("li", null,
          h("label", null, h("input", { type: "checkbox", "data-key": one.key, checked: shown.has(one.key), disabled: fixed, onchange: (event) => {
            const keys = new Set(view.columns.map((each) => each.key));
            if (event.target.checked) keys.add(one.key); else keys.delete(one.key);
            choose(keys);
          } }), " " + name),
          fixed ? null : h("button", { type: "button", class: "quiet-button", "data-key": "pin " + one.key, "aria-pressed": String(pinned), "aria-label": (pinned ? "Unpin " : "Pin ") + name, onclick: () => view.pin(one.key) }, pinned ? "pinned" : "pin"));
      };
      body.replaceChildren(
        h("p", null, h("button", { type: "button", class: "quiet-button", onclick: () => choose(null) }, "The usual ones"), " ", h("button", { type: "button", class: "quiet-button", onclick: () => choose(new Set(model.columns.map((one) => one.key))) }, "All")),
        h("ul", null, model.columns.map(row)));
      const again = open && [...body.querySelectorAll("[data-key]")].find((one) => one.dataset.key === open);
      if (again) again.focus();
    }
    // Say what is shown, on every tool.
    write() {
      const { view } = this, { model, state } = view, counts = model.counts(view.rows), n = (value) => value.toLocaleString("en");
      if (document.activeElement !== this.q) this.q.value = state.q;
      this.buttons.forEach(({ button, count }, name) => {
        const at = sheet.SIGNALS.indexOf(name), on = state.signals.has(name);
        button.setAttribute("aria-pressed", String(on));
        if (at >= 0) { count.textContent = n(counts[at]); button.classList.toggle("none", !counts[at] && !on); }
      });
      this.base.value = state.base;
      this.worse.hidden = !state.base;
      this.worse.setAttribute("aria-pressed", String(state.signals.has("worse")));
      this.counted.textContent = view.rows.length === model.n ? n(model.n) + (model.n === 1 ? " row" : " rows") : n(view.rows.length) + " of " + n(model.n) + " rows";
      this.writeChips();
    }
    writeChips() {
      const { view } = this, { model, state } = view, made = [];
      const chip = (text, drop) => made.push(sheet.h("li", null, sheet.h("button", { type: "button", class: "sheet-chip", "aria-label": "Remove the filter " + text, onclick: () => { drop(); view.apply(); } }, text, " ×")));
      const named = (key) => sheet.named(model.byKey.get(key), model);
      for (const [key, values] of state.values) chip(named(key) + ": " + values.map((value) => value || "(nothing)").join(" or "), () => state.values.delete(key));
      for (const [key, [low, high]] of state.ranges) chip(named(key) + ": " + (Number.isFinite(low) ? "from " + low + " " : "") + (Number.isFinite(high) ? "to " + high : ""), () => state.ranges.delete(key));
      for (const [key, text] of state.holds) chip(named(key) + " holds “" + text + "”", () => state.holds.delete(key));
      const told = { wrong: "wrong by ", new: "new to ", worse: "worse than " + state.base + ": " };
      for (const name of state.signals) {
        const [kind, ref] = sheet.split(name, ":");
        if (ref && told[kind]) chip(told[kind] + ref, () => state.signals.delete(name));
      }
      if (view.rows.length) made.push(sheet.h("li", null, sheet.h("button", { type: "button", class: "quiet-button", id: "sheet-all", onclick: () => view.selectShown() }, "Select all shown")));
      if (view.filtered()) made.push(sheet.h("li", null, sheet.h("button", { type: "button", class: "quiet-button", onclick: () => view.reset() }, "Show every row")));
      this.chips.replaceChildren(...made);
    }
  };
})(window.evhSheet);
