// Routes of refused uplinks (contract 39.3).
import { refusals } from '../../contract/refusals.ts';
import { forgetRefusals, readRefusals } from '../../inventory/data-flows/refusals.ts';
import { pageRequestOf } from '../edge/list-query.ts';
import { resourceRoute, type Route } from '../edge/route.ts';
import { byId, type RecordParts } from './record-parts.ts';

export function refusalRoutes(parts: Pick<RecordParts, 'records'>): Route[] {
  const { records } = parts;
  const ofConnector = byId(parts, 'deviceConnector');
  const ofWorkspace = byId(parts, 'workspace');
  return [
    resourceRoute(refusals.listOfConnector, ofConnector, ({ params: { id }, query }) =>
      readRefusals(records, { connectorId: id }, pageRequestOf(query)),
    ),
    resourceRoute(refusals.listOfWorkspace, ofWorkspace, ({ params: { id }, query }) =>
      readRefusals(records, { workspaceId: id }, pageRequestOf(query)),
    ),
    resourceRoute(refusals.clearConnector, ofConnector, ({ params: { id } }) =>
      forgetRefusals(records, { connectorId: id }),
    ),
    resourceRoute(refusals.clearWorkspace, ofWorkspace, ({ params: { id } }) =>
      forgetRefusals(records, { workspaceId: id }),
    ),
    resourceRoute(refusals.removeOfConnector, ofConnector, ({ params: { id, refusalId } }) =>
      forgetRefusals(records, { connectorId: id }, refusalId),
    ),
    resourceRoute(refusals.removeOfWorkspace, ofWorkspace, ({ params: { id, refusalId } }) =>
      forgetRefusals(records, { workspaceId: id }, refusalId),
    ),
  ];
}
