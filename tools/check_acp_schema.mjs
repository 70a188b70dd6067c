#!/usr/bin/env node
// Holds what our ACP printers print to the protocol's published JSON schema. Installs the schema's
// package and a validator under build/, runs perdure-acp-samples and prints TAP lines: every sample,
// every update variant that the schema has, and a broken sample that must be refused.
//
//   tools/check_acp_schema.mjs build/dev/perdure-acp-samples

import { execFileSync } from "node:child_process";
import { join } from "node:path";

import { check, Schema } from "./acp_schema.mjs";
import { installed, root } from "./npm_cache.mjs";

const packages = { "@agentclientprotocol/sdk": "2.4.0", ajv: "8.17.1" };
const from = installed("acp-schema", packages);

let failures = 0;
let reports = 0;
function report(good, name, detail = "") {
  reports += 1;
  console.log(`${good ? "ok" : "not ok"} - ${name}`);
  if (good) return;
  failures += 1;
  if (detail) console.log(detail);
}

function main() {
  const schemas = new Map();
  for (const name of ["v1", "v1.unstable", "v2", "v2.unstable"]) {
    schemas.set(name, new Schema(name, from));
  }

  const program = process.argv[2] ?? join(root, "build/dev/perdure-acp-samples");
  const lines = execFileSync(program, { encoding: "utf8" }).trim().split("\n");
  const said = { v1: new Set(), v2: new Set() };
  const counts = new Map();
  for (const line of lines) {
    const sample = JSON.parse(line);
    const kind = sample.message.params?.update?.sessionUpdate;
    const what = kind ?? sample.message.method ?? `answer to ${sample.answers}`;
    if (kind) said[sample.schema.slice(0, 2)].add(kind);
    const key = `${sample.schema}.${what}`.replace(/[^\w.]+/g, "_");
    counts.set(key, (counts.get(key) ?? 0) + 1);
    const errors = check(sample, schemas.get(sample.schema));
    report(errors.length === 0, `acp_schema.${key}.${counts.get(key)}`,
      `${line}\n${JSON.stringify(errors, null, 1)}`);
  }

  for (const version of ["v1", "v2"]) {
    const missing = schemas.get(`${version}.unstable`).variants()
      .filter((variant) => !said[version].has(variant));
    report(missing.length === 0, `acp_schema.${version}.every_variant_is_printed`,
      `not printed: ${missing.join(", ")}`);
  }
  const broken = { message: { jsonrpc: "2.0", method: "session/update",
    params: { sessionId: "s", update: { sessionUpdate: "tool_call", title: "no id" } } } };
  report(check(broken, schemas.get("v1")).length > 0, "acp_schema.canary_is_refused");
  console.log(`1..${reports}`);
  process.exitCode = failures ? 1 : 0;
}

main();
