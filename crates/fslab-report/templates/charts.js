// Draws charts for the subjects that are shown, along the axes that these need. Axes and marks carry
// their figures (src/chart/field.rs); src/chart/scale.rs has the same rules for axes.
const charts = (() => {
  const PREFIXES = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""]];
  const TIMES = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];
  const SIZES = ["TiB", "GiB", "MiB", "KiB"].map((name, index) => [2 ** (40 - 10 * index), name]);
  const LOG = "log axis";
  const SHAPES = JSON.parse(document.getElementById("main").dataset.shapes);
  // Distance of a figure's text from its place.
  const BESIDE = 6;

  // ---- Axes.
  const at = ({ low, high, from, to, log }, value) => {
    const share = log ? Math.log(Math.max(value, low) / low) / Math.log(high / low) : (value - low) / (high - low);
    return from + Math.min(1, Math.max(0, share)) * (to - from);
  };
  // The axis for figures from `low` to `high` with intervals up to `reach`.
  const fit = (axis, low, high, reach) => {
    const far = high / low;
    const [linear, logarithmic] = axis.room;
    if (axis.factor && low > 0 && (far > axis.factor || axis.factor === 1)) {
      const widen = Math.sqrt(Math.max(1, 2 / (far * logarithmic ** 2))) * logarithmic;
      return { ...axis, low: low / widen, high: high * widen, log: true };
    }
    const end = Math.max(high * linear, Math.min(reach, high * 1.4));
    return { ...axis, low: 0, high: end > 0 ? end : 1, log: false };
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
  const unit = ({ unit: base, each }, high) => {
    if (base === "KiB" || each) {
      const steps = base === "KiB" ? [...SIZES, [1, "B"]] : TIMES;
      return { name: "", label: (tick) => {
        const [divisor, name] = pick(steps, tick * 1.000001);
        return `${plain(tick / divisor)} ${name}`;
      } };
    }
    const [divisor, prefix] = base === "" ? [1, ""] : pick(base === "ns" ? TIMES : PREFIXES, high);
    const name = base === "ns" ? prefix : prefix + base;
    return { name, label: (tick) => plain(tick / divisor) };
  };
  const titled = ({ title, log }, name) => {
    const text = title.replace("{}", name).replace(/^ · /, "");
    return log && !text.includes(LOG) ? `${text} · ${LOG}` : text;
  };

  // ---- Fields: what is drawn along one pair of axes.
  const short = (pixel) => String(Math.round(pixel * 10) / 10);
  const points = (text) => {
    const numbers = text.split(" ").map(Number);
    return Array.from({ length: Math.ceil(numbers.length / 2) }, (_, index) => numbers.slice(2 * index, 2 * index + 2));
  };
  const classOf = (group) => group.classList[1];
  const known = new Map();
  const look = (field) => {
    if (known.has(field)) return known.get(field);
    const groups = [...field.querySelectorAll("g.of")].map((group) => {
      let before = [];
      const marks = [...group.querySelectorAll("[data-v], .small")].map((element) => {
        const name = element.tagName === "text" ? "x" : "d";
        const { v, shape, least } = element.dataset;
        const is = (kind) => element.classList.contains(kind);
        const own = SHAPES.subject[Number(classOf(group).slice(1)) % SHAPES.subject.length];
        // A mark without figures stands at the ends of the lines before it.
        const lines = v === undefined ? before.map((line) => line.slice(-1)) : v.split(";").map(points);
        before = lines;
        return {
          element, name, shape, least, lines, drawn: element.getAttribute(name),
          shapes: is("dot") ? [own, own] : SHAPES[shape],
          // An interval may be cut; its ends, texts and published figures take no part in the range.
          range: is("interval") ? "reach" : name === "x" || shape === "end" || is("then") ? "none" : "full",
        };
      });
      return { group, marks };
    });
    const axes = ["x", "y"].filter((name) => field.dataset[name]).map((name) => {
      const title = field.querySelector(`.axis.${name}`);
      const grid = field.querySelector(`.grid.${name}`);
      const axis = JSON.parse(field.dataset[name]);
      return {
        name, title, grid, axis, now: axis, index: name === "x" ? 0 : 1,
        ticks: [...field.querySelectorAll(`.tick.${name}`)],
        words: title?.textContent, lines: grid?.getAttribute("d"),
      };
    });
    const beyond = field.querySelector(".beyond");
    const found = { groups, axes, beyond, note: beyond?.textContent, isMoved: false };
    known.set(field, found);
    return found;
  };
  // The axis for the remaining subjects; null if these have no figure on it.
  const range = ({ axis, index }, groups) => {
    let [low, high, reach] = [Infinity, -Infinity, 0];
    for (const { lines, range } of groups.flatMap(({ marks }) => marks)) {
      for (const point of range === "none" ? [] : lines.flat()) {
        const value = point[index] * axis.per;
        if (range === "reach") reach = Math.max(reach, value);
        // A figure beyond the axis stays beyond it.
        else if (axis.log || value <= axis.high) [low, high] = [Math.min(low, value), Math.max(high, value)];
      }
    }
    return high > -Infinity ? fit(axis, low, high, reach) : null;
  };

  // The path of a mark, along the axes as they are now.
  const path = ({ lines, shapes, least }, axes) => {
    const place = (point) => point.map((value, index) => {
      const axis = axes.find((axis) => axis.index === index);
      return axis ? at(axis.now, value * axis.now.per) : value;
    });
    const isBeyond = (point) => axes.some(({ index, now }) => point[index] * now.per > now.high);
    const text = (pixels) => pixels.map(short).join(" ");
    if (shapes) return lines.flat().map((point) => `M${text(place(point))}${shapes[isBeyond(point) ? 1 : 0]}`).join("");
    return lines.map((line) => {
      const places = line.map(place);
      if (least === undefined) return `M${places.map(text).join("L")}`;
      const [[left, top], [right, bottom]] = places;
      const end = Math.max(right, left + Number(least));
      return `M${text([left, top])}H${short(end)}V${short(bottom)}H${short(left)}z`;
    }).join("");
  };

  // Draws the lines at the ticks, upright ones `less` pixels shorter.
  const rule = ({ name, grid, now }, less) => {
    const [from, to] = grid.dataset.ends.split(" ").map(Number);
    const line = (tick) => name === "x"
      ? `M${short(at(now, tick))} ${short(from)}V${short(to - less)}` : `M${short(from)} ${short(at(now, tick))}H${short(to)}`;
    grid.setAttribute("d", ticks(now).map(line).join(""));
  };
  const relabel = (axes) => {
    const { name, now, title, ticks: texts } = axes;
    const model = texts[0];
    if (!model) return;
    const top = now.high / now.room[now.log ? 1 : 0];
    const { name: unitName, label } = unit(now, top * 1.000001);
    axes.made = ticks(now).map((tick) => {
      const text = model.cloneNode();
      text.setAttribute(name, short(at(now, tick) + (name === "y" ? 3.5 : 0)));
      text.textContent = label(tick);
      return text;
    });
    for (const text of texts) if (text !== model) text.remove();
    model.replaceWith(...axes.made);
    rule(axes, 0);
    if (title) title.textContent = titled(now, unitName);
  };

  const restore = (field) => {
    for (const { grid, lines } of field.axes) grid?.setAttribute("d", lines);
    if (!field.isMoved) return;
    field.isMoved = false;
    for (const { element, name, drawn } of field.groups.flatMap(({ marks }) => marks)) element.setAttribute(name, drawn);
    for (const axes of field.axes) {
      axes.now = axes.axis;
      if (!axes.made) continue;
      const [first, ...others] = axes.made;
      for (const text of others) text.remove();
      first.replaceWith(...axes.ticks);
      axes.made = undefined;
      if (axes.title) axes.title.textContent = axes.words;
    }
    if (field.beyond) field.beyond.textContent = field.note;
  };

  const draw = (element, hidden) => {
    const field = look(element);
    restore(field);
    const left = field.groups.filter(({ group }) => !hidden.has(classOf(group)));
    if (left.length === field.groups.length || !left.length) return;
    for (const axes of field.axes) {
      const now = range(axes, left);
      if (!now) continue;
      field.isMoved = true;
      axes.now = now;
      relabel(axes);
    }
    if (!field.isMoved) return;
    const marks = left.flatMap(({ marks }) => marks);
    for (const mark of marks) {
      const { element, name, lines } = mark;
      element.setAttribute(name, name === "x" ? short(at(field.axes[0].now, lines[0][0][0] * field.axes[0].now.per) + BESIDE) : path(mark, field.axes));
    }
    if (field.beyond) field.beyond.textContent = marks.some(({ shape }) => shape === "up") ? "↑ beyond the axis" : "";
  };

  const boxes = new Map();
  // Removes the rows of hidden subjects from charts with a row per subject.
  const closeGaps = (svg, hidden) => {
    const row = Number(svg.dataset.row);
    if (!boxes.has(svg)) boxes.set(svg, svg.getAttribute("viewBox"));
    const [, , width, height] = boxes.get(svg).split(" ").map(Number);
    let gone = 0;
    for (const part of svg.querySelector("[data-x]").children) {
      if (part.tagName !== "g" || part.classList.contains("foot")) continue;
      part.style.transform = gone ? `translateY(${-gone * row}px)` : "";
      if (hidden.has(classOf(part))) gone += 1;
    }
    const less = gone * row;
    svg.querySelector(".foot").style.transform = less ? `translateY(${-less}px)` : "";
    if (less) rule(look(svg.querySelector("[data-x]")).axes[0], less);
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
