// API schemas of refused uplinks (contract 39.3).
import Type from 'typebox';
import { payloadForms, refusalReasons, refusalTransports } from '../model/refused-uplink.ts';
import { listParameters } from './list-parameters.ts';
import { namedObject } from './named.ts';
import { id, oneOf, orNull, time } from './record-fields.ts';

/** What refusals can be ordered by. */
const refusalSortFields = ['last', 'first', 'count', 'reason', 'deviceId', 'id'] as const;

export const refusalSchema = namedObject('Refusal', {
  id,
  connectorId: id,
  workspaceId: id,
  transport: oneOf(refusalTransports),
  reason: oneOf(refusalReasons),
  status: Type.Integer({
    description: 'HTTP status of the reason, also for other protocols.',
  }),
  deviceId: orNull(
    Type.String({ description: 'Device ID that the sender named. Null without one.' }),
  ),
  message: Type.String({ description: 'Description of the last rejection.' }),
  first: time,
  last: time,
  count: Type.Integer({ minimum: 1 }),
  bytes: Type.Integer({ minimum: 0, description: 'Size of the last payload in bytes.' }),
  payload: orNull(
    Type.String({
      description: 'First 4,096 bytes of the last payload. Null if the secret was wrong.',
    }),
  ),
  payloadForm: orNull(oneOf(payloadForms)),
});

export const refusalListQuery = Type.Object(listParameters(refusalSortFields));

export const refusalParams = Type.Object({
  id: Type.String({ description: 'ID of the record.' }),
  refusalId: Type.String({ description: 'ID of the rejected uplink.' }),
});
