// Routes of dashboards and their groups, and the check of their configuration (contract 32).
import Type, { type Static } from 'typebox';
import {
  dashboardConfiguration,
  dashboardSchemaName,
  dashboardSchemaVersion,
} from '../../contract/dashboard-configuration.ts';
import { dashboardGroups } from '../../contract/dashboard-groups.ts';
import { dashboards } from '../../contract/dashboards.ts';
import { placeOf } from '../../inventory/resource-lookup.ts';
import {
  createDashboardGroup,
  deleteDashboardGroup,
  listDashboardGroups,
  readDashboardGroup,
  updateDashboardGroup,
} from '../../inventory/workspaces/dashboard-groups.ts';
import {
  createDashboard,
  deleteDashboard,
  isShared,
  listDashboards,
  listDashboardVersions,
  readDashboard,
  readDashboardVersion,
  readShares,
  restoreDashboard,
  shareDashboard,
  unshareDashboard,
  updateDashboard,
} from '../../inventory/workspaces/dashboards.ts';
import { ExpressionError, parseExpression } from '../../expressions/parse.ts';
import type { JsonObject } from '../../model/json.ts';
import type { Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import { listScopeOf, pageRequestOf } from '../edge/list-query.ts';
import { requestChecks } from '../edge/request-validation.ts';
import { alsoNeeds, resourceRoute, type Route } from '../edge/route.ts';
import { answeredOnce } from './create-once.ts';
import { byId, type RecordParts } from './record-parts.ts';
import { recordRoutes } from './record-routes.ts';

export interface DashboardParts extends RecordParts {
  readonly publicUrl: () => string;
}

export function dashboardRoutes(parts: DashboardParts): Route[] {
  return [...crudRoutes(parts), ...versionRoutes(parts), ...shareRoutes(parts)];
}

function versionRoutes(parts: DashboardParts): Route[] {
  const { records } = parts;
  const inPath = byId(parts, 'dashboard');
  return [
    resourceRoute(dashboards.versions, inPath, ({ params: { id }, query }) =>
      listDashboardVersions(records, id, pageRequestOf(query)),
    ),
    resourceRoute(dashboards.readVersion, inPath, ({ params: { id, version } }) =>
      readDashboardVersion(records, id, version),
    ),
    resourceRoute(
      dashboards.restore,
      inPath,
      async ({ params: { id, version }, body }, principal) => {
        await refuseSharing(parts, id, principal);
        return restoreDashboard(records, id, version, body?.version);
      },
    ),
  ];
}

/** What the configuration names is read by all who have a link to the dashboard. */
async function refuseSharing({ records }: RecordParts, id: string, principal: Principal) {
  if (await isShared(records, id))
    alsoNeeds(principal, 'asset', 'read', (await placeOf(records, 'dashboard', id)).workspaceId);
}

function shareRoutes(parts: DashboardParts): Route[] {
  const { records, publicUrl } = parts;
  const inPath = byId(parts, 'dashboard');
  return [
    // The token is shown once, so a repeated request gets the first answer and not a second link.
    resourceRoute(dashboards.share, inPath, (input, principal) =>
      answeredOnce(parts, { input, principal }, (step) =>
        shareDashboard(step, input.params.id, {
          publicUrl: publicUrl(),
          expires: input.body?.expires,
        }),
      ),
    ),
    resourceRoute(dashboards.shares, inPath, ({ params: { id } }) => readShares(records, id)),
    resourceRoute(dashboards.shareList, inPath, ({ params: { id } }) => readShares(records, id)),
    resourceRoute(dashboards.unshare, inPath, ({ params: { id } }) =>
      unshareDashboard(records, id),
    ),
  ];
}

function crudRoutes(parts: RecordParts): Route[] {
  const { records } = parts;
  return recordRoutes(parts, dashboards, {
    kind: 'dashboard',
    list: ({ query }, principal) =>
      listDashboards(records, principal, { ...query, ...listScopeOf(query) }, pageRequestOf(query)),
    checkCreate: ({ body }) => checkDashboardConfiguration(body.configuration),
    create: (step, { body }) => createDashboard(step, body),
    read: (id) => readDashboard(records, id),
    async update(id, { body }, principal) {
      checkDashboardConfiguration(body.configuration);
      if (body.configuration) await refuseSharing(parts, id, principal);
      return updateDashboard(records, id, body);
    },
    remove: (id) => deleteDashboard(records, id),
  });
}

// Routes of dashboard groups (contract 32).

export function dashboardGroupRoutes(parts: RecordParts): Route[] {
  const { records } = parts;
  return recordRoutes(parts, dashboardGroups, {
    kind: 'dashboardGroup',
    list: ({ query }, principal) =>
      listDashboardGroups(
        records,
        principal,
        { ...query, ...listScopeOf(query) },
        pageRequestOf(query),
      ),
    create: (step, { body }) => createDashboardGroup(step, body),
    read: (id) => readDashboardGroup(records, id),
    update: (id, { body }) => updateDashboardGroup(records, id, body),
    remove: (id) => deleteDashboardGroup(records, id),
  });
}

// Check of dashboard configurations that declare the schema of the platform (contract 32).

type Tile = Static<typeof dashboardConfiguration>['tiles'][number];

const { body: checkBody } = requestChecks({
  ...dashboards.create,
  body: Type.Object({ configuration: dashboardConfiguration }),
});

/**
 * Throws 400 for what does not fit the declared schema. A configuration without a declaration is
 * that of another client, and never refused.
 */
export function checkDashboardConfiguration(configuration: JsonObject | null | undefined): void {
  if (configuration?.['schema'] !== dashboardSchemaName) return;
  if (configuration['version'] !== dashboardSchemaVersion)
    refuse(`version: must be ${dashboardSchemaVersion} of ${dashboardSchemaName}`);
  const checked = checkBody({ configuration }) as {
    readonly configuration: Static<typeof dashboardConfiguration>;
  };
  const ids = new Set<string>();
  for (const [place, tile] of checked.configuration.tiles.entries()) {
    const fault = faultOf(tile, ids);
    if (fault !== undefined) refuse(`tiles.${place}${fault}`);
    ids.add(tile.id);
  }
}

const drawn: ReadonlySet<Tile['kind']> = new Set(['value', 'line', 'bar', 'state']);

/** The member and what it needs, behind the place of the tile. */
function faultOf(tile: Tile, ids: ReadonlySet<string>): string | undefined {
  const { id, kind, x, width, series } = tile;
  if (ids.has(id)) return '.id: must be unique';
  if (x + width > 12) return '.width: the tile exceeds the 12-column grid';
  if (drawn.has(kind) && (series ?? []).length === 0)
    return `.series: is required for kind ${kind}`;
  if (kind === 'text' && !tile.text) return `.${kind}: is required for this kind`;
  const both = (series ?? []).findIndex(
    ({ deviceId, tagId }) => Boolean(deviceId) === Boolean(tagId),
  );
  if (both !== -1) return `.series.${both}: set either deviceId or tagId`;
  for (const [place, { dataKey, expression }] of (series ?? []).entries()) {
    const isFormula = expression !== null && expression !== undefined;
    if (isFormula === (dataKey !== undefined))
      return `.series.${place}: set either dataKey or expression`;
    const fault = isFormula ? formulaFault(expression) : undefined;
    if (fault !== undefined) return `.series.${place}.expression: ${fault}`;
  }
  return undefined;
}

function formulaFault(expression: string): string | undefined {
  try {
    parseExpression(expression);
    return undefined;
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    return `${error.message} (character ${error.position + 1})`;
  }
}

function refuse(reason: string): never {
  throw problem('invalidRequest', { reason: `body configuration.${reason}` });
}
