// The sheet's table: only the rows in sight are in the page, whatever their number. Without scripts the
// first rows stand there as HTML; this takes their place.
"use strict";
(function (sheet) {
  const OVER = 10; // rows kept above and below what is in sight
  const WIDTHS = { select: 38, signals: 214, decision: 172, score: 92, winner: 150, label: 148, field: 128, text: 420 };
  const PAGE = 15;
  const SAVING = 150; // ms before a changed address is written
  const h = sheet.h;

  class View {
    constructor(model) {
      Object.assign(this, { model, rows: [], selected: new Set(), anchor: -1, cursor: { at: 0, column: 0 }, live: new Map(), first: -1, last: -1 });
      this.wrap = document.getElementById("sheet");
      this.table = this.wrap.querySelector("table");
      this.body = this.table.tBodies[0];
      this.wrap.removeAttribute("role");
      this.wrap.removeAttribute("aria-label");
      this.wrap.tabIndex = -1;
      this.wrap.classList.add("live");
      this.table.setAttribute("role", "grid");
      this.table.setAttribute("aria-multiselectable", "true");
      this.spacers = [0, 1].map(() => h("tr", { class: "space", "aria-hidden": "true" }, h("td", null)));
      this.panel = new sheet.Panel(document.getElementById("sheet-open"), this);
      this.bar = new sheet.Bar(document.getElementById("sheet-bar"), this);
      this.help = document.getElementById("sheet-help");
      this.state = new sheet.State();
      this.tools = new sheet.Tools(this);
      this.listen();
      this.fromAddress();
    }

    // ---- what is shown

    shownColumns() {
      const { model, state } = this;
      const shown = model.columns.filter((one) => one.role === "item" || (state.cols ? state.cols.has(one.key) : one.on));
      const pinned = shown.filter((one) => one.role === "item" || state.pins.includes(one.key));
      this.pinned = pinned.length;
      return [...pinned, ...shown.filter((one) => !pinned.includes(one))];
    }
    // Room for the longest id and for the badge beside it (on a phone below it), as far as a screen goes.
    itemWidth() {
      if (this.itemRoom && this.itemRoom.narrow === this.narrow) return this.itemRoom.width;
      const { model } = this, pen = document.createElement("canvas").getContext("2d"), style = getComputedStyle(this.wrap), size = parseFloat(style.fontSize);
      const wide = (text, times) => { pen.font = style.fontWeight + " " + size * times + "px " + style.fontFamily; return pen.measureText(text).width; };
      let longest = "", badge = 0;
      for (let i = 0; i < model.n; i++) {
        const id = sheet.visible(model.id(i));
        if (id.length > longest.length) longest = id;
      }
      const picked = model.data("picked");
      if (this.model.n && (picked.form === "codes" ? picked.names : Array.from({ length: model.n }, (_, i) => picked.get(i))).some((one) => one !== null)) badge = this.narrow ? 0 : wide("picked: dataset", 0.75) + 20;
      const id = wide(longest, this.narrow ? 0.8 : 0.84) * 1.06 + (this.narrow ? 12 : 22);
      const [least, most] = this.narrow ? [92, 168] : [120, 320];
      this.itemRoom = { narrow: this.narrow, width: Math.round(Math.min(most, Math.max(least, id + badge))) };
      return this.itemRoom.width;
    }
    // After a change of columns, pins or the arm compared to: make the head, the foot and every row anew.
    rebuild() {
      const { model } = this;
      this.narrow = matchMedia("(max-width: 46rem)").matches;
      this.height = this.narrow ? 44 : 32;
      this.columns = this.shownColumns();
      const width = (one) => (one.role === "item" ? this.itemWidth() : this.narrow && one.role === "text" ? 260 : WIDTHS[one.role]);
      const widths = [WIDTHS.select, ...this.columns.map(width)];
      let left = 0;
      this.lefts = widths.map((one, at) => { const here = left; left += one; return at <= (this.narrow ? Math.min(1, this.pinned) : this.pinned) ? here : null; });
      const cols = h("colgroup", null, widths.map((one) => { const col = h("col"); col.style.width = one + "px"; return col; }));
      for (const old of this.table.querySelectorAll("colgroup")) old.remove();
      this.table.caption.after(cols);
      this.table.style.width = left + "px"; // a fixed layout needs a number, or the columns jump
      this.table.style.setProperty("--row", this.height + "px");
      this.table.tHead.replaceChildren(this.head());
      this.table.tFoot.replaceChildren(...Array.from({ length: this.footLines() }, (_, line) => this.foot(line)));
      this.table.setAttribute("aria-colcount", String(this.columns.length + 1));
      this.cursor.column = Math.min(this.cursor.column, this.columns.length);
      this.tools.makeColumns();
      this.apply();
      this.base = model.arms.findIndex((arm) => arm.name === this.state.base);
      this.draw(true);
    }
    apply(keep) {
      this.rows = this.model.view(this.state);
      this.base = this.model.arms.findIndex((arm) => arm.name === this.state.base);
      this.table.setAttribute("aria-rowcount", String(this.rows.length + 1 + this.footLines()));
      this.cursor.at = Math.min(this.cursor.at, Math.max(this.rows.length - 1, 0));
      if (!keep) { this.cursor.at = 0; this.wrap.scrollTop = 0; } // else a shorter table shows nothing
      for (const th of this.table.tHead.rows[0].cells) {
        const sort = this.state.sort;
        if (th.dataset.key) th.setAttribute("aria-sort", sort && sort.key === th.dataset.key ? (sort.down ? "descending" : "ascending") : "none");
      }
      this.draw(true);
      this.tools.write();
      this.save();
    }
    filtered() {
      const { q, signals, values, ranges, holds } = this.state;
      return Boolean(q || signals.size || values.size || ranges.size || holds.size);
    }
    reset() {
      const { sort, cols, pins, base, row } = this.state;
      this.state = Object.assign(new sheet.State(), { sort, cols, pins, base, row });
      this.tools.q.value = "";
      this.apply();
    }

    // ---- the table

    stick(cell, at) {
      if (this.lefts[at] === null) return cell;
      cell.classList.add("pinned");
      if (at === (this.narrow ? Math.min(1, this.pinned) : this.pinned)) cell.classList.add("last-pinned");
      cell.style.left = this.lefts[at] + "px";
      return cell;
    }
    head() {
      const { model } = this;
      const cells = this.columns.map((one, at) => {
        const arm = model.arms[one.arm], set = model.sets[one.set];
        const above = one.role === "score" ? arm.name : one.role === "decision" && arm.recorded ? h("span", { class: "badge" }, "recorded") : one.role === "label" && !set.wrong ? set.task : null;
        const title = one.role === "label" ? sheet.mark(set, true) : one.title;
        if (one.role === "decision" && arm.floor) one.flags = ["floor"];
        const flags = (one.flags || []).map((flag) => h("span", { class: "flag" }, flag));
        const sort = h("button", { type: "button", class: "sort", tabindex: "-1", title: sheet.named(one, model), onclick: () => this.sort(one.key) }, h("span", { class: "above" }, above), h("span", { class: "name" }, title), flags);
        return this.stick(h("th", { scope: "col", class: one.role, "aria-colindex": String(at + 2) }, sort), at + 1);
      });
      cells.forEach((cell, at) => { cell.dataset.key = this.columns[at].key; });
      return h("tr", { "aria-rowindex": "1" }, this.stick(h("th", { scope: "col", class: "select", "aria-colindex": "1" }, h("span", { class: "sr" }, "Selected")), 0), cells);
    }
    // The same with any columns shown: an arm's verdict may be the only one of three lines.
    footLines() { return Math.max(2, ...this.model.columns.map((one) => (one.foot || []).length)); }
    foot(line) {
      const cells = this.columns.map((one, at) => {
        const [value, over] = (one.foot || [])[line] || ["", ""];
        return this.stick(h(at ? "td" : "th", { class: one.role, scope: at ? null : "row" }, value, h("span", { class: "n" }, over)), at + 1);
      });
      return h("tr", { "aria-rowindex": null }, this.stick(h("td", { class: "select" }), 0), cells);
    }
    draw(all) {
      const top = this.wrap.scrollTop, head = this.table.tHead.offsetHeight;
      const a = Math.max(0, Math.floor(top / this.height) - OVER);
      const b = Math.min(this.rows.length, Math.ceil((top + this.wrap.clientHeight - head) / this.height) + OVER);
      if (!all && a === this.first && b === this.last) return;
      const focused = this.body.contains(document.activeElement);
      if (all) this.live.clear();
      for (const [at, row] of this.live) if (at < a || at >= b) { row.remove(); this.live.delete(at); }
      const made = (from, to) => {
        const part = document.createDocumentFragment();
        for (let at = from; at < to; at++) { const row = this.row(at); this.live.set(at, row); part.append(row); }
        return part;
      };
      if (!this.live.size) this.body.replaceChildren(this.spacers[0], made(a, b), this.spacers[1]);
      else { // keep the rows that stay in sight, make the new ones alone
        const held = [...this.live.keys()], low = Math.min(...held), high = Math.max(...held);
        this.spacers[0].after(made(a, low));
        this.spacers[1].before(made(high + 1, b));
      }
      [this.first, this.last] = [a, b];
      [a, this.rows.length - b].forEach((n, at) => { this.spacers[at].firstChild.style.height = n * this.height + "px"; this.spacers[at].hidden = !n; });
      this.rove(focused);
    }
    row(at) {
      const i = this.rows[at], on = this.selected.has(i), { model } = this;
      const box = h("input", { type: "checkbox", tabindex: "-1", "aria-label": "Select " + model.id(i) });
      box.checked = on;
      const made = h("tr", { "aria-rowindex": String(at + 2), "aria-selected": String(on), class: i === this.panel.row ? "opened" : null }, this.stick(h("td", { class: "select" }, box), 0));
      const won = model.winners(i), wrong = model.wrongBy(i);
      this.columns.forEach((one, column) => {
        const cell = h(one.role === "item" ? "th" : "td", { class: one.role, scope: one.role === "item" ? "row" : null });
        this.fill(cell, one, i, won, wrong);
        made.append(this.stick(cell, column + 1));
      });
      made.dataset.at = at;
      return made;
    }
    fill(cell, one, i, won, wrong) {
      const { model } = this, value = one.get(i);
      if (one.role === "decision") this.fillDecision(cell, one, i, value, won);
      else if (one.role === "score") {
        if (value !== null) cell.append(sheet.figure(value));
        if (one.key === model.arms[one.arm].score && won.includes(one.arm)) cell.classList.add("won");
        if (one.key === model.arms[one.arm].score) this.fillDelta(cell, one.arm, i);
      } else if (one.role === "item") {
        const link = h("a", { tabindex: "-1", href: "#row=" + encodeURIComponent(value) }, value);
        const picked = model.data("picked").get(i);
        cell.append(h("span", { class: "id-line" }, link));
        if (picked !== null) cell.firstChild.append(" ", h("span", { class: "badge", title: "picked for " + picked }, "picked", this.narrow ? null : h("span", { class: "for" }, ": " + picked)));
        cell.title = value;
      } else if (one.role === "signals") {
        sheet.SIGNALS.forEach((kind, at) => { if (value >> at & 1) cell.append(h("span", { class: "signal s-" + kind }, kind)); });
      } else if (one.role === "winner") {
        cell.append(model.winner(i, one.key) || "—");
      } else if (value !== null) {
        if (one.role === "label" && wrong.includes(one.set)) { cell.classList.add("against"); cell.append(h("span", { class: "wrong", title: "production is wrong by it" }, "✗ ")); }
        if (typeof value === "number") cell.classList.add("num");
        cell.append(sheet.visible(value));
      }
    }
    fillDecision(cell, one, i, value, won) {
      const { model } = this, error = model.error(one.arm, i), score = model.scores[one.arm];
      if (won.includes(one.arm)) cell.classList.add("won");
      if (error !== null) { cell.append(h("span", { class: "flag", title: error }, "failed")); return; }
      const right = model.rights[one.arm], got = right ? right.get(i) : null;
      if (got === 1 || got === 0) cell.append(h("span", { class: got ? "right" : "wrong", title: got ? "right" : "wrong" }, got ? "✓ " : "✗ "));
      if (value !== null) cell.append(sheet.visible(value));
      if (!score || !this.columns.includes(score)) this.fillDelta(cell, one.arm, i);
    }
    fillDelta(cell, arm, i) {
      const gap = this.base < 0 ? null : this.model.delta(arm, this.base, i);
      if (!gap) return;
      cell.append(" ", h("span", { class: "delta " + (gap > 0 ? "right" : "wrong"), title: (gap > 0 ? "better" : "worse") + " than " + this.model.arms[this.base].name }, (gap > 0 ? "▲" : "▼") + sheet.figure(Math.abs(gap))));
    }

    // ---- focus: one cell of the table can be reached by Tab, the arrows move it

    cell(at, column) {
      const row = at < 0 ? this.table.tHead.rows[0] : this.live.get(at);
      return row ? row.cells[column] : null;
    }
    rove(focus) {
      for (const old of this.table.querySelectorAll("[tabindex='0']")) old.tabIndex = -1;
      const cell = this.cell(this.cursor.at, this.cursor.column);
      if (!cell) { if (focus) this.wrap.focus({ preventScroll: true }); return; }
      const target = this.cursor.at < 0 ? cell.querySelector("button") || cell : cell;
      target.tabIndex = 0;
      if (focus) target.focus({ preventScroll: true });
    }
    move(at, column, focus = true) {
      this.cursor = { at: Math.max(-1, Math.min(this.rows.length - 1, at)), column: Math.max(0, Math.min(this.columns.length, column)) };
      if (this.cursor.at >= 0) this.reveal(this.cursor.at);
      this.revealColumn(this.cursor.column);
      this.draw();
      this.rove(focus);
    }
    reveal(at) {
      const y = at * this.height, room = this.wrap.clientHeight - this.table.tHead.offsetHeight - this.table.tFoot.offsetHeight;
      if (y < this.wrap.scrollTop) this.wrap.scrollTop = y;
      else if (y + this.height > this.wrap.scrollTop + room) this.wrap.scrollTop = y + this.height - room;
    }
    revealColumn(column) {
      const th = this.table.tHead.rows[0].cells[column];
      if (!th || this.lefts[column] !== null) return;
      const fixed = this.table.tHead.querySelector(".last-pinned"), edge = fixed ? parseFloat(fixed.style.left) + fixed.offsetWidth : 0;
      let x = 0;
      for (let at = 0; at < column; at++) x += this.table.tHead.rows[0].cells[at].offsetWidth;
      if (x < this.wrap.scrollLeft + edge) this.wrap.scrollLeft = x - edge;
      else if (x + th.offsetWidth > this.wrap.scrollLeft + this.wrap.clientWidth) this.wrap.scrollLeft = x + th.offsetWidth - this.wrap.clientWidth;
    }
    step(by) {
      this.move(Math.max(0, this.cursor.at + by), this.cursor.column, !this.panel.place.contains(document.activeElement));
      if (this.panel.open) this.openRow(this.rows[this.cursor.at]);
    }
    stepArm(by) {
      const arms = this.columns.map((one, at) => (one.role === "decision" ? at + 1 : 0)).filter(Boolean);
      if (this.panel.open) this.panel.toArm((this.panel.arm + by + this.model.arms.length) % this.model.arms.length);
      if (!arms.length) return;
      const now = this.panel.open ? this.columns.findIndex((one) => one.role === "decision" && one.arm === this.panel.arm) + 1 : 0;
      const next = now || (by > 0 ? arms.find((at) => at > this.cursor.column) || arms[0] : arms.findLast((at) => at < this.cursor.column) || arms[arms.length - 1]);
      this.move(this.cursor.at, next);
    }

    // ---- what a reader does

    sort(key) {
      const now = this.state.sort;
      this.state.sort = !now || now.key !== key ? { key, down: false } : now.down ? null : { key, down: true };
      this.cursor = { at: -1, column: this.columns.findIndex((one) => one.key === key) + 1 };
      this.apply(true);
      this.wrap.scrollTop = 0;
      this.draw(true);
    }
    pin(key) {
      const { state } = this;
      state.pins = state.pins.includes(key) ? state.pins.filter((one) => one !== key) : [...state.pins, key];
      this.rebuild();
    }
    toggleSignal(name) {
      const { signals } = this.state;
      if (!signals.delete(name)) signals.add(name);
      this.apply();
      sheet.say(this.tools.counted.textContent);
    }
    // `through` selects from the row that was selected last up to this one.
    toggle(i, through) {
      const at = this.rows.indexOf(i), from = this.rows.indexOf(this.anchor);
      if (through && from >= 0 && at >= 0) for (let j = Math.min(at, from); j <= Math.max(at, from); j++) this.selected.add(this.rows[j]);
      else if (!this.selected.delete(i)) this.selected.add(i);
      this.anchor = i;
      this.selectionChanged();
    }
    selectShown() { for (const i of this.rows) this.selected.add(i); this.selectionChanged(); }
    clearSelection() { this.selected.clear(); this.selectionChanged(); }
    selectionChanged() {
      this.live.forEach((row, at) => {
        const on = this.selected.has(this.rows[at]);
        row.setAttribute("aria-selected", String(on));
        row.cells[0].firstChild.checked = on;
      });
      this.bar.write();
      if (this.panel.open) this.panel.redraw();
      sheet.say(this.selected.size.toLocaleString("en") + " selected");
    }
    openRow(i, into) {
      const was = this.panel.row;
      this.state.row = this.model.id(i);
      this.panel.show(i);
      document.getElementById("sheet").parentNode.classList.add("with-row");
      this.live.forEach((row, at) => row.classList.toggle("opened", this.rows[at] === i));
      if (was < 0) this.draw();
      if (into) document.getElementById("sheet-open-heading").focus();
      else sheet.say("Opened " + this.model.id(i));
      this.save();
    }
    closeRow() {
      const inside = this.panel.place.contains(document.activeElement);
      this.panel.close();
      this.state.row = null;
      document.getElementById("sheet").parentNode.classList.remove("with-row");
      this.live.forEach((row) => row.classList.remove("opened"));
      this.draw();
      if (inside) this.move(this.cursor.at, this.cursor.column);
      this.save();
    }
    copyCell() {
      const i = this.rows[this.cursor.at], one = this.columns[Math.max(0, this.cursor.column - 1)];
      if (this.panel.open) { sheet.copy(this.panel.output(), "the output of " + this.model.arms[this.panel.arm].name); return; }
      if (i === undefined) return;
      const value = one.role === "signals" || one.role === "winner" ? this.cell(this.cursor.at, this.cursor.column).textContent : one.get(i);
      sheet.copy(value === null ? "" : String(value), "the cell");
    }

    // ---- the address

    fromAddress() {
      const hash = location.hash.slice(1), place = /^i(\d+)$/.exec(hash);
      const state = sheet.State.read(hash, this.model);
      if (place) { const i = this.model.rowAt(Number(place[1])); state.row = i < 0 ? null : this.model.id(i); }
      this.state = state;
      this.tools.q.value = state.q;
      this.rebuild();
      const i = state.row === null ? -1 : this.model.rowOf(state.row);
      if (i < 0) { if (this.panel.open) this.closeRow(); return; }
      this.openRow(i);
      const at = this.rows.indexOf(i);
      if (at < 0) return;
      this.wrap.scrollIntoView({ block: "nearest" });
      this.wrap.scrollTop = Math.max(0, at * this.height - this.wrap.clientHeight / 3);
      this.move(at, 1, false);
    }
    save() {
      clearTimeout(this.saving);
      this.saving = setTimeout(() => {
        const written = this.state.write();
        if (written !== location.hash.slice(1)) history.replaceState(null, "", written ? "#" + written : location.pathname + location.search);
      }, SAVING);
    }

    // ---- events

    listen() {
      let drawing = 0;
      this.wrap.addEventListener("scroll", () => { if (!drawing) drawing = requestAnimationFrame(() => { drawing = 0; this.draw(); }); }, { passive: true });
      new ResizeObserver(() => { if (this.columns) { if (this.narrow !== matchMedia("(max-width: 46rem)").matches) this.rebuild(); else this.draw(); } }).observe(this.wrap);
      this.body.addEventListener("click", (event) => this.clicked(event));
      this.body.addEventListener("dblclick", (event) => { const row = event.target.closest("tr[data-at]"); if (row && !event.target.closest("input, a")) this.openRow(this.rows[row.dataset.at]); });
      // Shift and a click selects rows, not text.
      this.body.addEventListener("mousedown", (event) => { if (event.shiftKey) event.preventDefault(); });
      document.addEventListener("keydown", (event) => this.key(event), true);
      window.addEventListener("hashchange", () => this.fromAddress());
      window.addEventListener("beforeprint", () => this.print(true));
      window.addEventListener("afterprint", () => this.print(false));
      document.getElementById("sheet-keys").addEventListener("click", () => this.help.showModal());
      document.getElementById("sheet-help-close").addEventListener("click", () => this.help.close());
    }
    clicked(event) {
      const row = event.target.closest("tr[data-at]"), cell = event.target.closest("td, th");
      if (!row || !cell || event.ctrlKey || event.metaKey) return;
      const at = Number(row.dataset.at), i = this.rows[at];
      if (cell.cellIndex === 0 || event.shiftKey) {
        event.preventDefault();
        this.cursor = { at, column: cell.cellIndex };
        setTimeout(() => { this.toggle(i, event.shiftKey); this.rove(true); });
        return;
      }
      if (event.target.closest("a")) { event.preventDefault(); this.openRow(i); }
      this.move(at, cell.cellIndex);
      if (this.panel.open && this.panel.row !== i) this.openRow(i);
    }
    key(event) {
      if (event.altKey || event.ctrlKey || event.metaKey || this.help.open) return;
      const target = event.target, typing = target.closest && target.closest("input:not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable]");
      const inTable = this.table.contains(target) || target === this.wrap, loose = inTable || target === document.body || target.id === "main";
      if (event.key === "Escape") {
        if (typing && target === this.tools.q) { if (!target.value) target.blur(); return; }
        if (this.tools.closeMenus(null)) return;
        if (this.panel.open) this.closeRow();
        return;
      }
      if (typing) return;
      const { at, column } = this.cursor, i = this.rows[Math.max(0, at)];
      const anywhere = {
        "/": () => { document.getElementById("sheet-tools").scrollIntoView({ block: "nearest" }); this.tools.q.focus(); this.tools.q.select(); },
        j: () => this.step(1), k: () => this.step(-1), "[": () => this.stepArm(-1), "]": () => this.stepArm(1),
        x: () => i !== undefined && this.toggle(i, false), X: () => i !== undefined && this.toggle(i, true),
        o: () => i !== undefined && (this.panel.row === i ? this.closeRow() : this.openRow(i)),
        c: () => this.copyCell(),
        d: () => { if (i === undefined) return; if (!this.panel.open) this.openRow(i); this.panel.toggleDiff(); },
        "?": () => this.help.showModal(),
      };
      sheet.SIGNALS.forEach((name, n) => { anywhere[n + 1] = () => this.toggleSignal(name); });
      const inside = {
        ArrowDown: () => (at < 0 ? this.move(0, column) : this.step(1)), ArrowUp: () => (at <= 0 ? this.move(-1, column) : this.step(-1)),
        ArrowRight: () => this.move(at, column + 1), ArrowLeft: () => this.move(at, column - 1),
        PageDown: () => this.step(PAGE), PageUp: () => this.step(-PAGE), Home: () => this.move(0, column), End: () => this.move(this.rows.length - 1, column),
        Enter: () => i !== undefined && this.openRow(i, true), " ": () => i !== undefined && this.toggle(i, event.shiftKey),
      };
      const onHead = at < 0 && target.closest && target.closest("thead"); // there Enter and space press the button
      const does = Object.hasOwn(anywhere, event.key) ? anywhere[event.key] : inTable || (loose && event.key.startsWith("Arrow")) ? Object.hasOwn(inside, event.key) && inside[event.key] : null;
      if (!does || (onHead && (event.key === "Enter" || event.key === " "))) return;
      event.preventDefault();
      does();
    }
    // Paper has the first rows; the window comes back after.
    print(on) {
      if (!on) { this.draw(true); return; }
      this.live.clear();
      const rows = Array.from({ length: Math.min(200, this.rows.length) }, (_, at) => { const row = this.row(at); this.live.set(at, row); return row; });
      this.body.replaceChildren(...rows);
    }
  }

  sheet.say = (text) => { document.getElementById("sheet-said").textContent = text; };
  sheet.load((model) => {
    sheet.view = new View(model);
    document.documentElement.classList.add("sheet-ready");
  });
})(window.evhSheet);
