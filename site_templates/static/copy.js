// A copy button beside each command. Without scripts the commands read as well and can be selected.
"use strict";
(function () {
  if (!navigator.clipboard) return;
  document.querySelectorAll(".command").forEach(function (box) {
    var code = box.querySelector("code");
    if (!code) return;
    var button = document.createElement("button");
    button.type = "button";
    button.textContent = "Copy";
    button.setAttribute("aria-label", "Copy the command");
    button.addEventListener("click", function () {
      navigator.clipboard.writeText(code.textContent).then(
        function () { button.textContent = "Copied"; },
        function () { button.textContent = "Select it and copy by hand"; }
      );
      setTimeout(function () { button.textContent = "Copy"; }, 1600);
    });
    box.appendChild(button);
  });
  // A link to a folded part opens it.
  function open() {
    var part = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (part && part.tagName === "DETAILS") part.open = true;
  }
  window.addEventListener("hashchange", open);
  open();
})();
