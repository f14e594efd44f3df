// Shape points: the data keys that name a value in objects of a shape, with the place of each value.
import { type DataShape, type LeafKind, leafKinds } from '../../log/data-shape.ts';

/** As they are stored; `opaque` marks a sample whose keys are not stored. */
export const pointKinds = { number: 0, boolean: 1, text: 2, other: 3, opaque: 4 } as const;

export interface ShapePoint {
  /** The data key as JSON. */
  readonly key: string;
  readonly kind: number;
  /** Place among the values of a row; -1 for a value that no accumulator reads. */
  readonly leaf: number;
}

/** Marks a sample with objects that are too deep or too wide: only its data shows its keys. */
const opaquePoint: ShapePoint = { key: '', kind: pointKinds.opaque, leaf: -1 };

const kindOfLeaf: Partial<Record<LeafKind, number>> = {
  [leafKinds.number]: pointKinds.number,
  [leafKinds.boolean]: pointKinds.boolean,
  [leafKinds.string]: pointKinds.text,
};

const known = new WeakMap<DataShape, readonly ShapePoint[]>();

export function pointsOfShape(shape: DataShape): readonly ShapePoint[] {
  const found = known.get(shape);
  if (found !== undefined) return found;
  const points = shape.opaque || typeof shape.root === 'number' ? rootPoints(shape) : listed(shape);
  known.set(shape, points);
  return points;
}

/** A whole object as one value: nothing, or too much. */
function rootPoints({ opaque }: DataShape): readonly ShapePoint[] {
  return opaque ? [opaquePoint] : [];
}

/**
 * Keys of leaves and of objects; `pathOf` says which value a key names where several could be meant.
 * Elements of arrays are not listed.
 */
function listed(shape: DataShape): readonly ShapePoint[] {
  const leaves = new Map(
    shape.leaves.map(({ path, kind }, leaf) => [nameOf(path), { kind, leaf }]),
  );
  const paths = [...shape.leaves.map(({ path }) => path), ...shape.empties];
  const keys = new Set<string>();
  for (const path of paths)
    for (let depth = 1; depth <= path.length; depth++) keys.add(path.slice(0, depth).join('.'));
  const points: ShapePoint[] = [];
  for (const key of keys) {
    const path = shape.pathOf(key);
    if (path === undefined || shape.isNull(path)) continue;
    const leaf = leaves.get(nameOf(path));
    const kind = (leaf && kindOfLeaf[leaf.kind]) ?? pointKinds.other;
    const place = kind === pointKinds.other ? -1 : (leaf?.leaf ?? -1);
    points.push({ key: JSON.stringify(key), kind, leaf: place });
  }
  return points;
}

function nameOf(path: readonly string[]): string {
  return JSON.stringify(path);
}
