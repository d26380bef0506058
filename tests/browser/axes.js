// The figures of every chart of repeats, read off its axis as a reader would: from the places of
// its points and of its ticks. An expression with a list for each chart.
(() => {
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const units = { "": 1, k: 1e3, M: 1e6, G: 1e9, T: 1e12 };
  const isSeen = (part) => {
    for (let at = part; at; at = at.parentElement) if (getComputedStyle(at).display === "none") return false;
    return true;
  };
  return all("svg[data-row]").filter(isSeen).map((svg) => {
    const ticks = all(".tick.x", svg).map((tick) => ({ x: Number(tick.getAttribute("x")), value: parseFloat(tick.textContent) }));
    const title = svg.querySelector(".axis.x").textContent;
    const factor = units[title.match(/^([kMGT]?)(B|op)\/s/)?.[1] ?? ""];
    const isLog = title.includes("log axis");
    const scale = (value) => isLog ? Math.log(value) : value;
    const [a, b] = [ticks[0], ticks.at(-1)];
    const value = (x) => {
      const read = scale(a.value) + (x - a.x) / (b.x - a.x) * (scale(b.value) - scale(a.value));
      return factor * (isLog ? Math.exp(read) : read);
    };
    const groups = all("g.of", svg).filter(isSeen);
    return {
      id: svg.closest("figure").id,
      isLog,
      ticks: ticks.map((tick) => tick.value),
      lines: svg.querySelector(".grid.x").getAttribute("d").split("M").length - 1,
      subjects: groups.map((group) => ({
        name: group.querySelector(".label").textContent,
        dots: [...group.querySelector(".dot")?.getAttribute("d").matchAll(/M(-?[\d.]+) ?(-?[\d.]+)/g) ?? []]
          .map(([, x]) => ({ x: Number(x), value: value(Number(x)) })),
      })),
    };
  });
})()
