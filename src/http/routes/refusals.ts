// Routes of refused uplinks (contract 39.3).
import { refusals } from '../../contract/endpoints/refusals.ts';
import { formatInstant } from '../../model/instant.ts';
import { pageOf } from '../../model/page.ts';
import { type Refusal, refusalLimits } from '../../model/refused-uplink.ts';
import { listRefusals, type RefusalsOf, removeRefusals } from '../../records/rows/refusals.ts';
import { pageRequestOf } from '../edge/list-query.ts';
import { resourceRoute, type Route } from '../edge/route.ts';
import { byId, type RecordParts } from './record-parts.ts';

type ListQuery = Parameters<typeof pageRequestOf>[0];

export function refusalRoutes(parts: Pick<RecordParts, 'records' | 'now'>): Route[] {
  const { records, now } = parts;
  const ofConnector = byId(parts, 'deviceConnector');
  const ofWorkspace = byId(parts, 'workspace');

  async function list(of: RefusalsOf, query: ListQuery) {
    const page = pageRequestOf(query);
    const { rows, total } = await listRefusals(
      records.db,
      of,
      now() - refusalLimits.ageMsMax,
      page,
    );
    return pageOf(rows.map(refusalView), total, page);
  }

  // One that is gone is forgotten as well: the oldest make room for others at any time.
  const remove = (of: RefusalsOf, id?: string) => removeRefusals(records.db, of, id);

  return [
    resourceRoute(refusals.listOfConnector, ofConnector, ({ params, query }) =>
      list({ connectorId: params.id }, query),
    ),
    resourceRoute(refusals.listOfWorkspace, ofWorkspace, ({ params, query }) =>
      list({ workspaceId: params.id }, query),
    ),
    resourceRoute(refusals.clearConnector, ofConnector, ({ params }) =>
      remove({ connectorId: params.id }),
    ),
    resourceRoute(refusals.clearWorkspace, ofWorkspace, ({ params }) =>
      remove({ workspaceId: params.id }),
    ),
    resourceRoute(refusals.removeOfConnector, ofConnector, ({ params }) =>
      remove({ connectorId: params.id }, params.refusalId),
    ),
    resourceRoute(refusals.removeOfWorkspace, ofWorkspace, ({ params }) =>
      remove({ workspaceId: params.id }, params.refusalId),
    ),
  ];
}

function refusalView({ organizationId: _, first, last, ...refusal }: Refusal) {
  return { ...refusal, first: formatInstant(first), last: formatInstant(last) };
}
