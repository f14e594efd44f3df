// Address of a dashboard: its range and zone, the values of its variables, whether it is edited, and whether it fills the screen.

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

export function readDashboardSearch(search: Record<string, unknown>): DashboardSearch {
  const range = rangeNames.find((one) => one === search['range']);
  const [from, to] = [instantOf(search['from']), instantOf(search['to'])];
  const at = instantOf(search['at']);
  const isCustom = from !== undefined && to !== undefined && from < to;
  return {
    ...valuesOf(search['var']),
    ...(range === undefined || isCustom ? {} : { range }),
    ...(isCustom ? { from, to } : {}),
    ...(search['tz'] === 'mine' ? { tz: 'mine' as const } : {}),
    ...(typeof search['compare'] === 'boolean' ? { compare: search['compare'] } : {}),
    ...(at === undefined ? {} : { at }),
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

function instantOf(value: unknown): string | undefined {
  const at = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? undefined : new Date(at).toISOString();
}
