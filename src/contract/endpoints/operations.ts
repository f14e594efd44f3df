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
    summary: 'List operations',
    description:
      'Returns a page of bulk operations, newest first, without their per-device results.',
    tag,
    access: { scope: 'asset', verb: 'read', resource: 'handler' },
    query: operationListQuery,
    response: pageSchema(operationSchema),
  }),
  read: endpoint({
    method: 'GET',
    path: '/v3/operations/:id',
    summary: 'Get an operation',
    description: 'Returns the progress of an operation and its results for the first devices.',
    tag,
    access: { scope: 'asset', verb: 'read', resource: 'path' },
    params: idParams,
    query: operationQuery,
    response: operationSchema,
  }),
  actions: endpoint({
    method: 'GET',
    path: '/v3/operations/:id/actions',
    summary: 'List operation results',
    description:
      'Returns a page of the results of an operation, one per device, in the order of the request.',
    tag,
    access: { scope: 'asset', verb: 'read', resource: 'path' },
    params: idParams,
    query: operationActionsQuery,
    response: pageSchema(operationActionSchema),
  }),
} as const;

export const bulkWork = {
  create: bulkEndpoint('create', 'creates devices in a workspace', 'create', bulkCreateBody),
  update: bulkEndpoint('update', 'updates the selected devices', 'update', bulkUpdateBody),
  delete: bulkEndpoint(
    'delete',
    'deletes the selected devices with their samples',
    'delete',
    bulkSelectionBody,
  ),
  move: bulkEndpoint(
    'move',
    'moves the selected devices to another workspace',
    'update',
    bulkMoveBody,
  ),
  tag: bulkEndpoint(
    'tag',
    'adds tags to the selected devices or removes them',
    'update',
    bulkTagBody,
  ),
  register: bulkEndpoint(
    'register',
    'registers the selected LoRaWAN devices with their network server',
    'update',
    bulkSelectionBody,
  ),
  deregister: bulkEndpoint(
    'deregister',
    'removes the selected LoRaWAN devices from their network server',
    'update',
    bulkSelectionBody,
  ),
  activate: bulkEndpoint(
    'activate',
    'activates the selected LoRaWAN devices',
    'update',
    bulkSelectionBody,
  ),
  deactivate: bulkEndpoint(
    'deactivate',
    'deactivates the selected LoRaWAN devices',
    'update',
    bulkSelectionBody,
  ),
} as const;

/** `does` says in the reference what the operation does. */
function bulkEndpoint<B extends TSchema>(work: string, does: string, verb: Verb, body: B) {
  return endpoint({
    method: 'POST',
    path: `/v3/devices/bulk/${work}`,
    summary: `${work.slice(0, 1).toUpperCase()}${work.slice(1)} devices in bulk`,
    description: `Starts an operation that ${does} and returns it with 202.`,
    tag,
    access: { scope: 'asset', verb, resource: 'body' },
    body,
    bodyBytesMax: bulkBytesMax,
    status: 202,
    response: operationSchema,
  });
}
