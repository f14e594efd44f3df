// API schemas of the own sessions (contract 35).
import Type from 'typebox';
import { signInKinds } from '../model/user.ts';
import { namedObject } from './named.ts';
import { id, oneOf, orNull, text, time } from './record-fields.ts';

export const sessionSchema = namedObject('Session', {
  id,
  current: Type.Boolean({ description: 'Whether this is the current session.' }),
  signInKind: oneOf(signInKinds),
  userAgent: orNull(text),
  ip: orNull(Type.String({ description: 'IP address that signed in.' })),
  created: time,
  lastSeen: Type.String({
    format: 'date-time',
    description: 'Time of the last request, accurate to the minute.',
  }),
  expires: Type.String({ format: 'date-time', description: 'Latest expiration time.' }),
});
