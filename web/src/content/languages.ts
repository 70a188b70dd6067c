// Maps a fence's word or a file name to one of the sixteen languages. Small, so that it is
// available before the highlighter is loaded.
const aliases: Readonly<Record<string, string>> = {
  js: "javascript", jsx: "javascript", mjs: "javascript", cjs: "javascript", javascript: "javascript",
  ts: "typescript", tsx: "typescript", mts: "typescript", typescript: "typescript",
  py: "python", python: "python", pyi: "python", rs: "rust", rust: "rust", go: "go", golang: "go",
  c: "cpp", h: "cpp", cc: "cpp", cpp: "cpp", cxx: "cpp", hpp: "cpp", hh: "cpp", "c++": "cpp",
  java: "java", kt: "kotlin", kts: "kotlin", kotlin: "kotlin", rb: "ruby", ruby: "ruby",
  sh: "bash", bash: "bash", zsh: "bash", shell: "bash", console: "bash",
  json: "json", jsonc: "json", yaml: "yaml", yml: "yaml", toml: "ini", ini: "ini", conf: "ini",
  html: "xml", xml: "xml", svg: "xml", svelte: "xml", vue: "xml", css: "css", scss: "css", less: "css",
  sql: "sql", md: "markdown", markdown: "markdown",
};

export function languageOf(word: string): string | null {
  return aliases[word.toLowerCase()] ?? null;
}

export function languageOfPath(path: string): string | null {
  const name = path.split("/").at(-1) ?? "";
  const dot = name.lastIndexOf(".");
  return dot >= 0 ? languageOf(name.slice(dot + 1)) : null;
}
