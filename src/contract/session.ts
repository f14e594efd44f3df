// API schemas of the own sessions (contract 35).
import Type from 'typebox';
import { signInKinds } from '../model/user.ts';
import { namedObject } from './named.ts';
import { id, oneOf, orNull, text, time } from './record-fields.ts';

export const sessionSchema = namedObject('Session', {
  id,
  current: Type.Boolean({ description: 'Whether it is the session of this request' }),
  signInKind: oneOf(signInKinds),
  userAgent: orNull(text),
  ip: orNull(Type.String({ description: 'The address that signed in' })),
  created: time,
  lastSeen: Type.String({ format: 'date-time', description: 'To the minute' }),
  expires: Type.String({ format: 'date-time', description: 'At the latest' }),
});
