// Console budgets: how much a browser loads for a screen, gzipped, and how much it may be.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

/** Rows of the manifest that the build writes: a chunk by its source. */
interface Chunk {
  readonly file: string;
  readonly name?: string;
  readonly imports?: readonly string[];
  readonly css?: readonly string[];
  readonly isDynamicEntry?: boolean;
}
export type Manifest = Readonly<Record<string, Chunk>>;

export interface Weight {
  readonly name: string;
  readonly bytes: number;
  readonly limit: number;
}

const kB = 1_000;
const page = 'index.html';
/** What every screen loads before its own chunk. The code font comes when code is shown. */
const always = [page, 'layers.css', 'theme.js', 'sun.svg'];
const textFont = 'generated/geist.woff2';

/** Loaded first, each with all that it needs, fonts included. */
const firstScreens = {
  'sign in': { screen: 'src/screens/sign-in/sign-in.tsx', limit: 160 * kB },
  home: { screen: 'src/screens/home/home.tsx', limit: 160 * kB },
} as const;

/** A lazy chunk that has no own line in `chunkLimits`. */
const chunkLimit = 10 * kB;

/** Gzipped bytes of a file below `console/dist`; fonts are compressed already. */
export type SizeOf = (file: string) => number;

export function builtManifest(dist: string): Manifest {
  return JSON.parse(readFileSync(join(dist, '.vite', 'manifest.json'), 'utf8')) as Manifest;
}

export function sizesIn(dist: string): SizeOf {
  return (file) => {
    const bytes = readFileSync(join(dist, file));
    return file.endsWith('.woff2') ? bytes.length : gzipSync(bytes, { level: 9 }).length;
  };
}

/** What a browser loads that opens a first screen with nothing in its cache. */
export function firstLoads(manifest: Manifest, sizeOf: SizeOf): Weight[] {
  return Object.entries(firstScreens).map(([name, { screen, limit }]) => {
    const files = new Set(always);
    for (const key of withImports(manifest, [page, screen, textFont])) {
      files.add(chunkOf(manifest, key).file);
      for (const css of chunkOf(manifest, key).css ?? []) files.add(css);
    }
    const bytes = [...files].reduce((sum, file) => sum + sizeOf(file), 0);
    return { name, bytes, limit };
  });
}

/** Each chunk of code that is loaded later, largest first, with its own limit or the common one. */
export function lazyChunks(
  manifest: Manifest,
  sizeOf: SizeOf,
  limits: Readonly<Record<string, number>>,
): Weight[] {
  const first = withImports(manifest, [page]);
  return Object.entries(manifest)
    .filter(([key, { file }]) => file.endsWith('.js') && !first.has(key))
    .map(([key, { file, name = key }]) => ({
      name,
      bytes: sizeOf(file),
      limit: (limits[name] ?? chunkLimit / kB) * kB,
    }))
    .toSorted((a, b) => b.bytes - a.bytes || (a.name < b.name ? -1 : 1));
}

/** A line for each, such as `home  156.9 kB of 160`. */
export function tableOf(weights: readonly Weight[]): string {
  const width = Math.max(...weights.map(({ name }) => name.length));
  return weights
    .map(({ name, bytes, limit }) => {
      const size = (bytes / kB).toFixed(1).padStart(6);
      const mark = bytes > limit ? '  OVER' : '';
      return `${name.padEnd(width)} ${size} kB of ${limit / kB}${mark}`;
    })
    .join('\n');
}

function chunkOf(manifest: Manifest, key: string): Chunk {
  const chunk = manifest[key];
  if (chunk === undefined) throw new Error(`console/dist has no ${key}: build the console`);
  return chunk;
}

function withImports(manifest: Manifest, keys: readonly string[]): Set<string> {
  const known = new Set<string>();
  const todo = [...keys];
  for (let key = todo.pop(); key !== undefined; key = todo.pop()) {
    if (known.has(key)) continue;
    known.add(key);
    todo.push(...(chunkOf(manifest, key).imports ?? []));
  }
  return known;
}
