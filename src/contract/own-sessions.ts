// Schemas and endpoints of the own sessions (contract 35).
import Type from 'typebox';
import { signInKinds } from '../model/user.ts';
import { endpoint } from './endpoint.ts';
import { namedObject } from './named.ts';
import { unpagedSchema } from './page-envelope.ts';
import { id, idParams, oneOf, optional, orNull, text, time } from './record-fields.ts';
import { endedSessionsSchema } from './members.ts';

const sessionSchema = namedObject('Session', {
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

const tag = 'Sign-in';
const own = {
  anyCredential: "The user's own sessions.",
  userOnly: true,
  beforeSecondFactor: true,
} as const;

/** What a session needs that ends others, unless it began a short time ago. */
export const endingConfirmation = Type.Object({
  password: optional(
    Type.String({
      maxLength: 200,
      description: 'Current password. Required if the user signed in more than 10 minutes ago.',
    }),
  ),
});

export const ownSessions = {
  list: endpoint({
    method: 'GET',
    path: '/v3/auth/sessions',
    summary: 'List sessions',
    description: "Returns the user's active sessions, newest first.",
    tag,
    access: own,
    response: unpagedSchema(sessionSchema),
  }),
  end: endpoint({
    method: 'DELETE',
    path: '/v3/auth/sessions/:id',
    summary: 'End a session',
    description: "Ends one of the user's sessions and closes its live connections.",
    tag,
    access: own,
    params: idParams,
    body: Type.Optional(endingConfirmation),
  }),
  endOthers: endpoint({
    method: 'POST',
    path: '/v3/auth/sessions/end-others',
    summary: 'End other sessions',
    description: 'Ends every session of the user except the current one.',
    tag,
    access: own,
    body: Type.Optional(endingConfirmation),
    response: endedSessionsSchema,
  }),
} as const;
