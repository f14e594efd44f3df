// What the compiler leaves undone in dist/: addresses of worker files, and files that are not TypeScript.
import { cpSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

// The compiler rewrites the endings of imports, not those of `new URL('./worker.ts', import.meta.url)`.
const fileAddress = /(new URL\(\s*(['"])\.{1,2}\/[^'"]+)\.ts\2(,\s*import\.meta\.url\s*\))/g;

/** Lets every address of a TypeScript file in the emitted code name the emitted file; answers how many there were. */
export function pointUrlsAtJavaScript(output: string): number {
  let rewritten = 0;
  for (const path of globSync('**/*.js', { cwd: output })) {
    const text = readFileSync(join(output, path), 'utf8');
    const pointed = text.replace(fileAddress, (_, before: string, quote: string, after: string) => {
      rewritten += 1;
      return `${before}.js${quote}${after}`;
    });
    if (pointed !== text) writeFileSync(join(output, path), pointed);
  }
  return rewritten;
}

/** Copies every file of `source` that is not TypeScript to the same place in `output`; answers how many. */
export function copyAssets(source: string, output: string): number {
  const assets = globSync('**/*', { cwd: source, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.ts'))
    .map((entry) => join(entry.parentPath, entry.name).slice(source.length + 1));
  for (const path of assets) cpSync(join(source, path), join(output, path));
  return assets.length;
}
