// Packages of the npm registry that a check needs, by name and exact version, in a folder under
// build/ of the check's own. Installed once; nothing they bring is run while they are.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

export const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");

// Gives the folder and a require() that looks there.
export function installed(folder, packages) {
  const cache = join(root, "build", folder);
  const isThere = ([name, version]) => {
    const file = join(cache, "node_modules", name, "package.json");
    return existsSync(file) && JSON.parse(readFileSync(file, "utf8")).version === version;
  };
  if (!Object.entries(packages).every(isThere)) {
    mkdirSync(cache, { recursive: true });
    writeFileSync(join(cache, "package.json"), JSON.stringify({ private: true, dependencies: packages }));
    execFileSync("npm", ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--silent"], {
      cwd: cache,
      stdio: ["ignore", "ignore", "inherit"],
    });
  }
  return { cache, require: createRequire(join(cache, "package.json")) };
}
