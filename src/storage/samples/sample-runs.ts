// Sample runs: samples as objects put into columns, for stores that have no others.
import type { Sample } from '../../model/sample.ts';
import { type DataShape, leafKinds, type ShapeInterner } from '../log/data-shape.ts';
import { LeafValues } from '../log/leaf-values.ts';
import type { SampleColumn, SampleRun } from './sample-store.ts';

/** Samples in the order of time as runs of one topic and shape each. */
export function runsOfSamples(samples: readonly Sample[], shapes: ShapeInterner): SampleRun[] {
  const runs: SampleRun[] = [];
  const values = new LeafValues();
  let run: StartedRun | undefined;
  for (const [i, { topic, data }] of samples.entries()) {
    const valuesAt = values.length;
    const shape = shapes.shapeOf(data, values, run?.shape);
    if (run?.topic === topic && run.shape === shape) continue;
    if (run !== undefined) runs.push(runOf(run, samples.slice(run.first, i), values));
    run = { topic, shape, valuesAt, first: i };
  }
  if (run !== undefined) runs.push(runOf(run, samples.slice(run.first), values));
  return runs;
}

interface StartedRun {
  readonly topic: string;
  readonly shape: DataShape;
  /** Where the values of its first sample begin. */
  readonly valuesAt: number;
  /** Index of its first sample. */
  readonly first: number;
}

function runOf(
  { topic, shape, valuesAt }: StartedRun,
  samples: readonly Sample[],
  values: LeafValues,
): SampleRun {
  const { leaves } = shape;
  const columns = leaves.map(({ kind }, leaf): SampleColumn => {
    const at = (row: number) => values.numberAt(valuesAt + row * leaves.length + leaf);
    const found = Float64Array.from(samples, (_, row) => at(row));
    const none = new Float64Array();
    if (kind === leafKinds.number || kind === leafKinds.boolean)
      return { kind, numbers: found, ids: none, texts: [] };
    return { kind, numbers: none, ids: found, texts: values.texts };
  });
  const timestamps = Float64Array.from(samples, ({ timestamp }) => timestamp);
  const shapeColumns = [leaves.map((_, i) => i)];
  const rows = { shapes: [shape], shapeIds: undefined, shapeColumns, columns };
  return {
    topic,
    from: 0,
    to: samples.length,
    sorted: { timestamps, permutation: undefined, rows },
  };
}
