// Whether everyone can use the page: accessibility rules, width, and large enough touch targets.
import { readFileSync } from "node:fs";

import { axeSource } from "./browser.mjs";

export const everyRule = { type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] };
// The rules whose results may differ between two themes of one document.
export const colourRules = { type: "rule", values: ["color-contrast", "link-in-text-block"] };
const axe = readFileSync(axeSource(), "utf8");

export async function violations(page, runOnly) {
  await page.evaluate(axe);
  return page.evaluate(async (only) => {
    const result = await window.axe.run(document, { runOnly: only, resultTypes: ["violations"] });
    return result.violations.map((one) => `${one.id}: ${one.help}: ${one.nodes.slice(0, 3).map((node) => node.target.join(" ")).join(" | ")}`);
  }, runOnly);
}

export const tooWide = (page) => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

// Controls too small for a finger: the box with the area that a pseudo element adds.
export const tooSmall = (page) => page.evaluate(() => {
  const reach = (element) => {
    const box = element.getBoundingClientRect();
    const grown = getComputedStyle(element, "::after");
    const add = grown.content !== "none" && grown.position === "absolute"
      ? { x: Math.max(0, -parseFloat(grown.left) || 0) * 2, y: Math.max(0, -parseFloat(grown.top) || 0) * 2 } : { x: 0, y: 0 };
    return { width: box.width + add.x, height: box.height + add.y };
  };
  const out = [];
  for (const element of document.querySelectorAll("button, [role=tab], [role=menuitem], select, input:not([type=hidden])")) {
    if (!element.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
    const box = reach(element);
    if (box.width === 0 || element.closest("[inert], [aria-hidden=true]") || element.matches("[tabindex='-1']:not([role=tab])")) continue;
    const label = element.closest("label");
    const height = Math.max(box.height, label ? label.getBoundingClientRect().height : 0);
    if (height < 43.5) out.push(`${element.tagName} '${(element.getAttribute("aria-label") ?? element.textContent).trim().slice(0, 30)}' ${Math.round(box.width)}x${Math.round(height)}`);
  }
  return out;
});
