// API schemas of the processing log (contract 27).
import Type from 'typebox';
import { listParameters } from './list-parameters.ts';
import { id, object, oneOf, orNull, time } from './record-fields.ts';
import { namedObject } from './named.ts';

const levels = oneOf(['INFO', 'WARN', 'ERROR']);

export const processingLogSchema = namedObject('ProcessingLogEntry', {
  id,
  timestamp: time,
  level: levels,
  source: oneOf(['UPLINK', 'SCRIPT', 'OUTPUT', 'RULE', 'DOWNLINK']),
  message: Type.String(),
  correlationId: Type.String(),
  details: orNull(object),
});

export const processingLogQuery = Type.Object({
  ...listParameters(['timestamp', 'sequence', 'level', 'source']),
  from: Type.Optional(Type.String({ description: 'ISO-8601 date-time, inclusive.' })),
  to: Type.Optional(Type.String({ description: 'ISO-8601 date-time, exclusive.' })),
  level: Type.Optional(levels),
});
