// Build output: compiles the product to a folder and completes what the compiler leaves undone.
import { cpSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runInstalled, type ProgramRun } from './installed-program.ts';

// The compiler rewrites the endings of imports, not those of `new URL('./worker.ts',
// import.meta.url)`.
const fileAddress = /(new URL\(\s*(['"])\.{1,2}\/[^'"]+)\.ts\2(,\s*import\.meta\.url\s*\))/g;
/**
 * Folders with files that the program reads at run time: scripts of the sandbox, device types of
 * the demo, the console as it was built.
 */
const assetFolders = ['src', 'clients/demo', 'demo', 'console/dist'];

/**
 * Writes the output of the project at `root`. `compilerOptions` are added to those of
 * tsconfig.build.json.
 */
export async function writeOutput(
  root: string,
  output: string,
  compilerOptions: readonly string[] = [],
): Promise<ProgramRun> {
  rmSync(output, { recursive: true, force: true });
  const options = ['--project', 'tsconfig.build.json', '--outDir', output, ...compilerOptions];
  const compiled = await runInstalled('typescript-7', 'tsc', options, root);
  if (!compiled.succeeded) return compiled;
  const rewritten = pointUrlsAtJavaScript(output);
  const copied = assetFolders.map((folder) => copyAssets(join(root, folder), join(output, folder)));
  writeManifest(root, output);
  const copiedCount = copied.reduce((sum, count) => sum + count, 0);
  return {
    succeeded: true,
    output: `${rewritten} file addresses pointed at JavaScript, ${copiedCount} other files copied`,
  };
}

/**
 * Points the address of every TypeScript file in the compiled code at the compiled file; returns
 * their number.
 */
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

/**
 * Copies every file of `source` that is not TypeScript to the same place in `output`; returns their
 * number.
 */
export function copyAssets(source: string, output: string): number {
  const assets = globSync('**/*', { cwd: source, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.ts'))
    .map((entry) => join(entry.parentPath, entry.name).slice(source.length + 1));
  for (const path of assets) cpSync(join(source, path), join(output, path));
  return assets.length;
}

/** The program reads its version two folders above src/telemetry, as in the source tree. */
function writeManifest(root: string, output: string): void {
  const text = readFileSync(join(root, 'package.json'), 'utf8');
  const { name, version, type } = JSON.parse(text) as Readonly<Record<string, string>>;
  writeFileSync(
    join(output, 'package.json'),
    `${JSON.stringify({ name, version, type }, null, 2)}\n`,
  );
}
