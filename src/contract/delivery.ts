// API schemas of deliveries, their resending and the test of a connector (contract 35).
import Type from 'typebox';
import { deliveryCauses, deliveryStates } from '../model/delivery.ts';
import { listParameter, listParameters } from './list-parameters.ts';
import { id, oneOf, optional, orNull, time } from './record-fields.ts';
import { namedObject } from './named.ts';

const resendIdsMax = 1_000;

export const deliverySchema = namedObject('Delivery', {
  id,
  outputConnectorId: id,
  workspaceId: id,
  deviceId: id,
  state: oneOf(deliveryStates),
  tries: Type.Integer(),
  created: time,
  updated: time,
  nextTry: orNull(time),
  cause: oneOf(deliveryCauses),
  ruleId: orNull(id),
  alarmId: orNull(id),
  alarmChange: orNull(Type.String({ description: 'Alarm change, such as `OPENED`.' })),
  correlationId: Type.String(),
  payload: Type.String({ description: 'Message payload. Long payloads are truncated.' }),
  answer: orNull(Type.String()),
  reason: orNull(Type.String({ description: 'Error of the last attempt.' })),
});

export const deliveryListQuery = Type.Object({
  ...listParameters(['created', 'updated', 'state', 'tries', 'nextAt']),
  state: listParameter,
  deviceId: Type.Optional(Type.String()),
});

export const bulkResendBody = Type.Optional(
  namedObject('BulkResendBody', {
    state: Type.Optional(oneOf(['DEAD', 'DELIVERED'])),
    deviceId: optional(id),
    deliveryIds: optional(Type.Array(id, { maxItems: resendIdsMax })),
  }),
);

export const resentSchema = namedObject('ResentDeliveries', {
  resent: Type.Integer(),
});

export const connectorTestBody = Type.Optional(
  namedObject('ConnectorTestBody', {
    deviceId: optional(
      Type.String({
        description: 'Device whose latest sample is sent. Without it, example data is sent.',
      }),
    ),
  }),
);

export const connectorTestSchema = namedObject('ConnectorTest', {
  ok: Type.Boolean(),
  answer: orNull(Type.String()),
  reason: orNull(Type.String()),
  payload: orNull(Type.String()),
  durationMs: Type.Integer(),
});
