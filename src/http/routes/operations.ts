// Routes of operations and of the bulk work that begins them (contract 4, 19).
import { Readable } from 'node:stream';
import type { TSchema } from 'typebox';
import {
  bulkCreateBody,
  bulkSelectionBody,
  bulkMoveBody,
  bulkTagBody,
  bulkUpdateBody,
  operationListQuery,
  operationQuery,
  operationSchema,
} from '../../contract/operation.ts';
import { pageSchema } from '../../contract/page-envelope.ts';
import { idParams } from '../../contract/record-fields.ts';
import {
  bulkCreate,
  bulkDelete,
  bulkMove,
  bulkNetworkWork,
  bulkTag,
  bulkUpdate,
} from '../../inventory/operations/bulk.ts';
import {
  listOperations,
  operationPieces,
  readOperation,
} from '../../inventory/operations/operations.ts';
import type { Inventory } from '../../inventory/resource-lookup.ts';
import { networkWorks } from '../../model/operation.ts';
import type { Principal } from '../../model/principal.ts';
import { listScopeOf, pageRequestOf } from '../edge/list-query.ts';
import { Answer, guardedRoute, type Route } from '../edge/route.ts';
import { byId, byWorkspace, createdOnce, type RecordParts } from './record-parts.ts';

const tag = 'Operations';
const bulkBytesMax = 64 * 1024 * 1024;

export interface OperationParts extends RecordParts {
  /** Begins the work of an accepted operation. */
  readonly startOperation: (id: string) => void;
}

export function operationRoutes(parts: OperationParts): Route[] {
  const { records, now } = parts;
  return [
    guardedRoute({
      method: 'GET',
      path: '/v3/operations',
      summary: 'Operations of workspaces, newest first, without their actions',
      tag,
      access: { scope: 'asset', verb: 'read', place: { narrowedByHandler: true } },
      query: operationListQuery,
      response: pageSchema(operationSchema),
      handle: ({ query }, principal) =>
        listOperations(records, principal, listScopeOf(query), pageRequestOf(query)),
    }),
    guardedRoute({
      method: 'GET',
      path: '/v3/operations/:id',
      summary: 'How far an operation is, and what became of each device',
      tag,
      access: { scope: 'asset', verb: 'read', place: byId(parts, 'operation') },
      params: idParams,
      query: operationQuery,
      response: operationSchema,
      handle: async ({ params, query }) => {
        const pieces = await operationPieces(records, params.id, query.actions ?? 'all');
        return new Answer<never>(200, Readable.from(pieces), {
          'content-type': 'application/json; charset=utf-8',
        });
      },
    }),
    bulkRoute(parts, 'create', 'create', bulkCreateBody, (step, principal, body) =>
      bulkCreate(step, principal, body as never, now()),
    ),
    bulkRoute(parts, 'update', 'update', bulkUpdateBody, (step, principal, body) =>
      bulkUpdate(step, principal, body as never, now()),
    ),
    bulkRoute(parts, 'delete', 'delete', bulkSelectionBody, (step, principal, body) =>
      bulkDelete(step, principal, body as never, now()),
    ),
    bulkRoute(parts, 'move', 'update', bulkMoveBody, (step, principal, body) =>
      bulkMove(step, principal, body as never, now()),
    ),
    bulkRoute(parts, 'tag', 'update', bulkTagBody, (step, principal, body) =>
      bulkTag(step, principal, body as never, now()),
    ),
    ...networkWorks.map((work) =>
      bulkRoute(parts, work, 'update', bulkSelectionBody, (step, principal, body) =>
        bulkNetworkWork(step, principal, work, body as never, now()),
      ),
    ),
  ];
}

type Accepted = Awaited<ReturnType<typeof bulkCreate>>;

function bulkRoute(
  parts: OperationParts,
  kind: string,
  verb: 'create' | 'update' | 'delete',
  body: TSchema,
  accept: (step: Inventory, principal: Principal, body: unknown) => Promise<Accepted>,
): Route {
  const place = byWorkspace(parts);
  return guardedRoute({
    method: 'POST',
    path: `/v3/devices/bulk/${kind}`,
    summary: `Begin to ${kind} many devices of a workspace`,
    tag,
    access: {
      scope: 'asset',
      verb,
      place: { byBody: (sent) => place.byBody(sent as { workspaceId: string }) },
    },
    body,
    bodyBytesMax: bulkBytesMax,
    status: 202,
    response: operationSchema,
    handle: async (input, principal) => {
      const operation = await createdOnce(
        parts,
        input,
        principal,
        (step) => accept(step, principal, input.body),
        (id) => readOperation(parts.records, id),
      );
      parts.startOperation(operation.id);
      return operation;
    },
  });
}
