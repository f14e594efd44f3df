// Endpoints of the own sessions (contract 35).
import Type from 'typebox';
import { endpoint } from '../endpoint.ts';
import { endedSessionsSchema } from '../member.ts';
import { unpagedSchema } from '../page-envelope.ts';
import { idParams, optional } from '../record-fields.ts';
import { sessionSchema } from '../session.ts';

const tag = 'Sign-in';
const own = {
  anyCredential: 'a user sees and ends only the own sessions',
  userOnly: true,
  beforeSecondFactor: true,
} as const;

const confirmation = Type.Object({
  password: optional(
    Type.String({
      maxLength: 200,
      description: 'Of the user; needed by a session that began more than 10 minutes ago',
    }),
  ),
});

export const ownSessions = {
  list: endpoint({
    method: 'GET',
    path: '/v3/auth/sessions',
    summary: 'Where the user is signed in, the newest session first',
    tag,
    access: own,
    response: unpagedSchema(sessionSchema),
  }),
  end: endpoint({
    method: 'DELETE',
    path: '/v3/auth/sessions/:id',
    summary: 'End a session of the user; its live connections end too',
    tag,
    access: own,
    params: idParams,
    body: Type.Optional(confirmation),
  }),
  endOthers: endpoint({
    method: 'POST',
    path: '/v3/auth/sessions/end-others',
    summary: 'End every session of the user except this one',
    tag,
    access: own,
    body: Type.Optional(confirmation),
    response: endedSessionsSchema,
  }),
} as const;
