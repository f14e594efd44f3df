// API schema of samples that were taken and not stored (contract 42).
import Type from 'typebox';
import { namedObject } from './named.ts';
import { list, oneOf } from './record-fields.ts';

/** Live clients, rules and other outputs got them nevertheless. */
export const notStoredSamples = list(
  namedObject('NotStoredSamples', {
    topic: Type.String(),
    count: Type.Integer(),
    reason: oneOf(['NO_DATABASE_OUTPUT', 'TOPIC_FILTER', 'OLDER_THAN_RETENTION']),
  }),
);
