// PDF of dashboards: its lines are those of the plot, its texts are all there, and no page has pictures.
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Plot } from '../plot.ts';
import { chartShapes } from './chart-shapes.ts';
import type { DashboardDocument, DocumentTile } from './document.ts';
import { DocumentThread } from './document-thread.ts';
import { writePdf } from './pdf.ts';
import { readPdf } from './testing-pdf.ts';

const zone = 'Europe/Zurich';
const times = Array.from({ length: 730 }, (_, at) => 1_774_000_000 + at * 120);
const wave = (phase: number) => times.map((_, at) => 20 + 5 * Math.sin(at / 50 + phase));
const plot: Plot = {
  times,
  levels: [{ value: 26, label: 'Too warm', color: '--bad' }],
  lines: [0, 1, 2, 3].map((phase) => ({
    label: `Room ${phase}`,
    unit: '°C',
    color: `--c${phase + 1}` as const,
    // A silence, and what a line crosses.
    values: wave(phase).map((value, at) =>
      at > 300 && at < 320 ? null : at === 10 ? undefined : value,
    ),
  })),
};
const place = (at: number) => ({ x: (at % 2) * 6, y: Math.floor(at / 2) * 5, width: 6, height: 5 });

function documentOf(tiles: readonly DocumentTile[], title = 'Campus'): DashboardDocument {
  return { title, lead: 'Today', variables: [], footer: 'Created by a test', zone, tiles };
}

/** The same shape at another place and scale: how far along and up each point is. */
function normalized(points: readonly (readonly [number, number])[]) {
  const xs = points.map(([x]) => x);
  const ys = points.map(([, y]) => y);
  const [left, right] = [Math.min(...xs), Math.max(...xs)];
  const [top, bottom] = [Math.min(...ys), Math.max(...ys)];
  return points.map(([x, y]) => [(x - left) / (right - left), (y - top) / (bottom - top)]);
}

test('the points of each line are those of the plot, with its gaps and without pictures', async () => {
  const { bytes, missing } = await writePdf(
    documentOf([{ ...place(0), title: 'Temperature', kind: 'chart', plot }], 'Campus & Übersicht'),
    undefined,
  );
  expect(missing).toEqual([]);
  const { title, pages } = await readPdf(bytes);
  expect(title).toBe('Campus & Übersicht');
  const [page] = pages;
  for (const text of ['Campus & Übersicht', 'Temperature', 'Too warm', 'Room 3 (°C)', '1 / 1'])
    expect(page?.text).toContain(text);
  expect(page?.pictures).toBe(0);
  const found = page?.polylines.filter((line) => line.length > 100) ?? [];
  expect(found).toHaveLength(8);
  for (const [at, { values }] of plot.lines.entries())
    for (const [part, [from, to]] of [[0, 301] as const, [320, 730] as const].entries()) {
      const wanted = values.slice(from, to).flatMap((value, i) => {
        const time = times[from + i] ?? 0;
        return typeof value === 'number' ? [[time, -value] as const] : [];
      });
      const drawn = normalized(found[at * 2 + part] ?? []);
      expect(drawn).toHaveLength(wanted.length);
      for (const [i, [x = 0, y = 0]] of normalized(wanted).entries()) {
        expect(drawn[i]?.[0]).toBeCloseTo(x, 3);
        expect(drawn[i]?.[1]).toBeCloseTo(y, 2);
      }
    }
});

test('12 charts of 4 times 730 points take less than 3 seconds on the thread', async () => {
  const tiles = Array.from({ length: 12 }, (_, at): DocumentTile => {
    return { ...place(at), title: `Chart ${at}`, kind: 'chart', plot };
  });
  const thread = new DocumentThread(undefined);
  const began = performance.now();
  const { bytes } = await thread.pdf(documentOf(tiles), AbortSignal.timeout(20_000));
  const took = performance.now() - began;
  await thread.close();
  const { pages } = await readPdf(bytes);
  expect(
    pages.flatMap(({ polylines }) => polylines.filter((line) => line.length > 100)),
  ).toHaveLength(96);
  expect(took).toBeLessThan(3_000);
});

test('a list continues on further pages under its head', async () => {
  const rows = Array.from({ length: 200 }, (_, at) => [`Device ${at}`, String(at)]);
  const { bytes } = await writePdf(
    documentOf([
      { ...place(0), title: 'Devices', kind: 'table', head: ['Name', 'Level'], rows, rest: 57 },
    ]),
    undefined,
  );
  const { pages } = await readPdf(bytes);
  expect(pages.length).toBeGreaterThan(2);
  for (const { text } of pages) expect(text).toContain('Level');
  const all = pages.map(({ text }) => text).join(' ');
  for (const [name] of rows) expect(all).toContain(name);
  expect(all).toContain('and 57 more');
});

test('hostile names stay inside of the page, and characters without a glyph are told', async () => {
  const name = `(\\)${'W'.repeat(5_000)}\u0000\n%PDF <script> 测量 Привет Łódź`;
  const { bytes, missing } = await writePdf(
    documentOf(
      [
        {
          ...place(0),
          title: name,
          kind: 'figures',
          figures: [{ label: name, value: name, unit: name, tone: 'BAD' }],
        },
        { ...place(2), title: '测量', kind: 'text', text: `# Привет\n\n**Łódź** ${name}` },
      ],
      name,
    ),
    undefined,
  );
  expect(missing).toEqual(['U+6D4B', 'U+91CF']);
  const { pages } = await readPdf(bytes);
  // Letters of several fonts are pieces of text.
  const text = pages[0]?.text.replaceAll(' ', '');
  expect(text).toContain('Привет');
  expect(text).toContain('Łódź');
});

test('fonts of the operator have further letters, and what is no font is skipped', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'fonts-'));
  writeFileSync(join(folder, 'a-broken.ttf'), 'no font');
  const cyrillic = new URL('./fonts/geist-cyrillic-400.ttf', import.meta.url);
  writeFileSync(join(folder, 'b.ttf'), readFileSync(cyrillic));
  const text = '测 Ж';
  const document = documentOf([{ ...place(0), title: text, kind: 'text', text }]);
  const { missing } = await writePdf(document, folder);
  expect(missing).toEqual(['U+6D4B']);
});

test('the shapes of a chart stay in their box', () => {
  const box = { x: 10, y: 20, width: 300, height: 120 };
  const shapes = chartShapes(plot, box, zone);
  const points = shapes.flatMap((shape) => ('points' in shape ? shape.points : []));
  for (const [x, y] of points) {
    expect(x).toBeGreaterThanOrEqual(box.x);
    expect(x).toBeLessThanOrEqual(box.x + box.width);
    expect(y).toBeGreaterThanOrEqual(box.y);
    expect(y).toBeLessThanOrEqual(box.y + box.height);
  }
});

test('contract 39: steps, points, bands and two axes are drawn as the plot says', () => {
  const box = { x: 0, y: 0, width: 300, height: 120 };
  const [from = 0] = times;
  const line = { label: 'Level', color: '--c1' } as const;
  const styled: Plot = {
    times: [from, from + 60, from + 120],
    range: [from, from + 120],
    isBanded: true,
    levels: [{ value: 2, label: '2', color: '--bad' }],
    axes: { left: { min: 0, max: 4 }, right: { scale: 'LOG', label: 'Count' } },
    lines: [
      { ...line, values: [1, 3, 2], isStep: true },
      { ...line, values: [10, 100, 1_000], isPoints: true, isRight: true },
      { ...line, values: [1, 1, 1], isFaint: true },
    ],
  };
  const shapes = chartShapes(styled, box, zone);
  const lines = shapes.filter((shape) => shape.kind === 'line' && shape.width === 1.1);
  expect(lines.map((shape) => 'points' in shape && shape.points.length)).toEqual([5, 3]);
  const [steps, faint] = lines.map((shape) => ('points' in shape ? shape.points : []));
  expect(steps?.[1]?.[1]).toBe(steps?.[0]?.[1]);
  expect(steps?.[1]?.[0]).toBe(steps?.[2]?.[0]);
  expect(faint).toHaveLength(3);
  expect(lines.map((shape) => 'color' in shape && shape.color)).toEqual(['#c2570c', '#e1ab86']);
  // Powers of ten are equally far from each other.
  const ys = shapes.flatMap((shape) => (shape.kind === 'dot' ? shape.at[1] : []));
  const [low = 0, middle = 0, high = 0] = ys;
  expect(low - middle).toBeCloseTo(middle - high);
  const bands = shapes.filter((shape) => shape.kind === 'area');
  expect(bands).toHaveLength(1);
  const texts = shapes.flatMap((shape) => (shape.kind === 'text' ? shape.text : []));
  for (const text of ['Count', '1\u00a0000', '100']) expect(texts).toContain(text);
  expect(shapes.filter(({ kind }) => kind === 'clip' || kind === 'clipEnd')).toHaveLength(2);
});

test('a thread that is closed while it draws fails what waits, and starts again', async () => {
  const thread = new DocumentThread(undefined);
  const tile: DocumentTile = { ...place(0), title: '', kind: 'chart', plot };
  const waiting = thread.pdf(documentOf([tile]), new AbortController().signal);
  await thread.close();
  await expect(waiting).rejects.toThrow('exited');
  const late = thread.pdf(documentOf([tile]), AbortSignal.abort(new Error('too late')));
  await expect(late).rejects.toThrow('too late');
  const { bytes } = await thread.pdf(documentOf([tile]), AbortSignal.timeout(20_000));
  expect(bytes.length).toBeGreaterThan(1_000);
  await thread.close();
});
