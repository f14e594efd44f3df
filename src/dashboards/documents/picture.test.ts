// Pictures of charts: lines lie where the plot has them, areas are as dark as they should be, and hostile shapes are cut off.
import { inflateSync } from 'node:zlib';
import { expect, test } from 'vitest';
import type { Plot } from '../plot.ts';
import { chartPictures, chartPicturesMax, pictureOf } from './picture.ts';
import type { DocumentTile } from './document.ts';
import { DocumentFonts } from './fonts.ts';
import type { Shape } from './chart-shapes.ts';

interface Pixels {
  readonly width: number;
  readonly height: number;
  readonly at: (x: number, y: number) => readonly [red: number, green: number, blue: number];
}

/** Reads what the writer makes: one part of data, no filters. */
function readPng(bytes: Uint8Array): Pixels {
  const png = Buffer.from(bytes);
  expect(png.subarray(0, 8).toString('hex')).toBe('89504e470d0a1a0a');
  const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)];
  const length = png.readUInt32BE(33);
  expect(png.subarray(37, 41).toString()).toBe('IDAT');
  const rows = inflateSync(png.subarray(41, 41 + length));
  expect(rows.length).toBe(height * (1 + width * 3));
  return {
    width,
    height,
    at(x, y) {
      const place = y * (1 + width * 3) + 1 + x * 3;
      return [rows[place]!, rows[place + 1]!, rows[place + 2]!];
    },
  };
}

const draw = (...shapes: readonly Shape[]) =>
  readPng(pictureOf(shapes, { width: 100, height: 50, scale: 1 }, new DocumentFonts()));
const white = [255, 255, 255];

test('an area fills whole pixels whole, and parts of pixels in part', () => {
  const { at } = draw({
    kind: 'area',
    color: '#000000',
    opacity: 1,
    points: [
      [10, 10],
      [20.5, 10],
      [20.5, 20.25],
      [10, 20.25],
    ],
  });
  expect(at(10, 10)).toEqual([0, 0, 0]);
  expect(at(19, 19)).toEqual([0, 0, 0]);
  expect(at(20, 15)[0]).toBeCloseTo(128, -1);
  expect(at(15, 20)[0]).toBeCloseTo(191, -1);
  for (const [x, y] of [
    [9, 15],
    [21, 15],
    [15, 9],
    [15, 21],
    [99, 15],
  ] as const)
    expect(at(x, y)).toEqual(white);
});

test('each slope of a line has its width, without gaps where its parts meet', () => {
  for (let turn = 0; turn < 12; turn++) {
    const angle = (turn / 12) * 2 * Math.PI;
    const to = (length: number) =>
      [50 + Math.cos(angle) * length, 25 + Math.sin(angle) * length] as const;
    const { at } = draw({
      kind: 'line',
      points: [to(0), to(10), to(20)],
      color: '#0000ff',
      width: 3,
    });
    let ink = 0;
    for (let x = 0; x < 100; x++) for (let y = 0; y < 50; y++) ink += (255 - at(x, y)[0]) / 255;
    expect(ink).toBeGreaterThan(56);
    expect(ink).toBeLessThan(64);
    const [x, y] = to(10);
    expect(at(Math.floor(x), Math.floor(y))[2]).toBe(255);
    expect(at(Math.floor(x), Math.floor(y))[0]).toBeLessThan(10);
  }
});

test('what is outside, endless or no number draws nothing beyond the picture', () => {
  const { at } = draw(
    {
      kind: 'line',
      points: [
        [-1e9, -1e9],
        [1e9, 1e9],
        [NaN, 3],
        [5, Infinity],
      ],
      color: '#ff0000',
      width: 1,
    },
    {
      kind: 'line',
      points: [
        [-1e12, 40],
        [1e12, 40],
      ],
      color: '#ff0000',
      width: 2,
      dash: [1, 1],
    },
    { kind: 'dot', at: [1e9, 5], radius: 4, color: '#ff0000' },
  );
  expect(at(2, 20)).toEqual(white);
});

test('what follows a clip is cut at its box, until its end', () => {
  const all: Shape = {
    kind: 'area',
    color: '#000000',
    opacity: 1,
    points: [
      [0, 0],
      [100, 0],
      [100, 50],
      [0, 50],
    ],
  };
  const box = { x: 20, y: 10, width: 30, height: 20 };
  const { at } = draw({ kind: 'clip', box }, all);
  expect(at(20, 10)).toEqual([0, 0, 0]);
  expect(at(49, 29)).toEqual([0, 0, 0]);
  for (const [x, y] of [
    [19, 15],
    [50, 15],
    [30, 9],
    [30, 30],
  ] as const)
    expect(at(x, y)).toEqual(white);
  expect(draw({ kind: 'clip', box }, { kind: 'clipEnd' }, all).at(1, 1)).toEqual([0, 0, 0]);
});

test('letters are drawn, also where no font has them', () => {
  const inkOf = (text: string) => {
    const { at } = draw({
      kind: 'text',
      text,
      at: [5, 40],
      align: 'left',
      size: 20,
      color: '#000000',
    });
    let ink = 0;
    for (let x = 0; x < 100; x++) for (let y = 0; y < 50; y++) ink += (255 - at(x, y)[0]) / 255;
    return ink;
  };
  expect(inkOf('ii')).toBeGreaterThan(20);
  expect(inkOf('MM')).toBeGreaterThan(1.5 * inkOf('ii'));
  expect(inkOf('温')).toBeGreaterThan(10);
  // The inside of an o is white.
  expect(inkOf('o')).toBeLessThan(inkOf('●') + 1);
});

const zone = 'Europe/Zurich';
const times = Array.from({ length: 730 }, (_, at) => 1_774_000_000 + at * 120);
const plot: Plot = {
  times,
  lines: [{ label: 'Room', color: '--c1', values: times.map((_, at) => 20 + (at * 10) / 729) }],
};
const tile: DocumentTile = { kind: 'chart', title: 'Room', x: 0, y: 0, width: 6, height: 5, plot };

test('a rising line rises in the picture, and there are as many pictures as a mail takes', () => {
  const document = { title: 'x', lead: '', variables: [], footer: '', zone };
  const text: DocumentTile = { ...tile, kind: 'text', text: 'x' };
  const tiles = [text, ...Array.from({ length: 15 }, () => tile)];
  const pictures = chartPictures({ ...document, tiles }, undefined);
  expect(pictures).toHaveLength(chartPicturesMax);
  const { width, height, at } = readPng(pictures[0]!);
  expect([width, height]).toEqual([1280, 416]);
  /** The middle of the line in a column. */
  const middleOf = (x: number) => {
    const rows = Array.from({ length: height }, (_, y) => y).filter((y) => {
      const [red, green, blue] = at(x, y);
      return red > 150 && green < 140 && blue < 90;
    });
    expect(rows.length).toBeGreaterThan(0);
    return rows.reduce((sum, y) => sum + y, 0) / rows.length;
  };
  const middles = [200, 400, 600, 800, 1_000, 1_200].map(middleOf);
  const steps = middles.slice(1).map((y, i) => middles[i]! - y);
  for (const step of steps) expect(Math.abs(step - steps[0]!)).toBeLessThan(2.5);
  expect(steps[0]).toBeGreaterThan(20);
});
