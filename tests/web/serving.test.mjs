// How the page is served: its files, their headers, and nothing else.
import assert from "node:assert/strict";
import { brotliDecompressSync, gunzipSync } from "node:zlib";

const routes = ["/", "/tasks", "/t/task_01", "/s/sess_01", "/search", "/search?q=x", "/settings", "/settings/keys", "/new"];

const assetsOf = (html) => [...html.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map((match) => match[1]);

export default function (suite) {
  suite.test("static_every_route_of_the_page_gives_the_page_and_others_give_404", async ({ daemon }) => {
    for (const path of routes) {
      const answer = await daemon.askOpenly("GET", path);
      assert.equal(answer.status, 200, path);
      assert.equal(answer.headers["content-type"], "text/html; charset=utf-8", path);
      assert.equal(answer.headers["cache-control"], "no-cache", path);
      const again = await daemon.askOpenly("GET", path, { "If-None-Match": answer.headers.etag });
      assert.equal(again.status, 304, path);
    }
    for (const path of ["/none", "/s/", "/t", "/tasks/x/y", "/assets/none.js", "/index.htm", "/s/a/b"]) {
      assert.equal((await daemon.askOpenly("GET", path)).status, 404, path);
    }
  });

  suite.test("static_assets_are_immutable_and_compressed_as_the_browser_takes_them", async ({ daemon }) => {
    const html = (await daemon.askOpenly("GET", "/")).body;
    const assets = assetsOf(html).filter((path) => /^\/assets\/.*\.(js|css)$/.test(path));
    assert.ok(assets.length >= 2, "a script and a sheet");
    for (const path of assets) {
      const plain = await daemon.askOpenly("GET", path);
      const gzip = await daemon.askOpenly("GET", path, { "Accept-Encoding": "gzip" });
      const brotli = await daemon.askOpenly("GET", path, { "Accept-Encoding": "gzip, deflate, br, zstd" });
      assert.equal(plain.headers["cache-control"], "public, max-age=31536000, immutable", path);
      assert.match(plain.headers["content-type"], /\.js$/.test(path) ? /^text\/javascript/ : /^text\/css/, path);
      // too small to benefit
      if (!gzip.headers["content-encoding"] && plain.bytes.length < 1000) continue;
      assert.equal(gzip.headers["content-encoding"], "gzip", path);
      assert.equal(brotli.headers["content-encoding"], "br", path);
      assert.deepEqual(gunzipSync(gzip.bytes), plain.bytes, path);
      assert.deepEqual(brotliDecompressSync(brotli.bytes), plain.bytes, path);
    }
  });

  suite.test("csp_forbids_inline_code_foreign_hosts_and_untrusted_markup", async ({ daemon, person }) => {
    const policy = (await daemon.askOpenly("GET", "/")).headers["content-security-policy"];
    assert.doesNotMatch(policy, /unsafe|\*|https?:/);
    const visitor = await person();
    visitor.expect(/refused by policy/, /Content Security Policy/i, /TrustedHTML|TrustedScript/, /Failed to load/,
      /request to another host/, /status of 401/);
    await visitor.open("/");
    const tried = await visitor.page.evaluate(async () => {
      const outcome = {};
      try { document.body.insertAdjacentHTML("beforeend", "<b>x</b>"); outcome.html = "done"; } catch { outcome.html = "refused"; }
      // Deferred: code run directly by the debugger is exempt from the policy.
      outcome.code = await new Promise((done) => setTimeout(() => {
        try { (0, eval)("1"); done("done"); } catch { done("refused"); }
      }));
      try { await fetch("http://127.0.0.2:9/"); outcome.host = "done"; } catch { outcome.host = "refused"; }
      try { window.trustedTypes.createPolicy("other", {}); outcome.policy = "done"; } catch { outcome.policy = "refused"; }
      const script = document.createElement("script");
      try { script.textContent = "window.ran = true"; document.body.append(script); } catch { /* expected */ }
      outcome.script = window.ran ? "done" : "refused";
      const box = document.createElement("div");
      box.setAttribute("style", "width: 7px");
      document.body.append(box);
      outcome.style = box.getBoundingClientRect().width === 7 ? "done" : "refused";
      return outcome;
    });
    assert.deepEqual(tried, { html: "refused", code: "refused", host: "refused", policy: "refused", script: "refused",
      style: "refused" });
  });
}
