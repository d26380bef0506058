// Drawings that stand one below the other in a page: which of their texts are cut or cover another.
const found = { drawings: 0, texts: 0, cut: [], covered: [] };
for (const svg of document.querySelectorAll("svg")) {
  const place = svg.parentElement.title;
  const edge = svg.getBoundingClientRect();
  const rows = new Map();
  found.drawings += 1;
  for (const text of svg.querySelectorAll("text")) {
    if (!text.textContent.trim()) continue;
    const { left, right, top, bottom } = text.getBoundingClientRect();
    const name = `${place}: ${text.textContent}`;
    found.texts += 1;
    // A font's lines may be higher than its letters, which alone are seen.
    const high = (bottom - top) / 4;
    if (left < edge.left - .5 || right > edge.right + .5) found.cut.push(name);
    if (top + high < edge.top - .5 || bottom - high > edge.bottom + .5) found.cut.push(name);
    const row = Math.round((top + bottom) / 2);
    rows.set(row, [...(rows.get(row) ?? []), { left, right, name }]);
  }
  for (const row of rows.values()) {
    row.sort((a, b) => a.left - b.left);
    row.forEach((text, index) => {
      const before = row[index - 1];
      if (before && text.left < before.right - .5) found.covered.push(`${before.name} | ${text.name}`);
    });
  }
}
document.getElementById("driven").textContent = JSON.stringify(found);
