// Chromium as a person uses it: a size, a theme, a signed-in page. Every page is guarded: an error
// on the console, a violation of the CSP or of Trusted Types, an exception, or a request to another
// host fails the test that opened it, unless the test expects it.
import { existsSync, mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

import { differenceFrom } from "./baseline.mjs";
import { root } from "./daemon.mjs";
import { until, watchRequests } from "./wait.mjs";

const require = createRequire(join(root, "web/package.json"));
const { chromium } = require("playwright-core");
export const axeSource = () => require.resolve("axe-core/axe.min.js");

export const sizes = {
  desktop: { viewport: { width: 1440, height: 900 } },
  phone: { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 },
  narrow: { viewport: { width: 320, height: 640 }, isMobile: true, hasTouch: true },
  zoomed: { viewport: { width: 720, height: 450 }, deviceScaleFactor: 2 }, // 1440x900 at 200 %
};
export const themes = ["light", "dark"];
export const shots = join(root, "build/web-shots");
mkdirSync(shots, { recursive: true });

export function launchBrowser(options = {}) {
  const executablePath = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);
  // The runner handles signals: it must also end daemons.
  return chromium.launch({ executablePath, handleSIGINT: false, handleSIGTERM: false, handleSIGHUP: false, ...options, args: ["--no-sandbox", "--disable-dev-shm-usage",
    "--disable-gpu", "--force-color-profile=srgb", ...(options.args ?? [])] });
}

// A browser logs every error status as an error. A folder without a repository has no git status,
// and a question that was just answered suggests no rules: a page may request each of these once.
const notThere = /status of 404 .*(\/api\/(?:sessions\/[^/]+\/git\/status|permissions\/[^/]+\/rules))/;

// Runs before the page's own scripts: reports policy violations to the guard.
function reportViolations() {
  document.addEventListener("securitypolicyviolation", (event) => {
    console.error(`refused by policy: ${event.effectiveDirective} ${event.blockedURI} ${event.sample} ${event.sourceFile}:${event.lineNumber}`);
  });
}

export class Person {
  // `how`: size, theme, reducedMotion, forcedColors, and other options of a browser context.
  static async sitDown(browser, daemon, how = {}) {
    const { size = "desktop", theme = "light", ...rest } = how;
    const context = await browser.newContext({ ...sizes[size], colorScheme: theme, reducedMotion: "reduce",
      locale: "en-GB", timezoneId: "UTC", ...rest });
    context.setDefaultTimeout(15_000);
    const person = new Person();
    Object.assign(person, { context, daemon, size, theme, troubles: [], expected: [] });
    await context.addInitScript(reportViolations);
    context.on("page", (page) => person.guard(page));
    person.page = await context.newPage();
    return person;
  }

  guard(page) {
    watchRequests(page);
    let asked = new Set();
    page.on("framenavigated", (frame) => {
      if (frame === page.mainFrame()) asked = new Set();
    });
    const isFirstLook = (text) => {
      const path = notThere.exec(text)?.[1];
      if (!path || asked.has(path)) return false;
      asked.add(path);
      return true;
    };
    const note = (text) => {
      if (isFirstLook(text)) return;
      if (!this.expected.some((pattern) => pattern.test(text))) this.troubles.push(text);
    };
    page.on("console", (message) => {
      if (message.type() === "error" || /refused by policy/.test(message.text())) {
        note(`console: ${message.text()} ${message.location()?.url ?? ""}`);
      }
    });
    page.on("pageerror", (error) => note(`exception: ${error.stack ?? error.message}`));
    page.on("request", (request) => {
      const url = new URL(request.url());
      if (/^https?:|^wss?:/.test(url.protocol) && url.host !== new URL(this.daemon.origin).host) {
        note(`request to another host: ${request.url()}`);
      }
    });
    page.on("websocket", (socket) => {
      if (new URL(socket.url()).host !== new URL(this.daemon.origin).host) note(`socket to another host: ${socket.url()}`);
    });
    page.on("crash", () => note("the page crashed"));
  }

  // From now on the test expects such errors: a killed daemon cannot respond.
  expect(...patterns) {
    this.expected.push(...patterns);
  }

  expectDeadDaemon() {
    this.expect(/net::ERR_/, /WebSocket connection to/, /status of 503/);
  }

  // Signs in as a new browser does, by a launch token in the address.
  async enter(path = "/") {
    await this.page.goto(await this.daemon.launchUrl(path));
    await until(() => this.page.evaluate(() => localStorage.getItem("perdure.key") !== null), "the browser is let in");
    return this.page;
  }

  async open(path) {
    await this.page.goto(`${this.daemon.origin}${path}`);
    return this.page;
  }

  // Kept as build output, and compared with its baseline if there is one.
  async shot(name) {
    const full = `${name}.${this.size}.${this.theme}`;
    const png = await this.page.screenshot({ path: join(shots, `${full}.png`) });
    const difference = await differenceFrom(this.context.browser(), full, png);
    if (difference) this.troubles.push(difference);
  }

  // The page's state in words: its path, headings, the lines above it and its messages.
  words() {
    return this.page.evaluate(() => [location.pathname, ...[...document.querySelectorAll("h1, .page > .line, .toasts p, [role=alert]")]
      .map((element) => element.innerText.replaceAll(/\s+/g, " ").trim())].filter(Boolean).join(" | ").slice(0, 600));
  }

  // Returns the errors so far and clears them.
  taken() {
    return this.troubles.splice(0);
  }

  async leave() {
    await this.context.close();
  }
}
