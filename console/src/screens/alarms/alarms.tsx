// Alarms: the inbox of a workspace, live, with its states, filters and work on what is selected.
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { type RefObject, useCallback, useRef, useState } from 'react';
import { type Alarm, alarmsKey, newestOpen } from '../../api/alarms.ts';
import { ButtonLink } from '../../parts/button.tsx';
import { Sheet } from '../../parts/card.tsx';
import { CurlButton } from '../../parts/curl-button.tsx';
import { Page } from '../../parts/page.tsx';
import { type Pages, usePages } from '../../parts/rows/use-pages.ts';
import { useNarrow } from '../../parts/rows/use-narrow.ts';
import { type Selection, useSelection } from '../../parts/rows/use-selection.ts';
import { SelectableTable } from '../../parts/rows/selectable-table.tsx';
import { Bone, Empty, Failure } from '../../parts/states.tsx';
import { useFormats, useWords } from '../../words/language.tsx';
import { ClearDialog } from './action-dialogs.tsx';
import { type AlarmActions, useAlarmActions } from './alarm-actions.ts';
import { useAlarmColumns } from './alarm-columns.tsx';
import { fetchAlarms, pathOf } from './alarm-list.ts';
import { type AlarmSearch, isNarrowed } from './alarm-search.ts';
import { AlarmTools } from './alarm-tools.tsx';
import styles from './alarms.module.css';
import { alarmsWords } from './alarms-words.ts';
import { useFreshAlarms } from './fresh-alarms.tsx';
import { SelectionBar } from './selection-bar.tsx';

const route = getRouteApi('/signed-in/shell/w/$workspaceId/alarms');
const narrowRowPx = 92;
const leastPx = 1_040;

export function Alarms() {
  const words = useWords(alarmsWords);
  const { count } = useFormats();
  const { workspaceId } = route.useParams();
  const search = route.useSearch();
  const table = useRef<HTMLDivElement>(null);
  const change = useChange(table);
  const pages = usePages(
    [...alarmsKey(workspaceId), 'list', search],
    fetchAlarms(workspaceId, search),
  );
  const selection = useSelection<Alarm>(pages, JSON.stringify(search));
  const actions = useAlarmActions(workspaceId);
  const open = useQuery(newestOpen(workspaceId)).data?.totalElements;
  useFreshAlarms(workspaceId);
  const isSelecting = selection.isAll || selection.count > 0;
  return (
    <Page
      title={words.title}
      name={words.title}
      path={[words.title]}
      lead={open === undefined ? <Bone width="10em" /> : leadOf(open, count(open), words)}
      isWide
      actions={<CurlButton request={{ path: pathOf(workspaceId, search) }} />}
    >
      {isSelecting ? (
        <SelectionBar {...{ workspaceId, search, selection, actions }} total={pages.total ?? 0} />
      ) : (
        <AlarmTools {...{ workspaceId, search, change }} />
      )}
      <Sheet>
        <AlarmTable {...{ pages, search, selection, actions, table }} />
      </Sheet>
      {(pages.total ?? 0) > 0 && <p className={styles['keys']}>{words.keys}</p>}
    </Page>
  );
}

function leadOf(open: number, count: string, words: (typeof alarmsWords)['en']): string {
  return open === 0 ? words.quiet : words.openNow(open, count);
}

/** Replaces the address, so that one step back leaves the list; another list begins at its top. */
function useChange(table: RefObject<HTMLElement | null>): (search: AlarmSearch) => void {
  const navigate = useNavigate();
  return useCallback(
    (search) => {
      table.current?.scroll(0, 0);
      void navigate({ to: '.', search: search as never, replace: true });
    },
    [navigate, table],
  );
}

interface AlarmTableProps {
  readonly pages: Pages<Alarm>;
  readonly search: AlarmSearch;
  readonly selection: Selection<Alarm>;
  readonly actions: AlarmActions;
  readonly table: RefObject<HTMLDivElement | null>;
}

function AlarmTable({ pages, search, selection, actions, table }: AlarmTableProps) {
  const words = useWords(alarmsWords);
  const { workspaceId } = route.useParams();
  const navigate = useNavigate();
  const isNarrow = useNarrow();
  const [clearing, setClearing] = useState<Alarm>();
  const acknowledge = useCallback((alarm: Alarm) => void actions.acknowledge(alarm), [actions]);
  const hasState = search.state === 'all';
  const parts = { selection, hasState, isNarrow, acknowledge, clear: setClearing };
  const columns = useAlarmColumns(parts);
  if (pages.total === undefined && pages.error !== null) {
    const curl = { path: pathOf(workspaceId, search) };
    return <Failure error={pages.error} retry={pages.refetch} curl={curl} />;
  }
  if (pages.total === 0) return <NoAlarms search={search} />;
  return (
    <>
      <SelectableTable
        label={words.title}
        columns={columns}
        pages={pages}
        selection={selection}
        open={({ id: alarmId }) =>
          void navigate({ to: '/w/$workspaceId/alarms/$alarmId', params: { workspaceId, alarmId } })
        }
        keys={{
          e: (alarm) => (alarm.state === 'OPEN' ? acknowledge(alarm) : undefined),
          y: (alarm) => (alarm.state === 'CLEARED' ? undefined : setClearing(alarm)),
        }}
        narrowRowPx={narrowRowPx}
        leastPx={leastPx}
        box={table}
      />
      {clearing !== undefined && (
        <ClearDialog
          what={clearing.name}
          close={() => setClearing(undefined)}
          act={(reason) => void actions.clear(clearing, reason)}
        />
      )}
    </>
  );
}

function NoAlarms({ search }: Pick<AlarmTableProps, 'search'>) {
  const words = useWords(alarmsWords);
  const { workspaceId } = route.useParams();
  const every = usePages(
    [...alarmsKey(workspaceId), 'list', { state: 'all' }],
    fetchAlarms(workspaceId, { state: 'all' }),
  );
  if (isNarrowed(search)) {
    const all = (
      <ButtonLink to="." search={{}}>
        {words.withoutFilters}
      </ButtonLink>
    );
    return <Empty title={words.noMatch} note={words.noMatchNote} actions={all} />;
  }
  if (every.total !== 0) {
    const isOpen = search.state === undefined;
    return isOpen ? (
      <Empty title={words.emptyOpen} note={words.emptyOpenNote} />
    ) : (
      <Empty title={words.emptyTab} />
    );
  }
  return (
    <Empty
      title={words.empty}
      note={words.emptyNote}
      actions={
        <ButtonLink look="primary" to="/w/$workspaceId/rules/new" params={{ workspaceId }}>
          {words.newRule}
        </ButtonLink>
      }
    />
  );
}
