// The sheet's data: reading it, filtering it, sorting it. Nothing here touches the page.
"use strict";
window.evhSheet = (function () {
  const SIGNALS = ["wrong", "disagree", "split", "new", "unlabelled"];
  const TYPES = { 1: Uint8Array, 2: Uint16Array, 8: Float64Array };
  const chunks = new Map(); // number of a chunk -> its rows in full
  const waiting = new Map(); // number of a chunk -> what to call when it is here
  const KEPT = 12;
  let arrived; // what the view does with the sheet once it is decoded

  // One column: a number, a name by its code, or a line of one long text. get(i) gives null for nothing.
  class Column {
    constructor(told, body) {
      Object.assign(this, told);
      this.on = told.on !== false;
      if (this.form === "text") this.text = body ? new TextDecoder().decode(part(body, told, 1)) : told.values.join("\n");
      else if (this.form === "number") this.numbers = body ? part(body, told, 8) : Float64Array.from(told.values, (v) => (v === null ? NaN : v));
      else this.codes = body ? part(body, told, told.width) : Uint16Array.from(told.values);
      this.values = null;
    }
    get(i) {
      if (this.form === "codes") return this.names[this.codes[i]];
      if (this.form === "number") return Number.isNaN(this.numbers[i]) ? null : this.numbers[i];
      const starts = this.starts();
      return this.text.slice(starts[i], starts[i + 1] - 1) || null;
    }
    // Where each line of a long text begins; one more entry than there are lines.
    starts() {
      if (!this.begins) this.begins = lines(this.text);
      return this.begins;
    }
    // Mark in `hits` the rows whose value holds `words`, which is lower case already.
    find(words, hits) {
      if (this.form === "codes") {
        const has = this.names.map((name) => name !== null && name.toLowerCase().includes(words));
        if (has.some(Boolean)) for (let i = 0; i < hits.length; i++) if (has[this.codes[i]]) hits[i] = 1;
      } else if (this.form === "text") {
        if (!this.lower) { this.lower = this.text.toLowerCase(); this.lowerBegins = lines(this.lower); }
        const starts = this.lowerBegins;
        let row = 0;
        for (let at = this.lower.indexOf(words); at >= 0; at = this.lower.indexOf(words, starts[row + 1])) {
          while (starts[row + 1] <= at) row++;
          if (row >= hits.length) break;
          hits[row] = 1;
        }
      } else {
        for (let i = 0; i < hits.length; i++) if (this.numbers[i] === this.numbers[i] && String(this.numbers[i]).includes(words)) hits[i] = 1;
      }
    }
    // For each row a number that sorts as the values do; nothing is NaN, which comes last.
    ranks() {
      if (this.form === "number") return this.numbers;
      if (this.form === "codes") {
        const order = this.names.map((name, at) => [name, at]).filter((one) => one[0] !== null);
        order.sort((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0));
        const rank = new Float64Array(this.names.length).fill(NaN);
        order.forEach((one, at) => { rank[one[1]] = at; });
        return Float64Array.from(this.codes, (code) => rank[code]);
      }
      const n = this.starts().length - 1;
      const texts = Array.from({ length: n }, (_, i) => this.get(i));
      const order = Array.from({ length: n }, (_, i) => i).filter((i) => texts[i] !== null);
      order.sort((a, b) => (texts[a] < texts[b] ? -1 : texts[a] > texts[b] ? 1 : 0));
      const rank = new Float64Array(n).fill(NaN);
      order.forEach((i, at) => { rank[i] = at; });
      return rank;
    }
  }

  function part(body, told, width) {
    return new TYPES[width](body.buffer, body.byteOffset + told.at, told.bytes / width);
  }

  function lines(text) {
    const begins = [0];
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) begins.push(at + 1);
    begins.push(text.length + 1);
    return Uint32Array.from(begins);
  }

  class Model {
    constructor(told, body) {
      Object.assign(this, told);
      this.all = told.columns.map((one) => new Column(one, body));
      this.byKey = new Map(this.all.map((one) => [one.key, one]));
      this.columns = this.all.filter((one) => one.role);
      this.ids = this.byKey.get("item");
      this.bits = this.byKey.get("signals").numbers;
      this.scores = this.arms.map((arm) => (arm.score ? this.byKey.get(arm.score) : null));
      this.rights = this.arms.map((arm) => (arm.right ? this.byKey.get(arm.right) : null));
      this.orders = new Map();
    }
    id(i) { return this.ids.get(i); }
    data(name) { return this.byKey.get("~" + name); }
    // The row of an item, or -1.
    rowOf(id) {
      if (!this.rows) this.rows = new Map(Array.from({ length: this.n }, (_, i) => [this.id(i), i]));
      return this.rows.has(id) ? this.rows.get(id) : -1;
    }
    rowAt(place) { return this.data("place").numbers.indexOf(place); }
    wrongBy(i) { return (this.data("wrong").get(i) || "").split(",").filter(Boolean).map(Number); }
    // A row's winners by the metric; those by a judge have a column, and a key, of their own.
    winners(i, key = "winner") { return this.noneRight(i, key) ? [] : (this.byKey.get(key).get(i) || "").split(",").filter(Boolean).map(Number); }
    noneRight(i, key = "winner") { return this.byKey.get(key).get(i) === "-"; }
    // Who won a row, in words; empty where nobody did.
    winner(i, key = "winner") {
      const won = this.winners(i, key);
      if (this.noneRight(i, key)) return "none right";
      return won.length === this.arms.length && won.length > 1 ? "all" : won.map((arm) => this.arms[arm].name).join(", ");
    }
    error(arm, i) { const held = this.data("error:" + arm); return held ? held.get(i) : null; }
    // How much an arm's score is above the baseline's, turned so that more is better; null where either lacks.
    delta(arm, base, i) {
      const mine = this.scores[arm], theirs = this.scores[base];
      if (!mine || !theirs || arm === base) return null;
      const gap = (mine.numbers[i] - theirs.numbers[i]) * (this.higher ? 1 : -1);
      return Number.isNaN(gap) ? null : gap;
    }

    // The rows that a state keeps, in its order.
    view(state) {
      const tests = this.tests(state), order = this.order(state.sort);
      if (!tests.length) return order;
      const kept = new Int32Array(this.n);
      let n = 0;
      rows: for (let j = 0; j < this.n; j++) {
        for (const holds of tests) if (!holds(order[j])) continue rows;
        kept[n++] = order[j];
      }
      return kept.subarray(0, n);
    }
    tests(state) {
      const made = [];
      for (const name of state.signals) { const test = this.signal(name, state); if (test) made.push(test); }
      for (const [key, values] of state.values) {
        const column = this.byKey.get(key), wanted = new Set(values);
        if (column.form === "codes") {
          const has = column.names.map((name) => wanted.has(name === null ? "" : name));
          made.push((i) => has[column.codes[i]]);
        } else made.push((i) => { const value = column.get(i); return wanted.has(value === null ? "" : String(value)); });
      }
      for (const [key, [low, high]] of state.ranges) {
        const numbers = this.byKey.get(key).numbers;
        made.push((i) => numbers[i] >= low && numbers[i] <= high);
      }
      for (const [key, words] of state.holds) made.push(this.found(words, [this.byKey.get(key)]));
      if (state.q) made.push(this.found(state.q, this.columns));
      return made;
    }
    found(words, columns) {
      const hits = new Uint8Array(this.n), lower = words.toLowerCase();
      for (const column of columns) if (column.role !== "winner" && column.role !== "signals") column.find(lower, hits);
      return (i) => hits[i];
    }
    // The test for one name of `f=`: a signal, picked, worse, wrong:<set>, new:<dataset>, worse:<arm>.
    signal(name, state) {
      const at = SIGNALS.indexOf(name), bits = this.bits;
      if (at >= 0) return (i) => bits[i] >> at & 1;
      const [kind, ref] = split(name, ":");
      if (name === "picked") return this.some("picked", () => true);
      if (kind === "wrong") {
        const set = String(this.sets.findIndex((one) => one.short === ref));
        return this.some("wrong", (text) => text.split(",").includes(set));
      }
      if (kind === "new" && this.data("new:" + ref)) return this.some("new:" + ref, () => true);
      if (kind === "worse") {
        const base = this.arms.findIndex((one) => one.name === state.base);
        const arms = this.arms.map((_, arm) => arm).filter((arm) => !ref || this.arms[arm].name === ref);
        return base < 0 ? null : (i) => arms.some((arm) => this.delta(arm, base, i) < 0);
      }
      return null;
    }
    some(name, holds) {
      const column = this.data(name);
      if (column.form === "codes") {
        const has = column.names.map((text) => text !== null && holds(text));
        return (i) => has[column.codes[i]];
      }
      return (i) => { const text = column.get(i); return text !== null && holds(text); };
    }
    order(sort) {
      const key = sort ? (sort.down ? "-" : "") + sort.key : "";
      if (!this.orders.has(key)) {
        const order = Int32Array.from({ length: this.n }, (_, i) => i);
        if (sort) {
          const by = sort.key === "signals" ? this.bits.map(count) : this.byKey.get(sort.key).ranks();
          const sign = sort.down ? -1 : 1;
          const present = order.filter((i) => !Number.isNaN(by[i])), absent = order.filter((i) => Number.isNaN(by[i]));
          present.sort((a, b) => sign * (by[a] - by[b]) || a - b);
          order.set(present);
          order.set(absent, present.length);
        }
        if (this.orders.size > 4) this.orders.clear();
        this.orders.set(key, order);
      }
      return this.orders.get(key);
    }
    // How many of the rows carry each signal.
    counts(rows) {
      const made = new Array(SIGNALS.length).fill(0), by = new Uint32Array(32);
      for (let j = 0; j < rows.length; j++) by[this.bits[rows[j]]]++;
      by.forEach((n, bits) => made.forEach((_, at) => { if (bits >> at & 1) made[at] += n; }));
      return made;
    }
    // Hand a row in full to `then`; null where its file cannot be read.
    full(i, then) {
      const number = Math.floor(i / this.chunk), at = i % this.chunk;
      if (chunks.has(number)) { then(chunks.get(number)[at]); return; }
      const calls = waiting.get(number) || [];
      calls.push((rows) => then(rows && rows[at]));
      waiting.set(number, calls);
      if (calls.length > 1) return;
      const script = document.createElement("script");
      script.src = this.chunks[number];
      script.onload = () => script.remove();
      script.onerror = () => { script.remove(); here(number, null); };
      document.head.append(script);
    }
  }

  function here(number, rows) {
    if (rows) {
      if (chunks.size >= KEPT) chunks.delete(chunks.keys().next().value);
      chunks.set(number, rows);
    }
    const calls = waiting.get(number) || [];
    waiting.delete(number);
    calls.forEach((call) => call(rows));
  }

  function count(bits) { let n = 0; for (; bits; bits >>= 1) n += bits & 1; return n; }

  function split(text, mark) {
    const at = text.indexOf(mark);
    return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
  }

  // The file of a large sheet calls this: gzip as base64, of a head and the columns as bytes.
  async function data(text) {
    const zipped = Uint8Array.fromBase64 ? Uint8Array.fromBase64(text) : Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    const stream = new Blob([zipped]).stream().pipeThrough(new DecompressionStream("gzip"));
    const buffer = await new Response(stream).arrayBuffer();
    const size = new DataView(buffer).getUint32(0, true);
    const told = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, size)));
    arrived(new Model(told, new Uint8Array(buffer, 4 + size)));
  }

  return {
    SIGNALS, split, data, chunk: here,
    // Call `then` with the sheet: now where it stands in the page, else when its file is here.
    load(then) {
      arrived = then;
      const inline = document.getElementById("sheet-data");
      if (!inline) return;
      const told = JSON.parse(inline.textContent);
      inline.remove();
      then(new Model(told, null));
    },
  };
})();
