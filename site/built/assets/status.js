// site/browser/status/main.ts
var root = document.getElementById("status");
root?.setAttribute("data-ready", "true");
