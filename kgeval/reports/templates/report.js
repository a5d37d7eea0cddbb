"use strict";
(function () {
  function text(button) {
    var shared = button.dataset.with && document.getElementById(button.dataset.with);
    var own = button.parentNode.querySelector("code").textContent;
    return shared ? shared.textContent + "\n" + own : own;
  }
  function fallback(value) {
    var area = document.createElement("textarea");
    area.value = value;
    document.body.appendChild(area);
    area.select();
    var done = document.execCommand("copy");
    area.remove();
    return done ? Promise.resolve() : Promise.reject(new Error("copying is not allowed here"));
  }
  function copy(value) {
    if (!navigator.clipboard) { return fallback(value); }
    return navigator.clipboard.writeText(value).catch(function () { return fallback(value); });
  }
  document.querySelectorAll("button.copy").forEach(function (button) {
    button.hidden = false;
    button.addEventListener("click", function () {
      copy(text(button)).then(
        function () { button.textContent = "Copied"; },
        function () { button.textContent = "Select and copy by hand"; }
      );
      setTimeout(function () { button.textContent = "Copy"; }, 2500);
    });
  });

  var filters = document.querySelector(".filters");
  var findings = Array.from(document.querySelectorAll(".finding[id]"));
  function show() {
    var wanted = Array.from(filters.querySelectorAll("input:checked")).map(function (box) { return box.value; });
    var shown = 0;
    findings.forEach(function (finding) {
      finding.hidden = !wanted.includes(finding.dataset.kind);
      if (!finding.hidden) { shown += 1; }
    });
    document.querySelectorAll(".group").forEach(function (group) {
      group.hidden = !group.querySelector(".finding:not([hidden])");
    });
    filters.querySelector(".shown").textContent = shown + " of " + findings.length + " shown";
  }
  if (filters) {
    filters.querySelectorAll("input").forEach(function (box) {
      var some = findings.some(function (finding) { return finding.dataset.kind === box.value; });
      if (!some) { box.parentNode.hidden = true; }
      box.addEventListener("change", show);
    });
    filters.hidden = false;
    show();
  }

  function openTarget() {
    var target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) { return; }
    if (filters && target.hidden && target.dataset.kind) {
      filters.querySelector("input[value=" + target.dataset.kind + "]").checked = true;
      show();
    }
    for (var fold = target.closest("details"); fold; fold = fold.parentNode.closest("details")) { fold.open = true; }
    target.scrollIntoView();
  }
  window.addEventListener("hashchange", openTarget);
  if (location.hash) { openTarget(); }
})();
