// Console budgets: the first load and every lazy chunk of the built console stay below their limits.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  builtManifest,
  firstLoads,
  lazyChunks,
  type Manifest,
  sizesIn,
  tableOf,
} from './console-budgets.ts';

const dist = join(import.meta.dirname, '..', 'console', 'dist');

/** Lazy chunks larger than the common limit, in kB gzipped, each with what makes it so. */
const chunkLimits: Readonly<Record<string, number>> = {
  // CodeMirror with JavaScript.
  code: 165,
  // The list with its filter, saved views and columns.
  devices: 15,
  // uPlot.
  charts: 25,
  // Outlines of the world, with few and with more details; only maps load them.
  'countries-110m': 40,
  'countries-50m': 235,
  // The grid of a dashboard, every kind of tile that draws no chart, and the menu of a tile.
  'tile-grid': 13,
  // The form of every kind of tile, with its series and formulas.
  'tile-form': 11,
  // Every step of the first run, its programs, and their words.
  welcome: 13,
};

const isOver = ({ bytes, limit }: { readonly bytes: number; readonly limit: number }) =>
  bytes > limit;

test('the first load of sign-in and home and each lazy chunk are below their limits', () => {
  const sizeOf = sizesIn(dist);
  const manifest = builtManifest(dist);
  const weights = [...firstLoads(manifest, sizeOf), ...lazyChunks(manifest, sizeOf, chunkLimits)];
  console.log(tableOf(weights));
  expect(weights.length).toBeGreaterThan(20);
  expect(weights.filter(isOver).map(({ name }) => name)).toEqual([]);
});

test('a limit in the table belongs to a chunk that exists', () => {
  const names = lazyChunks(builtManifest(dist), () => 0, {}).map(({ name }) => name);
  expect(Object.keys(chunkLimits).filter((name) => !names.includes(name))).toEqual([]);
});

test('what a screen imports counts, once, and a load above the limit is found', () => {
  const manifest: Manifest = {
    'index.html': { file: 'assets/index.js', imports: ['_base.js'], css: ['assets/index.css'] },
    '_base.js': { file: 'assets/base.js', name: 'base' },
    'generated/geist.woff2': { file: 'assets/geist.woff2' },
    'src/screens/sign-in/sign-in.tsx': { file: 'assets/sign-in.js', imports: ['index.html'] },
    'src/screens/home/home.tsx': {
      file: 'assets/home.js',
      name: 'home',
      imports: ['_base.js', '_feed.js'],
      css: ['assets/home.css'],
    },
    '_feed.js': { file: 'assets/feed.js', name: 'feed' },
  };
  const bytes: Readonly<Record<string, number>> = {
    'assets/base.js': 100_000,
    'assets/geist.woff2': 20_000,
    'assets/home.css': 1_000,
    'assets/feed.js': 39_000,
  };
  const sizeOf = (file: string) => bytes[file] ?? 0;
  const loads = firstLoads(manifest, sizeOf);
  expect(loads.map(({ name, bytes: all }) => [name, all])).toEqual([
    ['sign in', 120_000],
    ['home', 160_000],
  ]);
  expect(loads.filter(isOver)).toEqual([]);
  const heavier = firstLoads(manifest, (file) => sizeOf(file) + (file.endsWith('.html') ? 1 : 0));
  expect(heavier.filter(isOver).map(({ name }) => name)).toEqual(['home']);
  const over = { name: 'home', bytes: 41_000, limit: 40_000 };
  const within = { name: 'feed list', bytes: 39_040, limit: 40_000 };
  expect(tableOf([over, within])).toBe(
    'home        41.0 kB of 40  OVER\nfeed list   39.0 kB of 40',
  );
  expect(
    lazyChunks(manifest, sizeOf, {})
      .filter(isOver)
      .map(({ name }) => name),
  ).toEqual(['feed']);
});
