// API schemas of errors: the error body of interface 7, and that of the token service (RFC 6749).
import Type from 'typebox';
import { rejectedSamples } from './backfill.ts';
import { namedObject } from './named.ts';
import { time } from './record-fields.ts';

export const errorSchema = namedObject('Error', {
  timestamp: time,
  path: Type.String({ description: 'Without query string' }),
  status: Type.Integer(),
  error: Type.String({ description: 'The text of the status' }),
  message: Type.String({ description: 'What is wrong and what to do' }),
  requestId: Type.String({ description: 'Also in header x-request-id' }),
  errorId: Type.String({ description: 'Of this failure alone; the log of the server has it' }),
  traceId: Type.String(),
  errorCode: Type.String({ description: 'Stable, such as 40400_NOT_FOUND' }),
  accepted: Type.Optional(Type.Integer({ description: 'Backfills: samples that were stored' })),
  duplicates: Type.Optional(
    Type.Integer({ description: 'Backfills: samples that were stored already' }),
  ),
  rejected: Type.Optional(rejectedSamples),
  limitName: Type.Optional(Type.String({ description: 'The limit that is reached' })),
  limitMax: Type.Optional(Type.Number({ description: 'What the limit allows' })),
});

export const tokenRefusal = namedObject('TokenRefusal', {
  error: Type.String({ description: 'Such as invalid_client' }),
  error_description: Type.String(),
});
