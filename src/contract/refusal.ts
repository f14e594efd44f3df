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
    description: 'What HTTP answers, also for transports without a status',
  }),
  deviceId: orNull(Type.String({ description: 'As the sender named it' })),
  message: Type.String({ description: 'What was wrong with the last one' }),
  first: time,
  last: time,
  count: Type.Integer({ minimum: 1 }),
  bytes: Type.Integer({ minimum: 0, description: 'Of the last payload' }),
  payload: orNull(
    Type.String({
      description: 'The first 4,096 bytes of the last payload; null without the right secret',
    }),
  ),
  payloadForm: orNull(oneOf(payloadForms)),
});

export const refusalListQuery = Type.Object(listParameters(refusalSortFields));

export const refusalParams = Type.Object({
  id: Type.String({ description: 'Record id' }),
  refusalId: Type.String({ description: 'Id of the refusal' }),
});
