// Row kind: everything that the rows of one source have in common. The journal has it once in each block.
import type { DataShape, ShapeInterner } from './data-shape.ts';
import type { Definition } from './journal-block.ts';
import type { EntrySample } from './logged-entry.ts';

/** All kinds are evicted when there are more or larger ones; kinds in use live on. */
const kindsMax = 4_096;
const kindBytesMax = 8 * 1024 * 1024;

export interface RowKind extends Definition {
  readonly organizationId: string;
  readonly workspaceId: string;
  readonly dataFlowId: string | null;
  readonly topic: string;
  readonly stored: boolean;
  readonly hasMeta: boolean;
  readonly shape: DataShape;
}

type RowKindText = readonly [
  organizationId: string,
  workspaceId: string,
  dataFlowId: string | null,
  topic: string,
  stored: 0 | 1,
  hasMeta: 0 | 1,
  shape: string,
];

/** What of a row makes its kind. */
type RowSource = Omit<EntrySample, 'deviceId' | 'timestamp' | 'data'>;

/** Says the kind of a row: the same object for the same kind. */
export type KindOfRow = (sample: RowSource, shape: DataShape) => RowKind;

export function createRowKinds(): KindOfRow {
  /** By data flow, topic and shape; the rest differs rarely. */
  const known = new Map<string | null, Map<string, ShapeKinds>>();
  let count = 0;
  let bytes = 0;
  let last: RowKind | undefined;
  let lastSource: RowSource | undefined;

  function find(sample: RowSource, shape: DataShape): RowKind {
    const alike = known.get(sample.dataFlowId)?.get(sample.topic)?.get(shape) ?? [];
    for (const kind of alike) if (isOf(kind, sample, shape)) return kind;
    return add(sample, shape);
  }

  function add(sample: RowSource, shape: DataShape): RowKind {
    if (count >= kindsMax || bytes >= kindBytesMax) {
      known.clear();
      count = 0;
      bytes = 0;
    }
    const kind = kindOf(sample, shape);
    const topics = inMap(known, sample.dataFlowId, () => new Map<string, ShapeKinds>());
    const shapes = inMap(topics, sample.topic, (): ShapeKinds => new Map());
    inMap(shapes, shape, () => []).push(kind);
    count += 1;
    bytes += kind.bytes.length;
    return kind;
  }

  return (sample, shape) => {
    // Rows of one request share an object.
    if (sample === lastSource && last?.shape === shape) return last;
    if (last === undefined || !isOf(last, sample, shape)) last = find(sample, shape);
    lastSource = sample;
    return last;
  };
}

type ShapeKinds = Map<DataShape, RowKind[]>;

/** Reads definitions; the kind of a buffer is kept as long as the buffer. */
export function createKindReader(interner: ShapeInterner): (definition: Buffer) => RowKind {
  const read = new WeakMap<Buffer, RowKind>();
  return (definition) => {
    let kind = read.get(definition);
    if (kind === undefined) {
      kind = parseKind(definition, interner);
      read.set(definition, kind);
    }
    return kind;
  };
}

function isOf(kind: RowKind, sample: RowSource, shape: DataShape): boolean {
  return (
    kind.shape === shape &&
    kind.topic === sample.topic &&
    kind.dataFlowId === sample.dataFlowId &&
    kind.workspaceId === sample.workspaceId &&
    kind.organizationId === sample.organizationId &&
    kind.stored === sample.stored &&
    kind.hasMeta === (sample.meta !== undefined)
  );
}

function kindOf(sample: RowSource, shape: DataShape): RowKind {
  const { organizationId, workspaceId, dataFlowId, topic, stored } = sample;
  const hasMeta = sample.meta !== undefined;
  const text: RowKindText = [
    organizationId,
    workspaceId,
    dataFlowId,
    topic,
    stored ? 1 : 0,
    hasMeta ? 1 : 0,
    shape.text,
  ];
  const bytes = Buffer.from(JSON.stringify(text));
  return { organizationId, workspaceId, dataFlowId, topic, stored, hasMeta, shape, bytes };
}

function parseKind(bytes: Buffer, interner: ShapeInterner): RowKind {
  const [organizationId, workspaceId, dataFlowId, topic, stored, hasMeta, shape] = JSON.parse(
    bytes.toString(),
  ) as RowKindText;
  return {
    organizationId,
    workspaceId,
    dataFlowId,
    topic,
    stored: stored === 1,
    hasMeta: hasMeta === 1,
    shape: interner.fromText(shape),
    bytes,
  };
}

function inMap<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
}
