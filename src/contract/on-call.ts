// Schemas and endpoints of on-call orders (contract 39.4).
import Type, { type Static } from 'typebox';
import { onCallLimits, turnLengths } from '../model/on-call.ts';
import { endpoint, recordEndpoints } from './endpoint.ts';
import { commonSortFields, pageSchema, workspaceListParameters } from './list-parameters.ts';
import { namedObject } from './named.ts';
import {
  auditFields,
  id,
  idParams,
  list,
  name,
  oneOf,
  optional,
  orNull,
  text,
  updateFields,
} from './record-fields.ts';

const { orderMax, overridesMax } = onCallLimits;
const tag = 'Alarms';
const path = '/v3/on-call';

const timeZone = Type.String({ maxLength: 100, description: 'IANA time zone of the turns.' });
const email = Type.String({ maxLength: 254, description: 'Email address.' });
const order = Type.Unsafe<readonly string[]>({
  ...list(email),
  description: `1 to ${orderMax} email addresses that take turns in this order, then again from the first.`,
});
const turn = Type.Unsafe<(typeof turnLengths)[number]>({
  ...oneOf(turnLengths),
  description: 'Length of a turn: `P1D` is a day, `P1W` a week.',
});
const startsAt = (description: string) => Type.String({ maxLength: 100, description });

const override = namedObject('OnCallOverride', {
  from: Type.String({ format: 'date-time', description: 'Start, inclusive.' }),
  to: Type.String({ format: 'date-time', description: 'End, exclusive.' }),
  email,
});
const overrideDraft = namedObject('OnCallOverrideDraft', {
  from: Type.String({ description: 'ISO-8601 date-time, inclusive.' }),
  to: Type.String({
    description: 'ISO-8601 date-time, exclusive. At most 366 days after `from`.',
  }),
  email,
});

const onCallSchema = namedObject('OnCall', {
  id,
  organizationId: id,
  workspaceId: id,
  name,
  description: orNull(text),
  timeZone,
  order,
  turn,
  startsAt: Type.String({
    format: 'date-time',
    description: 'Start of the first turn. Later turns start at the same local time.',
  }),
  overrides: Type.Unsafe<readonly Static<typeof override>[]>({
    ...list(override),
    description: 'Times at which somebody else is on call, in order of time.',
  }),
  formerMembers: Type.Unsafe<readonly string[]>({
    ...list(email),
    description:
      'Addresses of `order` and `overrides` whose members have left the organization. They get no messages; the next of the order takes their turns.',
  }),
  ...auditFields,
});

const optionalFields = {
  description: optional(text),
  overrides: optional(
    Type.Unsafe<readonly Static<typeof overrideDraft>[]>({
      ...list(overrideDraft),
      description: `Times at which somebody else is on call, up to ${overridesMax}. They must not overlap.`,
    }),
  ),
};
const sentStart = startsAt(
  'ISO-8601 date-time of the start of the first turn. Later turns start at the same local time.',
);
const onCallDraft = namedObject('OnCallDraft', {
  name,
  workspaceId: id,
  timeZone,
  order,
  turn,
  startsAt: sentStart,
  ...optionalFields,
});
export type OnCallDraft = Static<typeof onCallDraft>;
const onCallUpdate = namedObject('OnCallUpdate', {
  ...updateFields,
  name: Type.Optional(name),
  timeZone: Type.Optional(timeZone),
  order: Type.Optional(order),
  turn: Type.Optional(turn),
  startsAt: Type.Optional(sentStart),
  ...optionalFields,
});
export type OnCallUpdate = Static<typeof onCallUpdate>;

const { workspaceId: _, ...configured } = onCallDraft.properties;
/** Like the draft, in a workspace's document. */
export const configuredOnCall = Type.Object(configured);

const onCallNow = namedObject('OnCallNow', {
  email: orNull(
    Type.String({
      description:
        'Address that gets the messages. Null when everybody has left: the owners of the organization get them then.',
    }),
  ),
  until: orNull(
    Type.String({
      format: 'date-time',
      description: 'When somebody else takes over. Null for never.',
    }),
  ),
  next: orNull(
    Type.String({
      description: 'Address that takes over at `until`. Messages with `on: ESCALATED` go to it.',
    }),
  ),
});

export const onCalls = {
  ...recordEndpoints({
    path,
    isOwn: true,
    tag,
    scope: 'rule',
    record: onCallSchema,
    list: {
      summary: 'List on-call orders',
      description: 'Returns a page of the on-call orders in the requested workspaces.',
      query: Type.Object(workspaceListParameters(commonSortFields)),
      response: pageSchema(onCallSchema),
    },
    create: {
      summary: 'Create an on-call order',
      description:
        'Creates an on-call order: people who take turns in getting the messages of alarms. Alarms name it with `onCallId` in `notify`.',
      body: onCallDraft,
    },
    read: { summary: 'Get an on-call order', description: 'Returns an on-call order.' },
    update: {
      summary: 'Update an on-call order',
      description:
        'Updates an on-call order. Messages that wait to be delivered keep their address.',
      body: onCallUpdate,
    },
    remove: {
      summary: 'Delete an on-call order',
      description: 'Deletes an on-call order. Fails with 409 while an output connector names it.',
    },
  }),
  now: endpoint({
    method: 'GET',
    path: `${path}/:id/now`,
    summary: 'Get who is on call',
    description: 'Returns who is on call now or at another time, until when, and who is next.',
    tag,
    access: { scope: 'rule', verb: 'read', resource: 'path' },
    params: idParams,
    query: Type.Object({
      at: Type.Optional(
        Type.String({ maxLength: 100, description: 'ISO-8601 date-time. Defaults to now.' }),
      ),
    }),
    response: onCallNow,
  }),
} as const;
