// API schemas of errors: the error body of interface 7, and that of the token service (RFC 6749).
import Type from 'typebox';
import { rejectedSamples } from './capture.ts';
import { namedObject, time } from './schema-parts.ts';

export const errorSchema = namedObject('Error', {
  timestamp: time,
  path: Type.String({ description: 'Request path without the query string.' }),
  status: Type.Integer(),
  error: Type.String({ description: 'HTTP status text.' }),
  message: Type.String({ description: 'Description of the problem and how to fix it.' }),
  requestId: Type.String({ description: 'Request ID, also in the `x-request-id` header.' }),
  errorId: Type.String({ description: 'ID of this error, also in the server log.' }),
  traceId: Type.String(),
  errorCode: Type.String({ description: 'Stable error code, such as `40400_NOT_FOUND`.' }),
  accepted: Type.Optional(
    Type.Integer({ description: 'Backfill only: number of samples stored.' }),
  ),
  duplicates: Type.Optional(Type.Integer({ description: 'Backfill only: number of duplicates.' })),
  rejected: Type.Optional(rejectedSamples),
  position: Type.Optional(
    Type.Integer({ description: 'Expressions only: number of characters before the error.' }),
  ),
  limitName: Type.Optional(Type.String({ description: 'Name of the limit.' })),
  limitMax: Type.Optional(Type.Number({ description: 'Maximum of the limit.' })),
});
