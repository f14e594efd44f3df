// Address of a dashboard: its range and zone, the values of its variables, whether it is edited, and whether it fills the screen.
import { instantOf, readMoment } from '../../ui/list-search.ts';

export const rangeNames = ['1h', '24h', '3d', '7d', '30d'] as const;
export type RangeName = (typeof rangeNames)[number];

export interface DashboardSearch {
  /** Values of variables by name. */
  readonly var?: Readonly<Record<string, readonly string[]>>;
  readonly range?: RangeName;
  /** ISO-8601 instants of a custom range. */
  readonly from?: string;
  readonly to?: string;
  /** `mine` shows times in the zone of the browser. */
  readonly tz?: 'mine';
  /** Whether an earlier period is drawn too, in place of what the dashboard says. */
  readonly compare?: boolean;
  /** ISO-8601 instant of the time machine: ranges end then, and values and alarms are those of then. */
  readonly at?: string;
  readonly kiosk?: true;
  readonly edit?: true;
  /** Shows the dashboard as it was at this version of its record. */
  readonly version?: number;
}

/** What the address says of the time, on every page with a dashboard. */
export type RangeSearch = Pick<DashboardSearch, 'range' | 'from' | 'to' | 'tz' | 'compare' | 'at'>;

export function readRangeSearch(search: Record<string, unknown>): RangeSearch {
  const range = rangeNames.find((one) => one === search['range']);
  const [from, to] = [instantOf(search['from']), instantOf(search['to'])];
  const isCustom = from !== undefined && to !== undefined && from < to;
  return {
    ...(range === undefined || isCustom ? {} : { range }),
    ...(isCustom ? { from, to } : {}),
    ...(search['tz'] === 'mine' ? { tz: 'mine' as const } : {}),
    ...(typeof search['compare'] === 'boolean' ? { compare: search['compare'] } : {}),
    ...readMoment(search),
  };
}

export function readDashboardSearch(search: Record<string, unknown>): DashboardSearch {
  return {
    ...valuesOf(search['var']),
    ...readRangeSearch(search),
    ...(search['kiosk'] === true ? { kiosk: true as const } : {}),
    ...(search['edit'] === true ? { edit: true as const } : {}),
    ...(Number.isSafeInteger(search['version']) ? { version: search['version'] as number } : {}),
  };
}

const valuesMax = 200;

function valuesOf(named: unknown): Pick<DashboardSearch, 'var'> {
  const entries = Object.entries(named ?? {}).flatMap(([name, values]) => {
    const texts = [values].flat().filter((value) => typeof value === 'string' && value !== '');
    return texts.length === 0 ? [] : [[name, texts.slice(0, valuesMax) as string[]] as const];
  });
  return entries.length === 0 ? {} : { var: Object.fromEntries(entries) };
}
