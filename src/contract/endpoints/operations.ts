// Endpoints of operations and of the bulk work that begins them (contract 4, 19).
import type { TSchema } from 'typebox';
import type { Verb } from '../../model/permission.ts';
import { endpoint } from '../endpoint.ts';
import {
  bulkCreateBody,
  bulkMoveBody,
  bulkSelectionBody,
  bulkTagBody,
  bulkUpdateBody,
  operationActionSchema,
  operationActionsQuery,
  operationListQuery,
  operationQuery,
  operationSchema,
} from '../operation.ts';
import { pageSchema } from '../page-envelope.ts';
import { idParams } from '../record-fields.ts';

const tag = 'Operations';
const bulkBytesMax = 64 * 1024 * 1024;

export const operations = {
  list: endpoint({
    method: 'GET',
    path: '/v3/operations',
    summary: 'Operations of workspaces, newest first, without their actions',
    tag,
    access: { scope: 'asset', verb: 'read', resource: 'handler' },
    query: operationListQuery,
    response: pageSchema(operationSchema),
  }),
  read: endpoint({
    method: 'GET',
    path: '/v3/operations/:id',
    summary: 'How far an operation is, and what became of the first devices',
    tag,
    access: { scope: 'asset', verb: 'read', resource: 'path' },
    params: idParams,
    query: operationQuery,
    response: operationSchema,
  }),
  actions: endpoint({
    method: 'GET',
    path: '/v3/operations/:id/actions',
    summary: 'What became of each device, in order, by page',
    tag,
    access: { scope: 'asset', verb: 'read', resource: 'path' },
    params: idParams,
    query: operationActionsQuery,
    response: pageSchema(operationActionSchema),
  }),
} as const;

export const bulkWork = {
  create: bulkEndpoint('create', 'create', bulkCreateBody),
  update: bulkEndpoint('update', 'update', bulkUpdateBody),
  delete: bulkEndpoint('delete', 'delete', bulkSelectionBody),
  move: bulkEndpoint('move', 'update', bulkMoveBody),
  tag: bulkEndpoint('tag', 'update', bulkTagBody),
  register: bulkEndpoint('register', 'update', bulkSelectionBody),
  deregister: bulkEndpoint('deregister', 'update', bulkSelectionBody),
  activate: bulkEndpoint('activate', 'update', bulkSelectionBody),
  deactivate: bulkEndpoint('deactivate', 'update', bulkSelectionBody),
} as const;

function bulkEndpoint<B extends TSchema>(work: string, verb: Verb, body: B) {
  return endpoint({
    method: 'POST',
    path: `/v3/devices/bulk/${work}`,
    summary: `Begin to ${work} many devices of a workspace`,
    tag,
    access: { scope: 'asset', verb, resource: 'body' },
    body,
    bodyBytesMax: bulkBytesMax,
    status: 202,
    response: operationSchema,
  });
}
