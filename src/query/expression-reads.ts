// Reads of expressions: a store that computes formulas for each sample, in place of values of data keys (contract 38.1).
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  columnFunction,
  nulls,
  type OffsetAt,
  type Vector,
  VectorWriter,
  vectorValue,
} from './expressions/evaluate.ts';
import {
  type Expression,
  ExpressionError,
  type Input,
  parseExpression,
  type Value,
  type ValueSource,
  valueOf,
} from './expressions/parse.ts';
import { ValueWindow } from './expressions/windows.ts';
import { dayMs, type EpochMs, hourMs } from '../model/instant.ts';
import type { JsonObject } from '../model/json.ts';
import { problem } from '../model/problem.ts';
import type { TimeZone, ZonePiece } from '../model/time-zone.ts';
import type { BucketRequest, ValuesRequest } from '../storage/samples/sample-store.ts';
import type { BucketStore } from './accumulation.ts';
import { accumulatorOf, addValue } from './summaries/accumulators.ts';
import type { Facet, Tally } from './summaries/facet.ts';
import { type ValueBatch, type ValueColumn, valueTypes } from './summaries/ordered-values.ts';

/** Samples for which one request computes expressions. */
const rowsMax = 10_000_000;
/** Rows between two turns for other requests: some milliseconds. */
const rowsPerTurn = 8_192;
/** What a device costs besides its rows. */
const rowsPerDevice = 256;
/** How far a value before or after the interval is looked for. */
const reaches = [hourMs, dayMs, 7 * dayMs, 31 * dayMs];

/** What an expression needs to know of the device that it is computed for. */
interface ExpressionDevice {
  /** Of the zone whose hours and days count. */
  readonly offsetAt: OffsetAt;
  /** Custom field name to value. */
  readonly fields: JsonObject;
}

/** Computed values of some rows. */
interface ComputedRows {
  readonly timestamps: Float64Array;
  readonly vector: Vector;
}

/** Requests whose data key names an expression are computed; others go to the store. */
export class ExpressionReads implements BucketStore {
  readonly #store: BucketStore;
  readonly #expressions: ReadonlyMap<string, Expression>;
  readonly #deviceOf: (deviceId: string) => ExpressionDevice;
  #rows = 0;
  #sinceTurn = 0;

  constructor(
    store: BucketStore,
    expressions: ReadonlyMap<string, Expression>,
    deviceOf: (deviceId: string) => ExpressionDevice,
  ) {
    this.#store = store;
    this.#expressions = expressions;
    this.#deviceOf = deviceOf;
  }

  /** See `SampleStore.buckets`. Throws Problem 400 for too many samples. */
  async buckets(request: BucketRequest): Promise<readonly (readonly (Tally | undefined)[])[]> {
    const { deviceIds, topic, dataKey, accumulator, edges } = request;
    const expression = this.#expressions.get(dataKey);
    if (expression === undefined) return this.#store.buckets(request);
    const [from, to] = [edges[0] ?? 0, edges.at(-1) ?? 0];
    const { facet } = accumulatorOf(accumulator);
    const answers: (Tally | undefined)[][] = [];
    for (const deviceId of deviceIds) {
      const tallies = new BucketTallies(facet, edges);
      for await (const rows of this.#computed(expression, { deviceId, topic, from, to }))
        tallies.add(rows);
      answers.push(tallies.tallies);
      await this.#turn(rowsPerDevice);
    }
    return answers;
  }

  /** See `SampleStore.values`. A value before or after is looked for within P31D. */
  async *values(request: ValuesRequest): AsyncIterable<ValueBatch> {
    const { keys, from, to } = request;
    const [key = ''] = keys;
    const expression = this.#expressions.get(key);
    if (expression === undefined) {
      yield* this.#store.values(request);
      return;
    }
    if (keys.length !== 1) throw new Error('An expression is read alone');
    if (request.before) yield* this.#nearest(expression, request, from, -1);
    for await (const { timestamps, vector } of this.#computed(expression, request))
      yield { timestamps, columns: [columnOf(vector)] };
    if (request.after) yield* this.#nearest(expression, request, to, 1);
  }

  /** The last value before, or the first at or behind a moment. */
  async *#nearest(
    expression: Expression,
    request: ValuesRequest,
    moment: EpochMs,
    direction: 1 | -1,
  ): AsyncIterable<ValueBatch> {
    let searched = 0;
    for (const reach of reaches) {
      const ends = [moment + direction * searched, moment + direction * reach];
      const range = { ...request, from: Math.min(...ends), to: Math.max(...ends) };
      let found: { readonly at: EpochMs; readonly value: Value } | undefined;
      for await (const { timestamps, vector } of this.#computed(expression, range))
        for (const [row, at] of timestamps.entries()) {
          const value = vectorValue(vector, row);
          // Of one instant the last that was stored.
          if (value !== null && (direction < 0 || found === undefined || found.at === at))
            found = { at, value };
        }
      if (found !== undefined) {
        const writer = new VectorWriter(1);
        writer.put(0, found.value);
        yield { timestamps: Float64Array.of(found.at), columns: [columnOf(writer.vector())] };
        return;
      }
      searched = reach;
    }
  }

  /** Every sample of the topic from `from` on and before `to`, with the value of the expression. */
  async *#computed(
    expression: Expression,
    { deviceId, topic, from, to }: Pick<ValuesRequest, 'deviceId' | 'topic' | 'from' | 'to'>,
  ): AsyncIterable<ComputedRows> {
    const device = this.#deviceOf(deviceId);
    const inputs = new InputRows(expression, { deviceId, topic, fields: device.fields });
    const compute = columnFunction(expression, device.offsetAt);
    const others = inputs.others.map((other) => {
      const { source, keys, reachMs } = other;
      const read = { ...source, keys, from: from - reachMs, to, before: true, after: false };
      return new OtherRows(other, this.#store.values(read));
    });
    const { keys, reachMs, looksBack } = inputs.own;
    const read = {
      deviceId,
      topic,
      keys,
      from: from - reachMs,
      to,
      before: looksBack,
      after: false,
    };
    try {
      for await (const { timestamps, columns } of this.#store.values(read)) {
        const { length } = timestamps;
        await this.#turn(length);
        const vectors = inputs.start(timestamps, columns);
        const needsRows = inputs.own.needsRows || others.length > 0;
        for (let row = 0; needsRows && row < length; row++) {
          const at = timestamps[row] ?? 0;
          for (const other of others)
            if (!other.feedUntil(at)) await other.feedMore(at, this.#more);
          inputs.row(row, at);
        }
        let first = 0;
        while (first < length && (timestamps[first] ?? 0) < from) first++;
        if (first === length) continue;
        const vector = compute(vectors(), length);
        yield first === 0
          ? { timestamps, vector }
          : { timestamps: timestamps.subarray(first), vector: tailOf(vector, first) };
      }
    } finally {
      for (const other of others) await other.close();
    }
  }

  readonly #more = (rows: number): Promise<void> => this.#turn(rows);

  async #turn(rows: number): Promise<void> {
    this.#rows += rows;
    if (this.#rows > rowsMax)
      throw problem('tooManyValues', {
        values: this.#rows,
        valuesMax: rowsMax,
        accumulator: 'an expression',
      });
    this.#sinceTurn += rows;
    if (this.#sinceTurn < rowsPerTurn) return;
    this.#sinceTurn = 0;
    await nextTurn();
  }
}

function tailOf({ kind, values, texts, kinds }: Vector, first: number): Vector {
  const tail = { kind, values: values.subarray(first), texts };
  return kinds === undefined ? tail : { ...tail, kinds: kinds.subarray(first) };
}

// Inputs: what an expression reads, gathered by the topic and device that it is read from.

interface SourceRows {
  readonly keys: string[];
  /** How long before a row its windows begin. */
  reachMs: number;
  /** Whether the last values before the interval count. */
  looksBack: boolean;
  /** Whether inputs are filled row by row. */
  needsRows: boolean;
  readonly trackers: { readonly tracker: Tracker; readonly column: number }[];
}

interface OtherSource extends SourceRows {
  readonly source: { readonly deviceId: string; readonly topic: string };
}

class InputRows {
  readonly own: SourceRows = emptySource();
  readonly others: OtherSource[] = [];
  readonly #expression: Expression;
  readonly #fields: JsonObject;
  readonly #trackers: (Tracker | undefined)[];
  /** Column of each input of kind `key`. */
  readonly #columns: number[];
  #columnsNow: readonly Vector[] = [];

  constructor(
    expression: Expression,
    device: { readonly deviceId: string; readonly topic: string; readonly fields: JsonObject },
  ) {
    this.#expression = expression;
    this.#fields = device.fields;
    this.#columns = expression.inputs.map(() => -1);
    this.#trackers = expression.inputs.map((input, i) => {
      if (input.kind === 'field' || input.kind === 'timestamp') return undefined;
      const from = this.#sourceOf(input.source, device);
      let column = from.keys.indexOf(input.source.key);
      if (column < 0) column = from.keys.push(input.source.key) - 1;
      if (input.kind === 'key') {
        this.#columns[i] = column;
        return undefined;
      }
      const tracker = trackerOf(input, from === this.own);
      from.trackers.push({ tracker, column });
      from.needsRows = true;
      if (input.kind === 'window') from.reachMs = Math.max(from.reachMs, input.windowMs);
      else from.looksBack = true;
      return tracker;
    });
  }

  #sourceOf(
    { deviceId, topic }: ValueSource,
    own: { readonly deviceId: string; readonly topic: string },
  ): SourceRows {
    const wanted = { deviceId: deviceId ?? own.deviceId, topic: topic ?? own.topic };
    if (wanted.deviceId === own.deviceId && wanted.topic === own.topic) return this.own;
    const known = this.others.find(
      ({ source }) => source.deviceId === wanted.deviceId && source.topic === wanted.topic,
    );
    if (known !== undefined) return known;
    const other = { ...emptySource(), source: wanted };
    this.others.push(other);
    return other;
  }

  /** Begins a batch; returns the inputs when all rows were told. */
  start(timestamps: Float64Array, columns: readonly ValueColumn[]): () => Vector[] {
    const { length } = timestamps;
    const vectors = columns.map((column) => vectorOf(column, length));
    this.#columnsNow = vectors;
    for (const tracker of this.#trackers) tracker?.start(length);
    return () =>
      this.#expression.inputs.map((input, i) => {
        if (input.kind === 'timestamp') return { kind: 'number', values: timestamps, texts: [] };
        if (input.kind === 'field') return constant(valueOf(this.#fields[input.name]), length);
        const tracker = this.#trackers[i];
        if (tracker !== undefined) return tracker.vector();
        return vectors[this.#columns[i] ?? -1] ?? nulls(length);
      });
  }

  row(row: number, at: EpochMs): void {
    for (const { tracker, column } of this.own.trackers) {
      const vector = this.#columnsNow[column];
      if (vector !== undefined) tracker.feed(vector, row, at);
    }
    for (const tracker of this.#trackers) tracker?.write(row, at);
  }
}

function emptySource(): SourceRows {
  return { keys: [], reachMs: 0, looksBack: false, needsRows: false, trackers: [] };
}

/** Rows of another topic or device, told to its trackers up to a moment. */
class OtherRows {
  readonly #source: OtherSource;
  readonly #batches: AsyncIterator<ValueBatch>;
  #timestamps: Float64Array = new Float64Array(0);
  #vectors: readonly Vector[] = [];
  #next = 0;
  #done = false;

  constructor(source: OtherSource, batches: AsyncIterable<ValueBatch>) {
    this.#source = source;
    this.#batches = batches[Symbol.asyncIterator]();
  }

  /** False when more must be read. */
  feedUntil(moment: EpochMs): boolean {
    while (this.#next < this.#timestamps.length) {
      const at = this.#timestamps[this.#next] ?? 0;
      if (at > moment) return true;
      for (const { tracker, column } of this.#source.trackers) {
        const vector = this.#vectors[column];
        if (vector !== undefined) tracker.feed(vector, this.#next, at);
      }
      this.#next++;
    }
    return this.#done;
  }

  async feedMore(moment: EpochMs, turn: (rows: number) => Promise<void>): Promise<void> {
    do {
      const read = await this.#batches.next();
      this.#next = 0;
      if (read.done === true) {
        this.#done = true;
        this.#timestamps = new Float64Array(0);
        return;
      }
      const { timestamps, columns } = read.value;
      this.#timestamps = timestamps;
      this.#vectors = columns.map((column) => vectorOf(column, timestamps.length));
      await turn(timestamps.length);
    } while (!this.feedUntil(moment));
  }

  async close(): Promise<void> {
    await this.#batches.return?.();
  }
}

// Trackers: inputs that depend on the rows before.

interface Tracker {
  start(length: number): void;
  /** A row of the source, in the order of time. */
  feed(vector: Vector, row: number, at: EpochMs): void;
  /** Sets the input of a row. */
  write(row: number, at: EpochMs): void;
  vector(): Vector;
}

function trackerOf(
  input: Exclude<Input, { kind: 'key' | 'field' | 'timestamp' }>,
  isOwn: boolean,
): Tracker {
  if (input.kind === 'window') return new WindowTracker(input);
  return new LastTracker(input.kind === 'last' ? input.maxAgeMs : undefined, isOwn);
}

/** The last value of at most an age, or the one before it. */
class LastTracker implements Tracker {
  readonly #maxAgeMs: number | undefined;
  readonly #isOwn: boolean;
  #writer = new VectorWriter(0);
  #value: Value = null;
  #at = Number.NEGATIVE_INFINITY;
  #before: Value = null;
  /** Whether the row that was fed last has a value. */
  #isHere = false;

  /** Without an age the value before. */
  constructor(maxAgeMs: number | undefined, isOwn: boolean) {
    this.#maxAgeMs = maxAgeMs;
    this.#isOwn = isOwn;
  }

  start(length: number): void {
    this.#writer = new VectorWriter(length);
  }

  feed(vector: Vector, row: number, at: EpochMs): void {
    const value = vectorValue(vector, row);
    this.#isHere = value !== null;
    if (value === null) return;
    this.#before = this.#value;
    this.#value = value;
    this.#at = at;
  }

  write(row: number, at: EpochMs): void {
    if (this.#maxAgeMs !== undefined) {
      if (at - this.#at <= this.#maxAgeMs) this.#writer.put(row, this.#value);
    } else this.#writer.put(row, this.#isOwn && !this.#isHere ? this.#value : this.#before);
  }

  vector(): Vector {
    return this.#writer.vector();
  }
}

class WindowTracker implements Tracker {
  readonly #window: ValueWindow;
  #values = new Float64Array(0);

  constructor(input: Extract<Input, { kind: 'window' }>) {
    this.#window = new ValueWindow(input);
  }

  start(length: number): void {
    this.#values = new Float64Array(length);
  }

  feed({ kind, kinds, values }: Vector, row: number, at: EpochMs): void {
    const value = values[row] ?? Number.NaN;
    const isText = kind === 'string' || (kind === 'mixed' && kinds?.[row] === 2);
    if (!isText && !Number.isNaN(value)) this.#window.add(at, value);
  }

  write(row: number, at: EpochMs): void {
    const value = this.#window.at(at);
    this.#values[row] = Number.isFinite(value) ? value : Number.NaN;
  }

  vector(): Vector {
    return { kind: 'number', values: this.#values, texts: [] };
  }
}

// Columns and vectors.

/** Arrays and objects are null. */
function vectorOf({ numbers, types, ids, texts }: ValueColumn, length: number): Vector {
  if (types === undefined) return { kind: 'number', values: numbers, texts: [] };
  let seen = 0;
  for (let i = 0; i < length; i++) seen |= 1 << (types[i] ?? 0);
  const hasText = (seen & (1 << valueTypes.text)) !== 0;
  const hasBoolean = (seen & (1 << valueTypes.boolean)) !== 0;
  const hasNumber = (seen & (1 << valueTypes.number)) !== 0;
  if (!hasText && !hasBoolean) return { kind: 'number', values: numbers, texts: [] };
  if (!hasText && !hasNumber) return { kind: 'boolean', values: numbers, texts: [] };
  const values = new Float64Array(length);
  const kinds = new Uint8Array(length);
  for (let i = 0; i < length; i++) {
    const isText = types[i] === valueTypes.text;
    values[i] = (isText ? ids?.[i] : numbers[i]) ?? Number.NaN;
    kinds[i] = isText ? 2 : Number(types[i] === valueTypes.boolean);
  }
  if (!hasBoolean && !hasNumber) return { kind: 'string', values, texts };
  return { kind: 'mixed', values, texts, kinds };
}

const typeOfKind = [valueTypes.number, valueTypes.boolean, valueTypes.text];

function columnOf({ kind, values, texts, kinds }: Vector): ValueColumn {
  const types = new Uint8Array(values.length);
  const isText = kind === 'string' || kind === 'mixed';
  const numbers = isText ? new Float64Array(values.length).fill(Number.NaN) : values;
  const ids = isText ? new Uint32Array(values.length) : undefined;
  const only = { number: 0, boolean: 1, string: 2, mixed: 0 }[kind];
  for (let i = 0; i < values.length; i++) {
    const value = values[i] ?? Number.NaN;
    if (Number.isNaN(value)) continue;
    const at = kinds?.[i] ?? only;
    types[i] = typeOfKind[at] ?? valueTypes.none;
    if (at === 2 && ids !== undefined) ids[i] = value;
    else if (isText) numbers[i] = value;
  }
  return { numbers, types, ids, texts };
}

function constant(value: Value, length: number): Vector {
  const writer = new VectorWriter(length);
  for (let i = 0; i < length; i++) writer.put(i, value);
  return writer.vector();
}

// Buckets.

const facetKinds = { number: 'number', boolean: 'boolean', string: 'text' } as const;

/** The tallies of one device; rows come in the order of time. */
class BucketTallies {
  readonly tallies: (Tally | undefined)[];
  readonly #facet: Facet<Tally>;
  readonly #edges: readonly EpochMs[];
  #bucket = 0;
  #order = 0;

  constructor(facet: Facet<Tally>, edges: readonly EpochMs[]) {
    this.#facet = facet;
    this.#edges = edges;
    this.tallies = edges.slice(1).map(() => undefined);
  }

  add({ timestamps, vector }: ComputedRows): void {
    const { values, kind, texts } = vector;
    const present = presentRows(values);
    const picked = present === undefined ? values : present.map((row) => values[row] ?? 0);
    const times = present === undefined ? timestamps : present.map((row) => timestamps[row] ?? 0);
    const { length } = times;
    const orders = Float64Array.from({ length }, () => this.#order++);
    for (let from = 0; from < length; ) {
      while ((this.#edges[this.#bucket + 1] ?? Infinity) <= (times[from] ?? 0)) this.#bucket++;
      const end = this.#edges[this.#bucket + 1] ?? Infinity;
      let to = from + 1;
      while (to < length && (times[to] ?? 0) < end) to++;
      const tally = (this.tallies[this.#bucket] ??= this.#facet.start());
      if (kind === 'mixed')
        for (let i = from; i < to; i++)
          addValue(this.#facet, tally, vectorValue(vector, present?.[i] ?? i), {
            timestamp: times[i] ?? 0,
            order: orders[i],
          });
      else {
        tally.count += to - from;
        const column = {
          kind: facetKinds[kind],
          length,
          timestamps: times,
          orders,
          values: picked,
          texts,
        };
        if (this.#facet.reads(column.kind)) this.#facet.fromColumn(tally, column, from, to);
      }
      from = to;
    }
  }
}

/** Rows with a value; undefined when all have one. */
function presentRows(values: Float64Array): Float64Array | undefined {
  let count = 0;
  for (const value of values) if (!Number.isNaN(value)) count++;
  if (count === values.length) return undefined;
  const rows = new Float64Array(count);
  let at = 0;
  for (const [row, value] of values.entries()) if (!Number.isNaN(value)) rows[at++] = row;
  return rows;
}

// Texts and zones of requests.

/** Throws Problem 400 `invalidExpression`; `where` names the member of the request. */
export function readExpression(text: string, where: string): Expression {
  try {
    return parseExpression(text);
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    const { message: reason, position } = error;
    throw problem('invalidExpression', { where, reason, position });
  }
}

/** The offsets of a zone; rows that follow each other mostly have the same. */
export function offsetsOf(zone: TimeZone): OffsetAt {
  let piece: ZonePiece | undefined;
  return (at) => {
    if (piece === undefined || at < piece.start || at >= piece.end) [piece] = zone.pieces(at, at);
    return piece?.offsetMs ?? 0;
  };
}
