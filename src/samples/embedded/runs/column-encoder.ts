// Column encoder: the sections of a page, each column in the cheaper of two ways.
import { crc32 } from 'node:zlib';
import { planPacking } from '../chunks/encoding/packed-ints.ts';
import { AlignedBuffer } from './aligned-buffer.ts';
import { writePacked } from './packed-block.ts';
import { sectionTailBytes, slicedTag } from './page-format.ts';
import { newValues, type SliceTable } from './slice-table.ts';

export interface ScaledValues {
  /** The values times `10 ** digits`. */
  readonly scaled: Float64Array;
  readonly digits: number;
  readonly isNumber: boolean;
}

/** Sections one behind the other in one buffer, each with its checksum; a section without content takes no bytes. */
export function createSectionWriter() {
  const out = new AlignedBuffer();
  let start = 0;
  const writer = {
    out,
    ends: [] as number[],
    begin: (): void => {
      out.clear();
      writer.ends = [];
      start = 0;
    },
    end: (): void => {
      if (out.length > start) {
        out.align(sectionTailBytes);
        const sum = crc32(out.bytes(start));
        const at = out.reserve(sectionTailBytes);
        out.view.setUint32(at, sum, true);
        out.view.setUint32(at + 4, 0, true);
      }
      start = out.length;
      writer.ends.push(start);
    },
  };
  return writer;
}

export function createColumnEncoder(out: AlignedBuffer, slices: SliceTable) {
  const differences = newValues();
  const firsts = newValues();
  const ids = newValues();
  const sums = newValues();
  const mins = newValues();
  const ranges = newValues();

  /** Fills `differences` with those within slices, and `firsts` with the first value of each. */
  function takeDifferences(values: Float64Array): number {
    const { lengths, count } = slices;
    let at = 0;
    for (let slice = 0, row = 0; slice < count; slice++) {
      const end = row + lengths[slice]!;
      let before = values[row]!;
      firsts[slice] = before;
      while (++row < end) {
        const value = values[row]!;
        differences[at++] = value - before;
        before = value;
      }
    }
    return at;
  }

  function writeInts(values: Float64Array, digits = 0): void {
    const whole = planPacking(values, slices.rows);
    // Nothing is shorter than one value for all rows.
    if (whole.width === 0) {
      writePacked(out, values, slices.rows, { tag: digits, plan: whole });
      return;
    }
    const count = takeDifferences(values);
    const plan = planPacking(differences, count);
    const plan0 = planPacking(firsts, slices.count);
    if (plan.bytes + plan0.bytes >= whole.bytes) {
      writePacked(out, values, slices.rows, { tag: digits, plan: whole });
      return;
    }
    writePacked(out, firsts, slices.count, { tag: digits | slicedTag, plan: plan0 });
    writePacked(out, differences, count, { tag: digits, plan });
  }

  return {
    writeInts,
    /** Without the first values, which the slices have. */
    writeDifferences: (values: Float64Array): void => {
      const count = takeDifferences(values);
      writePacked(out, differences, count);
    },
    /** Indices of a dictionary of the page, then the dictionary as JSON. */
    writeTexts: (values: Float64Array, textOf: (id: number) => string | undefined): void => {
      const known = new Map<number, number>();
      for (let i = 0; i < slices.rows; i++) {
        const text = values[i]!;
        let id = known.get(text);
        if (id === undefined) {
          id = known.size;
          known.set(text, id);
        }
        ids[i] = id;
      }
      writePacked(out, ids, slices.rows);
      const dictionary = Buffer.from(JSON.stringify([...known.keys()].map(textOf)));
      out.align(4);
      const at = out.reserve(4);
      out.view.setUint32(at, dictionary.length, true);
      out.append(dictionary);
    },
    /** Sum, and for numbers least value and range, of each slice. */
    writeStatistics: ({ scaled, digits, isNumber }: ScaledValues): void => {
      const { count, lengths } = slices;
      for (let slice = 0, row = 0; slice < count; slice++) {
        let sum = 0;
        let min = scaled[row]!;
        let max = min;
        for (const end = row + lengths[slice]!; row < end; row++) {
          const value = scaled[row]!;
          sum += value;
          if (value < min) min = value;
          if (value > max) max = value;
        }
        sums[slice] = sum;
        mins[slice] = min;
        ranges[slice] = max - min;
      }
      writePacked(out, sums, count, { tag: digits });
      if (!isNumber) return;
      writePacked(out, mins, count, { tag: digits });
      writePacked(out, ranges, count, { tag: digits });
    },
  };
}
