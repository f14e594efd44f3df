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
    summary: 'Alarms of workspaces, the newest trigger first',
    tag,
    access: { scope: 'rule', verb: 'read', resource: 'handler' },
    query: alarmListQuery,
    response: pageSchema(alarmSchema),
  }),
  read: endpoint({
    method: 'GET',
    path: '/v3/alarms/:id',
    summary: 'One alarm with its comments',
    tag,
    access: { scope: 'rule', verb: 'read', resource: 'path' },
    params: idParams,
    response: alarmSchema,
  }),
  acknowledge: endpoint({
    method: 'POST',
    path: '/v3/alarms/:id/acknowledge',
    summary: 'Acknowledge an alarm, so that it does not escalate; 409 for a cleared one',
    tag,
    access: one,
    params: idParams,
    response: alarmSchema,
  }),
  clear: endpoint({
    method: 'POST',
    path: '/v3/alarms/:id/clear',
    ownBody: true,
    summary: 'Clear an alarm; its next trigger opens another one',
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
    summary: 'Add a comment to an alarm',
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
    summary: 'Acknowledge or clear many alarms, named or by a filter',
    tag,
    access: { scope: 'rule', verb: 'update', resource: 'handler' },
    body: alarmBulkBody,
    response: alarmBulkSchema,
  }),
} as const;
