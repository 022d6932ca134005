// What a served page does beside the built one: each second it asks its server, by a script that calls
// `evhServed`, what the page is known by now. Where that is another than its own, the page was rebuilt.
(function () {
  "use strict";
  var EVERY = 1000;
  var bar = document.querySelector(".evh-served");
  var news = document.querySelector(".evh-served-news");
  if (!bar || !news) return;
  var known = bar.getAttribute("data-tag");
  var told = "";
  var asked = null;

  // A reader who has typed, ticked or marked something keeps it: a reload would lose it.
  function busy() {
    var selection = document.getSelection();
    if (selection && !selection.isCollapsed) return true;
    if (document.querySelector("dialog[open], [role=row][aria-selected=true]")) return true;
    return Array.prototype.some.call(document.querySelectorAll("input, textarea, select"), function (one) {
      if (one === document.activeElement) return true;
      if (one.type === "checkbox" || one.type === "radio") return one.checked !== one.defaultChecked;
      if (one.tagName === "SELECT") return false;
      return one.value !== one.defaultValue;
    });
  }

  function tell(text, link, href) {
    if (told === text) return;
    told = text;
    news.textContent = text;
    if (!link) return;
    var made = document.createElement("a");
    made.textContent = link;
    made.href = href;
    news.append(" ", made);
    if (href === location.href) {
      made.addEventListener("click", function (event) {
        event.preventDefault();
        location.reload();
      });
    }
  }

  window.evhServed = function (now) {
    if (now === known) return tell("");
    if (now === "") return tell("This page is no longer in the catalog.", "Home", "/");
    if (busy()) return tell("This page was rebuilt.", "Reload", location.href);
    location.reload();
  };

  function ask() {
    if (asked || document.hidden) return;
    asked = document.createElement("script");
    asked.onload = function () { done(true); };
    asked.onerror = function () { done(false); };
    asked.src = "/-/now.js?page=" + encodeURIComponent(location.pathname) + "&at=" + Date.now();
    document.head.append(asked);
  }

  function done(answered) {
    asked.remove();
    asked = null;
    if (answered) return;
    clearInterval(timer);
    tell("The server has stopped; this is the page as it was.", "Try again", location.href);
  }

  var timer = setInterval(ask, EVERY);
  document.addEventListener("visibilitychange", ask);
})();
