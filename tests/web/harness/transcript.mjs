// Reads a whole transcript, from its first entry to its last: the list mounts only entries near the
// screen, so this scrolls. Entries are identified by their keys.
import { until } from "./wait.mjs";

export const log = (page) => page.getByRole("log", { name: "Transcript" });

// Keys and texts of the mounted entries, in screen order.
export function mounted(page) {
  return log(page).locator("[data-key]").evaluateAll((rows) => rows
    .map((row) => ({ key: row.dataset.key, top: row.getBoundingClientRect().top, text: row.innerText }))
    .sort((a, b) => a.top - b.top));
}

// Turns the mouse wheel over the transcript; returns the new position.
export async function scrolled(page, by) {
  const box = await log(page).boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.mouse.wheel(0, by);
  return log(page).evaluate(async (one) => {
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    return { top: one.scrollTop, end: one.scrollTop + one.clientHeight >= one.scrollHeight - 2 };
  });
}

export async function toTop(page) {
  let quiet = 0;
  for (let turn = 0; turn < 100 && quiet < 2; turn += 1) {
    const before = (await mounted(page))[0]?.key;
    const { top } = await scrolled(page, -100_000);
    await log(page).getByText("Loading older entries").waitFor({ state: "hidden" });
    quiet = top <= 1 && (await mounted(page))[0]?.key === before ? quiet + 1 : 0;
  }
}

// All entries, top to bottom: [{key, text}]. A key in two places is an error.
export async function readAll(page) {
  await toTop(page);
  const found = new Map();
  for (let turn = 0; turn < 400; turn += 1) {
    const rows = await mounted(page);
    const keys = rows.map((row) => row.key);
    if (new Set(keys).size !== keys.length) throw new Error(`a key is mounted twice: ${keys.join(" ")}`);
    for (const row of rows) found.set(row.key, row.text);
    if ((await scrolled(page, 400)).end && turn > 0) {
      for (const row of await mounted(page)) found.set(row.key, row.text);
      break;
    }
  }
  return [...found].map(([key, text]) => ({ key, text }));
}

// Without spaces and without the markers' brackets, which markdown takes for links.
export const bare = (text) => text.replace(/[\s<>]+/g, "");

// The whole conversation as one text without spaces.
export async function saidOnPage(page) {
  return bare((await readAll(page)).map((row) => row.text).join(" "));
}

// Checks the test agent's markers pP:N in a bare text: which are missing, doubled or out of order.
export function faultsOfMarkers(text, prompt, chunks) {
  const seen = [...text.matchAll(new RegExp(`p${prompt}:(\\d+)`, "g"))].map((match) => Number(match[1]));
  const wanted = Array.from({ length: chunks }, (_, index) => index + 1);
  const faults = [];
  for (const number of wanted) {
    const count = seen.filter((one) => one === number).length;
    if (count !== 1) faults.push(`p${prompt}:${number} ${count} times`);
  }
  if (faults.length === 0 && seen.some((one, index) => one !== index + 1)) faults.push("out of order");
  return faults;
}

export async function untilSaid(page, text, ms = 20_000) {
  await until(async () => bare((await mounted(page)).map((row) => row.text).join(" ")).includes(bare(text)),
    `the page says ${text}`, ms);
}
