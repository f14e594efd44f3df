// Routes of operations and of the bulk work that begins them (contract 4, 19).
import { Readable } from 'node:stream';
import { bulkWork, operations } from '../../contract/operations.ts';
import { BulkRequests } from '../../inventory/operations/bulk.ts';
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
import type { RecordRoutes } from './record-routes.ts';

/** `start` begins the work of an accepted operation. */
export function operationRoutes(common: RecordRoutes, start: (id: string) => void): Route[] {
  const { records } = common;
  return [
    route(operations.list, ({ query, headers }, principal) =>
      listOperations(
        records,
        principal,
        listScopeOf(query),
        pageRequestOf(query),
        common.aliased(headers),
      ),
    ),
    resourceRoute(operations.read, common.byId('operation'), async ({ params, query, headers }) => {
      const vendorNames = common.aliased(headers);
      const shown = query.actions ?? 'first';
      const pieces = await operationPieces(records, params.id, shown, vendorNames);
      return new Answer<never>(200, Readable.from(pieces), {
        'content-type': 'application/json; charset=utf-8',
      });
    }),
    resourceRoute(operations.cancel, common.byId('operation'), ({ params, headers }) =>
      cancelOperation(records, params.id, common.aliased(headers)),
    ),
    resourceRoute(operations.actions, common.byId('operation'), ({ params, query, headers }) =>
      operationActions(
        records,
        params.id,
        query.state,
        pageRequestOf(query),
        common.aliased(headers),
      ),
    ),
    ...bulkRoutes(common, start),
  ];
}

function bulkRoutes(common: RecordRoutes, start: (id: string) => void): Route[] {
  return [
    bulkRoute(common, start, bulkWork.create, (step, principal, body) =>
      new BulkRequests(step).create(principal, body),
    ),
    bulkRoute(common, start, bulkWork.update, (step, principal, body) =>
      new BulkRequests(step).update(principal, body),
    ),
    bulkRoute(common, start, bulkWork.delete, (step, principal, body) =>
      new BulkRequests(step).remove(principal, body),
    ),
    bulkRoute(common, start, bulkWork.move, (step, principal, body) =>
      new BulkRequests(step).move(principal, body),
    ),
    bulkRoute(common, start, bulkWork.tag, (step, principal, body) =>
      new BulkRequests(step).tag(principal, body),
    ),
    ...networkWorks.map((work) =>
      bulkRoute(common, start, bulkWork[work], (step, principal, body) =>
        new BulkRequests(step).networkWork(principal, work, body),
      ),
    ),
  ];
}

type BulkEndpoint = (typeof bulkWork)[keyof typeof bulkWork];
type Accepted = Awaited<ReturnType<BulkRequests['create']>>;

function bulkRoute<E extends BulkEndpoint>(
  common: RecordRoutes,
  start: (id: string) => void,
  endpoint: E,
  accept: (step: Inventory, principal: Principal, body: InputOf<E>['body']) => Promise<Accepted>,
): Route {
  const handle = async (input: InputOf<E>, principal: Principal) => {
    const operation = await common.createdOnce(
      input,
      principal,
      (step) => accept(step, principal, input.body),
      (id) => readOperation(common.records, id),
    );
    start(operation.id);
    return operation;
  };
  return { ...endpoint, findResource: common.byWorkspace, handle };
}
