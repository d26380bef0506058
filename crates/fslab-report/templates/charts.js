// Redraws charts for the subjects that are shown, along the axes that these need. A path's points
// are converted from the old axis to the new one, so no figure is in the page twice;
// src/chart/scale.rs has the same rules for axes.
const charts = (() => {
  const PREFIXES = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""]];
  const TIMES = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];
  const SIZES = ["TiB", "GiB", "MiB", "KiB"].map((name, index) => [2 ** (40 - 10 * index), name]);

  // ---- Axes.
  const axis = (text) => {
    const [low, high, from, to, log, ticks, factor, linear, logarithmic] = text.split(" ").map(Number);
    return { low, high, from, to, log: log === 1, ticks, factor, linear, logarithmic, unit: text.split(" ")[9] ?? "" };
  };
  const worth = ({ low, high, from, to, log }, pixel) => {
    const share = (pixel - from) / (to - from);
    return log ? low * (high / low) ** share : low + share * (high - low);
  };
  const at = ({ low, high, from, to, log }, value) => {
    const share = log ? Math.log(Math.max(value, low) / low) / Math.log(high / low) : (value - low) / (high - low);
    return from + Math.min(1, Math.max(0, share)) * (to - from);
  };
  // The axis for figures from `low` to `high` with intervals up to `reach`.
  const fit = (old, low, high, reach) => {
    const far = high / low;
    if (old.factor && low > 0 && (far > old.factor || old.factor === 1)) {
      const widen = Math.sqrt(Math.max(1, 2 / (far * old.logarithmic ** 2))) * old.logarithmic;
      return { ...old, low: low / widen, high: high * widen, log: true };
    }
    const end = Math.max(high * old.linear, Math.min(reach, high * 1.4));
    return { ...old, low: 0, high: end > 0 ? end : 1, log: false };
  };
  const step = (rough) => {
    const power = 10 ** Math.floor(Math.log10(rough));
    return ([1, 2, 2.5, 5, 10].find((nice) => nice * power >= rough * (1 - 1e-9)) ?? 10) * power;
  };
  const ticks = ({ low, high, log, ticks: count }) => {
    if (!log) {
      const width = step((high - low) / count);
      const first = Math.ceil(low / width - 1e-9);
      const last = Math.floor(high / width * (1 + 1e-9));
      return Array.from({ length: last - first + 1 }, (_, index) => (first + index) * width);
    }
    const [first, last] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))];
    const decades = Array.from({ length: last - first + 1 }, (_, index) => first + index);
    const of = (steps) => decades.flatMap((decade) => steps.map((nice) => nice * 10 ** decade))
      .filter((tick) => tick >= low && tick <= high);
    const plain = of([1]);
    if (plain.length <= 1) {
      const some = of([1, 2, 5]);
      return some.length > 1 ? some : of([1, 1.2, 1.5, 2, 3, 4, 5, 7]);
    }
    if (plain.length <= 3) return of([1, 3]);
    const every = plain.length <= 6 ? 1 : Math.ceil(plain.length / 5);
    return plain.filter((_, index) => index % every === 0);
  };
  const plain = (value) => Math.abs(value) >= 1e6
    ? value.toExponential(0).replace("+", "") : String(Number(value.toFixed(3)));
  const pick = (steps, high) => steps.find(([limit]) => high >= limit) ?? steps.at(-1);
  // The unit's name, and the label of a tick in it.
  const unit = (base, high) => {
    if (base === "each" || base === "KiB") {
      const steps = base === "each" ? TIMES : [...SIZES, [1, "B"]];
      return { label: (tick) => {
        const [divisor, name] = pick(steps, tick * 1.000001);
        return `${plain(tick / divisor)} ${name}`;
      } };
    }
    const [divisor, prefix] = base === "" ? [1, ""] : pick(base === "ns" ? TIMES : PREFIXES, high);
    const name = base === "ns" ? prefix : prefix + base;
    return { name, label: (tick) => plain(tick / divisor) };
  };

  // ---- Paths: pieces of points in absolute places, a shape around the last point as it is.
  const pieces = (data) => data.split("M").slice(1).map((text) => {
    const [head, x, y] = text.match(/^(-?[\d.]+) ?(-?[\d.]+)/);
    const rest = text.slice(head.length);
    const points = [[Number(x), Number(y)]];
    if (rest.startsWith("m")) return { points, rest };
    for (const [, letter, list] of rest.matchAll(/([HVl])([^HVlz]*)/g)) {
      const numbers = (list.match(/-?(?:\d+\.?\d*|\.\d+)/g) ?? []).map(Number);
      const [left, top] = points.at(-1);
      if (letter === "H") points.push([numbers[0], top]);
      else if (letter === "V") points.push([left, numbers[0]]);
      else for (let i = 0; i + 1 < numbers.length; i += 2) {
        const last = points.at(-1);
        points.push([last[0] + numbers[i], last[1] + numbers[i + 1]]);
      }
    }
    return { points, rest: rest.endsWith("z") ? "z" : "" };
  });
  const short = (pixel) => String(Math.round(pixel * 10) / 10);
  const written = (list, x, y) => list.map(({ points, rest }) => {
    const moved = points.map(([left, top]) => `${short(x(left))} ${short(y(top))}`);
    return `M${moved.join("L")}${rest}`;
  }).join("");

  // ---- Fields: what is drawn along one pair of axes.
  const known = new Map();
  const look = (field) => {
    if (known.has(field)) return known.get(field);
    const of = (element) => [...element.children].filter((part) => part.tagName === "path");
    const isMoved = (path) => !/^(key|strip)/.test(path.getAttribute("class"));
    const groups = [...field.querySelectorAll("g.of")].map((group) => ({
      group,
      paths: of(group).filter(isMoved).map((path) => {
        const data = path.getAttribute("d");
        return { path, data, kind: path.getAttribute("class"), list: pieces(data) };
      }),
      ends: [...group.querySelectorAll(".end")].map((text) => ({ text, x: text.getAttribute("x") })),
    }));
    const axes = ["x", "y"].filter((name) => field.dataset[name]).map((name) => {
      const title = field.querySelector(`.axis.${name}`);
      const grid = field.querySelector(`.grid.${name}`);
      return {
        name, title, grid, index: name === "x" ? 0 : 1, old: axis(field.dataset[name]),
        ticks: [...field.querySelectorAll(`.tick.${name}`)],
        words: title?.textContent, lines: grid?.getAttribute("d"),
      };
    });
    const beyond = field.querySelector(".beyond");
    const found = { groups, axes, beyond, note: beyond?.textContent, isMoved: false };
    known.set(field, found);
    return found;
  };
  const classOf = (group) => group.classList[1];
  const interval = ({ group, paths }, old) => {
    const path = paths.find(({ kind }) => kind === "interval");
    if (!path) return null;
    const stated = group.dataset.interval?.split(" ").map(Number);
    const [[from, y], [to]] = path.list[0].points;
    return { ends: stated ?? [worth(old, from), worth(old, to)], y, path };
  };

  // The range that an axis must show for the remaining subjects; null if there is none.
  const range = ({ old, index }, groups) => {
    let [low, high, reach] = [Infinity, -Infinity, 0];
    for (const part of groups) {
      const whisker = interval(part, old);
      if (whisker) reach = Math.max(reach, whisker.ends[1]);
      for (const { kind, list } of part.paths) {
        if (kind === "then" || kind === "interval" || (whisker && kind === "cap")) continue;
        for (const { points } of list) {
          for (const point of points) {
            // A point beyond the axis is drawn at its end.
            if (!old.log && Math.abs(point[index] - old.to) < .005 && kind !== "dot") continue;
            const value = worth(old, point[index]);
            low = Math.min(low, value);
            high = Math.max(high, value);
          }
        }
      }
    }
    return high > -Infinity ? fit(old, low, high, reach) : null;
  };

  const relabel = (axes, now) => {
    const { name, old, title, grid, ticks: texts, words, lines } = axes;
    const model = texts[0];
    if (!model) return;
    const top = now.log ? now.high / now.logarithmic : now.high / now.linear;
    const { name: unitName, label } = unit(old.unit, top * 1.000001);
    const made = ticks(now).map((tick) => {
      const text = model.cloneNode();
      const pixel = at(now, tick) + (name === "y" ? 3.5 : 0);
      text.setAttribute(name, short(pixel));
      text.textContent = label(tick);
      return text;
    });
    for (const text of model.parentNode.querySelectorAll(`.tick.${name}`)) if (text !== model) text.remove();
    model.replaceWith(...made);
    axes.made = made;
    const [[x, y], [right, bottom]] = pieces(lines)[0].points;
    const line = (tick) => name === "x"
      ? `M${short(at(now, tick))} ${short(y)}V${short(bottom)}` : `M${short(x)} ${short(at(now, tick))}H${short(right)}`;
    grid.setAttribute("d", ticks(now).map(line).join(""));
    if (!title) return;
    const said = unitName ? words.replace(/^\S+/, unitName) : words;
    const isTold = said.includes(" · log axis");
    title.textContent = !isTold && now.log && !old.log ? `${said} · log axis`
      : isTold && !now.log ? said.replace(" · log axis", "") : said;
  };

  // Median, ends and arrow of an interval, which may be cut at the new axis and not at the old.
  const whisk = ({ ends, y, path }, caps, now) => {
    const [low, high] = ends.map((end) => at(now, end));
    path.path.setAttribute("d", `M${short(low)} ${short(y)}H${short(high)}`);
    const end = (x) => `M${short(x)} ${short(y - 4)}V${short(y + 4)}`;
    const arrow = `M${short(high - 1)} ${short(y - 4)}l5 4-5 4`;
    const [first, ...others] = caps;
    first?.path.setAttribute("d", end(low) + (ends[1] > now.high ? arrow : end(high)));
    for (const { path: other } of others) other.setAttribute("d", "");
  };

  const restore = (field) => {
    for (const { grid, lines } of field.axes) grid?.setAttribute("d", lines);
    if (!field.isMoved) return;
    field.isMoved = false;
    for (const { paths, ends } of field.groups) {
      for (const { path, data } of paths) path.setAttribute("d", data);
      for (const { text, x } of ends) text.setAttribute("x", x);
    }
    for (const axes of field.axes) {
      if (axes.made) {
        const [first, ...others] = axes.made;
        for (const text of others) text.remove();
        first.replaceWith(...axes.ticks);
        axes.made = undefined;
        if (axes.title) axes.title.textContent = axes.words;
      }
    }
    if (field.beyond) field.beyond.textContent = field.note;
  };

  const draw = (element, hidden) => {
    const field = look(element);
    restore(field);
    const left = field.groups.filter(({ group }) => !hidden.has(classOf(group)));
    if (left.length === field.groups.length || !left.length) return;
    const still = (pixel) => pixel;
    const moves = { x: still, y: still };
    const fitted = new Map();
    for (const axes of field.axes) {
      const now = range(axes, left);
      if (!now) continue;
      fitted.set(axes.name, now);
      moves[axes.name] = (pixel) => at(now, worth(axes.old, pixel));
      relabel(axes, now);
    }
    if (!fitted.size) return;
    field.isMoved = true;
    for (const part of left) {
      const whisker = fitted.has("x") && interval(part, field.axes[0].old);
      const caps = part.paths.filter(({ kind }) => kind === "cap");
      for (const { path, list, kind } of part.paths) {
        if (whisker && (kind === "interval" || kind === "cap")) continue;
        path.setAttribute("d", written(list, moves.x, moves.y));
      }
      if (whisker) whisk(whisker, caps, fitted.get("x"));
      for (const { text, x } of part.ends) text.setAttribute("x", short(moves.x(x - 6) + 6));
    }
    if (field.beyond) {
      const isCut = left.some(({ paths }) => paths.some(({ kind }) => kind === "cap"));
      field.beyond.textContent = isCut ? "↑ beyond the axis" : "";
    }
  };

  const boxes = new Map();
  // Removes the rows of hidden subjects from charts with a row per subject.
  const closeGaps = (svg, hidden) => {
    const row = Number(svg.dataset.row);
    if (!boxes.has(svg)) boxes.set(svg, svg.getAttribute("viewBox"));
    const [, , width, height] = boxes.get(svg).split(" ").map(Number);
    let gone = 0;
    for (const part of (svg.querySelector("[data-x]") ?? svg).children) {
      if (part.tagName !== "g" || part.classList.contains("foot")) continue;
      part.style.transform = gone ? `translateY(${-gone * row}px)` : "";
      if (hidden.has(classOf(part))) gone += 1;
    }
    const less = gone * row;
    svg.querySelector(".foot").style.transform = less ? `translateY(${-less}px)` : "";
    const grid = svg.querySelector(".grid");
    const lines = grid.getAttribute("d");
    if (less) grid.setAttribute("d", lines.replace(/V([\d.]+)/g, (_, y) => `V${Math.max(0, y - less)}`));
    svg.setAttribute("viewBox", `0 0 ${width} ${height - less}`);
  };

  const fields = [...document.querySelectorAll("svg [data-x], svg [data-y]")];
  // Reads charts ahead for some milliseconds, since the first drawing takes most of its time for
  // that; whether there are more.
  const read = (most) => {
    const end = performance.now() + most;
    const unread = fields.filter((field) => !known.has(field));
    while (unread.length && performance.now() < end) look(unread.pop());
    return unread.length > 0;
  };
  // Draws every chart of the page for the subjects whose classes are not hidden.
  const show = (hidden) => {
    for (const field of fields) draw(field, hidden);
    for (const svg of document.querySelectorAll("svg[data-row]")) closeGaps(svg, hidden);
  };
  return { read, show };
})();
