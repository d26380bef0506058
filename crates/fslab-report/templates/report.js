// Optional: without this script the page still has all of its content. The selection is part of
// the page's address, as #PLACE&hide=...&phase=..., so that a link restores it.
(() => {
  const root = document.documentElement;
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const one = (id) => document.getElementById(id);
  for (const part of all(".script")) part.hidden = false;

  // ---- The selection, as the controls show it.
  const shows = all("input[id^=show-]");
  const radios = all("input[name=only]");
  const text = one("phase-text");
  const kind = one("phase-of");
  const sorted = new Map();
  let place = "";

  const media = matchMedia("(prefers-color-scheme: dark)");
  const dark = () => root.dataset.theme ? root.dataset.theme === "dark" : media.matches;
  const stored = (value) => {
    try {
      if (value === undefined) return localStorage.getItem("fslab-theme");
      localStorage.setItem("fslab-theme", value);
    } catch { /* A page from a file may have no storage. */ }
    return null;
  };
  const setTheme = (theme) => {
    if (theme === "light" || theme === "dark") root.dataset.theme = theme;
    one("theme").textContent = dark() ? "Light" : "Dark";
  };

  // ---- The address.
  const address = () => {
    const words = new Map();
    const hidden = shows.filter((box) => !box.checked).map((box) => encodeURIComponent(box.value));
    if (hidden.length) words.set("hide", hidden.join(","));
    const only = radios.find((radio) => radio.checked);
    if (only?.value) words.set("only", encodeURIComponent(only.value));
    if (text.value.trim()) words.set("phase", encodeURIComponent(text.value.trim()));
    if (kind.value) words.set("of", encodeURIComponent(kind.value));
    const sorts = [...sorted].map(([id, { column, down }]) => `${id}:${column}:${down ? "down" : "up"}`);
    if (sorts.length) words.set("sort", sorts.join(","));
    if (root.dataset.theme) words.set("theme", root.dataset.theme);
    return [...words].map(([key, value]) => `&${key}=${value}`).join("");
  };
  const remember = () => {
    const hash = `#${place}${address()}`;
    if (hash === location.hash || (hash === "#" && !location.hash)) return;
    try {
      history.replaceState(null, "", hash);
    } catch { /* A page that is shown inside another may not. */ }
  };
  const decoded = (word) => {
    try { return decodeURIComponent(word); } catch { return word; }
  };

  // ---- Filters.
  const sections = all("section.phase[data-workload]");
  const isShown = (section) => {
    const wanted = text.value.trim().toLowerCase();
    if (wanted && !section.dataset.name.toLowerCase().includes(wanted)) return false;
    const [key, value] = kind.value.split(/:(.*)/s);
    return !kind.value || section.dataset[key] === value;
  };
  const titles = { cache: "Cache", kind: "Kind", workload: "Workload" };
  for (const [key, title] of Object.entries(titles)) {
    const values = [...new Set(sections.map((section) => section.dataset[key]))].filter(Boolean).sort();
    const group = document.createElement("optgroup");
    group.label = title;
    for (const value of values) {
      const option = document.createElement("option");
      option.value = `${key}:${value}`;
      option.textContent = value;
      group.append(option);
    }
    kind.append(group);
  }

  // Where the best is hidden, ratios are to the best of those that are left: no test tells these
  // two apart, and the mark ≈ is of the other one.
  const ratio = (value) => value >= 9.995 ? value.toFixed(1) : value >= .0995 || value === 0 ? value.toFixed(2)
    : value >= .00095 ? value.toFixed(4) : value.toExponential(1).replace("+", "");
  const statedRatios = all("td[data-ratio]").map((cell) => {
    const text = cell.querySelector(".text") ?? cell;
    return { cell, text, words: text.textContent, value: cell.dataset.value, class: cell.className };
  });
  const compared = Map.groupBy(statedRatios, ({ cell }) =>
    cell.closest("figure").classList.contains("heat") ? cell.parentNode : cell.closest("tbody"));
  const classOf = (part) => part.closest(".of")?.className.match(/\bs\d+\b/)?.[0];
  const compare = (hidden) => {
    for (const [whole, cells] of compared) {
      const left = cells.filter(({ cell }) => !hidden.has(classOf(cell)));
      const best = Math.max(...left.map(({ cell }) => Number(cell.dataset.ratio)));
      const isOther = left.length < cells.length && left.length > 0 && best < .9999999;
      for (const { cell, text, words, value, class: name } of cells) {
        const now = Number(cell.dataset.ratio) / best;
        text.textContent = isOther ? ratio(now) : words;
        cell.className = isOther ? name.replace(/^h\d/, `h${Math.round(Math.min(1, now) * 9)}`) : name;
        if (isOther) cell.dataset.value = now;
        else if (value === undefined) delete cell.dataset.value;
        else cell.dataset.value = value;
      }
      if (whole.tagName === "TR") whole.classList.toggle("other", isOther);
    }
  };
  // A bar's length is the cell's share of the largest figure shown.
  const barred = Map.groupBy(all("td[style]"), (cell) => cell.parentNode.parentNode);
  const measure = (hidden) => {
    for (const cells of barred.values()) {
      for (const column of Map.groupBy(cells, (cell) => cell.cellIndex).values()) {
        const left = column.filter((cell) => !hidden.has(classOf(cell)));
        const most = Math.max(...left.map(value));
        for (const cell of left) cell.style.setProperty("--b", `${most > 0 ? Math.round(value(cell) / most * 100) : 0}%`);
      }
    }
  };

  let before = "";
  const filter = () => {
    const shown = new Set();
    for (const section of sections) if (isShown(section)) shown.add(section.dataset.phase);
    for (const part of all("[data-phase]")) part.hidden = !shown.has(part.dataset.phase);
    const classes = shows.filter((box) => !box.checked).map((box) => box.id.slice("show-".length));
    const key = classes.join();
    if (key !== before) {
      const hidden = new Set(classes);
      charts.show(hidden);
      compare(hidden);
      measure(hidden);
      // Ratios may have changed: sort again.
      for (const [id, { column, down }] of sorted) rank(one(id).querySelector("table"), column, down);
    }
    before = key;
    const count = (part, whole, noun) => part === whole ? [] : [`${part} of ${whole} ${noun} shown`];
    const notes = [
      ...count(shows.length - classes.length, shows.length, "subjects"),
      ...count(shown.size, sections.length, "phases"),
    ];
    if (classes.length) {
      notes.push("axes fit those shown");
      if (document.querySelector("tr.other")) notes.push("where the best is hidden, ratios are to the best shown");
      notes.push("verdicts, tests and means over phases are of all subjects");
    }
    root.classList.toggle("fewer", shown.size < sections.length);
    one("status").textContent = notes.length ? `${notes.join(" · ")}.` : "";
    one("reset").hidden = !notes.length && !sorted.size && radios[0].checked;
    one("menu-subjects").firstElementChild.classList.toggle("on", classes.length > 0);
    one("menu-phases").firstElementChild.classList.toggle("on", shown.size < sections.length);
  };
  const changed = () => { filter(); remember(); };
  for (const control of [...shows, ...radios, kind]) control.addEventListener("change", changed);
  text.addEventListener("input", changed);
  for (const form of all("nav form")) form.addEventListener("submit", (event) => event.preventDefault());
  const showAll = (is) => { for (const box of shows) box.checked = is; };
  one("show-all").addEventListener("click", () => { showAll(true); changed(); });
  one("show-none").addEventListener("click", () => { showAll(false); changed(); });

  // ---- Tables: sorting and copying.
  const words = (cell) => {
    const copy = cell.cloneNode(true);
    for (const extra of all(".sort", copy)) extra.remove();
    const detail = copy.querySelector(".detail");
    if (detail) detail.textContent = `(${detail.textContent})`;
    return copy.textContent.replace(/\s+/g, " ").trim();
  };
  const value = (cell) => {
    const number = parseFloat(cell.dataset.value ?? (cell.matches(".left, tbody th") ? "" : words(cell)));
    return Number.isNaN(number) ? null : number;
  };
  const heads = (table) => [...table.tHead.rows[table.tHead.rows.length - 1].cells];
  const orders = new Map();
  const rank = (table, column, down) => {
    const body = table.tBodies[0];
    if (!orders.has(table)) orders.set(table, [...body.rows]);
    const keyed = orders.get(table).map((row) => {
      const cell = row.cells[column];
      return { row, number: value(cell), text: words(cell) };
    });
    const way = down ? -1 : 1;
    const isNumeric = keyed.some(({ number }) => number !== null);
    keyed.sort((a, b) => {
      if (!isNumeric) return way * a.text.localeCompare(b.text, "en", { numeric: true });
      // Cells without a figure are last in either direction.
      if (a.number === null || b.number === null) return (a.number === null) - (b.number === null);
      return way * (a.number - b.number);
    });
    body.append(...keyed.map(({ row }) => row));
  };
  const sort = (figure, column, down) => {
    equip(figure);
    const table = figure.querySelector("table");
    for (const [index, head] of heads(table).entries()) {
      const mark = head.querySelector(".sort");
      if (index === column) head.setAttribute("aria-sort", down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
      if (mark) mark.textContent = index !== column ? "↕" : down ? "↓" : "↑";
    }
    if (column === undefined) {
      sorted.delete(figure.id);
      if (orders.has(table)) table.tBodies[0].append(...orders.get(table));
    } else {
      sorted.set(figure.id, { column, down });
      rank(table, column, down);
    }
  };
  const turn = (figure, column) => {
    const now = sorted.get(figure.id);
    if (now?.column !== column) sort(figure, column, false);
    else if (!now.down) sort(figure, column, true);
    else sort(figure);
    changed();
  };

  // Copies what is shown.
  const rows = (table) => {
    const seen = (part) => !part.hidden && getComputedStyle(part).display !== "none";
    const groups = [...(table.querySelector("tr.groups")?.cells ?? [])]
      .flatMap((cell) => Array(cell.colSpan).fill(words(cell)));
    return [...table.rows]
      .filter((row) => !row.classList.contains("groups") && seen(row))
      .map((row) => [...row.cells].flatMap((cell, index) => {
        if (!seen(cell)) return [];
        const group = row.parentNode.tagName === "THEAD" ? groups[index] : "";
        return [group ? `${group} ${words(cell)}` : words(cell)];
      }));
  };
  const quote = (field) => /[",\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field;
  const csv = (table) => rows(table).map((row) => row.map(quote).join(",")).join("\n");
  const caption = (table) => {
    const copy = table.caption.cloneNode(true);
    for (const extra of all(".anchor", copy)) extra.remove();
    return copy.textContent.trim();
  };
  const markdown = (table) => {
    const line = (cells) => `| ${cells.join(" | ")} |`;
    const escaped = (field) => field.replace(/[\\|*_`[\]]/g, "\\$&").replaceAll("<", "&lt;");
    const [head, ...body] = rows(table).map((row) => row.map(escaped));
    const aligned = heads(table).filter((cell) => getComputedStyle(cell).display !== "none");
    const rule = aligned.map((cell) => cell.classList.contains("left") ? ":--" : "--:");
    return [`**${escaped(caption(table))}**`, "", line(head), line(rule), ...body.map(line)].join("\n");
  };
  const copy = async (button, copied) => {
    const before = button.textContent;
    try {
      await navigator.clipboard.writeText(copied);
    } catch {
      const area = document.createElement("textarea");
      area.value = copied;
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
      button.focus();
    }
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = before; }, 1500);
  };
  const named = (className, label, title) => {
    const part = document.createElement("button");
    part.type = "button";
    part.className = className;
    part.textContent = label;
    part.setAttribute("aria-label", title);
    return part;
  };
  const bare = new Set(all("figure.table"));
  const equip = (figure) => {
    if (!bare.delete(figure)) return;
    const table = figure.querySelector("table");
    const tools = document.createElement("div");
    tools.className = "tools";
    for (const [label, write] of [["CSV", csv], ["Markdown", markdown]]) {
      const button = named("copy", `Copy ${label}`, `Copy ${label} of the table: ${caption(table)}`);
      button.addEventListener("click", () => copy(button, write(table)));
      tools.append(button);
    }
    figure.prepend(tools);
    if (table.tBodies[0].rows.length < 2) return;
    for (const head of heads(table)) {
      head.append(" ", named("sort", "↕", `Sort by ${head.textContent}`));
    }
  };
  const tables = [...bare];
  // A large report has hundreds of controls, so they are added after the page is loaded.
  const later = window.requestIdleCallback ?? ((work) => setTimeout(work, 20));
  const equipSome = () => {
    for (const figure of [...bare].slice(0, 3)) equip(figure);
    if (bare.size) later(equipSome);
  };
  later(equipSome);
  document.addEventListener("click", (event) => {
    const mark = event.target.closest(".sort");
    if (mark) turn(mark.closest("figure"), mark.closest("th").cellIndex);
  });

  // ---- What a small screen needs: a hint that a box has more, and room for the bar above a target.
  const hint = (box) => {
    box.classList.toggle("more", box.scrollLeft + box.clientWidth < box.scrollWidth - 1);
    box.classList.toggle("below", box.scrollTop + box.clientHeight < box.scrollHeight - 1);
  };
  const boxes = all(".scroll, .wide .chart");
  const sized = new ResizeObserver((entries) => {
    for (const { target } of entries) hint(target.closest(".scroll, .wide .chart"));
  });
  for (const box of boxes) {
    box.addEventListener("scroll", () => hint(box), { passive: true });
    sized.observe(box);
    // Its content grows by its controls.
    sized.observe(box.querySelector("table, svg"));
  }
  const bar = document.querySelector(".bar");
  new ResizeObserver(() => { root.style.scrollPaddingTop = `${bar.offsetHeight + 12}px`; }).observe(bar);

  // Opening the menu of subjects is mostly followed by hiding one.
  const readSome = () => { if (charts.read(8)) later(readSome); };
  one("menu-subjects").addEventListener("toggle", () => later(readSome));

  // ---- Menus.
  const menus = all(".menu");
  const close = (except) => { for (const menu of menus) if (menu !== except) menu.open = false; };
  for (const menu of menus) menu.addEventListener("toggle", () => { if (menu.open) close(menu); });
  document.addEventListener("click", (event) => {
    if (!event.target.closest(".menu") || event.target.closest(".pop a")) close();
  });
  document.addEventListener("keydown", (event) => {
    const open = event.key === "Escape" && menus.find((menu) => menu.open);
    if (!open) return;
    close();
    open.firstElementChild.focus();
  });

  one("theme").addEventListener("click", () => {
    setTheme(dark() ? "light" : "dark");
    stored(root.dataset.theme);
    remember();
  });
  media.addEventListener("change", () => setTheme());
  one("reset").addEventListener("click", () => {
    set(new Map());
    changed();
    menus[0].firstElementChild.focus();
  });

  // ---- From the address to the controls.
  const set = (chosen) => {
    const hidden = new Set((chosen.get("hide") ?? "").split(",").filter(Boolean).map(decoded));
    for (const box of shows) box.checked = !hidden.has(box.value);
    const only = decoded(chosen.get("only") ?? "");
    (radios.find((radio) => radio.value === only) ?? radios[0]).checked = true;
    text.value = decoded(chosen.get("phase") ?? "");
    kind.value = decoded(chosen.get("of") ?? "");
    if (kind.selectedIndex < 0) kind.value = "";
    for (const id of [...sorted.keys()]) sort(one(id));
    for (const part of (chosen.get("sort") ?? "").split(",").filter(Boolean)) {
      const [id, column, way] = part.split(":");
      const figure = tables.find((figure) => figure.id === id);
      const isColumn = figure && heads(figure.querySelector("table"))[Number(column)];
      if (isColumn) sort(figure, Number(column), way === "down");
    }
  };
  const show = () => {
    const target = place && one(place);
    if (!target) return;
    for (let part = target; part; part = part.parentElement) if (part.tagName === "DETAILS") part.open = true;
    // What comes near the screen takes its true size, so that one step may not be enough.
    target.scrollIntoView();
    requestAnimationFrame(() => target.scrollIntoView());
  };
  const arrive = () => {
    const [first, ...rest] = location.hash.slice(1).split("&");
    place = decoded(first);
    const chosen = new Map(rest.map((word) => word.split(/=(.*)/s)));
    // A link inside the page names a place alone and leaves the choice as it is.
    if (chosen.size) {
      set(chosen);
      setTheme(chosen.get("theme"));
    }
    changed();
    if (chosen.size || one(place)?.closest("details")) show();
  };
  addEventListener("hashchange", arrive);
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = all("details.points:not([open])");
    for (const part of opened) part.open = true;
  });
  addEventListener("afterprint", () => { for (const part of opened) part.open = false; });
  setTheme(stored());
  arrive();
})();
