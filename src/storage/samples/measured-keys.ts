// Measured keys: the keys that shapes of data have, and the types of their values.
import { type DataShape, type LeafKind, leafKinds } from '../log/data-shape.ts';
import type { MeasuredTopic, MeasuredType } from './sample-store.ts';

const typeOfKind: Readonly<Record<LeafKind, MeasuredType>> = {
  [leafKinds.number]: 'number',
  [leafKinds.boolean]: 'boolean',
  [leafKinds.string]: 'string',
  [leafKinds.json]: 'array',
  [leafKinds.null]: 'null',
  [leafKinds.object]: 'object',
  [leafKinds.empty]: 'object',
};

/** The keys of objects of the shapes, with the types of their values. */
export function keysOfShapes(shapes: Iterable<DataShape>): MeasuredTopic['keys'] {
  const types = new Map<string, { path: readonly string[]; types: Set<MeasuredType> }>();
  const note = (path: readonly string[], type: MeasuredType): void => {
    const name = JSON.stringify(path);
    const found = types.get(name) ?? { path, types: new Set<MeasuredType>() };
    types.set(name, found);
    found.types.add(type);
  };
  for (const shape of shapes) {
    for (const { path, kind } of shape.leaves) note(path, typeOfKind[kind]);
    for (const path of shape.nulls) note(path, 'null');
    for (const path of shape.empties) note(path, 'object');
  }
  return [...types.values()].map(({ path, types: found }) => ({ path, types: [...found] }));
}
