// A copy button beside each command and code block. Without scripts they read as well and can be selected.
"use strict";
(function () {
  function byHand(code) {
    var range = document.createRange();
    range.selectNodeContents(code);
    var chosen = window.getSelection();
    chosen.removeAllRanges();
    chosen.addRange(range);
    return document.execCommand && document.execCommand("copy");
  }
  // Pages opened over plain http have no clipboard: there the old way is tried, and the text stays selected.
  function copy(code, told) {
    if (!navigator.clipboard) return told(byHand(code));
    navigator.clipboard.writeText(code.textContent).then(
      function () { told(true); },
      function () { told(byHand(code)); }
    );
  }
  function add(box, code, what) {
    var button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.setAttribute("aria-label", "Copy " + what);
    button.addEventListener("click", function () {
      copy(code, function (done) {
        button.textContent = done ? "Copied" : "Select it and copy by hand";
        setTimeout(function () { button.textContent = "Copy"; }, 1600);
      });
    });
    box.appendChild(button);
  }
  document.querySelectorAll(".command").forEach(function (box) {
    var code = box.querySelector("code");
    if (code) add(box, code, "the command");
  });
  document.querySelectorAll(".prose > pre").forEach(function (pre) {
    var box = document.createElement("div");
    box.className = "block";
    pre.parentNode.insertBefore(box, pre);
    box.appendChild(pre);
    add(box, pre.querySelector("code") || pre, "this block");
  });
})();
