// Operands that are expressions: compiled, computed for the sample of their data source, and remembered with it (contract 38).
import { type OffsetAt, type RowFunction, rowFunction } from '../../query/expressions/evaluate.ts';
import {
  type Expression,
  type Input,
  parseExpression,
  type Value,
  type ValueSource,
  valueOf,
} from '../../query/expressions/parse.ts';
import { inputValue, RecentValues } from '../../query/expressions/recent-values.ts';
import { ByteCache } from '../../structures/caches.ts';
import { dataValue } from '../../model/sample.ts';
import type { EpochMs } from '../../model/instant.ts';
import type { JsonObject } from '../../model/json.ts';
import type { LogicBlock, RuleOperand } from '../../model/rule.ts';
import { Problem } from '../../model/problem.ts';
import { columnValueAt } from '../../query/summaries/ordered-values.ts';
import type { Samples } from '../../storage/samples/samples.ts';
import type { UsualDays } from './usual-days.ts';
import type { RuleSample } from './rule-reading.ts';

/** Of all devices together. */
const bytesMax = 32 * 1024 * 1024;
const bytesPerDevice = 400;

const utc: OffsetAt = () => 0;
const noFields: JsonObject = {};

/** A formula of a rule. */
interface Formula {
  readonly text: string;
  readonly inputs: readonly Input[];
  readonly isLocal: boolean;
  /** Whether it may be unknown for long, because too little was measured to know what is usual. */
  readonly isOfUsual: boolean;
  /** Whether the sample alone decides. */
  readonly isOfSample: boolean;
  /** For the zone in which its hours and days count. */
  readonly compute: (offsetAt: OffsetAt) => RowFunction;
}

/** A formula, and the index of the data source for whose sample it is computed. */
export interface PlacedFormula {
  readonly formula: Formula;
  readonly place: number;
}

function formulaOf(expression: Expression): Formula {
  const { text, inputs, isLocal } = expression;
  const shared = isLocal ? undefined : rowFunction(expression, utc);
  return {
    text,
    inputs,
    isLocal,
    isOfUsual: inputs.some(({ kind }) => kind === 'unusual'),
    isOfSample: !isLocal && inputs.every(({ kind }) => kind === 'key' || kind === 'timestamp'),
    compute: (offsetAt) => shared ?? rowFunction(expression, offsetAt),
  };
}

/** The formulas of a rule; equal ones are computed once. */
export class Formulas {
  readonly #byText = new Map<string, Formula>();
  readonly #placed: PlacedFormula[] = [];

  of(text: string, place: number): Formula {
    let formula = this.#byText.get(text);
    if (formula === undefined)
      this.#byText.set(text, (formula = formulaOf(parseExpression(text, true))));
    if (!this.#placed.some((one) => one.formula === formula && one.place === place))
      this.#placed.push({ formula, place });
    return formula;
  }

  /** Whether the block asks what is unusual. */
  isOfUsual(block: LogicBlock): boolean {
    return operandsOf(block).some(
      ({ expression }) => expression !== undefined && this.#byText.get(expression)?.isOfUsual,
    );
  }

  /** Those that read more than the sample. */
  get reading(): readonly PlacedFormula[] {
    return this.#placed.filter(({ formula }) => !formula.isOfSample);
  }
}

/** Every operand of the block. */
export function operandsOf({ conditions, clearConditions = [] }: LogicBlock): RuleOperand[] {
  return [...conditions, ...clearConditions].flatMap(({ operandFirst, operandSecond }) => [
    operandFirst,
    operandSecond,
  ]);
}

/** The keys of the sample that a formula reads; samples of the topic that have none do not concern it. */
export function ownKeysOf(text: string, dataTopic: string): string[] {
  return parseExpression(text, true).inputs.flatMap((input) => {
    if (!('source' in input)) return [];
    const { deviceId, topic, key } = input.source;
    const isOwn = topic === null || topic === dataTopic || dataTopic === '*';
    return deviceId === null && isOwn ? [key] : [];
  });
}

// What was computed is kept as long as the sample is in memory: as the last one of its device, or in the log of runs.
const computed = new WeakMap<RuleSample, Map<Formula, Value>>();

/** Throws for a formula that reads more than the sample and was not computed before. */
export function formulaValue(formula: Formula, sample: RuleSample): Value {
  const known = computed.get(sample)?.get(formula);
  if (known !== undefined) return known;
  if (!formula.isOfSample) throw new Error(`${formula.text} was not computed`);
  const none = (): RecentValues => new RecentValues();
  const inputs = formula.inputs.map((input) => inputValue(input, sample, noFields, none));
  return formula.compute(utc)(inputs);
}

const unjudged = new WeakMap<RuleSample, string>();

/** Why what is unusual could not be told for the sample; undefined when it was. */
export function unjudgedReason(sample: RuleSample): string | undefined {
  return unjudged.get(sample);
}

export interface NeededFormula {
  readonly formula: Formula;
  readonly sample: RuleSample;
}

/** Whether the formula has to be computed before the sample is evaluated. */
export function isNeeded({ formula, sample }: NeededFormula): boolean {
  return !formula.isOfSample && computed.get(sample)?.has(formula) !== true;
}

/** A device, as formulas know it. */
interface FormulaDevice {
  readonly workspaceId: string;
  /** Custom field name to value. */
  readonly fields: JsonObject;
}

/** Values of a data key that were read from the store. */
interface Series {
  readonly list: RecentValues;
  /** What is in the list is complete from here on, for windows that end at `endsFrom` or later. */
  from: EpochMs;
  endsFrom: EpochMs;
  /** Exclusive. */
  to: EpochMs;
}

interface DeviceSeries {
  readonly workspaceId: string;
  readonly byName: Map<string, Series>;
}

/** Computes what formulas read of other samples, of devices that send one sample after another. */
export class FormulaValues {
  readonly #values: Samples['values'];
  readonly #deviceOf: (deviceId: string) => Promise<FormulaDevice | undefined>;
  readonly #offsetsOf: (workspaceId: string) => Promise<OffsetAt>;
  readonly #usual: UsualDays;
  readonly #devices: ByteCache<DeviceSeries>;

  /** `deviceOf` resolves to undefined for an unknown device; `offsetsOf` to those of the zone of the workspace. */
  constructor(
    values: Samples['values'],
    deviceOf: (deviceId: string) => Promise<FormulaDevice | undefined>,
    offsetsOf: (workspaceId: string) => Promise<OffsetAt>,
    usual: UsualDays,
    max: number = bytesMax,
  ) {
    this.#values = values;
    this.#deviceOf = deviceOf;
    this.#offsetsOf = offsetsOf;
    this.#usual = usual;
    this.#devices = new ByteCache(max);
  }

  /** Values up to `until` are read at once, because samples up to there are evaluated next. */
  async compute(needed: readonly NeededFormula[], until: EpochMs): Promise<void> {
    for (const { formula, sample } of needed) {
      const value = await this.#valueOf(formula, sample, until).catch(unreadable);
      // The run of the rule fails, and says so.
      if (value === undefined) continue;
      const values = computed.get(sample) ?? new Map<Formula, Value>();
      computed.set(sample, values.set(formula, value));
    }
  }

  /** Samples of the device from that time on were stored. Those before what was read are read again. */
  stored(deviceId: string, from: EpochMs): void {
    const device = this.#devices.get(deviceId);
    if (device !== undefined && [...device.byName.values()].some(({ to }) => from < to))
      this.forget(deviceId);
  }

  forget(deviceId: string): void {
    this.#devices.delete(deviceId);
  }

  async #valueOf(formula: Formula, sample: RuleSample, until: EpochMs): Promise<Value> {
    const device = await this.#deviceOf(sample.deviceId);
    // Its samples are evaluated for the last time.
    if (device === undefined) return null;
    const offsetAt = formula.isLocal ? await this.#offsetsOf(device.workspaceId) : utc;
    const lists = new Map<string, RecentValues>();
    const inputs: Value[] = [];
    for (const input of formula.inputs) {
      if (input.kind === 'unusual') {
        inputs.push(await this.#unusual(input, sample, device));
        continue;
      }
      if ('source' in input && input.kind !== 'key') {
        const source = { ...input.source, topic: input.source.topic ?? sample.topic };
        const reachMs = input.kind === 'window' ? input.windowMs : 0;
        const list = await this.#listOf(source, sample, reachMs, device, until);
        lists.set(nameOf(source), list);
      }
      const listOf = (source: ValueSource): RecentValues =>
        lists.get(nameOf(source)) ?? new RecentValues();
      inputs.push(inputValue(input, sample, device.fields, listOf));
    }
    return formula.compute(offsetAt)(inputs);
  }

  /** Null without a number, and where it is not known what is usual. */
  async #unusual(
    { source: { key }, sensitivity }: Extract<Input, { kind: 'unusual' }>,
    sample: RuleSample,
    { workspaceId }: FormulaDevice,
  ): Promise<boolean | null> {
    const { deviceId, topic, timestamp, data } = sample;
    const value = valueOf(dataValue(data, key));
    if (typeof value !== 'number' && typeof value !== 'boolean') return null;
    const day = await this.#usual.dayFor({ deviceId, workspaceId, topic, key }, timestamp);
    const isOutside = day?.isOutside(Number(value), timestamp, sensitivity);
    if (isOutside !== undefined) return isOutside;
    const why = day === undefined ? 'is being learned' : 'is not known from so little history';
    unjudged.set(sample, `what is usual for ${key} ${why}`);
    return null;
  }

  async #listOf(
    source: ValueSource,
    { deviceId, timestamp }: RuleSample,
    reachMs: number,
    { workspaceId }: FormulaDevice,
    until: EpochMs,
  ): Promise<RecentValues> {
    const from = timestamp - reachMs;
    if (source.deviceId !== null && source.deviceId !== deviceId) {
      const other = await this.#deviceOf(source.deviceId);
      const list = new RecentValues();
      // It stores samples that are evaluated later or never, so nothing of it is kept.
      if (other?.workspaceId === workspaceId)
        await this.#read(list, source.deviceId, source, from, timestamp + 1, timestamp, true);
      return list;
    }
    const before = this.#devices.get(deviceId);
    const byName = before?.workspaceId === workspaceId ? before.byName : new Map<string, Series>();
    this.forget(deviceId);
    const device: DeviceSeries = { workspaceId, byName };
    const name = nameOf(source);
    const known = device.byName.get(name);
    const continues =
      known !== undefined &&
      known.from <= from &&
      known.endsFrom <= timestamp &&
      (timestamp < known.to || from <= known.to);
    const series: Series = continues
      ? known
      : { list: new RecentValues(), from, endsFrom: timestamp, to: from };
    if (timestamp >= series.to) {
      const to = Math.max(timestamp, until) + 1;
      await this.#read(series.list, deviceId, source, series.to, to, timestamp, !continues);
      series.to = to;
    }
    series.endsFrom = Math.max(series.endsFrom, timestamp);
    device.byName.set(name, series);
    this.#keep(deviceId, device);
    return series.list;
  }

  async #read(
    list: RecentValues,
    deviceId: string,
    { topic, key }: ValueSource,
    from: EpochMs,
    to: EpochMs,
    endsFrom: EpochMs,
    before: boolean,
  ): Promise<void> {
    const request = { deviceId, topic: topic ?? '', keys: [key], from, to, before, after: false };
    for await (const { timestamps, columns } of this.#values(request)) {
      const [column] = columns;
      if (column === undefined) continue;
      for (const [row, at] of timestamps.entries())
        list.add(at, valueOf(columnValueAt(column, row)));
      list.dropBefore(Math.min(endsFrom, timestamps.at(-1) ?? endsFrom));
    }
  }

  /** The workspace that holds most makes room. */
  #keep(deviceId: string, device: DeviceSeries): void {
    let bytes = bytesPerDevice;
    for (const { list } of device.byName.values()) bytes += list.bytes;
    this.#devices.set(deviceId, device, device.workspaceId, bytes);
  }
}

function unreadable(error: unknown): undefined {
  if (!(error instanceof Problem) || error.problem !== 'samplesDamaged') throw error;
}

function nameOf({ deviceId, topic, key }: ValueSource): string {
  return `${deviceId ?? ''}\u0000${topic ?? ''}\u0000${key}`;
}
