// Sorts the agreement matrices by mean agreement. Without scripts the sets stand in their own order.
"use strict";
(function () {
  function sorted(rows) {
    return rows
      .map(function (row, place) {
        var mean = row.getAttribute("data-mean");
        return { place: place, mean: mean === null ? -Infinity : Number(mean) };
      })
      .sort(function (a, b) { return b.mean - a.mean || a.place - b.place; })
      .map(function (one) { return one.place; });
  }
  function arrange(table, order) {
    // The first cell of every line is its heading and stays.
    table.lines.forEach(function (line) {
      order.forEach(function (place) { line.row.appendChild(line.cells[place]); });
    });
    order.forEach(function (place) { table.body.appendChild(table.rows[place]); });
  }
  function read(element) {
    var body = element.tBodies[0];
    var rows = Array.prototype.slice.call(body.rows);
    var lines = [element.tHead.rows[0]].concat(rows).map(function (row) {
      return { row: row, cells: Array.prototype.slice.call(row.cells, 1) };
    });
    return { body: body, rows: rows, lines: lines, by: sorted(rows) };
  }
  document.querySelectorAll(".agreement").forEach(function (box) {
    var tables = Array.prototype.map.call(box.querySelectorAll("table.matrix"), read);
    if (!tables.length || tables[0].rows.length < 3) return;
    var label = document.createElement("label");
    var tick = document.createElement("input");
    tick.type = "checkbox";
    label.className = "sorting";
    label.appendChild(tick);
    label.appendChild(document.createTextNode(" Sort by mean agreement"));
    tick.addEventListener("change", function () {
      tables.forEach(function (table) {
        arrange(table, tick.checked ? table.by : table.rows.map(function (_, place) { return place; }));
      });
    });
    box.querySelector(".tabbar").appendChild(label);
  });
})();
