"use strict";
// Comforts alone: without this script the page lacks none of its content.
(() => {
  const root = document.documentElement;
  const bar = document.querySelector(".bar");
  const stored = (value) => {
    try {
      if (value === undefined) return localStorage.getItem("fslab-theme");
      localStorage.setItem("fslab-theme", value);
    } catch { /* A page from a file may have no storage. */ }
    return null;
  };

  const dark = () => root.dataset.theme
    ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  const toggle = document.createElement("button");
  toggle.type = "button";
  toggle.className = "theme";
  const show = () => { toggle.textContent = dark() ? "Light" : "Dark"; };
  const theme = stored();
  if (theme === "light" || theme === "dark") root.dataset.theme = theme;
  if (location.hash === "#dark" || location.hash === "#light") root.dataset.theme = location.hash.slice(1);
  toggle.addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    stored(root.dataset.theme);
    show();
  });
  show();
  bar.append(toggle);

  const quote = (text) => /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  const words = (cell) => cell.innerText.replace(/\s+/g, " ").trim();
  const csv = (table) => {
    const groups = [...(table.querySelector("tr.groups")?.cells ?? [])]
      .flatMap((cell) => Array(cell.colSpan).fill(words(cell)));
    return [...table.rows]
      .filter((row) => !row.classList.contains("groups"))
      .map((row) => [...row.cells]
        .map((cell, index) => {
          const group = row.parentNode.tagName === "THEAD" ? groups[index] : "";
          return quote(group ? `${group} ${words(cell)}` : words(cell));
        })
        .join(","))
      .join("\n");
  };
  for (const figure of document.querySelectorAll("figure.table")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy as CSV";
    button.addEventListener("click", async () => {
      const text = csv(figure.querySelector("table"));
      try {
        await navigator.clipboard.writeText(text);
      } catch {
        const area = document.createElement("textarea");
        area.value = text;
        document.body.append(area);
        area.select();
        document.execCommand("copy");
        area.remove();
      }
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy as CSV"; }, 1500);
    });
    figure.append(button);
  }
})();
