// What every chart of curves shows, in pixels and in the words of its axes, as a reader sees it. An
// expression with a list for each chart; what they mean is reckoned by the test.
(() => {
  const all = (selector, within) => [...within.querySelectorAll(selector)];
  const isSeen = (part) => {
    for (let at = part; at; at = at.parentElement) if (getComputedStyle(at).display === "none") return false;
    return true;
  };
  const numbers = (text) => (text.match(/-?(?:\d+\.?\d*|\.\d+)/g) ?? []).map(Number);
  // Lines of a path, each with its points in absolute places.
  const lines = (data) => {
    const found = [];
    let [x, y] = [0, 0];
    for (const [, letter, text] of data.matchAll(/([A-Za-z])([^A-Za-z]*)/g)) {
      const list = numbers(text);
      const isStep = letter === letter.toLowerCase();
      if (letter === "M") found.push([]);
      if (letter === "H") list.splice(1, 0, y);
      if (letter === "V") list.unshift(x);
      for (let i = 0; i + 1 < list.length; i += 2) {
        [x, y] = isStep ? [x + list[i], y + list[i + 1]] : [list[i], list[i + 1]];
        found.at(-1).push([x, y]);
      }
    }
    return found;
  };
  const of = (selector, within) => all(selector, within).flatMap((path) => lines(path.getAttribute("d")));
  const ticks = (selector, name, svg) => all(selector, svg)
    .map((tick) => ({ at: Number(tick.getAttribute(name)), text: tick.textContent }));
  return all("svg [data-y]", document).filter(isSeen).map((field) => ({
    id: field.closest("figure").id,
    titles: all(".axis", field).map((title) => title.textContent),
    x: ticks(".tick:not(.y)", "x", field),
    y: ticks(".tick.y", "y", field),
    upright: of(".grid:not(.y)", field).filter(([from, to]) => from[0] === to[0]),
    level: of(".grid.y", field),
    subjects: all("g.of", field).filter(isSeen).map((group) => ({
      class: group.classList[1],
      curve: of(".course, .curve", group).flat(),
      // A mark is a shape around the place where it begins.
      marks: all(".dot", group).flatMap((path) => path.getAttribute("d").match(/M-?[\d.]+ ?-?[\d.]+/g).map(numbers)),
    })),
  }));
})()
