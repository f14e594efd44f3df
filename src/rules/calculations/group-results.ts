// Results of a calculation: KPIs of each device over periods, combined to the data of one sample each (contract 38.2).
import { setImmediate as nextTurn } from 'node:timers/promises';
import { rowFunction } from '../../query/expressions/evaluate.ts';
import { type Expression, parseExpression, valueOf } from '../../query/expressions/parse.ts';
import type { Calculation, CountName, EachDevice } from '../../model/calculation.ts';
import { dataValue } from '../../model/sample.ts';
import type { EpochMs } from '../../model/instant.ts';
import type { Json, JsonObject } from '../../model/json.ts';
import {
  type Accumulation,
  type BucketStore,
  type CalendarOf,
  type OpenZone,
  type QueriedDevice,
  type ReadingStore,
  calendarZone,
  readAccumulation,
} from '../../query/accumulation.ts';
import { answersInOrder, answersOfTallies, bucketRequest } from '../../query/bucket-answers.ts';
import { singleBucket } from '../../query/bucket-plan.ts';
import { ExpressionReads, offsetsOf } from '../../query/expression-reads.ts';
import type { Calendars } from '../../query/calendars.ts';
import { accumulatorOf } from '../../query/summaries/accumulators.ts';
import { combined } from '../../query/summaries/across.ts';
import { isFold } from '../../query/summaries/folds.ts';
import { refuseUnreadable } from '../../storage/samples/reported-reads.ts';
import type { Period } from './calculation-registry.ts';

/** Devices that one call of the store covers. */
const devicesACall = 500;

/** A device that is combined. */
export interface Member extends QueriedDevice {
  readonly onlineTimeoutMs: number;
}

/** Throws the reason of `stopped` when it is aborted. */
export class CalculationResults {
  readonly #store: ReadingStore;
  readonly #calendars: Calendars;
  readonly #fieldsOfDevice: (deviceId: string) => JsonObject | Promise<JsonObject>;
  readonly #now: () => EpochMs;

  /** `fieldsOfDevice` gives custom field names to values. */
  constructor(
    store: ReadingStore,
    calendars: Calendars,
    fieldsOfDevice: (deviceId: string) => JsonObject | Promise<JsonObject>,
    now: () => EpochMs,
  ) {
    this.#store = store;
    this.#calendars = calendars;
    this.#fieldsOfDevice = fieldsOfDevice;
    this.#now = now;
  }

  /** The data of each period, in their order, which are neighbors; null for one without any value. */
  async of(
    calculation: Calculation,
    members: readonly Member[],
    periods: readonly Period[],
    stopped: AbortSignal,
  ): Promise<(JsonObject | null)[]> {
    const zone = await zoneOf(calculation, this.#calendars);
    const rows: Record<string, Json>[] = periods.map(() => ({}));
    const write = (key: string, values: readonly (number | null)[]): void => {
      for (const [i, value] of values.entries()) {
        const row = rows[i];
        if (row !== undefined && value !== null && Number.isFinite(value)) row[key] = value + 0;
      }
    };
    for (const output of calculation.outputs) {
      if ('each' in output) {
        const found = await this.#valuesOfEach(calculation, output.each, members, periods, stopped);
        write(
          output.key,
          found.map((values) => combined(output.across, values)),
        );
      } else if ('count' in output)
        write(output.key, await this.#counts(calculation, output.count, members, periods, stopped));
    }
    const offsetAt = offsetsOf(zone);
    const given = rows.map((row) => ({ ...row }));
    for (const output of calculation.outputs) {
      if (!('expression' in output)) continue;
      const expression = parseExpression(output.expression);
      const compute = rowFunction(expression, offsetAt);
      for (const [i, row] of rows.entries()) {
        const value = compute(inputsOf(expression, given[i] ?? {}, periods[i]?.start ?? 0));
        if (value === null || (typeof value === 'number' && !Number.isFinite(value))) continue;
        row[output.key] = typeof value === 'number' ? value + 0 : value;
      }
    }
    return rows.map((row) => (Object.keys(row).length === 0 ? null : row));
  }

  /** By period, the values of the devices that have one. */
  async #valuesOfEach(
    calculation: Calculation,
    each: EachDevice,
    members: readonly Member[],
    periods: readonly Period[],
    stopped: AbortSignal,
  ): Promise<number[][]> {
    const found: number[][] = periods.map(() => []);
    const [first, last] = [periods[0], periods.at(-1)];
    if (first === undefined || last === undefined) return found;
    const accumulation = this.#accumulationOf(calculation, each, first);
    const { accumulator } = accumulation;
    const now = this.#now();
    const store = await this.#readsOf(calculation, each, members);
    if (isFold(accumulator)) {
      // Each period by itself, so that it does not matter which are computed together.
      for (const [i, { start: from, end: to }] of periods.entries()) {
        const plan = singleBucket('raw', { from, to });
        const counted = { values: 0 };
        for await (const some of inPieces(members)) {
          stopped.throwIfAborted();
          for (const { values } of await answersInOrder(
            some,
            accumulation,
            accumulator,
            plan,
            now,
            store,
            counted,
          ))
            add(found[i], values[0]);
        }
      }
      return found;
    }
    const span = { from: first.start, to: last.end, now };
    const slotsOf = await this.#calendars.slotsOf(members, accumulator, span);
    const { facet } = accumulatorOf(accumulator);
    const starts = periods.map(({ start }) => start);
    const edges = [...starts, last.end];
    const plan = { source: 'raw', starts, edges, places: starts.map((_, i) => i) } as const;
    for await (const some of inPieces(members)) {
      stopped.throwIfAborted();
      const tallies = await store.buckets(bucketRequest(some, accumulation, accumulator, plan));
      for (const [i, device] of some.entries()) {
        const slots = (start: EpochMs, end: EpochMs) => slotsOf(device, start, end);
        // As in a KPI, a device without values counts 0 where that is a number.
        const own = periods.map((_, place) => tallies[i]?.[place] ?? facet.start());
        const { values } = answersOfTallies(accumulator, own, plan, slots);
        for (const [place, value] of values.entries()) add(found[place], value);
      }
    }
    return found;
  }

  /** A value holds until the next one, so that a period that has ended does not change by itself. */
  #accumulationOf(
    { topic, timeZone }: Calculation,
    { accumulator, dataKey, expression, maxGap, per, state, resets }: EachDevice,
    { start, end }: Period,
  ): Accumulation {
    const interval = { from: new Date(start).toISOString(), to: new Date(end).toISOString() };
    return readAccumulation(
      {
        topic,
        dataKey: dataKey ?? expression ?? '',
        accumulator,
        interval,
        timeZone,
        maxGap,
        per,
        state,
        resets,
        interpolation: 'STEP',
      },
      this.#calendars.openZone,
    );
  }

  /** A store that computes the expression. */
  async #readsOf(
    calculation: Calculation,
    { expression }: EachDevice,
    members: readonly Member[],
  ): Promise<BucketStore> {
    if (expression === null) return this.#store;
    const parsed = parseExpression(expression);
    const fields = new Map<string, JsonObject>();
    if (parsed.inputs.some(({ kind }) => kind === 'field'))
      for (const { id } of members) fields.set(id, await this.#fieldsOfDevice(id));
    const offsetAt = offsetsOf(await zoneOf(calculation, this.#calendars));
    return new ExpressionReads(this.#store, new Map([[expression, parsed]]), (deviceId) => ({
      offsetAt,
      fields: fields.get(deviceId) ?? {},
    }));
  }

  /** By period. */
  async #counts(
    { topic }: Calculation,
    count: CountName,
    members: readonly Member[],
    periods: readonly Period[],
    stopped: AbortSignal,
  ): Promise<number[]> {
    if (count === 'TOTAL') return periods.map(() => members.length);
    const found: number[] = [];
    const onlineMs = Math.max(0, ...members.map(({ onlineTimeoutMs }) => onlineTimeoutMs));
    for (const { start, end } of periods) {
      // Older samples do not count, and are not looked for.
      const oldest = count === 'REPORTING' ? start : end - onlineMs;
      let counted = 0;
      for await (const some of inPieces(members)) {
        stopped.throwIfAborted();
        const deviceIds = some.map(({ id }) => id);
        const samples = await this.#store.latest({
          deviceIds,
          topics: [topic],
          from: oldest,
          until: end - 1,
          unreadable: refuseUnreadable,
        });
        for (const [i, device] of some.entries()) {
          const at = samples[i]?.[0]?.timestamp;
          if (at === undefined || at >= end) continue;
          const since = count === 'REPORTING' ? start : end - device.onlineTimeoutMs;
          if (at >= since) counted++;
        }
      }
      found.push(counted);
    }
    return found;
  }
}

/** The zone of the periods. */
export async function zoneOf(
  { timeZone, workspaceId }: Calculation,
  { openZone, calendarOf }: { readonly openZone: OpenZone; readonly calendarOf: CalendarOf },
) {
  const own = timeZone === null ? undefined : openZone(timeZone);
  return own ?? calendarZone(await calendarOf(workspaceId), openZone);
}

function inputsOf({ inputs }: Expression, row: JsonObject, start: EpochMs) {
  return inputs.map((input) => {
    if (input.kind === 'timestamp') return start;
    return input.kind === 'key' ? valueOf(dataValue(row, input.source.key)) : null;
  });
}

/** In pieces of what one call of the store covers, with turns for other requests between them. */
async function* inPieces(members: readonly Member[]): AsyncIterable<readonly Member[]> {
  for (let from = 0; from < members.length; from += devicesACall) {
    if (from > 0) await nextTurn();
    yield members.slice(from, from + devicesACall);
  }
}

function add(to: number[] | undefined, value: number | null | undefined): void {
  if (to !== undefined && value !== null && value !== undefined) to.push(value);
}
