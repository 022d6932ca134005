// Search: one scan of one file, which is asked for when a box is first used. Above 50,000 entries the file
// only tells where to look: words lie in shards by their beginning, entries in parts of a thousand.
// Nothing is fetched: a data file is a script that calls evhSearch.
"use strict";
(function () {
  var MOST = 12, MOST_ON_PAGE = 300, MOST_SHARDS = 6, MOST_PARTS = 12;
  var GROUP_ORDER = ["page", "command", "guide", "dataset", "reference set", "label set", "arm", "capture", "run", "item"];
  var forms = Array.prototype.slice.call(document.querySelectorAll("form.search"));
  if (!forms.length) return;
  var source = forms[0].dataset.src;
  var root = source.slice(0, source.length - "search/data.js".length);
  var files = {};      // file → {data} once it is here, {waiting: [...]} before
  var head = null;     // what data.js said

  // ---- reading -------------------------------------------------------------------------------------------
  window.evhSearch = function (name, data) {
    var file = files[name] || (files[name] = {waiting: []});
    file.data = data;
    (file.waiting || []).forEach(function (go) { go(data); });
    file.waiting = null;
  };
  function load(name, go) {
    var file = files[name];
    if (file && file.data) return go(file.data);
    if (file) return file.waiting.push(go);
    files[name] = {waiting: [go]};
    var script = document.createElement("script");
    script.src = source.slice(0, source.length - "data.js".length) + name + ".js";
    script.onerror = function () { tellAll("The search file could not be read."); };
    document.head.appendChild(script);
  }
  function loadAll(names, go) {
    var left = names.length, held = [];
    if (!left) return go([]);
    names.forEach(function (name, at) {
      load(name, function (data) { held[at] = data; if (!--left) go(held); });
    });
  }
  function start(go) {
    if (head) return go();
    load("data", function (data) {
      head = data;
      if (data.lines) data.entries = data.lines.split("\n").map(entry);
      go();
    });
  }
  // A line is: group, last part of the path (empty: the name), name, text, words that are not shown.
  function entry(line) {
    var parts = line.split("\t");
    return {
      group: +parts[0], leaf: parts[1], name: parts[2], text: parts[3] || "",
      low: parts[2].toLowerCase(), all: parts.slice(2).join(" ").toLowerCase()
    };
  }
  function path(one) {
    var group = head.groups[one.group];
    return root + group.before + (one.leaf || encodeURIComponent(one.name)) + group.after;
  }

  // ---- finding -------------------------------------------------------------------------------------------
  // 0 the name itself, 1 its beginning, 2 the beginning of a word of it, 3 inside it, 4 a word of the text,
  // 5 inside the text; -1 not at all. Every word of the query must be found.
  function rank(one, query, words) {
    for (var at = 0; at < words.length; at++) if (one.all.indexOf(words[at]) < 0) return -1;
    if (one.low === query) return 0;
    if (one.low.indexOf(query) === 0) return 1;
    if (begins(one.low, query)) return 2;
    if (one.low.indexOf(query) > 0) return 3;
    for (at = 0; at < words.length; at++) if (!begins(one.all, words[at])) return 5;
    return 4;
  }
  function begins(text, word) {
    for (var at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
      if (at === 0 || !/[\p{L}\p{N}]/u.test(text[at - 1])) return true;
    }
    return false;
  }
  function best(entries, query, words) {
    var found = [];
    for (var at = 0; at < entries.length; at++) {
      var place = rank(entries[at], query, words);
      if (place >= 0) found.push({one: entries[at], place: place, at: at});
    }
    found.sort(function (a, b) {
      return a.place - b.place || kind(a) - kind(b) || a.one.name.length - b.one.name.length || a.at - b.at;
    });
    return found.map(function (each) { return each.one; });
  }
  function kind(each) {
    return GROUP_ORDER.indexOf(head.groups[each.one.group].kind);
  }
  // Calls go(entries, n, more): the best first, how many there are, whether there may be others.
  function find(text, go) {
    var query = text.trim().toLowerCase().replace(/\s+/g, " ");
    if (!query) return go([], 0, false);
    var words = query.split(" ");
    start(function () {
      if (head.entries) {
        var found = best(head.entries, query, words);
        return go(found, found.length, false);
      }
      sharded(query, words, go);
    });
  }
  function sharded(query, words, go) {
    var asked = [], more = false;
    var tokens = query.split(/[^\p{L}\p{N}]+/u).filter(Boolean);
    if (!tokens.length) return go([], 0, false);
    tokens.forEach(function (token) {
      var names = [];
      head.shards.forEach(function (start, at) {
        var next = head.shards[at + 1];
        if (start <= token + "\uffff" && (next === undefined || next > token)) names.push("s" + at);
      });
      if (names.length > MOST_SHARDS) { more = true; names = names.slice(0, MOST_SHARDS); }
      asked.push(names);
    });
    var flat = asked.reduce(function (all, names) { return all.concat(names); }, []);
    loadAll(flat, function () {
      var kept = null, cut = [];
      tokens.forEach(function (token, at) {
        var here = new Set(), whole = true;
        asked[at].forEach(function (name) {
          files[name].data.lines.split("\n").forEach(function (line) {
            var parts = line.split("\t");
            if (parts[0].indexOf(token) !== 0) return;
            if (parts[2]) whole = false;  // too common a word: only its first entries are told
            var last = 0;
            parts[1].split(" ").forEach(function (step) { last += +step; here.add(last); });
          });
        });
        if (!whole) cut.push(here);
        else kept = kept ? new Set([...kept].filter(function (one) { return here.has(one); })) : here;
      });
      if (!kept) { kept = cut[0]; more = true; }
      var numbers = [...kept].sort(function (a, b) { return a - b; });
      var parts = [...new Set(numbers.map(function (one) { return Math.floor(one / head.part); }))];
      if (parts.length > MOST_PARTS) { more = true; parts = parts.slice(0, MOST_PARTS); }
      loadAll(parts.map(function (one) { return "e" + one; }), function () {
        var entries = [];
        numbers.forEach(function (one) {
          var file = files["e" + Math.floor(one / head.part)];
          if (!file || !file.data) return;
          file.split = file.split || file.data.lines.split("\n");
          entries.push(entry(file.split[one % head.part]));
        });
        go(best(entries, query, words), numbers.length, more);
      });
    });
  }

  // ---- showing -------------------------------------------------------------------------------------------
  function tellAll(text) {
    forms.forEach(function (form) { form.querySelector("[role=status]").textContent = text; });
  }
  function marked(text, words, about) {
    var low = text.toLowerCase(), at = -1, length = 0;
    words.forEach(function (word) {
      var place = low.indexOf(word);
      if (place >= 0 && (at < 0 || place < at)) { at = place; length = word.length; }
    });
    var span = document.createElement("span");
    if (at < 0 || low.length !== text.length) { span.textContent = text; return span; }
    if (about && at > 36) {  // the line is cut at its end: what was found stays in view
      var from = text.indexOf(" ", at - 24) + 1;
      if (from > 0 && from <= at) { text = "… " + text.slice(from); at += 2 - from; }
    }
    var hit = document.createElement("mark");
    hit.textContent = text.slice(at, at + length);
    span.append(text.slice(0, at), hit, text.slice(at + length));
    return span;
  }
  function link(one, words) {
    var group = head.groups[one.group];
    var row = document.createElement("li"), to = document.createElement("a"), what = document.createElement("small");
    to.href = path(one);
    to.appendChild(marked(one.name, words));
    what.textContent = group.kind + (group.of ? " of " + group.of : "");
    to.append(" ", what);
    if (one.text) {
      var more = document.createElement("span");
      more.className = "about";
      more.appendChild(marked(one.text, words, true));
      to.appendChild(more);
    }
    row.appendChild(to);
    return row;
  }
  function setUp(form) {
    var box = form.querySelector("input"), status = form.querySelector("[role=status]");
    var panel = form.querySelector(".results"), whole = form.classList.contains("whole");
    var asked = 0;
    form.hidden = false;
    box.addEventListener("focus", function () { start(function () {}); }, {once: true});

    function close() { if (!whole) panel.hidden = true; }
    function links() { return Array.prototype.slice.call(panel.querySelectorAll("a")); }
    function show() {
      var mine = ++asked, text = box.value;
      var words = text.trim().toLowerCase().split(/\s+/).filter(Boolean);
      find(text, function (found, n, more) {
        if (mine !== asked) return;
        panel.textContent = "";
        panel.hidden = !words.length;
        if (!words.length) { status.textContent = ""; return; }
        var told = n === 0 ? "Nothing found" : (more ? "at least " : "") + n.toLocaleString("en") + (n === 1 ? " result" : " results");
        status.textContent = told;
        var line = document.createElement("p"), list = document.createElement("ul");
        line.className = "n";
        line.textContent = told + (n === 0 && more ? "; type more of the word" : "");
        found.slice(0, whole ? MOST_ON_PAGE : MOST).forEach(function (one) { list.appendChild(link(one, words)); });
        panel.append(line, list);
        if (!whole && n > MOST) {
          var all = document.createElement("a");
          all.className = "all";
          all.href = form.dataset.page + "#q=" + encodeURIComponent(text.trim());
          all.textContent = "All of them";
          panel.appendChild(all);
        }
      });
      if (whole && box.value !== asIn(location.hash)) history.replaceState(null, "", "#q=" + encodeURIComponent(box.value));
    }
    box.addEventListener("input", show);
    form.addEventListener("submit", function (event) {
      event.preventDefault();
      var first = links()[0];
      if (first) location.href = first.href;
    });
    form.addEventListener("keydown", function (event) {
      if (event.key === "Escape") {
        if (document.activeElement === box && panel.hidden) box.blur();
        close();
        if (document.activeElement !== box && panel.contains(document.activeElement)) box.focus();
        return;
      }
      if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
      var all = links(), at = all.indexOf(document.activeElement);
      if (panel.hidden || !all.length) return;
      event.preventDefault();
      var next = at + (event.key === "ArrowDown" ? 1 : -1);
      if (next < 0) box.focus();
      else if (all[next]) all[next].focus();
    });
    form.addEventListener("focusout", function (event) {
      if (event.relatedTarget && !form.contains(event.relatedTarget)) close();
    });
    document.addEventListener("click", function (event) { if (!form.contains(event.target)) close(); });
    box.addEventListener("focus", function () { if (box.value && !whole) show(); });
    if (whole) {
      var given = asIn(location.hash);
      if (given) { box.value = given; show(); }
      window.addEventListener("hashchange", function () {
        if (asIn(location.hash) !== box.value) { box.value = asIn(location.hash); show(); }
      });
    }
    return box;
  }
  function asIn(hash) {
    if (hash.indexOf("#q=") !== 0) return "";
    try { return decodeURIComponent(hash.slice(3)); } catch (error) { return hash.slice(3); }
  }

  // On the search page the box in the header would be the second one.
  var own = forms.filter(function (form) { return form.classList.contains("whole"); });
  var boxes = (own.length ? own : forms).map(setUp);
  if (own.length && !location.hash) boxes[0].focus({preventScroll: true});
  document.addEventListener("keydown", function (event) {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (/^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName) || document.querySelector(".sheet")) return;
    event.preventDefault();
    boxes[0].focus();
  });
})();
