// Small PNG: a screenshot with at most 256 colors, which takes a third of the bytes.
import { crc32, deflateSync, inflateSync } from 'node:zlib';

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const paletteMax = 256;
/** Bits of each channel that decide whether two colors count as one while they are counted. */
const countedBits = 5;

interface Pixels {
  readonly width: number;
  readonly height: number;
  /** Red, green and blue of each pixel. */
  readonly bytes: Uint8Array;
}

/** Takes an 8-bit PNG with or without alpha, as browsers write them; alpha is dropped. */
export function smallPng(png: Buffer): Buffer {
  const pixels = pixelsOf(png);
  const palette = paletteOf(pixels);
  const rows = Buffer.alloc((pixels.width + 1) * pixels.height);
  const nearest = new Map<number, number>();
  for (let at = 0; at < pixels.width * pixels.height; at += 1) {
    const color = colorAt(pixels, at);
    let index = nearest.get(color);
    if (index === undefined) {
      index = nearestOf(palette, color);
      nearest.set(color, index);
    }
    // Each row begins with the number of its filter: 0, no filter.
    rows[at + Math.floor(at / pixels.width) + 1] = index;
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(pixels.width, 0);
  header.writeUInt32BE(pixels.height, 4);
  header.set([8, 3, 0, 0, 0], 8);
  const colors = Buffer.from(
    palette.flatMap((color) => [color >> 16, (color >> 8) & 255, color & 255]),
  );
  return Buffer.concat([
    signature,
    chunkOf('IHDR', header),
    chunkOf('PLTE', colors),
    chunkOf('IDAT', deflateSync(rows, { level: 9 })),
    chunkOf('IEND', Buffer.alloc(0)),
  ]);
}

function chunkOf(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const chunk = Buffer.alloc(body.length + 8);
  chunk.writeUInt32BE(data.length, 0);
  chunk.set(body, 4);
  chunk.writeUInt32BE(crc32(body), body.length + 4);
  return chunk;
}

function colorAt({ bytes }: Pixels, at: number): number {
  return ((bytes[at * 3] ?? 0) << 16) | ((bytes[at * 3 + 1] ?? 0) << 8) | (bytes[at * 3 + 2] ?? 0);
}

/** The most frequent color of each of the most frequent groups of similar colors. */
function paletteOf(pixels: Pixels): number[] {
  const counts = new Map<number, number>();
  for (let at = 0; at < pixels.width * pixels.height; at += 1) {
    const color = colorAt(pixels, at);
    counts.set(color, (counts.get(color) ?? 0) + 1);
  }
  const groups = new Map<number, { color: number; most: number; sum: number }>();
  for (const [color, count] of counts) {
    const group = groupOf(color);
    const known = groups.get(group);
    if (known === undefined) groups.set(group, { color, most: count, sum: count });
    else {
      known.sum += count;
      if (count > known.most) Object.assign(known, { color, most: count });
    }
  }
  const frequent = [...counts].toSorted((a, b) => b[1] - a[1]).slice(0, paletteMax / 2);
  const similar = [...groups.values()].toSorted((a, b) => b.sum - a.sum);
  const chosen = new Set(frequent.map(([color]) => color));
  for (const { color } of similar) if (chosen.size < paletteMax) chosen.add(color);
  return [...chosen];
}

function groupOf(color: number): number {
  const cut = 8 - countedBits;
  const [red, green, blue] = [color >> 16, (color >> 8) & 255, color & 255];
  return ((red >> cut) << 10) | ((green >> cut) << 5) | (blue >> cut);
}

function nearestOf(palette: readonly number[], color: number): number {
  let best = 0;
  let bestDistance = Number.POSITIVE_INFINITY;
  for (const [index, one] of palette.entries()) {
    const red = (one >> 16) - (color >> 16);
    const green = ((one >> 8) & 255) - ((color >> 8) & 255);
    const blue = (one & 255) - (color & 255);
    const distance = red * red + green * green + blue * blue;
    if (distance < bestDistance) [best, bestDistance] = [index, distance];
  }
  return best;
}

function pixelsOf(png: Buffer): Pixels {
  const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)];
  const [depth, type] = [png[24], png[25]];
  if (depth !== 8 || (type !== 2 && type !== 6)) throw new Error('not a PNG of 8-bit colors');
  const parts: Buffer[] = [];
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at);
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT')
      parts.push(png.subarray(at + 8, at + 8 + length));
    at += length + 12;
  }
  const channels = type === 6 ? 4 : 3;
  const raw = unfiltered(inflateSync(Buffer.concat(parts)), width * channels, channels);
  const bytes = new Uint8Array(width * height * 3);
  for (let at = 0; at < width * height; at += 1)
    for (let channel = 0; channel < 3; channel += 1)
      bytes[at * 3 + channel] = raw[at * channels + channel] ?? 0;
  return { width, height, bytes };
}

/** Undoes the filter of each row (PNG specification, section 9). */
function unfiltered(filtered: Buffer, rowBytes: number, channels: number): Uint8Array {
  const height = filtered.length / (rowBytes + 1);
  const raw = new Uint8Array(rowBytes * height);
  for (let row = 0; row < height; row += 1) {
    const filter = filtered[row * (rowBytes + 1)] ?? 0;
    for (let at = 0; at < rowBytes; at += 1) {
      const to = row * rowBytes + at;
      const left = at < channels ? 0 : (raw[to - channels] ?? 0);
      const above = row === 0 ? 0 : (raw[to - rowBytes] ?? 0);
      const corner = row === 0 || at < channels ? 0 : (raw[to - rowBytes - channels] ?? 0);
      const value = filtered[row * (rowBytes + 1) + 1 + at] ?? 0;
      raw[to] = value + predicted(filter, left, above, corner);
    }
  }
  return raw;
}

function predicted(filter: number, left: number, above: number, corner: number): number {
  if (filter === 1) return left;
  if (filter === 2) return above;
  if (filter === 3) return (left + above) >> 1;
  if (filter !== 4) return 0;
  const estimate = left + above - corner;
  const [toLeft, toAbove, toCorner] = [left, above, corner].map((one) => Math.abs(estimate - one));
  if (toLeft === undefined || toAbove === undefined || toCorner === undefined) return 0;
  if (toLeft <= toAbove && toLeft <= toCorner) return left;
  return toAbove <= toCorner ? above : corner;
}
