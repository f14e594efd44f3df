// Picture: shapes as a PNG file, for mails, whose readers show no vectors.
import { crc32, deflateSync } from 'node:zlib';
import type { Font } from 'fontkit';
import type { Point, Shape } from './chart-shapes.ts';
import { boxShare, DocumentFonts, widthOfRun } from './fonts.ts';
import { type DashboardDocument, isDrawn } from './document.ts';
import { shapesOf } from './tile-shapes.ts';

/** Lengths of shapes, of which each becomes `scale` pixels. */
interface PictureSize {
  readonly width: number;
  readonly height: number;
  readonly scale: number;
}

/** On white, from back to front. What is outside of the picture is cut off. */
export function pictureOf(
  shapes: readonly Shape[],
  { width, height, scale }: PictureSize,
  fonts: DocumentFonts,
): Uint8Array {
  const canvas = new Canvas(Math.ceil(width * scale), Math.ceil(height * scale));
  for (const shape of shapes) draw(canvas, shape, scale, fonts);
  return canvas.png();
}

function draw(canvas: Canvas, shape: Shape, scale: number, fonts: DocumentFonts): void {
  const scaled = (points: readonly Point[]) =>
    points.map(([x, y]): Point => [x * scale, y * scale]);
  switch (shape.kind) {
    case 'line':
      for (const part of dashes(shape.points, shape.dash))
        addStroke(canvas, scaled(part), (shape.width * scale) / 2);
      return canvas.fill(shape.color, 1);
    case 'area':
      addContour(canvas, scaled(shape.points));
      return canvas.fill(shape.color, shape.opacity);
    case 'dot': {
      const [[x, y] = [0, 0]] = scaled([shape.at]);
      addContour(canvas, circle(x, y, shape.radius * scale));
      return canvas.fill(shape.color, 1);
    }
    case 'text':
      addText(canvas, shape, scale, fonts);
      return canvas.fill(shape.color, 1);
    case 'clip': {
      const { x, y, width, height } = shape.box;
      return canvas.cutAt(
        [x, y, x + width, y + height].map((length) => Math.round(length * scale)),
      );
    }
    case 'clipEnd':
      return canvas.cutAt([]);
  }
}

// Canvas: coverage of pixels is summed up from the edges of contours, each row from left to right.

class Canvas {
  readonly #width: number;
  readonly #height: number;
  readonly #pixels: Uint8Array;
  /** Changes of the coverage from one pixel to the next, of what is not filled yet. */
  readonly #changes: Float32Array;
  readonly #stride: number;
  #top = Infinity;
  #bottom = -1;
  /** Pixels that are filled: from the first ones on, up to the last ones. */
  #cut: readonly number[] = [];

  constructor(width: number, height: number) {
    this.#width = width;
    this.#height = height;
    this.#stride = width + 2;
    this.#pixels = new Uint8Array(width * height * 3).fill(255);
    this.#changes = new Float32Array(this.#stride * height);
  }

  /** An edge of a contour, whose inside is on the same side of all its edges. */
  edge([fromX, fromY]: Point, [toX, toY]: Point): void {
    if (fromY === toY || !Number.isFinite(fromX + fromY + toX + toY)) return;
    const isDown = fromY < toY;
    const [x0, y0, x1, y1] = isDown ? [fromX, fromY, toX, toY] : [toX, toY, fromX, fromY];
    const slope = (x1 - x0) / (y1 - y0);
    const first = Math.max(0, Math.floor(y0));
    const end = Math.min(this.#height, Math.ceil(y1));
    if (first >= end) return;
    this.#top = Math.min(this.#top, first);
    this.#bottom = Math.max(this.#bottom, end - 1);
    for (let row = first; row < end; row++) {
      const upper = Math.max(row, y0);
      const lower = Math.min(row + 1, y1);
      const covered = (lower - upper) * (isDown ? 1 : -1);
      const left = this.#inside(x0 + (upper - y0) * slope);
      const right = this.#inside(x0 + (lower - y0) * slope);
      this.#cover(row * this.#stride, Math.min(left, right), Math.max(left, right), covered);
    }
  }

  #inside(x: number): number {
    return Math.min(this.#width, Math.max(0, x));
  }

  /** Spreads the height that an edge covers in a row over the pixels that it crosses. */
  #cover(row: number, left: number, right: number, covered: number): void {
    const first = Math.floor(left);
    const last = Math.min(Math.floor(right), this.#width);
    const changes = this.#changes;
    if (first === last) {
      const share = (left + right) / 2 - first;
      changes[row + first]! += covered * (1 - share);
      changes[row + first + 1]! += covered * share;
      return;
    }
    // What lies to the right of the edge within the pixels up to each one.
    const perPixel = covered / (right - left);
    let before = 0;
    for (let pixel = first; pixel <= last; pixel++) {
      const [from, to] = [Math.max(left, pixel), Math.min(right, pixel + 1)];
      const height = (to - from) * perPixel;
      const share = (from + to) / 2 - pixel;
      changes[row + pixel]! += before + height * (1 - share);
      before = height * share;
    }
    changes[row + last + 1]! += before;
  }

  /** From now on, only what lies within left, top, right and bottom is filled; all with none of them. */
  cutAt(edges: readonly number[]): void {
    this.#cut = edges;
  }

  /** Fills what the edges enclose, and begins anew. */
  fill(color: string, opacity: number): void {
    const value = Number.parseInt(color.slice(1), 16);
    const ink = [value >> 16, (value >> 8) & 255, value & 255] as const;
    const [left = 0, top = 0, right = this.#width, bottom = this.#height] = this.#cut;
    for (let row = this.#top; row <= this.#bottom; row++) {
      let sum = 0;
      for (let x = 0; x < this.#stride; x++) {
        const place = row * this.#stride + x;
        sum += this.#changes[place]!;
        this.#changes[place] = 0;
        if (x < left || x >= Math.min(right, this.#width) || row < top || row >= bottom) continue;
        const alpha = Math.min(1, Math.abs(sum)) * opacity;
        if (alpha < 0.002) continue;
        const pixel = (row * this.#width + x) * 3;
        for (let part = 0; part < 3; part++) {
          const below = this.#pixels[pixel + part]!;
          this.#pixels[pixel + part] = Math.round(below + (ink[part]! - below) * alpha);
        }
      }
    }
    this.#top = Infinity;
    this.#bottom = -1;
  }

  png(): Uint8Array {
    const rowBytes = this.#width * 3;
    const rows = Buffer.alloc((rowBytes + 1) * this.#height);
    for (let row = 0; row < this.#height; row++)
      rows.set(
        this.#pixels.subarray(row * rowBytes, (row + 1) * rowBytes),
        row * (rowBytes + 1) + 1,
      );
    const head = Buffer.alloc(13);
    head.writeUInt32BE(this.#width, 0);
    head.writeUInt32BE(this.#height, 4);
    // Eight bits for each of red, green, and blue.
    head.set([8, 2, 0, 0, 0], 8);
    return Buffer.concat([
      Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
      chunk('IHDR', head),
      chunk('IDAT', deflateSync(rows)),
      chunk('IEND', Buffer.alloc(0)),
    ]);
  }
}

function chunk(type: string, content: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), content]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(content.length);
  sum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, sum]);
}

// Contours.

function addContour(canvas: Canvas, points: readonly Point[]): void {
  for (const [at, point] of points.entries())
    canvas.edge(point, points[(at + 1) % points.length] ?? point);
}

/** Parts that overlap have the same direction, so that they add up and never cancel each other. */
function addConvex(canvas: Canvas, points: readonly Point[]): void {
  addContour(canvas, areaOf(points) < 0 ? points.toReversed() : points);
}

function areaOf(points: readonly Point[]): number {
  return points.reduce((sum, [x, y], at) => {
    const [nextX, nextY] = points[(at + 1) % points.length] ?? [x, y];
    return sum + x * nextY - nextX * y;
  }, 0);
}

const circleSides = 12;

function circle(x: number, y: number, radius: number): Point[] {
  return Array.from({ length: circleSides }, (_, at): Point => {
    const angle = (at / circleSides) * 2 * Math.PI;
    return [x + radius * Math.cos(angle), y + radius * Math.sin(angle)];
  });
}

/** A box for each part of the line, and a circle where two meet. */
function addStroke(canvas: Canvas, points: readonly Point[], half: number): void {
  for (const [at, [x, y]] of points.entries()) {
    if (at > 0 && at < points.length - 1 && half > 0.6) addConvex(canvas, circle(x, y, half));
    const next = points[at + 1];
    if (next === undefined) continue;
    const [dx, dy] = [next[0] - x, next[1] - y];
    const length = Math.hypot(dx, dy);
    if (length === 0 || !Number.isFinite(length)) continue;
    const [nx, ny] = [(-dy / length) * half, (dx / length) * half];
    addConvex(canvas, [
      [x + nx, y + ny],
      [next[0] + nx, next[1] + ny],
      [next[0] - nx, next[1] - ny],
      [x - nx, y - ny],
    ]);
  }
}

/** Pieces of one line; a line that goes far beyond the picture is not cut into more than these. */
const dashesMax = 5_000;

function dashes(
  points: readonly Point[],
  dash: readonly [on: number, off: number] | undefined,
): readonly (readonly Point[])[] {
  if (dash === undefined) return [points];
  const pieces: Point[][] = [];
  let isOn = true;
  let left: number = dash[0];
  let piece: Point[] = points.slice(0, 1);
  for (const [at, end] of points.entries()) {
    let from = points[at - 1];
    if (from === undefined) continue;
    let length = Math.hypot(end[0] - from[0], end[1] - from[1]);
    while (length > left && pieces.length < dashesMax) {
      const share = left / length;
      from = [from[0] + (end[0] - from[0]) * share, from[1] + (end[1] - from[1]) * share];
      if (isOn) pieces.push([...piece, from]);
      piece = [from];
      length -= left;
      isOn = !isOn;
      left = dash[isOn ? 0 : 1];
    }
    left -= length;
    if (isOn) piece.push(end);
  }
  if (isOn && piece.length > 1) pieces.push(piece);
  return pieces;
}

// Text.

type TextShape = Extract<Shape, { readonly kind: 'text' }>;

function addText(canvas: Canvas, shape: TextShape, scale: number, fonts: DocumentFonts): void {
  const size = shape.size * scale;
  const runs = fonts.runs(shape.text, shape.bold);
  const width = runs.reduce((sum, run) => sum + widthOfRun(run, size), 0);
  const share = { left: 0, center: 0.5, right: 1 }[shape.align];
  let x = shape.at[0] * scale - width * share;
  const y = shape.at[1] * scale;
  for (const run of runs) {
    if (run.font === undefined) addBoxes(canvas, run.text, x, y, size);
    else addGlyphs(canvas, run.font.font, run.text, x, y, size);
    x += widthOfRun(run, size);
  }
}

/** Frames in place of characters that no font has. */
function addBoxes(canvas: Canvas, text: string, x: number, y: number, size: number): void {
  for (const [at] of Array.from(text).entries()) {
    const left = x + at * boxShare.advance * size;
    const [right, top] = [left + boxShare.width * size, y - boxShare.height * size];
    const frame: Point[] = [
      [left, y],
      [right, y],
      [right, top],
      [left, top],
      [left, y],
    ];
    addStroke(canvas, frame, size * 0.03);
  }
}

/** Straight parts of a curve. */
const curveParts = 6;

function addGlyphs(
  canvas: Canvas,
  font: Font,
  text: string,
  left: number,
  baseline: number,
  size: number,
): void {
  const scale = size / font.unitsPerEm;
  const { glyphs, positions } = font.layout(text);
  let x = left;
  for (const [at, glyph] of glyphs.entries()) {
    const position = positions[at];
    const origin: Point = [
      x + (position?.xOffset ?? 0) * scale,
      baseline - (position?.yOffset ?? 0) * scale,
    ];
    for (const contour of contoursOf(glyph.path.commands))
      addContour(
        canvas,
        contour.map(([px, py]): Point => [origin[0] + px * scale, origin[1] - py * scale]),
      );
    x += (position?.xAdvance ?? 0) * scale;
  }
}

function contoursOf(
  commands: readonly { readonly command: string; readonly args: readonly number[] }[],
): readonly (readonly Point[])[] {
  const contours: Point[][] = [];
  for (const { command, args } of commands) {
    const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = args;
    if (command === 'moveTo') contours.push([[a, b]]);
    const contour = contours.at(-1);
    const from = contour?.at(-1);
    if (contour === undefined || from === undefined) continue;
    if (command === 'lineTo') contour.push([a, b]);
    const [x, y] = from;
    for (let part = 1; part <= curveParts; part++) {
      const t = part / curveParts;
      const s = 1 - t;
      if (command === 'quadraticCurveTo')
        contour.push([
          s * s * x + 2 * s * t * a + t * t * c,
          s * s * y + 2 * s * t * b + t * t * d,
        ]);
      if (command === 'bezierCurveTo')
        contour.push([
          s ** 3 * x + 3 * s * s * t * a + 3 * s * t * t * c + t ** 3 * e,
          s ** 3 * y + 3 * s * s * t * b + 3 * s * t * t * d + t ** 3 * f,
        ]);
    }
  }
  return contours;
}

// Chart pictures: the charts of a dashboard as PNG files for mails.

export const chartPicturesMax = 12;

/** How wide and high a mail shows them; dense screens have twice as many pixels. */
export const shownPicture = { width: 640, height: 208 } as const;
/** Letters of charts have the size of letters on a page, which is small on a screen. */
const magnified = 1.6;
const pixelsPerLength = 2;

/** Of the first charts, in the order of the tiles. `folder` has further fonts. */
export function chartPictures(
  { tiles, zone }: DashboardDocument,
  folder: string | undefined,
): readonly Uint8Array[] {
  const fonts = new DocumentFonts(folder);
  const [width, height] = [shownPicture.width / magnified, shownPicture.height / magnified];
  const size = { width, height, scale: magnified * pixelsPerLength };
  return tiles
    .filter((tile) => isDrawn(tile))
    .slice(0, chartPicturesMax)
    .map((tile) => pictureOf(shapesOf(tile, { x: 0, y: 0, width, height }, zone), size, fonts));
}
