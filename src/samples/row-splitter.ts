// Row splitter: takes the data of samples apart, into shapes and lists of values that entries share.
import type { DataShape, ShapeInterner } from '../log/data-shape.ts';
import type { EntryRows } from '../log/entry-encoding.ts';
import { LeafValues } from '../log/leaf-values.ts';
import { missing } from '../structures/missing.ts';

/** A list of more values is not continued, because it lives until its last entry is durable. */
const sharedValuesMax = 4_096;

export type RowSplitter = (samples: EntryRows['samples']) => EntryRows;

export function createRowSplitter(interner: ShapeInterner): RowSplitter {
  let values = new LeafValues();
  let alone: readonly DataShape[] = [];

  function shapesOf(samples: EntryRows['samples']): readonly DataShape[] {
    const guess = alone[0];
    const [first] = samples;
    if (first === undefined) return [];
    let shape = interner.shapeOf(first.data, values, guess);
    if (samples.length === 1) {
      // Consecutive entries usually have the same shape.
      if (shape !== guess) alone = [shape];
      return alone;
    }
    const shapes = [shape];
    for (let i = 1; i < samples.length; i++) {
      shape = interner.shapeOf((samples[i] ?? missing('sample')).data, values, shape);
      shapes.push(shape);
    }
    return shapes;
  }

  return (samples) => {
    if (values.length >= sharedValuesMax) values = new LeafValues();
    const valuesAt = values.length;
    return { samples, shapes: shapesOf(samples), values, valuesAt };
  };
}
