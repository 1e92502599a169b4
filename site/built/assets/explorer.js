// site/browser/explorer/main.ts
var root = document.getElementById("explorer");
root?.setAttribute("data-ready", "true");
