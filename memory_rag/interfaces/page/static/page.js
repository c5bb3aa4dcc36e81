// Everything works without this: it makes search live, copies quotes, follows an import, and lets keys move through hits.
"use strict";

for (const button of document.querySelectorAll("[data-copy]")) {
  button.hidden = !navigator.clipboard;
  const before = button.textContent;
  let back = 0;
  button.addEventListener("click", async () => {
    const source = document.getElementById(button.dataset.copy);
    const words = source.matches(".turn") ? source.querySelector(".words") : source;
    await navigator.clipboard.writeText(words.textContent);
    button.textContent = button.dataset.done;
    clearTimeout(back);
    back = setTimeout(() => { button.textContent = before; }, 1500);
  });
}

const results = document.getElementById("results");
const field = document.getElementById("q");
if (results && field) {
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
    const answer = await fetch(field.form.action + "?" + fields);
    const found = answer.ok ? await answer.text() : "";
    // Another question may have been typed meanwhile.
    if (words === asked && found) results.innerHTML = found;
  };
  field.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(ask, 250); });
}

for (const files of document.querySelectorAll("[data-largest]")) {
  files.addEventListener("change", () => {
    const size = [...files.files].reduce((sum, file) => sum + file.size, 0);
    files.setCustomValidity(size > Number(files.dataset.largest) ? files.dataset.tooLarge : "");
    files.reportValidity();
  });
}

if (document.querySelector("[data-again]")) setTimeout(() => location.reload(), 1500);

document.querySelector("nav [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });

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
