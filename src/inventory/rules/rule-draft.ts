// Rule draft: inputs, timer, logic and actions of a request, checked and with defaults.
import type { InputDraft, RuleDraft, RuleUpdate, TimerDraft } from '../../contract/rules.ts';
import { checkReach } from '../../query/expressions/calculated.ts';
import { ExpressionError, parseExpression } from '../../query/expressions/parse.ts';
import {
  blockDurations,
  comparedAs,
  converted,
  type GeoFenceLogicBlock,
  type LogicBlock,
  parseGeoFence,
  type Rule,
  type RuleActionRef,
  type RuleCondition,
  type RuleCustomLogic,
  type RuleDataSource,
  type RuleInput,
  type RuleLogic,
  type RuleOperand,
  type RuleTimer,
  silenceDurations,
  type ValueType,
} from '../../model/rule.ts';
import { parseInstant } from '../../model/instant.ts';
import { fixedDurationMs } from '../../model/iso-duration.ts';
import { problem } from '../../model/problem.ts';
import { readSchedule } from '../../model/rule-schedule.ts';
import { parseTagCombination, tagCombinationMax } from '../../model/device.ts';
import { checkVariables } from './custom-logic.ts';

/** Each device and tag only once (contract 13). */
export function inputsFrom(sent: readonly InputDraft[]): RuleInput[] {
  if (sent.length === 0) throw invalidRule('inputs', 'at least one input is required');
  checkLength('inputs', sent, ruleLimits.inputsMax);
  const seen = new Set<string>();
  return sent.map(({ id, name, type, tagCombination, workspaceId }, i) => {
    if (seen.has(id))
      throw invalidRule(
        `inputs.${i}.id`,
        `${id} is duplicated; a device, tag, or place can be an input only once`,
      );
    seen.add(id);
    const combination = combinationOf(type, tagCombination);
    if (combination !== null && parseTagCombination(combination) === undefined) {
      throw invalidRule(
        `inputs.${i}.tagCombination`,
        `must be AND:<tag id>,<tag id> or OR:<tag id>,<tag id> with 1 to ${tagCombinationMax} tags`,
      );
    }
    return {
      id,
      name: name ?? null,
      type,
      tagCombination: combination,
      workspaceId: workspaceId ?? null,
    };
  });
}

function combinationOf(type: string, tagCombination: string | null | undefined): string | null {
  if (type === 'TAG_COMBINATION') return tagCombination ?? '';
  return null;
}

const noTimer: RuleTimer = {
  enabled: false,
  schedule: null,
  type: null,
  startAt: null,
  timeZone: null,
};

/** A disabled timer is stored as sent, and checked when it is enabled. */
export function timerFrom(sent: TimerDraft | null | undefined): RuleTimer {
  if (sent === null || sent === undefined) return noTimer;
  const startAt = typeof sent.startAt === 'string' ? parseInstant(sent.startAt) : null;
  if (startAt === undefined)
    throw invalidRule('timer.startAt', `${sent.startAt} is not an ISO-8601 date-time`);
  const timer: RuleTimer = {
    enabled: sent.enabled ?? false,
    schedule: sent.schedule ?? null,
    type: sent.type ?? null,
    startAt,
    timeZone: sent.timeZone ?? null,
  };
  if (!timer.enabled) return timer;
  const read = readSchedule(timer);
  if ('reason' in read) {
    const [field = 'timer', ...reason] = read.reason.split(': ');
    throw invalidRule(field, reason.join(': '));
  }
  return timer;
}

/** Returns the next due time of the timer of an active rule; null without one. */
export function nextExecutionOf(active: boolean, timer: RuleTimer, now: number): number | null {
  if (!active || !timer.enabled) return null;
  const read = readSchedule(timer);
  if ('schedule' in read) return read.schedule.next(now) ?? null;
  return null;
}

/** Throws when there are too many. */
export function checkActions(actions: readonly unknown[]): void {
  checkLength('actions', actions, ruleLimits.actionsMax);
}

export function actionsFrom(sent: RuleUpdate['actions']): RuleActionRef[] {
  const actions = sent ?? [];
  checkActions(actions);
  const seen = new Set<string>();
  return actions.map(({ id, configuration }, i) => {
    if (!id) throw invalidRule(`actions.${i}`, 'must have either id or outputConnector');
    if (seen.has(id)) throw invalidRule(`actions.${i}.id`, `${id} is duplicated`);
    seen.add(id);
    return { id, configuration: configuration ?? {} };
  });
}

// Rule logic in requests: data sources, and comparison, geofence or custom logic (contract 13).

type LogicDraft = RuleDraft['logic'];
type Condition = NonNullable<LogicDraft['logicBlocks']>[number]['conditions'][number];
type OperandDraft = Condition['operandFirst'];
type Ids = readonly string[] | null | undefined;

/** Omits parts that the type of logic does not use. */
export function logicFrom(
  sent: LogicDraft,
  inputs: readonly RuleInput[],
  actions: readonly RuleActionRef[],
  isTimed: boolean,
): RuleLogic {
  if (sent.type === 'SILENCE') return silenceFrom(sent, actions, isTimed);
  const dataSources = triggering(sourcesFrom(sent, inputs), isTimed);
  if (isTimed) refuseTags(dataSources, inputs);
  const actionIds = actionIdsOf(actions);
  const base = { ...noLogic, type: sent.type, dataSources };
  if (sent.type === 'COMPARISON') {
    const logicBlocks = blocksFrom(sent, dataSources, actionIds);
    checkExpressions(logicBlocks);
    return { ...base, logicBlocks };
  }
  if (sent.type === 'GEO_FENCE')
    return { ...base, geoFenceLogicBlock: fenceFrom(sent, dataSources, actionIds) };
  return { ...base, customLogic: customFrom(sent, actionIds) };
}

const noLogic = { logicBlocks: null, geoFenceLogicBlock: null, customLogic: null };

function actionIdsOf(actions: readonly RuleActionRef[]): ActionIds {
  const known = new Set(actions.map(({ id }) => id));
  return (field, ids) => {
    const list = ids ?? [];
    const unknown = list.find((id) => !known.has(id));
    if (unknown !== undefined) throw invalidRule(field, `${unknown} is not an action of this rule`);
    return [...new Set(list)];
  };
}

/** Silence is of devices: it reads no data, and no timer runs it. */
function silenceFrom(
  { dataSources, silenceLogicBlock: sent }: LogicDraft,
  actions: readonly RuleActionRef[],
  isTimed: boolean,
): RuleLogic {
  const field = 'logic.silenceLogicBlock';
  if (!sent) throw invalidRule(field, 'is required for silence');
  if (dataSources.length > 0)
    throw invalidRule('logic.dataSources', 'must be empty for silence, which reads no data');
  if (isTimed) throw invalidRule('timer.enabled', 'silence needs no timer');
  const after = sent.after ?? null;
  if (after !== null) {
    const read = fixedDurationMs(after, silenceDurations);
    if (typeof read === 'string') throw invalidRule(`${field}.after`, read);
  }
  const actionIds = actionIdsOf(actions)(`${field}.actionIds`, sent.actionIds);
  const silenceLogicBlock = { after, mode: sent.mode ?? 'EACH', actionIds } as const;
  return { ...noLogic, type: 'SILENCE', dataSources: [], silenceLogicBlock };
}

/**
 * Without a timer a data source triggers unless it reads previous values and another one triggers;
 * what is stored says so.
 */
function triggering(
  sources: readonly RuleDataSource[],
  isTimed: boolean,
): readonly RuleDataSource[] {
  if (isTimed) return sources;
  const onlyReads = sources.every(
    ({ lastSample, triggerOnUplink }) => lastSample && !triggerOnUplink,
  );
  return sources.map((source) => ({
    ...source,
    triggerOnUplink: source.triggerOnUplink || !source.lastSample || onlyReads,
  }));
}

/** At a due time no device of a tag is definite, so such a rule would never run. */
function refuseTags(sources: readonly RuleDataSource[], inputs: readonly RuleInput[]): void {
  const tag = inputs.find(
    ({ id, type }) => type !== 'DEVICE' && sources.some(({ inputIds }) => inputIds.includes(id)),
  );
  if (tag === undefined) return;
  throw invalidRule(
    'timer.enabled',
    `a timer requires device inputs, but ${tag.id} is a ${tag.type === 'PLACE' ? 'place' : 'tag'}`,
  );
}

type ActionIds = (field: string, ids: Ids) => readonly string[];

function sourcesFrom(
  { type, dataSources }: LogicDraft,
  inputs: readonly RuleInput[],
): RuleDataSource[] {
  const field = 'logic.dataSources';
  if (dataSources.length === 0) throw invalidRule(field, 'at least one data source is required');
  checkLength(field, dataSources, ruleLimits.dataSourcesMax);
  const known = new Set(inputs.map(({ id }) => id));
  const seen = new Set<string>();
  for (const [i, { id, inputIds, dataTopic }] of dataSources.entries()) {
    if (seen.has(id)) throw invalidRule(`${field}.${i}.id`, `${id} is duplicated`);
    seen.add(id);
    if (inputIds.length === 0)
      throw invalidRule(`${field}.${i}.inputIds`, 'at least one input is required');
    const unknown = inputIds.find((input) => !known.has(input));
    if (unknown !== undefined)
      throw invalidRule(`${field}.${i}.inputIds`, `${unknown} is not an input of this rule`);
    if (dataTopic === '')
      throw invalidRule(`${field}.${i}.dataTopic`, 'must be a topic, or * for all topics');
  }
  if (type === 'CUSTOM_LOGIC') {
    checkVariables(
      field,
      dataSources.map(({ variableName }) => variableName ?? ''),
    );
  }
  return dataSources.map((source) => ({
    id: source.id,
    inputIds: [...new Set(source.inputIds)],
    dataTopic: source.dataTopic,
    dataKey: source.dataKey,
    variableName: source.variableName ?? null,
    valueType: source.valueType,
    lastSample: source.lastSample ?? false,
    triggerOnUplink: source.triggerOnUplink ?? false,
  }));
}

function blocksFrom(
  { logicBlocks }: LogicDraft,
  sources: readonly RuleDataSource[],
  actionIds: ActionIds,
): LogicBlock[] {
  const field = 'logic.logicBlocks';
  if (!logicBlocks || logicBlocks.length === 0)
    throw invalidRule(field, 'at least one logic block is required');
  checkLength(field, logicBlocks, ruleLimits.logicBlocksMax);
  return logicBlocks.map((block, i) => {
    const place = `${field}.${i}`;
    const { holdsFor, clearConditions, clearsFor } = block;
    return {
      conditions: conditionsFrom(`${place}.conditions`, block.conditions, sources),
      actionIds: actionIds(`${place}.actionIds`, block.actionIds),
      ...(holdsFor && { holdsFor: blockDuration(`${place}.holdsFor`, holdsFor) }),
      ...(clearConditions && {
        clearConditions: conditionsFrom(`${place}.clearConditions`, clearConditions, sources),
      }),
      ...(clearsFor && { clearsFor: blockDuration(`${place}.clearsFor`, clearsFor) }),
    };
  });
}

/** A rule is judged with every sample, so that what its formulas read has a bound. */
function checkExpressions(blocks: readonly LogicBlock[]): void {
  const expressions = expressionsOf(blocks);
  checkLength('logic.logicBlocks', expressions, ruleLimits.expressionsMax, 'expressions');
  checkLength(
    'logic.logicBlocks',
    devicesNamed(blocks),
    ruleLimits.otherDevicesMax,
    'other devices',
  );
}

function operandsOf(blocks: readonly LogicBlock[]): readonly RuleOperand[] {
  return blocks
    .flatMap(({ conditions, clearConditions = [] }) => [...conditions, ...clearConditions])
    .flatMap(({ operandFirst, operandSecond }) => [operandFirst, operandSecond]);
}

/** Every operand that is a formula. */
function expressionsOf(blocks: readonly LogicBlock[]): readonly string[] {
  return operandsOf(blocks).flatMap(({ expression }) => expression ?? []);
}

/** The keys of data sources of which formulas ask what is unusual, each once. */
export function usualKeysOf({ logic }: Rule) {
  const keys = new Map<string, { readonly dataSourceId: string | null; readonly key: string }>();
  for (const { expression, dataSourceId } of operandsOf(logic.logicBlocks ?? []))
    for (const input of expression === undefined ? [] : parseExpression(expression, true).inputs)
      if (input.kind === 'unusual')
        keys.set(`${dataSourceId} ${input.source.key}`, { dataSourceId, key: input.source.key });
  return [...keys.values()];
}

/** The devices that formulas read besides their own, each once. */
export function devicesNamed(blocks: readonly LogicBlock[]): readonly string[] {
  const all = expressionsOf(blocks).flatMap((text) =>
    checkReach(parseExpression(text, true), 'rules'),
  );
  return [...new Set(all)];
}

function blockDuration(field: string, duration: string): string {
  const read = fixedDurationMs(duration, blockDurations);
  if (typeof read === 'string') throw invalidRule(field, read);
  return duration;
}

function conditionsFrom(
  field: string,
  sent: readonly Condition[],
  sources: readonly RuleDataSource[],
): RuleCondition[] {
  if (sent.length === 0) throw invalidRule(field, 'at least one condition is required');
  checkLength(field, sent, ruleLimits.conditionsMax);
  return sent.map((condition, j) => {
    const operands = [
      operandFrom(`${field}.${j}.operandFirst`, condition.operandFirst),
      operandFrom(`${field}.${j}.operandSecond`, condition.operandSecond),
    ] as const;
    const type = comparedAs(...operands, sources);
    checkOperand(`${field}.${j}.operandFirst`, operands[0], type, sources);
    checkOperand(`${field}.${j}.operandSecond`, operands[1], type, sources);
    return {
      operandFirst: operands[0],
      operator: condition.operator,
      operandSecond: operands[1],
      order: condition.order ?? j,
      chainOperator: condition.chainOperator ?? null,
    };
  });
}

function operandFrom(field: string, sent: OperandDraft): RuleOperand {
  const { type, valueType, dataKey, dataSourceId, value, expression } = sent;
  const operand = {
    type,
    valueType: valueType ?? null,
    dataKey: dataKey ?? null,
    dataSourceId: dataSourceId ?? null,
    value: value ?? null,
  };
  if (type !== 'EXPRESSION') return operand;
  if (!expression) throw invalidRule(`${field}.expression`, 'is required for an expression');
  const found = expressionType(`${field}.expression`, expression);
  return { ...operand, valueType: operand.valueType ?? found, expression };
}

const valueTypesOf = {
  number: 'NUMERICAL',
  boolean: 'BOOLEAN',
  string: 'STRING',
  any: null,
} as const;

/** Null where the data decides. Throws Problem 400 `invalidExpression` with the place. */
function expressionType(where: string, text: string): ValueType | null {
  try {
    const expression = parseExpression(text, true);
    checkReach(expression, 'rules');
    return valueTypesOf[expression.type];
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    throw problem('invalidExpression', { where, reason: error.message, position: error.position });
  }
}

function checkOperand(
  field: string,
  operand: RuleOperand,
  type: ValueType,
  sources: readonly RuleDataSource[],
): void {
  if (operand.type !== 'CONSTANT') {
    if (sources.some(({ id }) => id === operand.dataSourceId)) return;
    throw invalidRule(
      `${field}.dataSourceId`,
      `${operand.dataSourceId} is not a data source of this rule`,
    );
  }
  if (converted(operand.value, type) !== undefined) return;
  throw invalidRule(
    `${field}.value`,
    `${JSON.stringify(operand.value)} cannot be compared as ${type}`,
  );
}

function fenceFrom(
  { geoFenceLogicBlock: sent }: LogicDraft,
  sources: readonly RuleDataSource[],
  actionIds: ActionIds,
): GeoFenceLogicBlock {
  const field = 'logic.geoFenceLogicBlock';
  if (!sent) throw invalidRule(field, 'is required for a geofence');
  for (const name of ['latitude', 'longitude']) {
    if (sources.filter(({ variableName }) => variableName === name).length !== 1) {
      throw invalidRule(
        'logic.dataSources',
        `a geofence requires exactly one data source with variableName ${name}`,
      );
    }
  }
  const read = parseGeoFence(sent.geoJson);
  if ('reason' in read) throw invalidRule(`${field}.geoJson`, read.reason);
  return {
    address: sent.address ?? null,
    geoJson: sent.geoJson,
    insideActionIds: actionIds(`${field}.insideActionIds`, sent.insideActionIds),
    outsideActionIds: actionIds(`${field}.outsideActionIds`, sent.outsideActionIds),
  };
}

function customFrom({ customLogic: sent }: LogicDraft, actionIds: ActionIds): RuleCustomLogic {
  const field = 'logic.customLogic';
  if (!sent) throw invalidRule(field, 'is required for custom logic');
  const properties = sent.properties ?? [];
  checkVariables(
    `${field}.properties`,
    properties.map(({ variableName }) => variableName),
  );
  return {
    customLogicId: sent.customLogicId,
    name: sent.name ?? null,
    actionIds: actionIds(`${field}.actionIds`, sent.actionIds),
    properties: properties.map(({ name, description, variableName, value, type }, i) => {
      if (value !== null && converted(value, type) === undefined) {
        throw invalidRule(
          `${field}.properties.${i}.value`,
          `${JSON.stringify(value)} is not of type ${type}`,
        );
      }
      return {
        name: name ?? variableName,
        description: description ?? null,
        variableName,
        value,
        type,
      };
    }),
  };
}

// Rule checks: limits of rules, and the error for an invalid field.

const ruleLimits = {
  inputsMax: 50,
  dataSourcesMax: 50,
  logicBlocksMax: 20,
  conditionsMax: 50,
  actionsMax: 20,
  expressionsMax: 50,
  /** Of all formulas together. */
  otherDevicesMax: 10,
} as const;

/** The error for an invalid field of a rule. */
export function invalidRule(field: string, reason: string) {
  return problem('ruleInvalid', { field, reason });
}

/** Throws when a list is longer than its limit. */
function checkLength(field: string, list: readonly unknown[], max: number, what = 'items'): void {
  if (list.length > max) throw invalidRule(field, `must have at most ${max} ${what}`);
}
