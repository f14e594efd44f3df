// Address of the alarms: its state, severities, device, rule and words, and the query that this means.
import { type AlarmSeverity, alarmSeverities, type AlarmState } from '../../api/alarms.ts';
import { readMoment } from '../../ui/list-search.ts';

export const alarmTabs = ['open', 'acknowledged', 'cleared', 'all'] as const;
export type AlarmTab = (typeof alarmTabs)[number];

/** What the address of the list says; without a state the open ones are shown. */
export interface AlarmSearch {
  readonly state?: Exclude<AlarmTab, 'open'>;
  /** Separated by commas; all without it. */
  readonly severity?: string;
  readonly device?: string;
  readonly rule?: string;
  readonly q?: string;
  /** ISO-8601: the alarms that were open or acknowledged then, whatever the state says. */
  readonly at?: string;
}

const statesOf: Readonly<Record<AlarmTab, readonly AlarmState[]>> = {
  open: ['OPEN'],
  acknowledged: ['ACKNOWLEDGED'],
  cleared: ['CLEARED'],
  all: [],
};

export function readAlarmSearch(search: Record<string, unknown>): AlarmSearch {
  const word = (name: string) => {
    const value = search[name];
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  const state = alarmTabs.find((one) => one === search['state']);
  const severity = severitiesIn(word('severity')).join();
  const [device, rule, q] = [word('device'), word('rule'), word('q')];
  return {
    ...(state === undefined || state === 'open' ? {} : { state }),
    ...(severity === '' ? {} : { severity }),
    ...(device === undefined ? {} : { device }),
    ...(rule === undefined ? {} : { rule }),
    ...(q === undefined ? {} : { q }),
    ...readMoment(search),
  };
}

export function severitiesIn(list: string | undefined): readonly AlarmSeverity[] {
  const named = new Set(list?.split(','));
  return alarmSeverities.filter((one) => named.has(one));
}

/** With the severity if it was without, else without. */
export function withSeverity(search: AlarmSearch, severity: AlarmSeverity): AlarmSearch {
  const before = severitiesIn(search.severity);
  const after = before.includes(severity)
    ? before.filter((one) => one !== severity)
    : [...before, severity];
  return readAlarmSearch({ ...search, severity: after.join() });
}

/** Whether more than the state and the moment narrow the list. */
export function isNarrowed({ severity, device, rule, q }: AlarmSearch): boolean {
  return [severity, device, rule, q].some((one) => one !== undefined);
}

/** Parameters of `GET /v3/alarms` and members of the filter of a bulk request. */
export function alarmFilter(workspaceId: string, search: AlarmSearch, tab?: AlarmTab) {
  const { severity, device, rule, q, at } = search;
  const states = statesOf[tab ?? search.state ?? 'open'];
  return {
    workspaceId,
    ...(at === undefined ? {} : { openAt: at }),
    ...(states.length === 0 || at !== undefined ? {} : { state: states.join() }),
    ...(severity === undefined ? {} : { severity }),
    ...(device === undefined ? {} : { deviceId: device }),
    ...(rule === undefined ? {} : { ruleId: rule }),
    ...(q === undefined ? {} : { search: q }),
  };
}
