"use strict";
// Runs before the page: what it complains of is kept, and what it copies.
const complaints = [];
const copied = [];
addEventListener("error", (event) => complaints.push(String(event.message)));
addEventListener("unhandledrejection", (event) => complaints.push(String(event.reason)));
for (const level of ["error", "warn"]) {
  console[level] = (...words) => complaints.push(words.join(" "));
}
const clipboard = { writeText: async (text) => copied.push(text) };
Object.defineProperty(navigator, "clipboard", { value: clipboard });
