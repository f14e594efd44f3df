// Tools of the alarm list: counted states, severities, words, and the device or rule of the address.
import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';
import { X } from 'lucide-react';
import { alarmSeverities, alarmsKey } from '../../api/alarms.ts';
import { ask, platform } from '../../api/platform.ts';
import { Button } from '../../ui/button.tsx';
import { Segments } from '../../ui/choice.tsx';
import { pageRows } from '../../ui/rows/use-pages.ts';
import { SearchField } from '../../ui/search-field.tsx';
import { Severity } from '../../ui/severity.tsx';
import { useFormats, useWords } from '../../words/language.tsx';
import {
  alarmFilter,
  type AlarmSearch,
  type AlarmTab,
  alarmTabs,
  readAlarmSearch,
  severitiesIn,
  withSeverity,
} from './alarm-search.ts';
import { alarmsWords } from './alarms-words.ts';
import styles from './alarms.module.css';

interface ToolsProps {
  readonly workspaceId: string;
  readonly search: AlarmSearch;
  readonly change: (search: AlarmSearch) => void;
}

export function AlarmTools({ workspaceId, search, change }: ToolsProps) {
  const words = useWords(alarmsWords);
  const chosen = severitiesIn(search.severity);
  return (
    <div className={styles['tools']}>
      {search.at === undefined && (
        <StateTabs workspaceId={workspaceId} search={search} change={change} />
      )}
      <SearchField
        label={words.search}
        value={search.q ?? ''}
        change={(q) => change(readAlarmSearch({ ...search, q }))}
      />
      <div
        className={`flow wrap gap-4 ${styles['severities']}`}
        role="group"
        aria-label={words.severity}
      >
        {alarmSeverities.map((one) => (
          <button
            key={one}
            type="button"
            aria-pressed={chosen.includes(one)}
            onClick={() => change(withSeverity(search, one))}
          >
            <Severity of={one} />
          </button>
        ))}
      </div>
      <NamedFilters workspaceId={workspaceId} search={search} change={change} />
    </div>
  );
}

function StateTabs({ workspaceId, search, change }: ToolsProps) {
  const words = useWords(alarmsWords);
  const { count } = useFormats();
  const counts = {
    open: useQuery(countOf(workspaceId, search, 'open')).data,
    acknowledged: useQuery(countOf(workspaceId, search, 'acknowledged')).data,
    cleared: useQuery(countOf(workspaceId, search, 'cleared')).data,
    all: undefined,
  };
  const labelOf = (tab: keyof typeof counts) => {
    const many = counts[tab];
    return many === undefined ? words.tabs[tab] : `${words.tabs[tab]} ${count(many)}`;
  };
  return (
    <Segments
      label={words.state}
      value={search.state ?? 'open'}
      options={alarmTabs.map((value) => ({ value, label: labelOf(value) }))}
      choose={(state) => change(readAlarmSearch({ ...search, state }))}
    />
  );
}

/** The device and the rule that a link named. */
function NamedFilters({ workspaceId, search, change }: ToolsProps) {
  const words = useWords(alarmsWords);
  const { device, rule } = search;
  const isNamed = device !== undefined || rule !== undefined;
  // Alarms outlive their device and rule, and keep the names.
  const named = useQuery({
    queryKey: ['alarms', workspaceId, 'named', device, rule],
    enabled: isNamed,
    queryFn: ({ signal }) =>
      fetchAlarms(workspaceId, {
        state: 'all',
        ...(device === undefined ? {} : { device }),
        ...(rule === undefined ? {} : { rule }),
      })(0, signal),
    select: ({ content: [first] }) => ({ device: first?.device?.name, rule: first?.rule?.name }),
  });
  const remove = (name: 'device' | 'rule') => change(readAlarmSearch({ ...search, [name]: '' }));
  return (
    <>
      {device !== undefined && (
        <Filter
          what={words.onlyDevice(named.data?.device ?? device)}
          remove={() => remove('device')}
        />
      )}
      {rule !== undefined && (
        <Filter what={words.onlyRule(named.data?.rule ?? rule)} remove={() => remove('rule')} />
      )}
    </>
  );
}

function Filter({ what, remove }: { readonly what: string; readonly remove: () => void }) {
  const words = useWords(alarmsWords);
  return (
    <Button aria-label={words.removeFilter(what)} onClick={remove}>
      {what}
      <X aria-hidden="true" />
    </Button>
  );
}

// Alarm list: its pages, and how many alarms each state has under the same filter.

export function fetchAlarms(workspaceId: string, search: AlarmSearch) {
  const filter = alarmFilter(workspaceId, search);
  return (page: number, signal: AbortSignal) => {
    const query = { ...filter, page, size: pageRows };
    return ask(platform.GET('/v3/alarms', { signal, params: { query } }));
  };
}

const countOf = (workspaceId: string, search: AlarmSearch, tab: AlarmTab) => {
  const filter = alarmFilter(workspaceId, search, tab);
  return queryOptions({
    queryKey: [...alarmsKey(workspaceId), 'count', filter],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => {
      const query = { ...filter, size: 1, fields: 'id' };
      return ask(platform.GET('/v3/alarms', { signal, params: { query } }));
    },
    select: ({ totalElements }) => totalElements,
  });
};

/** Path of the same list, for a terminal. */
export function pathOf(workspaceId: string, search: AlarmSearch): string {
  return `/v3/alarms?${new URLSearchParams(alarmFilter(workspaceId, search))}`;
}
