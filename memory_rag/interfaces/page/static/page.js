// Everything works without this: it makes search live, copies quotes, and lets keys move through hits.
"use strict";

for (const button of document.querySelectorAll("[data-copy]")) {
  button.hidden = !navigator.clipboard;
  button.addEventListener("click", async () => {
    const source = document.getElementById(button.dataset.copy);
    const words = source.matches(".turn") ? source.querySelector(".words") : source;
    await navigator.clipboard.writeText(words.textContent);
    const before = button.textContent;
    button.textContent = button.dataset.done;
    setTimeout(() => { button.textContent = before; }, 1500);
  });
}

const results = document.getElementById("results");
const field = document.getElementById("q");
if (results && field && field.form.getAttribute("action") === "/search") {
  const timeline = document.getElementById("timeline");
  let waiting = 0;
  let asked = field.value.trim();
  const ask = async () => {
    const words = field.value.trim();
    if (words === asked) return;
    asked = words;
    if (timeline) timeline.hidden = words !== "";
    if (!words) { results.replaceChildren(); return; }
    const fields = new URLSearchParams(new FormData(field.form));
    fields.set("part", "1");
    const answer = await fetch("/search?" + fields);
    if (words !== asked || !answer.ok) return;
    results.innerHTML = await answer.text();
  };
  field.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(ask, 250); });
}

document.addEventListener("keydown", (event) => {
  if (event.target.closest("input, textarea, select") || event.ctrlKey || event.metaKey || event.altKey) {
    if (event.key === "Escape" && event.target === field) field.blur();
    return;
  }
  if (event.key === "/" && field) {
    event.preventDefault();
    field.focus();
    field.select();
  } else if (event.key === "j" || event.key === "k") {
    const hits = [...document.querySelectorAll("[data-hit]")];
    if (!hits.length) return;
    const at = hits.indexOf(document.activeElement);
    hits[Math.max(0, Math.min(hits.length - 1, at + (event.key === "j" ? 1 : -1)))].focus();
  }
});
