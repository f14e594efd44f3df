// Address of a device: which value, range and zone its pages show.
import { type ZoneChoice, zoneChoices } from '../../words/zone-times.ts';

/** Id of the route of all pages of a device. */
export const deviceRoute = '/signed-in/shell/w/$workspaceId/devices/$deviceId';

export const rangeNames = ['1h', '24h', '7d', '30d'] as const;
export type RangeName = (typeof rangeNames)[number];

export const levelNames = ['INFO', 'WARN', 'ERROR'] as const;
export type LevelName = (typeof levelNames)[number];

/** What the address of a device says; a custom range has `from` and `to` instead of `range`. */
export interface DeviceSearch {
  readonly topic?: string;
  readonly key?: string;
  readonly range?: RangeName;
  /** ISO-8601 instants. */
  readonly from?: string;
  readonly to?: string;
  readonly tz?: ZoneChoice;
  /** Charts also show the period before the range. */
  readonly before?: true;
  /** Of the log. */
  readonly level?: LevelName;
  /** Until when uplinks are shown. */
  readonly at?: string;
}

export function readPageSearch(search: Record<string, unknown>): DeviceSearch {
  const range = rangeNames.find((one) => one === search['range']);
  const tz = zoneChoices.find((one) => one === search['tz']);
  const [from, to] = [instantOf(search['from']), instantOf(search['to'])];
  const level = levelNames.find((one) => one === search['level']);
  const at = instantOf(search['at']);
  const isCustom = from !== undefined && to !== undefined && from < to;
  return {
    ...named('topic', search['topic']),
    ...named('key', search['key']),
    ...(range === undefined || isCustom ? {} : { range }),
    ...(isCustom ? { from, to } : {}),
    ...(tz === undefined ? {} : { tz }),
    ...(search['before'] === true ? { before: true as const } : {}),
    ...(level === undefined ? {} : { level }),
    ...(at === undefined ? {} : { at }),
  };
}

// A topic such as 2024 is a number to the router.
function named<K extends string>(name: K, value: unknown): { readonly [N in K]?: string } {
  const isWord = (typeof value === 'string' && value !== '') || typeof value === 'number';
  return isWord ? ({ [name]: String(value) } as { readonly [N in K]?: string }) : {};
}

function instantOf(value: unknown): string | undefined {
  const at = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? undefined : new Date(at).toISOString();
}
