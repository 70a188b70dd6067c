#!/usr/bin/env node
// Gives the OpenAPI document of our routes to Redocly's linter, by its recommended rules. Installs
// the linter under build/, runs perdure-openapi-sample and prints TAP lines: the document has no
// problem, and one that was broken on purpose has.
//
//   tools/check_openapi.mjs build/dev/perdure-openapi-sample

import { execFileSync } from "node:child_process";
import { join } from "node:path";

import { installed, root } from "./npm_cache.mjs";

const packages = { "@redocly/openapi-core": "2.64.0" };
const { require } = installed("openapi-lint", packages);

async function problems(core, document) {
  // A licence is named by the repository, and the server is wherever somebody runs it.
  const config = await core.createConfig({
    extends: ["recommended"],
    rules: { "info-license": "off", "no-server-example.com": "off", "no-empty-servers": "off" },
  });
  const found = await core.lintFromString({ source: document, absoluteRef: "openapi.json", config });
  return found.map((one) =>
    `${one.severity} ${one.ruleId} at ${one.location?.[0]?.pointer ?? "?"}: ${one.message}`);
}

async function main() {
  const core = await import(require.resolve("@redocly/openapi-core"));
  const program = process.argv[2] ?? join(root, "build/dev/perdure-openapi-sample");
  const text = execFileSync(program, { encoding: "utf8", maxBuffer: 64 << 20 });
  const found = await problems(core, text);
  console.log(`${found.length === 0 ? "ok" : "not ok"} - openapi.the_linter_finds_nothing`);
  for (const one of found.slice(0, 40)) console.log(one);

  const broken = JSON.parse(text);
  delete broken.info.title;
  broken.components.schemas.Session.type = "thing";
  const seen = await problems(core, JSON.stringify(broken));
  console.log(`${seen.length > 0 ? "ok" : "not ok"} - openapi.canary_is_refused`);
  console.log("1..2");
  process.exitCode = found.length === 0 && seen.length > 0 ? 0 : 1;
}

await main();
