// Endpoints of alarms (contract 37).
import {
  alarmBulkBody,
  alarmBulkSchema,
  alarmClearBody,
  alarmCommentBody,
  alarmListQuery,
  alarmSchema,
} from '../alarm.ts';
import { endpoint } from '../endpoint.ts';
import { pageSchema } from '../page-envelope.ts';
import { idParams } from '../record-fields.ts';

const tag = 'Alarms';
const one = { scope: 'rule', verb: 'update', resource: 'path' } as const;

export const alarms = {
  list: endpoint({
    method: 'GET',
    path: '/v3/alarms',
    summary: 'List alarms',
    description: 'Returns a page of alarms, ordered by latest trigger.',
    tag,
    access: { scope: 'rule', verb: 'read', resource: 'handler' },
    query: alarmListQuery,
    response: pageSchema(alarmSchema),
  }),
  read: endpoint({
    method: 'GET',
    path: '/v3/alarms/:id',
    summary: 'Get an alarm',
    description: 'Returns an alarm with its comments.',
    tag,
    access: { scope: 'rule', verb: 'read', resource: 'path' },
    params: idParams,
    response: alarmSchema,
  }),
  acknowledge: endpoint({
    method: 'POST',
    path: '/v3/alarms/:id/acknowledge',
    summary: 'Acknowledge an alarm',
    description:
      'Acknowledges an open alarm, which stops its escalation; fails with 409 when it is cleared.',
    tag,
    access: one,
    params: idParams,
    response: alarmSchema,
  }),
  clear: endpoint({
    method: 'POST',
    path: '/v3/alarms/:id/clear',
    ownBody: true,
    summary: 'Clear an alarm',
    description: 'Clears an alarm; the next trigger opens a new one.',
    tag,
    access: one,
    params: idParams,
    body: alarmClearBody,
    response: alarmSchema,
  }),
  comment: endpoint({
    method: 'POST',
    path: '/v3/alarms/:id/comments',
    ownBody: true,
    summary: 'Add an alarm comment',
    description: 'Adds a comment to an alarm.',
    tag,
    access: one,
    params: idParams,
    body: alarmCommentBody,
    status: 201,
    response: alarmSchema,
  }),
  bulk: endpoint({
    method: 'POST',
    path: '/v3/alarms/bulk',
    ownBody: true,
    summary: 'Update alarms in bulk',
    description: 'Acknowledges or clears alarms selected by id or by filter.',
    tag,
    access: { scope: 'rule', verb: 'update', resource: 'handler' },
    body: alarmBulkBody,
    response: alarmBulkSchema,
  }),
} as const;
