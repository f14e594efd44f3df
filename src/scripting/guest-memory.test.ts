// Memory between runs: what is put back, and that nothing of another tenant's runs is left anywhere.
import { beforeAll, expect, test } from 'vitest';
import {
  compileQuickJs,
  GuestMemory,
  inspectMemoryLayout,
  instantiateQuickJs,
  type MemoryImage,
  type QuickJs,
  scratchStart,
} from './quickjs.ts';

let js: QuickJs;
let memory: GuestMemory;
let base: MemoryImage;
let heapStart: number;

beforeAll(async () => {
  const module = await compileQuickJs();
  const layout = await inspectMemoryLayout(module);
  ({ heapStart } = layout);
  const instance = await instantiateQuickJs(module, 16 * 1_048_576);
  js = instance.js;
  memory = new GuestMemory(instance, layout);
  base = memory.capture();
});

const secret = Buffer.from('a secret of another tenant');
const isAnywhere = (): boolean => Buffer.from(js.HEAPU8.buffer).includes(secret);

/** Puts the secret where runs leave things: into the heap, onto the stack, where texts arrive. */
function leaveTraces(heapBytes: number): void {
  const at = js._malloc(heapBytes);
  js.HEAPU8.set(secret, at + heapBytes - secret.length);
  js.HEAPU8.set(secret, heapStart - 100_000);
  js.HEAPU8.set([...Buffer.from('x'.repeat(500)), ...secret, 0], scratchStart);
  js.HEAPU8.set([...Buffer.from('short'), 0], scratchStart);
}

test('an image is put back to the byte, and allocation goes on where it was', () => {
  memory.reset(base);
  const first = js._malloc(100);
  js.HEAPU8.fill(7, first, first + 100);
  const image = memory.difference(base);
  const second = js._malloc(1_000_000);
  js.HEAPU8.fill(9, first, second + 1_000_000);
  memory.restore(image, false);
  expect(js.HEAPU8.subarray(first, first + 100).every((byte) => byte === 7)).toBe(true);
  expect(js._malloc(1_000_000)).toBe(second);
});

for (const heapBytes of [100, 10_000, 3_000_000]) {
  test(`a clean restore leaves nothing of ${heapBytes} bytes in the heap, of the stack and of texts`, () => {
    memory.reset(base);
    const image = memory.difference(base);
    leaveTraces(heapBytes);
    expect(isAnywhere()).toBe(true);
    memory.restore(image, false);
    memory.restore(image, true);
    expect(isAnywhere()).toBe(false);
  });
}

test('what was there before is no part of a difference', () => {
  memory.reset(base);
  leaveTraces(500_000);
  memory.reset(base);
  expect(isAnywhere()).toBe(false);
  expect(memory.difference(base)).toMatchObject({ segments: [], bytes: 0 });
});
