// Check of dashboard configurations that declare the schema of the platform (contract 32).
import Type, { type Static } from 'typebox';
import {
  dashboardConfiguration,
  dashboardSchemaName,
  dashboardSchemaVersion,
} from '../../contract/dashboard-configuration.ts';
import { dashboards } from '../../contract/dashboards.ts';
import type { JsonObject } from '../../model/json.ts';
import { problem } from '../../model/problem.ts';
import { requestChecks } from '../edge/request-validation.ts';

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
  return undefined;
}

function refuse(reason: string): never {
  throw problem('invalidRequest', { reason: `body configuration.${reason}` });
}
