// Tells an open page that a newer build is here: stamp.js at the site's root hands over the name of the build.
(() => {
  "use strict";
  const place = document.currentScript?.dataset.stamp;
  if (!place) return;
  const near = ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname);
  const every = near ? 2000 : 60000;
  let known = null;
  let last = 0;

  window.evhStamp = (told) => {
    if (!told || typeof told.build !== "string") return;
    if (known === null) known = told.build;
    else if (told.build !== known) show();
    document.dispatchEvent(new CustomEvent("evh:stamp", { detail: told }));
  };

  function ask() {
    if (document.hidden || Date.now() - last < 1000) return;
    last = Date.now();
    const script = document.createElement("script");
    // The number keeps a browser from handing out what it has; a file on disk does not mind it.
    script.src = `${place}?${last}`;
    script.onload = script.onerror = () => script.remove();
    document.head.append(script);
  }

  function show() {
    if (document.querySelector(".newer")) return;
    const bar = document.createElement("div");
    bar.className = "newer";
    bar.setAttribute("role", "status");
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Reload";
    button.addEventListener("click", () => location.reload());
    bar.append("A newer build of these pages is here. ", button);
    document.body.prepend(bar);
  }

  ask();
  setInterval(ask, every);
  addEventListener("focus", ask);
  document.addEventListener("visibilitychange", ask);
})();
