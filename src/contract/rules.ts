// Schemas and endpoints of rules and custom logic blocks (contract 13, 14).
import Type, { type Static, type TSchema } from 'typebox';
import type { Json } from '../model/json.ts';
import {
  blockDurations,
  comparisonOperators,
  logicTypes,
  operandTypes,
  ruleInputTypes,
  ruleTimerTypes,
  silenceDurations,
  silenceModes,
  valueTypes,
} from '../model/rule.ts';
import { endpoint, recordEndpoints } from './endpoint.ts';
import {
  auditFields,
  commonSortFields,
  healthParameter,
  id,
  idParams,
  list,
  listParameter,
  listParameters,
  name,
  namedObject,
  object,
  oneOf,
  optional,
  orNull,
  pageSchema,
  ruleHealth,
  ruleRunOutcome,
  shownAs,
  text,
  time,
  updateFields,
  workspaceListParameters,
} from './schema-parts.ts';
import { outputConnectorDraft } from './output-connectors.ts';

const anything = Type.Unsafe<Json>({});
const valueType = oneOf(valueTypes);
const flag = Type.Boolean();
const ids = list(id);

/** At least one, which the handler checks: it says of which rule. */
function some<T extends TSchema>(item: T) {
  return shownAs(Type.Array(item, { minItems: 1 }), list(item));
}

const operandExpression = Type.String({
  maxLength: 20_000,
  description:
    'Formula for an operand of type `EXPRESSION`, such as `temperature - avgOver(temperature, "PT1H")`, computed for the sample of the data source. Windows have at most `PT24H` and 1,000 values.',
});

const operand = namedObject('RuleOperand', {
  type: oneOf(operandTypes),
  valueType: orNull(valueType),
  dataKey: orNull(text),
  dataSourceId: orNull(id),
  value: anything,
  expression: Type.Optional(operandExpression),
});
const operandDraft = namedObject('RuleOperandDraft', {
  type: oneOf(operandTypes),
  valueType: optional(valueType),
  dataKey: optional(text),
  dataSourceId: optional(id),
  value: Type.Optional(anything),
  expression: optional(operandExpression),
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
export type InputDraft = Static<typeof inputDraft>;

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
export type TimerDraft = Static<typeof timerDraft>;

const source = {
  id,
  inputIds: ids,
  dataTopic: Type.String({ maxLength: 1_000, description: 'One topic, or `*` for all.' }),
  dataKey: Type.String({ maxLength: 1_000, description: 'Data key, or `*` for the whole sample.' }),
  valueType,
};
const property = { name: text, variableName: text, value: anything, type: valueType };

const conditions = list(
  Type.Object({
    operandFirst: operand,
    operator,
    operandSecond: operand,
    order: Type.Integer(),
    chainOperator: orNull(chain),
  }),
);
const conditionsDraft = some(
  Type.Object({
    operandFirst: operandDraft,
    operator,
    operandSecond: operandDraft,
    order: optional(Type.Integer()),
    chainOperator: optional(chain),
  }),
);
const { min, max } = blockDurations;
const holdsFor = Type.String({
  description: `ISO-8601 duration, from \`${min}\` to \`${max}\`, for which the conditions must be met before the block is true: from one sample to another, or since the first was received.`,
});
const clearsFor = Type.String({
  description: `ISO-8601 duration, from \`${min}\` to \`${max}\`, for which a true block must be over before it is false.`,
});
const clearing =
  'A true block stays true until these conditions are met, instead of until `conditions` are not.';

const silentAfter = Type.String({
  description: `ISO-8601 duration without an uplink, from \`${silenceDurations.min}\` to \`${silenceDurations.max}\`. Defaults to the online timeout of each device.`,
});
const silenceMode = shownAs(
  Type.Unsafe<(typeof silenceModes)[number]>({
    type: 'string',
    enum: silenceModes,
    description:
      '`EACH`: the rule is true for each device that is silent. `ALL`: it is true when all of its devices are.',
  }),
  oneOf(silenceModes),
);

const logic = namedObject('RuleLogic', {
  type: oneOf(logicTypes),
  dataSources: list(
    Type.Object({ ...source, variableName: orNull(text), lastSample: flag, triggerOnUplink: flag }),
  ),
  logicBlocks: orNull(
    list(
      Type.Object({
        conditions,
        actionIds: ids,
        holdsFor: Type.Optional(holdsFor),
        clearConditions: Type.Optional({ ...conditions, description: clearing }),
        clearsFor: Type.Optional(clearsFor),
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
  silenceLogicBlock: Type.Optional(
    Type.Object({ after: orNull(silentAfter), mode: silenceMode, actionIds: ids }),
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
  dataSources: list(
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
        conditions: conditionsDraft,
        actionIds: optional(ids),
        holdsFor: optional(holdsFor),
        clearConditions: optional({ ...conditionsDraft, description: clearing }),
        clearsFor: optional(clearsFor),
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
  silenceLogicBlock: optional(
    Type.Object({
      after: optional(silentAfter),
      mode: optional(silenceMode),
      actionIds: optional(ids),
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

const runFields = {
  timestamp: time,
  trigger: oneOf(['UPLINK', 'TIMER', 'SCRIPT_TIMER'] as const),
  deviceId: orNull(id),
  correlationId: orNull(text),
  inputs: list(
    Type.Object({
      dataSourceId: id,
      variableName: orNull(text),
      trigger: Type.Boolean(),
      deviceId: orNull(id),
      topic: orNull(text),
      timestamp: orNull(time),
      dataKey: text,
      value: anything,
    }),
  ),
  outcome: ruleRunOutcome,
  reason: Type.String(),
  actionIds: list(id),
};

export const ruleRunSchema = namedObject('RuleRun', runFields);

const simulationRequest = namedObject('SimulationRequest', {
  from: Type.String({ description: 'ISO-8601 date-time, inclusive.' }),
  to: Type.String({ description: 'ISO-8601 date-time, exclusive.' }),
});

export const simulationSchema = namedObject('Simulation', {
  samples: Type.Integer({ description: 'Number of samples evaluated.' }),
  runs: Type.Integer(),
  fired: Type.Integer(),
  trueSeconds: Type.Integer({
    description:
      'Seconds that the rule would have been true, summed over all devices: from each such sample to the next one that is not, or to the end of the range.',
  }),
  truncated: Type.Boolean({ description: 'Whether the range was only partly evaluated.' }),
  content: list(Type.Object({ ...runFields, actions: list(object) })),
});

const ruleSchema = namedObject('Rule', {
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
const ruleItemSchema = namedObject('RuleItem', {
  ...ruleSchema.properties,
  health: ruleHealth,
});

const draftFields = {
  description: optional(text),
  active: optional(flag),
  timer: optional(timerDraft),
};
const inputsDraft = some(inputDraft);
const { workspaceId: _, scope: __, ...newOutput } = outputConnectorDraft.properties;
const actionsDraft = list(
  Type.Object({
    id: optional(id),
    outputConnector: optional(namedObject('NewRuleOutput', newOutput)),
    configuration: optional(object),
  }),
);
const newOutputNeeds =
  'An action with `outputConnector` also requires `dataFlow` `create`: the output connector is created with the rule, and `actionIds` name it `new:N`, where N is the index of the action.';

export const ruleDraft = namedObject('RuleDraft', {
  name,
  workspaceId: id,
  ...draftFields,
  inputs: inputsDraft,
  logic: logicDraft,
  actions: optional(actionsDraft),
});
export type RuleDraft = Static<typeof ruleDraft>;
const draftSimulationRequest = namedObject('DraftSimulationRequest', {
  rule: ruleDraft,
  ...simulationRequest.properties,
});
const ruleUpdate = namedObject('RuleUpdate', {
  ...updateFields,
  ...draftFields,
  name: Type.Optional(name),
  inputs: optional(inputsDraft),
  logic: optional(logicDraft),
  actions: optional(actionsDraft),
});
export type RuleUpdate = Static<typeof ruleUpdate>;
export type RuleActionDraft = Static<typeof actionsDraft>[number];

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
      place: optional(Type.String({ description: 'Path such as `Site/Floor 1`, for a place.' })),
      tagCombination: optional(oneOf(['AND', 'OR'] as const)),
      tags: optional(list(text)),
    }),
  ),
  logic: logicDraft,
  actions: optional(list(Type.Object({ name, configuration: optional(object) }))),
});

const ruleListQuery = Type.Object({
  ...workspaceListParameters([...commonSortFields, 'active', 'nextExecution']),
  customLogicBlockId: listParameter,
  inputIds: listParameter,
  ...healthParameter,
});

export const rules = recordEndpoints({
  path: '/v3/rules',
  tag: 'Rules',
  scope: 'rule',
  record: ruleSchema,
  also: { create: [['asset', 'read']] },
  list: {
    summary: 'List rules',
    description: 'Returns a page of the rules in the requested workspaces.',
    query: ruleListQuery,
    response: pageSchema(ruleItemSchema),
  },
  create: {
    summary: 'Create a rule',
    description: 'Creates a rule with its inputs, logic, and actions.',
    needsAlso: newOutputNeeds,
    body: ruleDraft,
  },
  read: {
    summary: 'Get a rule',
    description: 'Returns a rule with its inputs, logic, and actions.',
  },
  update: {
    summary: 'Update a rule',
    description: 'Updates a rule; deactivating it clears its state.',
    needsAlso: newOutputNeeds,
    body: ruleUpdate,
  },
  remove: { summary: 'Delete a rule', description: 'Deletes a rule and its state.' },
});

const tag = 'Rules';
/** What runs can be ordered by. */
export const runSortFields = ['timestamp', 'trigger', 'outcome'] as const;

export const ruleRuns = {
  list: endpoint({
    method: 'GET',
    path: '/v3/rules/:id/runs',
    summary: 'List rule runs',
    description:
      'Returns the last 50 runs of a rule with their inputs, outcome, and reason, newest first.',
    tag,
    access: { scope: 'rule', verb: 'read', also: [['asset', 'read']], resource: 'path' },
    params: idParams,
    query: Type.Object(listParameters(runSortFields)),
    response: pageSchema(ruleRunSchema),
  }),
  simulate: endpoint({
    method: 'POST',
    path: '/v3/rules/:id/simulate',
    ownBody: true,
    summary: 'Simulate a rule',
    description:
      'Runs a saved rule over stored samples and returns when it would have fired; sends and changes nothing.',
    tag,
    access: { scope: 'rule', verb: 'read', also: [['asset', 'read']], resource: 'path' },
    params: idParams,
    body: simulationRequest,
    response: simulationSchema,
  }),
  simulateDraft: endpoint({
    method: 'POST',
    path: '/v3/rules/simulate',
    summary: 'Simulate a rule draft',
    description:
      'Runs an unsaved rule over stored samples and returns when it would have fired; sends and changes nothing.',
    tag,
    access: { scope: 'rule', verb: 'read', also: [['asset', 'read']], resource: 'body' },
    needsAlso:
      'A rule with actions also requires `dataFlow` `read`; an action with `outputConnector` requires `dataFlow` `create`. Output connectors are checked and not created.',
    body: draftSimulationRequest,
    response: simulationSchema,
  }),
} as const;

// Schemas and endpoints of custom logic blocks (contract 14).

const named = { name: text, variableName: text };

const fields = {
  id,
  customLogicId: id,
  organizationId: id,
  name,
  description: orNull(text),
  ...auditFields,
  dataSources: list(
    Type.Object({
      ...named,
      description: orNull(text),
      defaultTopic: orNull(text),
      defaultDataKey: orNull(text),
      lastSample: flag,
      triggerOnUplink: flag,
    }),
  ),
  properties: list(
    Type.Object({
      ...named,
      description: orNull(text),
      defaultValue: anything,
      type: oneOf(valueTypes),
    }),
  ),
  script: Type.String(),
};

const customLogicItemSchema = namedObject('CustomLogicItem', fields);
/** The single record tells the rules that use it. */
const customLogicSchema = namedObject('CustomLogic', {
  ...fields,
  rules: list(Type.Object({ id, workspaceId: id, name, active: flag })),
});

const customLogicFields = {
  description: optional(text),
  dataSources: optional(
    list(
      Type.Object({
        ...named,
        name: optional(text),
        description: optional(text),
        defaultTopic: optional(text),
        defaultDataKey: optional(text),
        lastSample: optional(flag),
        triggerOnUplink: optional(flag),
      }),
    ),
  ),
  properties: optional(
    list(
      Type.Object({
        ...named,
        name: optional(text),
        description: optional(text),
        defaultValue: Type.Optional(anything),
        type: oneOf(valueTypes),
      }),
    ),
  ),
};

export const customLogicDraft = namedObject('CustomLogicDraft', {
  name,
  organizationId: id,
  script: Type.String(),
  ...customLogicFields,
});
export type CustomLogicDraft = Static<typeof customLogicDraft>;
const customLogicUpdate = namedObject('CustomLogicUpdate', {
  ...updateFields,
  name: Type.Optional(name),
  script: Type.Optional(Type.String()),
  ...customLogicFields,
});
export type CustomLogicUpdate = Static<typeof customLogicUpdate>;

const customLogicListQuery = Type.Object({
  ...listParameters(),
  organizationId: Type.Optional(Type.String()),
});

const bodyBytesMax = 4 * 1024 * 1024;

export const customLogic = recordEndpoints({
  path: '/v3/rules/custom',
  tag: 'Custom logic',
  scope: 'customLogic',
  record: customLogicSchema,
  list: {
    summary: 'List custom logic blocks',
    description: "Returns a page of the organization's custom logic blocks.",
    query: customLogicListQuery,
    response: pageSchema(customLogicItemSchema),
  },
  create: {
    summary: 'Create a custom logic block',
    description: 'Creates a script that rules can use as their logic.',
    body: customLogicDraft,
    bodyBytesMax,
  },
  read: {
    summary: 'Get a custom logic block',
    description: 'Returns a custom logic block and the rules that use it.',
  },
  update: {
    summary: 'Update a custom logic block',
    description:
      'Updates a custom logic block; its data sources and properties are fixed while an active rule uses it.',
    body: customLogicUpdate,
    bodyBytesMax,
  },
  remove: {
    summary: 'Delete a custom logic block',
    description: 'Deletes a custom logic block; fails with 409 while a rule uses it.',
  },
});
