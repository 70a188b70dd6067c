// The few numbers of /metrics that the settings show, parsed from Prometheus' text format.
import { app } from "../state/app.svelte";

export interface Metrics {
  version: string;
  events: number;
}

export function parseMetrics(text: string): Metrics {
  const version = /^perdure_build_info\{[^}]*version="([^"]+)"/m.exec(text)?.[1] ?? "";
  let events = 0;
  for (const found of text.matchAll(/^perdure_events_total\{[^}]*\} (\d+)/gm)) events += Number(found[1]);
  return { version, events };
}

export async function readMetrics(): Promise<Metrics> {
  return parseMetrics(await (await app.api.http.raw("/metrics", { accept: "text/plain" })).text());
}
