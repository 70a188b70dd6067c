// Highlights code off the main thread. Returns runs per line, not HTML, so that its output need not
// be trusted.
import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import cpp from "highlight.js/lib/languages/cpp";
import css from "highlight.js/lib/languages/css";
import go from "highlight.js/lib/languages/go";
import ini from "highlight.js/lib/languages/ini";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import kotlin from "highlight.js/lib/languages/kotlin";
import markdown from "highlight.js/lib/languages/markdown";
import python from "highlight.js/lib/languages/python";
import ruby from "highlight.js/lib/languages/ruby";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";
import { runsOf, type ScopeNode } from "./scopes";

const languages = { bash, cpp, css, go, ini, java, javascript, json, kotlin, markdown, python, ruby, rust, sql, typescript, xml, yaml };
for (const [name, language] of Object.entries(languages)) hljs.registerLanguage(name, language);

interface Ask {
  readonly id: number;
  readonly code: string;
  readonly language: string;
}

self.onmessage = (event: MessageEvent<Ask>): void => {
  const { id, code, language } = event.data;
  try {
    const result = hljs.highlight(code, { language, ignoreIllegals: true });
    const root = (result._emitter as unknown as { root: ScopeNode }).root;
    self.postMessage({ id, lines: runsOf(root) });
  } catch {
    self.postMessage({ id, lines: null });
  }
};
