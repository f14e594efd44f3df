// Save to a dashboard: explored series become a line tile of a dashboard that exists or is new.
import { ask, platform } from '../../api/platform.ts';
import {
  configurationOf,
  freeId,
  kinds,
  readConfiguration,
  type Tile,
  type TileSeries,
} from '../../../../src/dashboards/configuration.ts';
import {
  changeDashboard,
  createDashboard,
  type Dashboard,
  refreshLists,
} from './dashboard-requests.ts';
import { freePlace } from './grid/layout.ts';

export interface ExploredLines {
  readonly title: string;
  readonly series: readonly TileSeries[];
}

/** The tiles with one more, in the first place that has room for it. */
export function withLines(tiles: readonly Tile[], { title, series }: ExploredLines): Tile[] {
  const place = freePlace(tiles, kinds.line.size);
  const line: Tile = { id: freeId(tiles), kind: 'line', title, ...place, series: [...series] };
  return [...tiles, line];
}

/** A change by another person in between is refused with 409, so that nothing of it is lost. */
export async function saveToDashboard(id: string, lines: ExploredLines): Promise<Dashboard> {
  const params = { path: { id } };
  const dashboard = await ask(platform.GET('/v3/dashboards/{id}', { params }));
  const current = readConfiguration(dashboard.configuration);
  if (current === undefined) throw new Error('This dashboard belongs to another program.');
  const configuration = { ...current, version: 2 as const, tiles: withLines(current.tiles, lines) };
  const saved = await changeDashboard(id, { configuration, version: dashboard.version });
  void refreshLists();
  return saved;
}

export async function saveToNewDashboard(
  workspaceId: string,
  name: string,
  lines: ExploredLines,
): Promise<Dashboard> {
  const configuration = configurationOf(withLines([], lines));
  const saved = await createDashboard({ workspaceId, name, configuration });
  void refreshLists();
  return saved;
}
