// API schemas of rules (contract 13).
import Type, { type TSchema } from 'typebox';
import type { Json } from '../model/json.ts';
import {
  comparisonOperators,
  logicTypes,
  ruleInputTypes,
  ruleTimerTypes,
  valueTypes,
} from '../model/rule.ts';
import { commonSortFields, listParameter, workspaceListParameters } from './list-parameters.ts';
import {
  auditFields,
  id,
  list,
  name,
  object,
  oneOf,
  optional,
  orNull,
  text,
  time,
  updateFields,
} from './record-fields.ts';
import { namedObject } from './named.ts';
import { healthParameter, ruleHealth } from './record-health.ts';
import { simulationRequest } from './rule-runs.ts';
import { shownAs } from './shown.ts';

const anything = Type.Unsafe<Json>({});
const valueType = oneOf(valueTypes);
const flag = Type.Boolean();
const ids = list(id);

/** At least one, which the handler checks: it says of which rule. */
function some<T extends TSchema>(item: T) {
  return shownAs(Type.Array(item, { minItems: 1 }), list(item));
}

const operand = namedObject('RuleOperand', {
  type: oneOf(['CONSTANT', 'DATA_SOURCE'] as const),
  valueType: orNull(valueType),
  dataKey: orNull(text),
  dataSourceId: orNull(id),
  value: anything,
});
const operandDraft = namedObject('RuleOperandDraft', {
  type: oneOf(['CONSTANT', 'DATA_SOURCE'] as const),
  valueType: optional(valueType),
  dataKey: optional(text),
  dataSourceId: optional(id),
  value: Type.Optional(anything),
});

const chain = oneOf(['AND', 'OR'] as const);
const operator = oneOf(comparisonOperators);

const input = namedObject('RuleInput', {
  id,
  name: orNull(text),
  type: oneOf(ruleInputTypes),
  tagCombination: orNull(text),
  workspaceId: orNull(id),
  device: flag,
  trigger: Type.Boolean({ description: 'Whether its samples trigger the rule.' }),
  tag: flag,
});
const inputDraft = namedObject('RuleInputDraft', {
  id,
  name: optional(text),
  type: oneOf(ruleInputTypes),
  tagCombination: optional(
    Type.String({
      description: 'Combination of tags: `AND:<tag id>,<tag id>` or `OR:<tag id>,<tag id>`.',
    }),
  ),
  workspaceId: optional(id),
});

const timer = namedObject('RuleTimer', {
  enabled: flag,
  schedule: orNull(text),
  type: orNull(oneOf(ruleTimerTypes)),
  startAt: orNull(time),
  timeZone: orNull(text),
});
const timerDraft = namedObject('RuleTimerDraft', {
  enabled: optional(flag),
  schedule: optional(
    Type.String({
      description:
        'For `INTERVAL`, an ISO-8601 duration of at least `PT10S`. For `FIXED`, a time `HH:mm`. For `ADVANCED`, a Quartz cron expression.',
    }),
  ),
  type: optional(oneOf(ruleTimerTypes)),
  startAt: optional(Type.String({ description: 'ISO-8601 date-time.' })),
  timeZone: optional(Type.String({ description: 'IANA time zone. Defaults to UTC.' })),
});

const source = {
  id,
  inputIds: ids,
  dataTopic: Type.String({ maxLength: 1_000, description: 'One topic, or `*` for all.' }),
  dataKey: Type.String({ maxLength: 1_000, description: 'Data key, or `*` for the whole sample.' }),
  valueType,
};
const property = { name: text, variableName: text, value: anything, type: valueType };

const logic = namedObject('RuleLogic', {
  type: oneOf(logicTypes),
  dataSources: list(
    Type.Object({ ...source, variableName: orNull(text), lastSample: flag, triggerOnUplink: flag }),
  ),
  logicBlocks: orNull(
    list(
      Type.Object({
        conditions: list(
          Type.Object({
            operandFirst: operand,
            operator,
            operandSecond: operand,
            order: Type.Integer(),
            chainOperator: orNull(chain),
          }),
        ),
        actionIds: ids,
      }),
    ),
  ),
  geoFenceLogicBlock: orNull(
    Type.Object({
      address: orNull(text),
      geoJson: object,
      insideActionIds: ids,
      outsideActionIds: ids,
    }),
  ),
  customLogic: orNull(
    Type.Object({
      customLogicId: id,
      name: orNull(text),
      actionIds: ids,
      properties: list(Type.Object({ ...property, description: orNull(text) })),
    }),
  ),
});

const logicDraft = namedObject('RuleLogicDraft', {
  type: oneOf(logicTypes),
  dataSources: some(
    Type.Object({
      ...source,
      inputIds: some(id),
      variableName: optional(text),
      lastSample: optional(flag),
      triggerOnUplink: optional(flag),
    }),
  ),
  logicBlocks: optional(
    some(
      Type.Object({
        conditions: some(
          Type.Object({
            operandFirst: operandDraft,
            operator,
            operandSecond: operandDraft,
            order: optional(Type.Integer()),
            chainOperator: optional(chain),
          }),
        ),
        actionIds: optional(ids),
      }),
    ),
  ),
  geoFenceLogicBlock: optional(
    Type.Object({
      address: optional(text),
      geoJson: object,
      insideActionIds: optional(ids),
      outsideActionIds: optional(ids),
    }),
  ),
  customLogic: optional(
    Type.Object({
      customLogicId: id,
      name: optional(text),
      actionIds: optional(ids),
      properties: optional(
        list(Type.Object({ ...property, name: optional(text), description: optional(text) })),
      ),
    }),
  ),
});

export const ruleSchema = namedObject('Rule', {
  id,
  ruleId: id,
  workspaceId: id,
  name,
  description: orNull(text),
  active: flag,
  deleted: flag,
  ...auditFields,
  nextExecution: orNull(time),
  inputs: list(input),
  timer,
  logic,
  actions: list(Type.Object({ id, name: text, type: text, configuration: object })),
});

/** An item of the list. */
export const ruleItemSchema = namedObject('RuleItem', {
  ...ruleSchema.properties,
  health: ruleHealth,
});

const draftFields = {
  description: optional(text),
  active: optional(flag),
  timer: optional(timerDraft),
};
const inputsDraft = some(inputDraft);
const actionsDraft = list(Type.Object({ id, configuration: optional(object) }));

export const ruleDraft = namedObject('RuleDraft', {
  name,
  workspaceId: id,
  ...draftFields,
  inputs: inputsDraft,
  logic: logicDraft,
  actions: optional(actionsDraft),
});
export const draftSimulationRequest = namedObject('DraftSimulationRequest', {
  rule: ruleDraft,
  ...simulationRequest.properties,
});
export const ruleUpdate = namedObject('RuleUpdate', {
  ...updateFields,
  ...draftFields,
  name: Type.Optional(name),
  inputs: optional(inputsDraft),
  logic: optional(logicDraft),
  actions: optional(actionsDraft),
});

/** A rule of a workspace's document, where names and physical device ids stand instead of ids. */
export const configuredRule = namedObject('ConfiguredRule', {
  name,
  ...draftFields,
  inputs: list(
    Type.Object({
      id: Type.String({
        maxLength: 1_000,
        description: "Label that the rule's data sources refer to.",
      }),
      type: oneOf(ruleInputTypes),
      name: optional(text),
      deviceId: optional(Type.String({ description: 'Device ID, for a device.' })),
      tag: optional(Type.String({ description: 'Name, for a tag.' })),
      tagCombination: optional(oneOf(['AND', 'OR'] as const)),
      tags: optional(list(text)),
    }),
  ),
  logic: logicDraft,
  actions: optional(list(Type.Object({ name, configuration: optional(object) }))),
});

export const ruleListQuery = Type.Object({
  ...workspaceListParameters([...commonSortFields, 'active', 'nextExecution']),
  customLogicBlockId: listParameter,
  inputIds: listParameter,
  ...healthParameter,
});
