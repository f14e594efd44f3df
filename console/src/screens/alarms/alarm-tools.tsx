// Tools of the alarm list: counted states, severities, words, and the device or rule of the address.
import { useQuery } from '@tanstack/react-query';
import { X } from 'lucide-react';
import { alarmSeverities } from '../../api/alarms.ts';
import { Button } from '../../ui/button.tsx';
import { Segments } from '../../ui/choice.tsx';
import { SearchField } from '../../ui/search-field.tsx';
import { Severity } from '../../ui/severity.tsx';
import { useFormats, useWords } from '../../words/language.tsx';
import { countOf, fetchAlarms } from './alarm-list.ts';
import {
  type AlarmSearch,
  alarmTabs,
  readAlarmSearch,
  severitiesIn,
  withSeverity,
} from './alarm-search.ts';
import styles from './alarms.module.css';
import { alarmsWords } from './alarms-words.ts';

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
      <StateTabs {...{ workspaceId, search, change }} />
      <SearchField
        label={words.search}
        value={search.q ?? ''}
        change={(q) => change(readAlarmSearch({ ...search, q }))}
      />
      <div className={styles['severities']} role="group" aria-label={words.severity}>
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
      <NamedFilters {...{ workspaceId, search, change }} />
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
