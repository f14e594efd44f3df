// Tests of picture sizes: headers of each format, and files that end or lie anywhere.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { pictureSize, pictureTypes } from './places.ts';

const bytes = (hex: string) => Buffer.from(hex.replaceAll(' ', ''), 'hex');
const padded = (head: string) => Buffer.concat([bytes(head), Buffer.alloc(40)]);

const png = padded('89504e47 0d0a1a0a 0000000d 49484452 00000280 000001e0 08060000');
/** An APP0 segment, a table, fill bytes, then the frame: 300 lines of 400. */
const jpeg = padded('ffd8 ffe00004 0000 ffc40003 00 ffffffc0 0011 08 012c 0190 03');
const riff = '52494646 00000000 57454250';
const lossy = padded(`${riff} 56503820 00000000 000000 9d012a 4001 f000`);
const lossless = padded(`${riff} 5650384c 00000000 2f 3f c1 3b 00`);
const extended = padded(`${riff} 56503858 0a000000 00000000 ff0300 1f0200`);
const svg = (text: string) => Buffer.from(text);

test.each<[string, string, Buffer, unknown]>([
  ['PNG', 'image/png', png, { width: 640, height: 480 }],
  ['JPEG behind other segments', 'image/jpeg', jpeg, { width: 400, height: 300 }],
  ['lossy WebP', 'image/webp', lossy, { width: 320, height: 240 }],
  ['lossless WebP', 'image/webp', lossless, { width: 320, height: 240 }],
  ['extended WebP', 'image/webp', extended, { width: 1024, height: 544 }],
  ['view box', 'image/svg+xml', svg('<svg viewBox="0,0 10.5, 20">'), { width: 10.5, height: 20 }],
  [
    'width, height',
    'image/svg+xml',
    svg(`<svg width='10px' height="20">`),
    { width: 10, height: 20 },
  ],
  [
    'SVG in a comment before',
    'image/svg+xml',
    svg('<?xml version="1.0"?><!-- <svg viewBox="0 0 1 1"> -->\n<svg\nviewBox="0 0 2 3">'),
    { width: 2, height: 3 },
  ],
  ['percent', 'image/svg+xml', svg('<svg width="100%" height="100%">'), undefined],
  ['an empty view box', 'image/svg+xml', svg('<svg viewBox="0 0 0 5">'), undefined],
  ['no SVG', 'image/svg+xml', svg('<html>'), undefined],
  ['another type', 'image/gif', png, undefined],
  ['a JPEG without frame', 'image/jpeg', bytes('ffd8ffe00004000000'), undefined],
])('%s', (_, type, content, size) => {
  expect(pictureSize(type, content)).toEqual(size);
});

test('a file that is cut or changed anywhere never throws', () => {
  const files = [png, jpeg, lossy, lossless, extended, svg('<svg viewBox="0 0 2 3">')];
  fc.assert(
    fc.property(
      fc.constantFrom(...files),
      fc.constantFrom(...pictureTypes),
      fc.nat({ max: 60 }),
      fc.uint8Array({ maxLength: 20 }),
      (file, type, at, noise) => {
        const size = pictureSize(type, Buffer.concat([file.subarray(0, at), noise]));
        if (size !== undefined) expect(Math.min(size.width, size.height)).toBeGreaterThan(0);
      },
    ),
    { numRuns: 2_000 },
  );
});
