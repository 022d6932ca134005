// Menus close when the reader goes elsewhere, a link to a folded part opens it, and what only works with
// scripts is shown. Without scripts a menu is a folded part like any other.
"use strict";
(function () {
  var menus = document.querySelectorAll(".menu details");
  menus.forEach(function (menu) {
    menu.addEventListener("focusout", function (event) {
      if (event.relatedTarget && !menu.contains(event.relatedTarget)) menu.open = false;
    });
    menu.addEventListener("keydown", function (event) {
      var links = Array.prototype.slice.call(menu.querySelectorAll("a"));
      var at = links.indexOf(document.activeElement);
      if (event.key === "Escape" && menu.open) {
        menu.open = false;
        menu.querySelector("summary").focus();
      } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && (menu.open || event.key === "ArrowDown")) {
        menu.open = true;
        var next = at + (event.key === "ArrowDown" ? 1 : -1);
        if (next < 0) menu.querySelector("summary").focus();
        else if (links[next]) links[next].focus();
        event.preventDefault();
      }
    });
  });
  document.addEventListener("click", function (event) {
    menus.forEach(function (menu) { if (!menu.contains(event.target)) menu.open = false; });
  });

  function open() {
    var part = location.hash && document.getElementById(decode(location.hash.slice(1)));
    if (part && part.tagName === "DETAILS") part.open = true;
  }
  function decode(text) {
    try { return decodeURIComponent(text); } catch (error) { return text; }
  }
  window.addEventListener("hashchange", open);
  open();

  // The picks that a version takes: every ticked one in the command, or all of them in one word.
  document.querySelectorAll(".choose").forEach(function (part) {
    var boxes = Array.prototype.slice.call(part.querySelectorAll("input[type=checkbox]"));
    var code = part.querySelector(".command code");
    var count = part.querySelector(".chosen");
    function tell() {
      var ticked = boxes.filter(function (box) { return box.checked; });
      var words = ticked.map(function (box) { return "--pick " + box.value; });
      var rest = !ticked.length ? "--pick ITEM" : ticked.length === boxes.length ? "--picks" : words.join(" ");
      code.textContent = part.dataset.command + " " + rest;
      count.textContent = ticked.length + " of " + boxes.length + " chosen";
    }
    part.querySelectorAll("[hidden]").forEach(function (one) { one.hidden = false; });
    part.addEventListener("change", tell);
    tell();
  });
})();
