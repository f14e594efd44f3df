// Program output: the platform and its threads as few files, which load faster than the sources.
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import type { Plugin, Rolldown } from 'vite';

/** A running platform still loads parts of the folder that it was started from. */
const foldersKept = 2;
const program = 'src/main.ts';
const ownAddress = 'import.meta.url';
const threadAddress = /new URL\('(\.{1,2}\/[\w./-]+)\.ts', import\.meta\.url\)/g;

export interface ProgramOutput {
  /** The file to run. */
  readonly program: string;
  /** how many source files it has. */
  readonly sources: number;
}

/**
 * Bundles the program of the project at `root` into a new folder in `output`, and notes there of
 * which sources it is: `bin/program.js` runs it as long as none of them changed. Further `programs`
 * become files next to that of the platform.
 */
export async function bundleProgram(
  root: string,
  output: string,
  programs: readonly string[] = [],
): Promise<ProgramOutput> {
  const { build } = await import('vite');
  const name = `program-${Date.now().toString(36)}`;
  const folder = join(output, name);
  mkdirSync(folder, { recursive: true });
  const threads = new Set<string>();
  const entries = [program, ...programs].map((path) => join(root, path));
  const found: { sources: string[] } = { sources: [] };
  // Each pass finds the threads that the one before names.
  for (let known = -1; known < threads.size; ) {
    known = threads.size;
    const input = Object.fromEntries(
      [...entries, ...threads].map((path) => [basename(path, '.ts'), path]),
    );
    const built = await build({
      root,
      configFile: false,
      logLevel: 'warn',
      ssr: { external: true },
      plugins: [addressesOf(folder, threads)],
      build: {
        ssr: true,
        outDir: folder,
        emptyOutDir: true,
        copyPublicDir: false,
        minify: false,
        sourcemap: true,
        target: 'esnext',
        rolldownOptions: {
          input,
          output: {
            sourcemapExcludeSources: true,
            entryFileNames: '[name].js',
            chunkFileNames: '[name]-[hash].js',
          },
        },
      },
    });
    found.sources = sourcesOf(built as Rolldown.RolldownOutput, root);
  }
  // Maps count for what is loaded after they are enabled. A signal ends the process also while its
  // code is loaded; the program replaces the listeners.
  const start = `import { setSourceMapsSupport } from 'node:module';\nimport { constants } from 'node:os';\nfor (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'])\n  process.on(signal, () => process.exit(128 + constants.signals[signal]));\nsetSourceMapsSupport(true, { nodeModules: false, generatedCode: false });\nawait import('./main.js');\n`;
  writeFileSync(join(folder, 'start.js'), start);
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }\n');
  const sources = found.sources.map((path) => {
    const { mtimeMs, size } = statSync(join(root, path));
    return [path, mtimeMs, size];
  });
  const note = { program: `${name}/start.js`, sources };
  writeFileSync(join(output, 'sources.json'), `${JSON.stringify(note)}\n`);
  const folders = readdirSync(output).filter((one) => one.startsWith('program-'));
  for (const old of folders.toSorted().slice(0, -foldersKept))
    rmSync(join(output, old), { recursive: true });
  return { program: join(folder, 'start.js'), sources: sources.length };
}

/** Addresses stay those of the sources, but for threads, which are bundled too. */
function addressesOf(folder: string, threads: Set<string>): Plugin {
  return {
    name: 'source-addresses',
    enforce: 'pre',
    transform(code, id) {
      if (!code.includes(ownAddress)) return null;
      const parts: string[] = [];
      let from = 0;
      for (const match of code.matchAll(threadAddress)) {
        const thread = resolve(dirname(id), `${match[1] ?? ''}.ts`);
        threads.add(thread);
        parts.push(inSources(code.slice(from, match.index), folder, id));
        parts.push(`new URL('./${basename(thread, '.ts')}.js', ${ownAddress})`);
        from = match.index + match[0].length;
      }
      parts.push(inSources(code.slice(from), folder, id));
      return { code: parts.join(''), map: null };
    },
  };
}

function inSources(code: string, folder: string, id: string): string {
  const path = relative(folder, id).split('\\').join('/');
  return code.replaceAll(ownAddress, `new URL(${JSON.stringify(path)}, ${ownAddress}).href`);
}

/** The files of the project in the output. */
function sourcesOf({ output }: Rolldown.RolldownOutput, root: string): string[] {
  const ids = output.flatMap((file) => (file.type === 'chunk' ? Object.keys(file.modules) : []));
  const paths = ids.filter((id) => id.startsWith(root)).map((id) => relative(root, id));
  return [...new Set(paths)].toSorted();
}
