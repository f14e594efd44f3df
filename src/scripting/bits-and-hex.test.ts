// The globals Bits and Hex, word for word as contract 15 has them.
import { afterAll, beforeAll, expect, test } from 'vitest';
import fc from 'fast-check';
import type { Json } from '../model/json.ts';
import { runScript, ScriptMachine } from './script-machine.ts';

let machine: ScriptMachine;
beforeAll(() => {
  machine = new ScriptMachine({ workers: 1 });
});
afterAll(() => machine.close());

/** The values of expressions, each on its own; an exception is the text `throws`. */
async function valuesOf(expressions: readonly string[]): Promise<Json[]> {
  const list = expressions.map((expression) => `() => ${expression}`).join(', ');
  const source = `function consume() { emit('log', [${list}].map((f) => { try { return f() } catch { return 'throws' } })); }`;
  const [log] = await runScript(machine, { tenant: 'tenant', source, event: {} });
  return log!.event as Json[];
}

const table: [string, Json][] = [
  ['Bits.hexToBits("a5")', '10100101'],
  ['Bits.hexToBits("A5")', '10100101'],
  ['Bits.hexToBits("0xa5")', '10100101'],
  ['Bits.hexToBits("0XA5")', '10100101'],
  ['Bits.hexToBits("1")', '0001'],
  ['Bits.hexToBits("")', ''],
  ['Bits.hexToBits("00ff")', '0000000011111111'],
  ['Bits.hexToBits("xy")', 'throws'],
  ['Bits.hexToBits("a ")', 'throws'],
  ['Bits.hexToBits(undefined)', 'throws'],
  ['Bits.bitsToHex("10100101")', 'A5'],
  ['Bits.bitsToHex("101")', '5'],
  ['Bits.bitsToHex("")', ''],
  ['Bits.bitsToHex("000000001111")', '00F'],
  ['Bits.bitsToHex("102")', 'throws'],
  ['Bits.base64ToBits("pQ==")', '10100101'],
  ['Bits.base64ToBits("")', ''],
  ['Bits.base64ToBits("!")', 'throws'],
  ['Bits.bitsToBase64("10100101")', 'pQ=='],
  ['Bits.bitsToBase64("")', ''],
  ['Bits.base64ToBytes("AP8Q")', [0, 255, 16]],
  ['Bits.base64ToBytes("_-8")', [255, 239]],
  ['Bits.bytesToHex([10, 255])', '0aff'],
  ['Bits.bitsToUnsigned("1111")', 15],
  ['Bits.bitsToUnsigned("")', 'NaN'],
  ['Bits.bitsToUnsigned("11111111111111111111111111111111")', 4294967295],
  ['Bits.bitsToSigned("1111")', -1],
  ['Bits.bitsToSigned("0111")', 7],
  ['Bits.bitsToSigned("1000")', -8],
  ['Bits.bitsToSigned("1")', -1],
  ['Bits.bitsToSigned("0")', 0],
  ['Bits.bitsToSigned("1".repeat(64))', -1],
  ['Bits.bitsToSigned("")', 'throws'],
  ['Hex.hexToBytes("0aff")', [10, 255]],
  ['Hex.hexToBytes("0AFF")', [10, 255]],
  ['Hex.hexToBytes("")', []],
  ['Hex.hexToBytes("abc")', [171, 12]],
  ['Hex.hexToBytes("zz")', ['NaN']],
  ['Hex.bytesToHex([10, 255, 0])', '0aff00'],
  ['Hex.bytesToHex([-1, -128])', 'ff80'],
  ['Hex.bytesToHex([])', ''],
  ['Hex.bytesToHex(new Uint8Array([1, 254]))', '01fe'],
  ['Hex.hexLittleEndianToBigEndian("3412")', 0x1234],
  ['Hex.hexLittleEndianToBigEndian("ffff")', -1],
  ['Hex.hexLittleEndianToBigEndian("ffff", true)', -1],
  ['Hex.hexLittleEndianToBigEndian("ffff", false)', 65535],
  ['Hex.hexLittleEndianToBigEndian("FEFF", true)', -2],
  ['Hex.hexLittleEndianToBigEndian("0080", false)', 32768],
  ['Hex.hexLittleEndianToBigEndian("")', 'throws'],
  ['Hex.hexLittleEndianToBigEndian("", false)', 'NaN'],
];

test('contract 15: every function, every edge', async () => {
  const values = await valuesOf(table.map(([expression]) => expression));
  expect(table.map(([expression], i) => [expression, values[i]])).toEqual(table);
});

test('bytes go through hex, bits and base64 and back', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 40 }), async (bytes) => {
      const list = [...bytes];
      const hex = Buffer.from(bytes).toString('hex');
      const base64 = Buffer.from(bytes).toString('base64');
      const values = await valuesOf([
        `Hex.bytesToHex(${JSON.stringify(list)})`,
        `Hex.hexToBytes("${hex}")`,
        `Bits.bitsToHex(Bits.hexToBits("${hex}"))`,
        `Bits.bitsToBase64(Bits.hexToBits("${hex}"))`,
        `Bits.bitsToHex(Bits.base64ToBits("${base64}"))`,
        `Bits.base64ToBytes("${base64}")`,
      ]);
      expect(values).toEqual([hex, list, hex.toUpperCase(), base64, hex.toUpperCase(), list]);
    }),
    { numRuns: 50 },
  );
});

test('signed and unsigned numbers of up to 48 bits are those of Buffer', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 6 }), async (bytes) => {
      const hex = Buffer.from(bytes).toString('hex');
      const buffer = Buffer.from(bytes);
      const values = await valuesOf([
        `Bits.bitsToSigned(Bits.hexToBits("${hex}"))`,
        `Bits.bitsToUnsigned(Bits.hexToBits("${hex}"))`,
        `Hex.hexLittleEndianToBigEndian("${hex}")`,
        `Hex.hexLittleEndianToBigEndian("${hex}", false)`,
      ]);
      const { length } = buffer;
      expect(values).toEqual([
        buffer.readIntBE(0, length),
        buffer.readUIntBE(0, length),
        buffer.readIntLE(0, length),
        buffer.readUIntLE(0, length),
      ]);
    }),
    { numRuns: 100 },
  );
});
