// A slow evaluator of rules for tests: looks through the whole history for every sample, and shares nothing with the real one.
import type { Json, JsonObject } from '../../model/json.ts';
import type { Rule, RuleDataSource, RuleInput, RuleOperand, ValueType } from '../../model/rule.ts';

export interface ReferenceSample {
  readonly deviceId: string;
  readonly topic: string;
  readonly timestamp: number;
  readonly data: JsonObject;
  /** Triggers nothing: an output wrote it that does not invoke the rule engine. */
  readonly skipped?: boolean;
}

export interface ReferenceWorld {
  readonly rules: readonly Rule[];
  readonly samples: readonly ReferenceSample[];
  /** Tags of each device. */
  readonly tags: Readonly<Record<string, readonly string[]>>;
  /** Action id to whether it fires again and again. */
  readonly consecutive: Readonly<Record<string, boolean>>;
  /**
   * Rules that are deactivated or activated before the sample at that place; all are active at
   * first.
   */
  readonly switches?: readonly { readonly at: number; readonly ruleId: string }[];
}

/** `rule sample cause action` of everything that fires, in order. */
export function referenceFirings({
  rules,
  samples,
  tags,
  consecutive,
  switches = [],
}: ReferenceWorld): string[] {
  const fired: string[] = [];
  const held = new Map<string, boolean>();
  /** The newest time that a rule judged of a data source and device. */
  const judged = new Map<string, number>();
  const inactive = new Set<string>();
  samples.forEach((sample, at) => {
    for (const { ruleId } of switches.filter((one) => one.at === at)) {
      if (inactive.delete(ruleId)) continue;
      inactive.add(ruleId);
      for (const state of [held, judged])
        for (const key of state.keys()) if (key.startsWith(`${ruleId} `)) state.delete(key);
    }
    for (const rule of rules) {
      if (sample.skipped === true || inactive.has(rule.id)) continue;
      const { dataSources } = rule.logic;
      const includes = (source: RuleDataSource, deviceId: string) =>
        rule.inputs.some(
          (input) =>
            source.inputIds.includes(input.id) && isInput(input, deviceId, tags[deviceId] ?? []),
        );
      const matches = (source: RuleDataSource, seen: ReferenceSample) =>
        includes(source, seen.deviceId) && watched(source, rule, seen);
      const canTrigger = dataSources.filter(
        (source) => !source.lastSample || source.triggerOnUplink,
      );
      const triggering = canTrigger.length > 0 ? canTrigger : dataSources;
      const judgedKey = (source: RuleDataSource) =>
        `${rule.id} ${dataSources.indexOf(source)} ${sample.deviceId}`;
      const matching = dataSources.filter((source) => matches(source, sample));
      if (!triggering.some((source) => matching.includes(source))) continue;
      const inTime = matching.filter(
        (source) => sample.timestamp >= (judged.get(judgedKey(source)) ?? sample.timestamp),
      );
      const isLate = !triggering.some((source) => inTime.includes(source));
      const fresh = isLate ? matching : inTime;
      if (!isLate) for (const source of fresh) judged.set(judgedKey(source), sample.timestamp);
      const shown = (source: RuleDataSource): ReferenceSample | undefined => {
        if (fresh.includes(source) && !source.lastSample) return sample;
        const devices = includes(source, sample.deviceId)
          ? [sample.deviceId]
          : rule.inputs
              .filter(({ id, type }) => type === 'DEVICE' && source.inputIds.includes(id))
              .map(({ id }) => id);
        let best: ReferenceSample | undefined;
        for (const device of devices) {
          let newest: ReferenceSample | undefined;
          for (const seen of samples.slice(0, at)) {
            if (seen.deviceId !== device || !watched(source, rule, seen)) continue;
            if (newest === undefined || seen.timestamp >= newest.timestamp) newest = seen;
          }
          if (newest !== undefined && (best === undefined || newest.timestamp > best.timestamp))
            best = newest;
        }
        return best;
      };
      const causes = outcome(rule, shown);
      for (const [cause, isTrue, actionIds] of causes) {
        const key = `${rule.id} ${sample.deviceId} ${cause === 'outside' ? 'inside' : cause}`;
        const before = held.get(key) ?? false;
        const begins = !isLate && isTrue && before === (cause === 'outside');
        if (isTrue) {
          for (const action of actionIds) {
            if (begins || consecutive[action] === true)
              fired.push(`${rule.id} ${at} ${cause} ${action}`);
          }
        }
      }
      for (const [cause, isTrue] of isLate ? [] : causes) {
        if (cause !== 'outside') held.set(`${rule.id} ${sample.deviceId} ${cause}`, isTrue);
      }
    }
  });
  return fired;
}

function isInput(input: RuleInput, deviceId: string, tags: readonly string[]): boolean {
  if (input.type === 'DEVICE') return input.id === deviceId;
  if (input.type === 'ASSET_TAG') return tags.includes(input.id);
  const [joined, ids = ''] = (input.tagCombination ?? '').split(':');
  const wanted = ids.split(',');
  return joined === 'AND'
    ? wanted.every((id) => tags.includes(id))
    : wanted.some((id) => tags.includes(id));
}

function watched(source: RuleDataSource, rule: Rule, { topic, data }: ReferenceSample): boolean {
  if (source.dataTopic !== '*' && source.dataTopic !== topic) return false;
  const operands = (rule.logic.logicBlocks ?? []).flatMap(({ conditions }) =>
    conditions.flatMap(({ operandFirst, operandSecond }) => [operandFirst, operandSecond]),
  );
  const own = operands.filter(({ dataSourceId }) => dataSourceId === source.id);
  const keys =
    own.length === 0 ? [source.dataKey] : own.map(({ dataKey }) => dataKey || source.dataKey);
  return keys.some((key) => key in data);
}

type Outcome = readonly [cause: string, isTrue: boolean, actionIds: readonly string[]];

function outcome(
  rule: Rule,
  shown: (source: RuleDataSource) => ReferenceSample | undefined,
): Outcome[] {
  const { dataSources, geoFenceLogicBlock } = rule.logic;
  if (geoFenceLogicBlock !== null) {
    const degrees = (name: string) => {
      const source = dataSources.find(({ variableName }) => variableName === name)!;
      return read(shown(source)?.data[source.dataKey], 'NUMERICAL') as number | undefined;
    };
    const [x, y] = [degrees('longitude'), degrees('latitude')];
    if (x === undefined || y === undefined || Math.abs(x) > 180 || Math.abs(y) > 90) return [];
    // Tests draw boxes only, from -5 to 5.
    const inside = x >= -5 && x <= 5 && y >= -5 && y <= 5;
    return [
      ['outside', !inside, geoFenceLogicBlock.outsideActionIds],
      ['inside', inside, geoFenceLogicBlock.insideActionIds],
    ];
  }
  return (rule.logic.logicBlocks ?? []).map(({ conditions, actionIds }, i) => {
    // Sums of products: a chain is cut at every OR.
    const products: boolean[][] = [[]];
    for (const { operandFirst, operator, operandSecond, chainOperator } of conditions) {
      const type = typeOf(operandFirst, operandSecond, dataSources);
      const value = (operand: RuleOperand) => {
        if (operand.type === 'CONSTANT') return read(operand.value, type);
        const source = dataSources.find(({ id }) => id === operand.dataSourceId)!;
        return read(shown(source)?.data[operand.dataKey || source.dataKey], type);
      };
      const [a, b] = [value(operandFirst), value(operandSecond)];
      const isNot = operator.startsWith('N');
      const plain = isNot ? operator.slice(1) : operator;
      const isTrue =
        a !== undefined &&
        b !== undefined &&
        isNot !==
          (plain === 'EQ'
            ? a === b
            : plain === 'GT'
              ? a > b
              : plain === 'LT'
                ? a < b
                : plain === 'GTE'
                  ? a >= b
                  : a <= b);
      products.at(-1)!.push(isTrue);
      if (chainOperator === 'OR') products.push([]);
    }
    const isTrue = products
      .filter((product) => product.length > 0)
      .some((product) => product.every(Boolean));
    return [`block ${i}`, isTrue, actionIds] as const;
  });
}

function typeOf(
  first: RuleOperand,
  second: RuleOperand,
  sources: readonly RuleDataSource[],
): ValueType {
  const of = (operand: RuleOperand) =>
    operand.valueType ?? sources.find(({ id }) => id === operand.dataSourceId)?.valueType ?? null;
  if (first.type === 'DATA_SOURCE') return of(first) ?? of(second) ?? 'STRING';
  return second.type === 'DATA_SOURCE'
    ? (of(second) ?? of(first) ?? 'STRING')
    : (of(first) ?? of(second) ?? 'STRING');
}

function read(value: Json | undefined, type: ValueType): number | string | boolean | undefined {
  if (value === undefined || value === null || typeof value === 'object') return undefined;
  if (type === 'STRING') return `${value}`;
  if (type === 'NUMERICAL') {
    if (value === '' || (typeof value === 'string' && value.trim() === '')) return undefined;
    return Number.isFinite(Number(value)) ? Number(value) : undefined;
  }
  if (typeof value === 'string') {
    return ['true', '1'].includes(value.toLowerCase())
      ? true
      : ['false', '0'].includes(value.toLowerCase())
        ? false
        : undefined;
  }
  return Boolean(value);
}
