// Dashboard range: one interval for all tiles, as the address or else the dashboard says.
import { browserZone } from '../../../words/formats.ts';
import { knownZone } from '../../../words/zone-times.ts';
import type { Interval } from '../../../../../src/dashboards/buckets.ts';
import { previousPeriod } from '../../../../../src/dashboards/earlier.ts';
import type { Configuration } from '../../../../../src/dashboards/configuration.ts';
import { fixedDurationMs } from '../../../../../src/model/iso-duration.ts';
import type { DashboardSearch, RangeName } from '../dashboard-search.ts';

const hourMs = 3_600_000;
const spans: Readonly<Record<RangeName, { readonly iso: string; readonly hours: number }>> = {
  '1h': { iso: 'PT1H', hours: 1 },
  '24h': { iso: 'PT24H', hours: 24 },
  '3d': { iso: 'P3D', hours: 72 },
  '7d': { iso: 'P7D', hours: 168 },
  '30d': { iso: 'P30D', hours: 720 },
};
const rangeDefault: RangeName = '24h';

export const isoOfRange = (range: RangeName): string => spans[range].iso;

/** The range that the dashboard was saved with; `P1D` and `PT24H` mean the same. */
export function savedRange({ range }: Configuration): RangeName {
  const hours = hoursOf(range?.last ?? '');
  const names = Object.keys(spans) as RangeName[];
  return names.find((name) => spans[name].hours === hours) ?? rangeDefault;
}

/** Whole days and hours of an ISO-8601 duration; 0 for any other. */
function hoursOf(iso: string): number {
  const [, days = '0', hours = '0'] = /^P(?:(\d+)D)?(?:T(\d+)H)?$/.exec(iso) ?? [];
  return Number(days) * 24 + Number(hours);
}

/** A custom range is fixed; the others end now, or at the time of the time machine. */
export function intervalShown(
  { from, to, range, at }: DashboardSearch,
  configuration: Configuration,
  nowMs: number,
): Interval {
  if (from !== undefined && to !== undefined)
    return { fromMs: Date.parse(from), toMs: Date.parse(to) };
  const { hours } = spans[range ?? savedRange(configuration)];
  const toMs = at === undefined ? nowMs : Date.parse(at);
  return { fromMs: toMs - hours * hourMs, toMs };
}

/** The zone of the dashboard; a name that the browser does not know would break its dates. */
export function zoneShown(
  { tz }: DashboardSearch,
  { timeZone }: { readonly timeZone?: Configuration['timeZone'] },
  workspaceZone: string | undefined,
): string {
  const wanted = tz === 'mine' ? browserZone : (timeZone ?? workspaceZone ?? browserZone);
  return knownZone(wanted) ?? browserZone;
}

/** The earlier period that is drawn too; undefined for none. */
export function compareShown(
  { compare: chosen }: DashboardSearch,
  { compare }: Configuration,
): string | undefined {
  if (chosen === false) return undefined;
  return compare || (chosen === true ? previousPeriod : undefined);
}

/** How often the dashboard says that it is read again; undefined without. */
export function refreshMsOf({ refresh }: Configuration): number | undefined {
  if (!refresh) return undefined;
  const ms = fixedDurationMs(refresh, refreshLimits);
  return typeof ms === 'number' ? ms : undefined;
}

const refreshLimits = { min: 'PT5S', max: 'P1D' } as const;
