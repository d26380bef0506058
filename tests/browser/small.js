// What a reader with a small screen and a finger meets: an expression with its findings.
(async () => {
  const all = (selector) => [...document.querySelectorAll(selector)];
  const rest = () => new Promise((done) => setTimeout(done, 400));
  for (const part of all(".phase")) part.style.contentVisibility = "visible";
  for (const menu of all(".menu")) menu.open = true;
  await rest();
  const isSeen = (part) => {
    const { width, height } = part.getBoundingClientRect();
    return width > 0 && height > 0 && part.checkVisibility();
  };
  const name = (part) => `${part.tagName}.${part.getAttribute("class")} in ${part.closest("[id]")?.id}`;
  const letters = (part) => {
    const size = parseFloat(getComputedStyle(part).fontSize);
    return part.closest("svg") ? size * part.getScreenCTM().a : size;
  };
  const isText = (part) => [...part.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
  const texts = all("body *").filter((part) => isText(part) && isSeen(part) && !part.matches("title, desc, option"));
  const targets = all("a, button, summary, select, input").filter((part) => isSeen(part) && !part.matches(".skip"))
    .map((part) => part.closest("label") ?? part);
  const isSmall = (part) => {
    const { width, height } = part.getBoundingClientRect();
    // A link within a sentence is as high as its line; one that is alone in its place is not.
    const isInSentence = part.matches("a") && part.closest("p:not(.legend, .pop p), dd");
    return Math.min(width, height) < 23.9 && !isInSentence;
  };
  const boxes = all(".scroll, .wide .chart").filter((box) => isSeen(box) && box.scrollWidth > box.clientWidth + 1);
  const isHinted = (box) => getComputedStyle(box).maskImage !== "none";
  const tables = boxes.filter((box) => box.querySelector("tbody th"));
  const [first] = tables.sort((a, b) => b.scrollWidth - a.scrollWidth);
  const edge = () => Math.round(first.querySelector("tbody th").getBoundingClientRect().left);
  const before = edge();
  first.scrollLeft = 60;
  const found = {
    width: innerWidth,
    page: document.scrollingElement.scrollWidth,
    texts: texts.length,
    small: [...new Set(texts.filter((part) => letters(part) < 11.95).map((part) => `${name(part)} ${letters(part).toFixed(1)}`))],
    targets: targets.length,
    narrow: [...new Set(targets.filter(isSmall).map(name))],
    boxes: boxes.length,
    unhinted: boxes.filter((box) => box.scrollLeft === 0 && !isHinted(box)).map(name),
    moved: [before, edge(), first.scrollLeft],
  };
  first.scrollLeft = 1e6;
  for (const menu of all(".menu")) menu.open = false;
  await rest();
  return { ...found, atEnd: first.classList.contains("more") };
})()
