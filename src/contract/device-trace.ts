// Schema and endpoint of the trace of an uplink (contract 39.3).
import Type from 'typebox';
import { traceCodes, traceKinds, traceStates } from '../model/device-trace.ts';
import { searchKinds } from '../model/search.ts';
import { endpoint } from './endpoint.ts';
import { namedObject } from './named.ts';
import { id, idParams, list, object, oneOf, orNull, time } from './record-fields.ts';

const kind = Type.Unsafe<(typeof searchKinds)[number]>({
  type: 'string',
  enum: searchKinds,
  description: 'Kind of the record, as in search results.',
});
const link = orNull(
  Type.Object({ kind, id }, { description: 'Record to look at. Null without one.' }),
);
const code = oneOf(traceCodes);
const sentence = Type.String({ description: 'What happened, as a sentence.' });

const traceSchema = namedObject('DeviceTrace', {
  device: namedObject('TracedDevice', { id, deviceId: Type.String(), name: Type.String() }),
  at: orNull(time),
  verdict: namedObject('TraceVerdict', {
    code,
    text: sentence,
    fix: orNull(namedObject('TraceFix', { text: Type.String(), link })),
  }),
  steps: list(
    namedObject('TraceStep', {
      kind: oneOf(traceKinds),
      state: oneOf(traceStates),
      at: orNull(time),
      code,
      text: sentence,
      details: orNull(object),
      link,
    }),
  ),
});

const named = (description: string) => Type.Optional(Type.String({ maxLength: 500, description }));

export const deviceTrace = {
  read: endpoint({
    method: 'GET',
    path: '/v3/devices/:id/trace',
    summary: 'Trace an uplink',
    description:
      'Follows one uplink of a device from its arrival to its deliveries, and says where it broke and what to do. Without a correlation ID and a time, the last one.',
    tag: 'Devices',
    access: { scope: 'asset', verb: 'read', resource: 'path' },
    needsAlso:
      'Steps of rules and alarms require `rule` `read`, those of deliveries `dataFlow` `read`; without it they are `SKIPPED`.',
    params: idParams,
    query: Type.Object({
      correlationId: named('Correlation ID of the uplink.'),
      at: named('ISO-8601 time. The newest uplink at or before it is followed.'),
      topic: named('Topic that the uplink must have led to.'),
      dataKey: named('Data key that its samples must have. Dots lead into nested objects.'),
      ruleId: named('Rule that was expected to fire.'),
      outputConnectorId: named('Output connector that was expected to get it.'),
    }),
    response: traceSchema,
  }),
} as const;
