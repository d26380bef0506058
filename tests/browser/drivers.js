"use strict";
// Drivers of the report: each works its controls as a reader would and returns what is then seen.
(async () => {
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const one = (id) => document.getElementById(id);
  const rest = (ms) => new Promise((done) => setTimeout(done, ms));
  const seen = (part) => {
    for (let at = part; at?.nodeType === 1; at = at.parentElement) {
      if (at.hidden || getComputedStyle(at).display === "none") return false;
    }
    return true;
  };
  const text = (part) => part.textContent.replace(/[↕↑↓#]/g, "").replace(/\s+/g, " ").trim();
  const dispatch = (id, type) => one(id).dispatchEvent(new Event(type, { bubbles: true }));
  const check = (id, is) => { one(id).checked = is; dispatch(id, "change"); };
  const pick = (id, value) => { one(id).value = value; dispatch(id, "change"); };
  const type = (id, value) => { one(id).value = value; dispatch(id, "input"); };
  const column = (id, index) => all("tbody tr", one(id)).map((row) => text(row.cells[index]));
  const place = (part) => part.closest("figure").id;
  const wide = () => document.scrollingElement.scrollWidth - innerWidth;

  const state = () => ({
    shown: all("input[id^=show-]").filter((box) => box.checked).map((box) => box.value),
    only: all("input[name=only]").find((radio) => radio.checked).value,
    phases: all("section.phase").filter((part) => !part.hidden).map((part) => part.id),
    rows: all("tbody tr", one("r1-overview.table")).filter(seen)
      .map((row) => text(row.cells[0].querySelector("a"))),
    sorted: all("th[aria-sort]")
      .map((head) => `${place(head)} ${head.cellIndex} ${head.getAttribute("aria-sort")}`),
    write: column("r1-phase-write.table", 0),
    theme: document.documentElement.dataset.theme ?? "",
    status: one("status").textContent,
    paper: getComputedStyle(document.body).backgroundColor,
    ink: getComputedStyle(document.body).color,
    hash: location.hash,
  });

  const charts = () => {
    const numbers = (svg) => all(".tick", svg).filter((tick) => /\d/.test(tick.textContent));
    const lacks = (svg) => numbers(svg).length < 2
      || !all(".axis", svg).some((axis) => axis.textContent.trim())
      || !svg.querySelector("title").textContent
      || !/\d/.test(svg.querySelector("desc").textContent);
    const isBare = (table) => !table.caption?.textContent.trim()
      || !all("thead th", table).every((head) => head.scope)
      || !all("tbody tr", table).every((row) => row.querySelector("th[scope=row]"));
    const svgs = all("svg[role=img]");
    const tables = all("table");
    return {
      charts: svgs.length,
      lacking: svgs.filter(lacks).map((svg) => svg.textContent.slice(0, 90)),
      tables: tables.length,
      bare: tables.filter(isBare).map((table) => text(table.caption)),
      nines: all(".tick", one("r1-phase-write.latency")).map(text),
      smallest: Math.min(...all(".tick").map((tick) => parseFloat(getComputedStyle(tick).fontSize))),
    };
  };

  const hiding = () => {
    const names = "tbody th, thead th, tbody td:nth-child(2), svg .label";
    const named = () => all(names)
      .filter((part) => !part.closest("nav, #r1-overview\\.table tbody"))
      .filter((part) => text(part) === "xfs" && seen(part)).length;
    const colour = getComputedStyle(document.querySelector(".chip.s1 .mark")).backgroundColor;
    const painted = (part) => {
      const { stroke, fill } = getComputedStyle(part);
      return [stroke, fill].includes(colour) && seen(part);
    };
    const look = () => ({
      named: named(),
      lines: all("svg .curve, svg .course, svg .dot").filter(painted).length,
      height: one("r1-phase-write.rate").querySelector("svg").viewBox.baseVal.height,
    });
    const before = look();
    check("show-s1", false);
    const hidden = { ...look(), status: one("status").textContent };
    check("show-s1", true);
    return { before, hidden, after: look() };
  };

  const phases = () => {
    const found = {};
    type("phase-text", "random");
    found.text = state();
    type("phase-text", "");
    for (const of of ["cache:cold", "kind:metadata", "workload:read"]) {
      pick("phase-of", of);
      found[of] = state();
    }
    pick("phase-of", "");
    type("phase-text", "nothing has this name");
    found.none = state();
    one("reset").click();
    found.reset = state();
    return found;
  };

  const sorting = () => {
    const found = [];
    for (const button of all("figure.table .sort")) {
      const head = button.closest("th");
      const id = place(head);
      const look = () => [column(id, head.cellIndex), head.getAttribute("aria-sort")];
      const press = () => { button.click(); return look(); };
      const name = `${id} ${text(head)}`;
      const isText = head.classList.contains("left");
      found.push({ name, isText, before: look(), up: press(), down: press(), after: press() });
    }
    return found;
  };

  const highlight = async () => {
    const faint = (name) => all(`main .of.${name}`).map((part) => Number(getComputedStyle(part).opacity));
    check("only-s2", true);
    await rest(600);
    return { chosen: faint("s2"), other: faint("s0"), hash: location.hash };
  };

  const copying = async () => {
    const press = async (button) => { button.click(); await rest(50); };
    const [csv, markdown] = all(".copy", one("r1-phase-write.table"));
    await press(csv);
    await press(markdown);
    check("show-s0", false);
    await press(csv);
    await press(all(".copy", one("r1-overview.table"))[0]);
  };

  const choosing = () => {
    check("show-s0", false);
    check("only-s1", true);
    type("phase-text", "read");
    pick("phase-of", "kind:read");
    const third = all(".sort", one("r1-overview.table"))[2];
    third.click();
    third.click();
    all(".sort", one("r1-phase-write.table"))[0].click();
    one("theme").click();
    return state();
  };

  const restored = async () => {
    await rest(300);
    return {
      ...state(),
      top: one("r1-phase-read").getBoundingClientRect().top,
      bar: document.querySelector(".bar").getBoundingClientRect().bottom,
    };
  };

  const contrast = () => {
    // Any colour as red, green and blue: a canvas knows them all.
    const canvas = Object.assign(document.createElement("canvas"), { width: 1, height: 1 });
    const pen = canvas.getContext("2d", { willReadFrequently: true });
    const linear = (byte) => byte <= 10 ? byte / 255 / 12.92 : ((byte / 255 + .055) / 1.055) ** 2.4;
    const light = (colour) => {
      pen.fillStyle = colour;
      pen.fillRect(0, 0, 1, 1);
      const [red, green, blue] = [...pen.getImageData(0, 0, 1, 1).data].map(linear);
      return .2126 * red + .7152 * green + .0722 * blue;
    };
    // Contrast as WCAG 2.2 defines it.
    const ratio = (a, b) => (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    const behind = (part) => {
      for (let at = part; at; at = at.parentElement) {
        const paper = getComputedStyle(at).backgroundColor;
        if (paper !== "rgba(0, 0, 0, 0)") return paper;
      }
      return "white";
    };
    const poor = new Set();
    let looked = 0;
    for (const part of all("main *, nav *, footer *")) {
      const isText = [...part.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
      if (!isText || /^(title|desc|option)$/i.test(part.tagName)) continue;
      const style = getComputedStyle(part);
      const ink = part.closest("svg") ? style.fill : style.color;
      const found = ratio(light(ink), light(behind(part)));
      looked += 1;
      if (found < 4.5) poor.add(`${part.tagName}.${part.getAttribute("class")} ${found.toFixed(2)}`);
    }
    const { paper, ink } = state();
    return { paper: light(paper), ink: light(ink), looked, poor: [...poor] };
  };

  const reach = async () => {
    const found = { width: innerWidth, closed: wide(), menus: {} };
    for (const menu of all(".menu")) {
      menu.open = true;
      await rest(30);
      const box = menu.querySelector(".pop").getBoundingClientRect();
      found.menus[menu.id] = [box.left, innerWidth - box.right, -wide()];
    }
    document.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape" }));
    found.open = all(".menu[open]").length;
    found.focus = document.activeElement.parentElement.id;
    dispatchEvent(new Event("beforeprint"));
    found.folded = all("details.points:not([open])").length;
    const stops = all("a, button, input, select, summary, [tabindex]").filter((part) => part.tabIndex >= 0);
    found.first = stops[0].className;
    found.jumps = stops.filter((part) => part.tabIndex > 0).length;
    found.bar = document.querySelector(".bar").getBoundingClientRect().height;
    // A heading is never deeper than one step below the one before.
    const depths = all("h1, h2, h3, h4").map((head) => Number(head.tagName[1]));
    found.leaps = depths.filter((depth, index) => depth > (depths[index - 1] ?? 0) + 1).length;
    found.unnamed = all("button, input, select").filter((part) =>
      !(part.getAttribute("aria-label") || part.textContent.trim() || part.labels?.length)).length;
    return found;
  };

  const drivers = {
    charts, hiding, phases, sorting, highlight, copying, choosing, restored, state, contrast, reach,
  };
  let found = null;
  try {
    // Its controls come to a table when the page has time.
    for (let turn = 0; turn < 600 && all("figure.table:not(:has(.copy))").length; turn += 1) {
      await rest(20);
    }
    found = await drivers[DRIVER]() ?? null;
  } catch (error) {
    complaints.push(`the driver: ${error.stack}`);
  }
  // In a frame the document around it is the one that is printed.
  const paper = one("driven") ?? parent.document.getElementById("driven");
  paper.textContent = JSON.stringify({ found, complaints, copied });
})();
