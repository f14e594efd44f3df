// Schemas and endpoints of group calculations (contract 38.2).
import Type, { type Static } from 'typebox';
import { calculationLimits, countNames } from '../model/calculation.ts';
import { endpoint, recordEndpoints } from './endpoint.ts';
import { expressionText } from './expressions.ts';
import {
  auditFields,
  commonSortFields,
  id,
  list,
  name,
  namedObject,
  object,
  oneOf,
  optional,
  orNull,
  pageSchema,
  text,
  time,
  updateFields,
  workspaceListParameters,
  writtenDataKey,
} from './schema-parts.ts';
import { accumulatorOf, across, dataKey, topic } from './sample-queries.ts';

const count = Type.Unsafe<(typeof countNames)[number]>({
  ...oneOf(countNames),
  description:
    '`TOTAL`: devices. `REPORTING`: devices with a sample in the period. `ONLINE`: devices whose newest sample, at the end of the period, was within their online timeout.',
});
const resets = oneOf(['GUARDED', 'ALL'] as const);
const state = Type.Unsafe<string | number | boolean>({ type: ['string', 'number', 'boolean'] });
const duration = Type.String({ maxLength: 64 });
const period = Type.String({
  maxLength: 64,
  description: 'ISO-8601 duration that divides a day, `PT1M` to `P1D`.',
});
const timeZone = Type.String({
  maxLength: 100,
  description: "IANA time zone of the periods. Defaults to the workspace's, then UTC.",
});
const deviceIds = Type.Unsafe<readonly string[]>(
  Type.Array(id, {
    minItems: 1,
    maxItems: calculationLimits.deviceIds,
    description: 'IDs of the devices, instead of a tag.',
  }),
);

const output = namedObject('CalculationOutput', {
  key: text,
  each: Type.Optional(
    namedObject('CalculationEach', {
      accumulator: text,
      dataKey: orNull(text),
      expression: orNull(text),
      maxGap: orNull(text),
      per: orNull(text),
      state: orNull(state),
      resets: orNull(resets),
    }),
  ),
  across: Type.Optional(across),
  count: Type.Optional(count),
  expression: Type.Optional(text),
});

const outputDraft = namedObject('CalculationOutputDraft', {
  key: writtenDataKey('Data key of the target.'),
  each: optional(
    namedObject('CalculationEachDraft', {
      accumulator: accumulatorOf(
        'How the values of each device in the period are reduced to one number.',
      ),
      dataKey: optional(dataKey),
      expression: optional(expressionText),
      maxGap: optional(duration),
      per: optional(duration),
      state: optional(state),
      resets: optional(resets),
    }),
  ),
  across: optional(across),
  count: optional(count),
  expression: optional(
    Type.String({
      maxLength: 20_000,
      description: 'Formula over the keys of the outputs with `each` or `count`.',
    }),
  ),
});
export type OutputDraft = Static<typeof outputDraft>;

const target = namedObject('CalculationTarget', { deviceId: id, topic: text });
const targetDraft = namedObject('CalculationTargetDraft', {
  deviceId: id,
  topic: optional(topic),
});

const progress = namedObject('CalculationProgress', {
  computedTo: orNull(time),
  computedAt: orNull(time),
  nextAt: orNull(time),
  lagSeconds: Type.Number({
    description: 'Seconds since the end of the oldest period that is not computed yet, else 0.',
  }),
  late: Type.Integer({
    description: 'Hours that wait to be computed again because of late or changed samples.',
  }),
  error: orNull(text),
  errorAt: orNull(time),
});

const calculationSchema = namedObject('Calculation', {
  id,
  name,
  description: orNull(text),
  organizationId: id,
  workspaceId: id,
  active: Type.Boolean({ description: 'Whether the calculation writes samples.' }),
  tagId: orNull(id),
  deviceIds: orNull(list(id)),
  topic: text,
  period,
  timeZone: orNull(text),
  from: time,
  target,
  outputs: list(output),
  progress,
  ...auditFields,
});

const draftFields = {
  description: optional(text),
  active: optional(Type.Boolean({ description: 'Defaults to true.' })),
  tagId: optional(
    Type.String({ maxLength: 500, description: 'Tag of the devices. Set this or `deviceIds`.' }),
  ),
  deviceIds: optional(deviceIds),
  timeZone: optional(timeZone),
  from: optional(
    Type.String({
      maxLength: 100,
      description: 'ISO-8601 date-time in the first period. Defaults to the time of creation.',
    }),
  ),
};

const outputs = Type.Unsafe<readonly OutputDraft[]>(
  Type.Array(outputDraft, { minItems: 1, maxItems: calculationLimits.outputs }),
);
const calculationDraft = namedObject('CalculationDraft', {
  workspaceId: id,
  name,
  ...draftFields,
  topic,
  period,
  target: targetDraft,
  outputs,
});
export type CalculationDraft = Static<typeof calculationDraft>;
const calculationUpdate = namedObject('CalculationUpdate', {
  ...updateFields,
  name: Type.Optional(name),
  ...draftFields,
  topic: Type.Optional(topic),
  period: Type.Optional(period),
  target: Type.Optional(targetDraft),
  outputs: Type.Optional(outputs),
});
export type CalculationUpdate = Static<typeof calculationUpdate>;

const {
  workspaceId: _,
  tagId: __,
  deviceIds: ___,
  from: ____,
  ...configured
} = calculationDraft.properties;
/** Of a configuration document. */
export const configuredCalculation = namedObject('ConfiguredCalculation', {
  ...configured,
  tag: optional(Type.String({ description: 'Name of the tag of the devices.' })),
  devices: optional(
    Type.Unsafe<readonly string[]>(
      Type.Array(Type.String(), {
        minItems: 1,
        maxItems: calculationLimits.deviceIds,
        description: 'Physical IDs of the devices, instead of a tag.',
      }),
    ),
  ),
});

const calculationListQuery = Type.Object({
  ...workspaceListParameters([...commonSortFields, 'active', 'period']),
  tagId: Type.Optional(Type.String({ description: 'Only calculations over the tag.' })),
});

const preview = namedObject('CalculationPreview', {
  devices: Type.Integer({ description: 'Devices that are combined.' }),
  periods: list(
    namedObject('CalculatedPeriod', {
      timestamp: Type.String({ format: 'date-time', description: 'Start of the period.' }),
      data: orNull(object),
    }),
  ),
  complete: Type.Boolean({
    description: 'Whether all periods are there. False if computing them took too long.',
  }),
});

const records = recordEndpoints({
  path: '/v3/calculations',
  isOwn: true,
  tag: 'Rules',
  scope: 'rule',
  record: calculationSchema,
  also: { create: [['asset', 'read']] },
  list: {
    summary: 'List calculations',
    description: 'Returns a page of the group calculations in the requested workspaces.',
    query: calculationListQuery,
    response: pageSchema(calculationSchema),
  },
  create: {
    summary: 'Create a calculation',
    description:
      'Creates a calculation that combines values of many devices by period, and writes the result as samples of a target device.',
    body: calculationDraft,
  },
  read: {
    summary: 'Get a calculation',
    description: 'Returns a calculation with its progress.',
  },
  update: {
    summary: 'Update a calculation',
    description:
      'Updates a calculation. If what it computes changes, all periods since `from` are computed again.',
    body: calculationUpdate,
    needsAlso: 'A change of devices, target, or outputs also requires `asset` `read`.',
  },
  remove: {
    summary: 'Delete a calculation',
    description: 'Deletes a calculation. Samples that it has written are kept.',
  },
});

export const calculations = {
  ...records,
  preview: endpoint({
    method: 'POST',
    path: '/v3/calculations/preview',
    tag: 'Rules',
    summary: 'Preview a calculation',
    description:
      'Computes the last periods of a calculation and stores nothing. Periods are ordered by time; the last one is the current period, up to now.',
    access: { scope: 'rule', verb: 'read', resource: 'body', also: [['asset', 'read']] },
    ownBody: true,
    body: namedObject('CalculationPreviewBody', {
      calculation: calculationDraft,
      periods: optional(Type.Integer({ minimum: 1, maximum: 100, description: 'Defaults to 24.' })),
    }),
    response: preview,
  }),
} as const;
