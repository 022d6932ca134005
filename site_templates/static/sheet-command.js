// The commands for the selected rows. Ids and notes are data: every word is quoted for a POSIX shell.
"use strict";
(function (sheet) {
  const INLINE = 200;
  const FILE = "items.txt";
  const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff]|[\u{e0000}-\u{e007f}]/gu;

  // A text as the page shows it: what cannot be seen, or would reorder what can, is named.
  sheet.visible = (text) => String(text).replace(HIDDEN, (c) =>
    (c === "\n" || c === "\t" ? c : "⟨U+" + c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0") + "⟩"));

  const INVISIBLE = new RegExp("[\\t\\n]|" + HIDDEN.source, "u");
  const BYTES = new RegExp("['\\\\\\t\\n]|" + HIDDEN.source, "gu");

  // A word that bash and zsh read back as it is; what cannot be seen, or would end a line, by its bytes.
  sheet.quote = (word) => {
    if (/^[A-Za-z0-9@%+=:,./_-]+$/.test(word)) return word;
    if (!INVISIBLE.test(word)) return "'" + word.replaceAll("'", "'\"'\"'") + "'";
    return "$'" + word.replaceAll("\0", "\ufffd").replace(BYTES, bytes) + "'";
  };

  function bytes(c) {
    if (c === "'" || c === "\\") return "\\" + c;
    return [...new TextEncoder().encode(c)].map((one) => "\\x" + one.toString(16).padStart(2, "0")).join("");
  }

  // An option with its value; one that begins with "-" stays the option's by "=".
  function option(name, value) {
    return value.startsWith("-") ? sheet.quote(name + "=" + value) : name + " " + sheet.quote(value);
  }

  function items(ids) {
    const fromFile = ids.length > INLINE || ids.some((id) => sheet.visible(id) !== id);
    return fromFile ? ["--items-from " + FILE] : ids.map((id) => option("--item", id));
  }

  // The command that picks items. `asked` has what was typed: targets, tags, note.
  sheet.pickCommand = (dataset, ids, asked) => [
    "evh pick", option("--dataset-id", dataset), ...items(ids),
    ...words(asked.targets, /[\s,]+/).map((name) => option("--for", name)),
    ...words(asked.tags, /,/).map((tag) => option("--tag", tag)),
    ...(asked.note.trim() ? [option("--note", asked.note.trim())] : []),
  ].join(" ");

  sheet.labelCommand = (dataset, ids) => [
    "evh label-sheet", option("--dataset-id", dataset), ...items(ids), option("--out", dataset + "-labels.csv"),
  ].join(" ");

  sheet.fromFile = (ids) => items(ids)[0].startsWith("--items-from");

  function words(text, mark) { return text.split(mark).map((one) => one.trim()).filter(Boolean); }

  // Put a text on the clipboard, and say so; where a browser refuses, say that too.
  sheet.copy = async (text, told) => {
    try {
      await navigator.clipboard.writeText(text);
      sheet.say("Copied " + told);
    } catch {
      const box = document.createElement("textarea");
      box.value = text;
      document.body.append(box);
      const focused = document.activeElement;
      box.select();
      const done = document.execCommand("copy");
      box.remove();
      if (focused) focused.focus();
      sheet.say(done ? "Copied " + told : "The browser does not let this page copy: select it by hand");
    }
  };

  // Make an element. Texts become text, never markup.
  sheet.h = (tag, about, ...inside) => {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(about || {})) {
      if (value === null || value === undefined || value === false) continue;
      if (name === "class") made.className = value;
      else if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
      else made.setAttribute(name, value === true ? "" : name === "href" || name === "id" ? value : sheet.visible(value));
    }
    for (const one of inside.flat()) if (one !== null && one !== undefined) made.append(one instanceof Node ? one : sheet.visible(one));
    return made;
  };

  // The bar below the table: how many rows are selected, and what to do with them.
  sheet.Bar = class {
    constructor(place, view) {
      const h = sheet.h;
      this.place = place;
      this.view = view;
      const field = (name, label, hint, list) => h("label", null, label, h("input", { name, placeholder: hint, list, autocomplete: "off", spellcheck: "false", oninput: () => this.write() }));
      this.count = h("b", null);
      // On a phone the bar is one line until it is unfolded; elsewhere this button is not shown.
      this.fold = h("button", { type: "button", class: "quiet-button bar-fold", "aria-expanded": "false", "aria-controls": place.id, onclick: () => {
        const open = place.classList.toggle("unfolded");
        this.fold.setAttribute("aria-expanded", String(open));
        this.fold.textContent = open ? "Fewer" : "Pick, label …";
      } }, "Pick, label …");
      this.pick = h("code", null);
      this.label = h("code", null);
      this.note = h("p", { class: "quiet" });
      this.list = h("datalist", { id: "sheet-targets" }, view.model.targets.map((name) => h("option", { value: name })));
      const line = (code, told) => h("div", { class: "command" }, code, h("button", { type: "button", class: "quiet-button", onclick: () => sheet.copy(code.textContent, told) }, "Copy"));
      this.pickLine = line(this.pick, "the pick command");
      this.labelLine = line(this.label, "the label-sheet command");
      place.append(
        h("div", { class: "bar-head" }, this.count,
          this.fold,
          h("button", { type: "button", class: "quiet-button bar-ids", onclick: () => this.copyIds() }, "Copy the ids, one a line"),
          h("button", { type: "button", class: "quiet-button", onclick: () => view.clearSelection() }, "Clear")),
        h("div", { class: "bar-fields" },
          field("targets", "for ", "datasets, none yet", "sheet-targets"), field("tags", "tags ", "case=missed, …"), field("note", "note ", "why"), this.list),
        this.pickLine, this.labelLine, this.note);
    }
    asked(name) { return this.place.querySelector("input[name=" + name + "]").value; }
    ids() { return [...this.view.selected].sort((a, b) => a - b).map((i) => this.view.model.id(i)); }
    copyIds() { const ids = this.ids(); sheet.copy(ids.join("\n") + "\n", ids.length.toLocaleString("en") + (ids.length === 1 ? " id" : " ids")); }
    write() {
      const ids = this.ids(), dataset = this.view.model.dataset;
      this.place.hidden = !ids.length;
      if (!ids.length) return;
      this.count.textContent = ids.length.toLocaleString("en") + (ids.length === 1 ? " row selected" : " rows selected");
      this.pick.textContent = sheet.pickCommand(dataset, ids, { targets: this.asked("targets"), tags: this.asked("tags"), note: this.asked("note") });
      this.label.textContent = sheet.labelCommand(dataset, ids);
      this.note.textContent = sheet.fromFile(ids) ? "Copy the ids into a file " + FILE + " first: they are too many for a line, or hold characters that cannot be seen." : "";
    }
  };
})(window.evhSheet);
