// Byte writer: one that is used again keeps its memory while it needs it.
import { expect, test } from 'vitest';
import { ByteWriter } from './bytes.ts';

const large = new Uint8Array(3 * 1024 * 1024).fill(1);

test('memory of a large use is kept for the next ones, and given back when few need it', () => {
  const writer = new ByteWriter();
  writer.bytes(large);
  const { capacity } = writer;
  for (let use = 0; use < 2_000; use++) {
    writer.reset();
    expect(writer.length).toBe(0);
    writer.bytes(large.subarray(0, use % 100 === 0 ? large.length : 10));
    expect(writer.capacity).toBe(capacity);
  }
  for (let use = 0; use < 300; use++) {
    writer.reset();
    writer.byte(use % 256);
  }
  expect(writer.capacity).toBeLessThan(10_000);
  expect([...writer.written()]).toEqual([299 % 256]);
});

test('memory beyond the limit is given back at once', () => {
  const writer = new ByteWriter();
  for (let i = 0; i < 4; i++) writer.bytes(large);
  writer.reset();
  expect(writer.capacity).toBeLessThan(10_000);
});
