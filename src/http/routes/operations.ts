// Routes of operations and of the bulk work that begins them (contract 4, 19).
import type { IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import { bulkWork, operations } from '../../contract/operations.ts';
import {
  bulkCreate,
  bulkDelete,
  bulkMove,
  bulkNetworkWork,
  bulkTag,
  bulkUpdate,
} from '../../inventory/operations/bulk.ts';
import {
  cancelOperation,
  listOperations,
  operationActions,
  operationPieces,
  readOperation,
} from '../../inventory/operations/operations.ts';
import type { Inventory } from '../../inventory/record-crud.ts';
import { networkWorks } from '../../model/operation.ts';
import type { Principal } from '../../model/principal.ts';
import { listScopeOf, pageRequestOf } from '../edge/list-query.ts';
import { Answer, type InputOf, resourceRoute, route, type Route } from '../edge/route.ts';
import { byId, byWorkspace, createdOnce, type RecordParts } from './record-routes.ts';

export interface OperationParts extends RecordParts {
  /** Begins the work of an accepted operation. */
  readonly startOperation: (id: string) => void;
  /** Whether an answer to these headers is for clients of old (contract 34). */
  readonly aliased: (headers: IncomingHttpHeaders) => boolean;
}

export function operationRoutes(parts: OperationParts): Route[] {
  const { records } = parts;
  return [
    route(operations.list, ({ query, headers }, principal) =>
      listOperations(
        records,
        principal,
        listScopeOf(query),
        pageRequestOf(query),
        parts.aliased(headers),
      ),
    ),
    resourceRoute(operations.read, byId(parts, 'operation'), async ({ params, query, headers }) => {
      const vendorNames = parts.aliased(headers);
      const shown = query.actions ?? 'first';
      const pieces = await operationPieces(records, params.id, shown, vendorNames);
      return new Answer<never>(200, Readable.from(pieces), {
        'content-type': 'application/json; charset=utf-8',
      });
    }),
    resourceRoute(operations.cancel, byId(parts, 'operation'), ({ params, headers }) =>
      cancelOperation(records, params.id, parts.aliased(headers)),
    ),
    resourceRoute(operations.actions, byId(parts, 'operation'), ({ params, query, headers }) =>
      operationActions(
        records,
        params.id,
        query.state,
        pageRequestOf(query),
        parts.aliased(headers),
      ),
    ),
    ...bulkRoutes(parts),
  ];
}

function bulkRoutes(parts: OperationParts): Route[] {
  return [
    bulkRoute(parts, bulkWork.create, (step, principal, body) => bulkCreate(step, principal, body)),
    bulkRoute(parts, bulkWork.update, (step, principal, body) => bulkUpdate(step, principal, body)),
    bulkRoute(parts, bulkWork.delete, (step, principal, body) => bulkDelete(step, principal, body)),
    bulkRoute(parts, bulkWork.move, (step, principal, body) => bulkMove(step, principal, body)),
    bulkRoute(parts, bulkWork.tag, (step, principal, body) => bulkTag(step, principal, body)),
    ...networkWorks.map((work) =>
      bulkRoute(parts, bulkWork[work], (step, principal, body) =>
        bulkNetworkWork(step, principal, work, body),
      ),
    ),
  ];
}

type BulkEndpoint = (typeof bulkWork)[keyof typeof bulkWork];
type Accepted = Awaited<ReturnType<typeof bulkCreate>>;

function bulkRoute<E extends BulkEndpoint>(
  parts: OperationParts,
  endpoint: E,
  accept: (step: Inventory, principal: Principal, body: InputOf<E>['body']) => Promise<Accepted>,
): Route {
  const handle = async (input: InputOf<E>, principal: Principal) => {
    const operation = await createdOnce(
      parts,
      { input, principal },
      (step) => accept(step, principal, input.body),
      (id) => readOperation(parts.records, id),
    );
    parts.startOperation(operation.id);
    return operation;
  };
  return { ...endpoint, findResource: byWorkspace(parts), handle };
}
