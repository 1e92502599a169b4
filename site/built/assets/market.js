// site/browser/market/main.ts
var root = document.getElementById("market");
root?.setAttribute("data-ready", "true");
