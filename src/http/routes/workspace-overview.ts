// Route of the overview of a workspace (contract 37).
import { workspaces } from '../../contract/workspaces.ts';
import {
  type OverviewSources,
  readOverview,
} from '../../inventory/workspaces/workspace-overview.ts';
import { resourceRoute, type Route } from '../edge/route.ts';
import { byId, type RecordParts } from './record-parts.ts';

export interface OverviewParts extends Pick<RecordParts, 'records'>, OverviewSources {}

export function workspaceOverviewRoute(parts: OverviewParts): Route {
  return resourceRoute(workspaces.overview, byId(parts, 'workspace'), ({ params }, principal) =>
    readOverview(parts.records, principal, params.id, parts),
  );
}
