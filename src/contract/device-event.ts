// API schemas of the recent events of a device (contract 27).
import Type from 'typebox';
import type { JsonObject, Json } from '../model/json.ts';
import { id, oneOf, time } from './record-fields.ts';
import { namedObject } from './named.ts';

export const deviceEventSchema = namedObject('DeviceEvent', {
  id,
  type: oneOf(['UPLINK', 'DOWNLINK', 'OUTPUT', 'RULE']),
  timestamp: time,
  correlationId: Type.String(),
  payload: Type.Unsafe<JsonObject | readonly Json[]>({ type: ['object', 'array'] }),
});
