// Alarms: the inbox of a workspace, live, with its states, filters and work on what is selected.
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { Check, CircleCheckBig, MessageSquare, X } from 'lucide-react';
import { type ReactNode, type RefObject, useCallback, useMemo, useRef, useState } from 'react';
import { type Alarm, alarmsKey, type AlarmState, newestOpen } from '../../api/alarms.ts';
import { alarmStateThen } from '../../api/state-then.ts';
import { Ago, ShownMoment } from '../../ui/ago.tsx';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Sheet } from '../../ui/card.tsx';
import { CurlButton } from '../../ui/copy-button.tsx';
import { TimeMachine, withMoment } from '../../ui/late-time-machine.ts';
import { Page } from '../../ui/page.tsx';
import {
  SelectableTable,
  selectColumn,
  type Selection,
  useSelection,
} from '../../ui/rows/selectable-table.tsx';
import { useNarrow } from '../../ui/use-size.ts';
import { type Pages, usePages } from '../../ui/rows/use-pages.ts';
import type { Column } from '../../ui/rows/windowed-table.tsx';
import { AlarmStateChip, Severity } from '../../ui/severity.tsx';
import { Bone, Empty, Failure } from '../../ui/states.tsx';
import { TimeMachineButton } from '../../ui/time-machine-button.tsx';
import { useFormats, useWords } from '../../words/language.tsx';
import { ClearDialog, CommentDialog } from './action-dialogs.tsx';
import { type AlarmActions, type AlarmTargets, useAlarmActions } from './alarm-actions.ts';
import { alarmFilter, type AlarmSearch, isNarrowed } from './alarm-search.ts';
import { AlarmTools, fetchAlarms, pathOf } from './alarm-tools.tsx';
import { alarmsWords } from './alarms-words.ts';
import styles from './alarms.module.css';
import { createWatchedValue, useWatchedPart } from '../../api/watched-value.ts';
import { useAlarmEvents } from '../../session/use-workspace-events.ts';

// Selection bar of alarms: acknowledge, clear or comment what is selected.

/** A comment is a request for each alarm. */
const commentsMax = 50;

interface SelectionBarProps {
  readonly workspaceId: string;
  readonly search: AlarmSearch;
  readonly selection: Selection<Alarm>;
  readonly total: number;
  readonly actions: AlarmActions;
}

function SelectionBar(props: SelectionBarProps) {
  const { selection, total, actions } = props;
  const words = useWords(alarmsWords);
  const { count } = useFormats();
  const [asked, setAsked] = useState<'clear' | 'comment'>();
  const many = selection.isAll ? total : selection.count;
  const targets = targetsOf(props);
  const what = namedWhat(selection, words.manyAlarms(many));
  const close = () => setAsked(undefined);
  const done = (work: Promise<unknown>) => void work.then(selection.clear);
  return (
    <div className={styles['bar']} role="toolbar" aria-label={words.selection}>
      <b className="num" aria-live="polite">
        {words.selected(count(many))}
      </b>
      {!selection.isAll && selection.count < total && (
        <button type="button" className={styles['link']} onClick={selection.selectAll}>
          {words.selectAll(total)}
        </button>
      )}
      <Button look="ghost" onClick={selection.clear}>
        <X aria-hidden="true" />
        {words.unselect}
      </Button>
      <span className="grow" />
      {!selection.isAll && selection.count <= commentsMax && (
        <Button needs="rule: update" onClick={() => setAsked('comment')}>
          <MessageSquare aria-hidden="true" />
          {words.comment}
        </Button>
      )}
      <Button needs="rule: update" onClick={() => setAsked('clear')}>
        <CircleCheckBig aria-hidden="true" />
        {words.clear}
      </Button>
      <Button
        needs="rule: update"
        look="primary"
        onClick={() => done(actions.acknowledgeMany(targets))}
      >
        <Check aria-hidden="true" />
        {words.acknowledge}
      </Button>
      {asked === 'clear' && (
        <ClearDialog
          what={what}
          close={close}
          act={(reason) => done(actions.clearMany(targets, reason))}
        />
      )}
      {asked === 'comment' && (
        <CommentDialog
          what={what}
          close={close}
          act={(content) => done(actions.commentMany(selection.rows, content))}
        />
      )}
    </div>
  );
}

function targetsOf({ workspaceId, search, selection }: SelectionBarProps): AlarmTargets {
  if (!selection.isAll) return { ids: selection.rows.map(({ id }) => id) };
  return { filter: alarmFilter(workspaceId, search) };
}

/** The name of the only one, else how many they are. */
function namedWhat({ isAll, rows }: Selection<Alarm>, many: string): string {
  const [only, ...others] = rows;
  return isAll || only === undefined || others.length > 0 ? many : only.name;
}

const route = getRouteApi('/signed-in/shell/w/$workspaceId/alarms');
const narrowRowPx = 92;
const leastPx = 960;

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
  const openNow = useQuery(newestOpen(workspaceId)).data?.totalElements;
  const { at } = search;
  const isPast = at !== undefined;
  const open = isPast ? pages.total : openNow;
  useFreshAlarms(isPast ? '' : workspaceId);
  const isSelecting = !isPast && (selection.isAll || selection.count > 0);
  const showMoment = (moment: string | undefined) => change(withMoment(search, moment));
  return (
    <Page
      title={words.title}
      name={words.title}
      path={[words.title]}
      lead={open === undefined ? <Bone width="10em" /> : leadOf(open, count(open), words)}
      isWide
      actions={
        <>
          <CurlButton request={{ path: pathOf(workspaceId, search) }} />
          {!isPast && <TimeMachineButton show={showMoment} />}
        </>
      }
    >
      {isPast && <TimeMachine at={at} note={words.past} show={showMoment} />}
      {isSelecting ? (
        <SelectionBar
          workspaceId={workspaceId}
          search={search}
          selection={selection}
          actions={actions}
          total={pages.total ?? 0}
        />
      ) : (
        <AlarmTools workspaceId={workspaceId} search={search} change={change} />
      )}
      <Sheet>
        <ShownMoment value={isPast ? Date.parse(at) : undefined}>
          <AlarmTable
            pages={pages}
            search={search}
            selection={isPast ? undefined : selection}
            actions={actions}
            table={table}
          />
        </ShownMoment>
      </Sheet>
      {!isPast && (pages.total ?? 0) > 0 && (
        <p className={`faint text-small ${styles['keys']}`}>{words.keys}</p>
      )}
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
  /** Undefined at an earlier moment, where nothing is changed. */
  readonly selection: Selection<Alarm> | undefined;
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
  const acknowledgeOpen = (alarm: Alarm) => {
    if (alarm.state === 'OPEN') acknowledge(alarm);
  };
  const askToClear = (alarm: Alarm) => {
    if (alarm.state !== 'CLEARED') setClearing(alarm);
  };
  const columns = useAlarmColumns({
    search,
    selection,
    isNarrow,
    acknowledge,
    clear: setClearing,
  });
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
        keys={selection === undefined ? {} : { e: acknowledgeOpen, y: askToClear }}
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
      <ButtonLink to="." search={withMoment({}, search.at)}>
        {words.withoutFilters}
      </ButtonLink>
    );
    return <Empty title={words.noMatch} note={words.noMatchNote} actions={all} />;
  }
  if (search.at !== undefined) return <Empty title={words.emptyThen} />;
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

// Columns of the alarm list; on a phone one cell has all of an alarm.

interface ColumnParts {
  readonly search: AlarmSearch;
  readonly selection: Selection<Alarm> | undefined;
  readonly isNarrow: boolean;
  readonly acknowledge: (alarm: Alarm) => void;
  readonly clear: (alarm: Alarm) => void;
}

type Words = (typeof alarmsWords)['en'];

function useAlarmColumns(parts: ColumnParts): readonly Column<Alarm>[] {
  const words = useWords(alarmsWords);
  const { count } = useFormats();
  const { search, selection, isNarrow, acknowledge, clear } = parts;
  const { state, at } = search;
  return useMemo(() => {
    const stateOf = (alarm: Alarm) => {
      if (at !== undefined) return alarmStateThen(alarm, at);
      return state === 'all' ? alarm.state : undefined;
    };
    // The count and the last trigger of then are not known.
    const factsOf = ({ firstTriggered, lastTriggered, count: times }: Alarm) =>
      at === undefined ? (
        <>
          <Ago at={lastTriggered} />
          <span className="num">×{count(times)}</span>
        </>
      ) : (
        <Ago at={firstTriggered} />
      );
    const shown = isNarrow
      ? [stackedColumn(words, stateOf, factsOf)]
      : [
          ...aboutColumns(words, stateOf),
          ...(at === undefined ? timeColumns(words, count) : columnsThen(words)),
        ];
    if (selection === undefined) return shown;
    const actions = actionsColumn(words, isNarrow, { acknowledge, clear });
    return [selectColumn(selection, words), ...shown, actions];
  }, [words, count, selection, state, at, isNarrow, acknowledge, clear]);
}

type StateOf = (alarm: Alarm) => AlarmState | undefined;

function stackedColumn(
  words: Words,
  stateOf: StateOf,
  factsOf: (alarm: Alarm) => ReactNode,
): Column<Alarm> {
  return {
    key: 'alarm',
    width: 'minmax(0, 1fr)',
    header: words.name,
    bone: <Bone width="14em" />,
    cell: (alarm) => <StackedCell alarm={alarm} state={stateOf(alarm)} facts={factsOf(alarm)} />,
  };
}

function aboutColumns(words: Words, stateOf: StateOf): readonly Column<Alarm>[] {
  return [
    {
      key: 'severity',
      width: '104px',
      header: words.severity,
      bone: <Bone width="5em" />,
      cell: ({ severity }) => <Severity of={severity} />,
    },
    {
      key: 'name',
      width: 'minmax(180px, 2.4fr)',
      header: words.name,
      bone: <Bone width="14em" />,
      cell: (alarm) => <NameCell alarm={alarm} state={stateOf(alarm)} />,
    },
    {
      key: 'device',
      width: 'minmax(104px, 1.3fr)',
      header: words.device,
      bone: <Bone width="8em" />,
      cell: (alarm) => <DeviceCell alarm={alarm} />,
    },
    {
      key: 'rule',
      width: 'minmax(96px, 1.1fr)',
      header: words.rule,
      bone: <Bone width="7em" />,
      cell: (alarm) => <RuleCell alarm={alarm} />,
    },
  ];
}

function timeColumns(words: Words, count: (value: number) => string): readonly Column<Alarm>[] {
  return [
    {
      key: 'times',
      width: '48px',
      header: words.times,
      cell: ({ count: times }) => <span className="num mute">×{count(times)}</span>,
    },
    sinceColumn(words),
    {
      key: 'last',
      width: '104px',
      header: words.last,
      cell: ({ lastTriggered }) => <Ago at={lastTriggered} />,
    },
  ];
}

function sinceColumn(words: Words): Column<Alarm> {
  return {
    key: 'since',
    width: '104px',
    header: words.since,
    cell: ({ firstTriggered }) => <Ago at={firstTriggered} />,
  };
}

/** At an earlier moment. */
function columnsThen(words: Words): readonly Column<Alarm>[] {
  return [
    sinceColumn(words),
    {
      key: 'now',
      width: '120px',
      header: words.now,
      cell: ({ state }) => <AlarmStateChip of={state} />,
    },
  ];
}

function actionsColumn(
  words: Words,
  isNarrow: boolean,
  act: Pick<ColumnParts, 'acknowledge' | 'clear'>,
): Column<Alarm> {
  return {
    key: 'actions',
    width: isNarrow ? '44px' : '72px',
    header: <span className="sr">{words.actions}</span>,
    cell: (alarm) => <ActionsCell alarm={alarm} {...act} />,
  };
}

// Cells of the alarm list: the alarm with its place, how often and since when, and its actions.

function AlarmLink({ alarm: { id, name, workspaceId } }: { readonly alarm: Alarm }) {
  return (
    <Link
      to="/w/$workspaceId/alarms/$alarmId"
      params={{ workspaceId, alarmId: id }}
      title={name}
      tabIndex={-1}
    >
      {name}
    </Link>
  );
}

interface NameProps {
  readonly alarm: Alarm;
  /** Undefined in a list of one state, where the word would be the same in each row. */
  readonly state: AlarmState | undefined;
}

export function NameCell({ alarm, state }: NameProps) {
  return (
    <span className={`row gap-10 shrinks ${styles['name']}`}>
      <FreshMark id={alarm.id} />
      <AlarmLink alarm={alarm} />
      {state !== undefined && <AlarmStateChip of={state} />}
    </span>
  );
}

interface StackedProps extends NameProps {
  readonly facts: ReactNode;
}

/** All of an alarm in one cell, for a phone. */
export function StackedCell({ alarm, state, facts }: StackedProps) {
  const { severity, device, rule } = alarm;
  const place = [device?.name, rule?.name].filter((one) => one !== undefined).join(' · ');
  return (
    <span className={styles['stacked']}>
      <span className={`row gap-10 shrinks ${styles['name']}`}>
        <FreshMark id={alarm.id} />
        <Severity of={severity} isQuiet />
        <AlarmLink alarm={alarm} />
      </span>
      <span className="mute">{place}</span>
      <span className={styles['facts']}>
        {state !== undefined && <AlarmStateChip of={state} />}
        {facts}
      </span>
    </span>
  );
}

export function DeviceCell({ alarm: { device, workspaceId } }: { readonly alarm: Alarm }) {
  if (device === null) return <span className="faint">–</span>;
  return (
    <Link
      to="/w/$workspaceId/devices/$deviceId"
      params={{ workspaceId, deviceId: device.id }}
      title={device.name}
      tabIndex={-1}
    >
      {device.name}
    </Link>
  );
}

export function RuleCell({ alarm: { rule, workspaceId } }: { readonly alarm: Alarm }) {
  if (rule === null) return <span className="faint">–</span>;
  return (
    <Link
      to="/w/$workspaceId/rules/$ruleId/edit"
      params={{ workspaceId, ruleId: rule.id }}
      title={rule.name}
      tabIndex={-1}
    >
      {rule.name}
    </Link>
  );
}

interface ActionsProps {
  readonly alarm: Alarm;
  readonly acknowledge: (alarm: Alarm) => void;
  readonly clear: (alarm: Alarm) => void;
}

export function ActionsCell({ alarm, acknowledge, clear }: ActionsProps) {
  const words = useWords(alarmsWords);
  const { state, name } = alarm;
  return (
    <span className={`flow justify-end gap-4 ${styles['actions']}`}>
      {state === 'OPEN' && (
        <Button
          needs="rule: update"
          look="ghost"
          isIcon
          tabIndex={-1}
          aria-label={words.acknowledgeOne(name)}
          title={words.acknowledge}
          onClick={() => acknowledge(alarm)}
        >
          <Check aria-hidden="true" />
        </Button>
      )}
      {state !== 'CLEARED' && (
        <Button
          needs="rule: update"
          look="ghost"
          isIcon
          tabIndex={-1}
          aria-label={words.clearOne(name)}
          title={words.clear}
          onClick={() => clear(alarm)}
        >
          <CircleCheckBig aria-hidden="true" />
        </Button>
      )}
    </span>
  );
}

// Fresh alarms: those that changed a moment ago, so that their rows can glow once.

/** The glow begins when the list has the row, up to a second after the event. */
const freshMs = 3_200;

const fresh = createWatchedValue(new Set<string>());

/** Takes note of what opens or is triggered again while the list is shown; of no workspace without an id. */
export function useFreshAlarms(workspaceId: string): void {
  useAlarmEvents(workspaceId, ({ change, alarm: { id } }) => {
    if (change !== 'OPENED' && change !== 'UPDATED' && change !== 'ESCALATED') return;
    const ids = fresh.get();
    ids.add(id);
    fresh.set(ids);
    setTimeout(() => {
      ids.delete(id);
      fresh.set(ids);
    }, freshMs);
  });
}

/** An invisible mark in a row; the table glows where one is set. */
function FreshMark({ id }: { readonly id: string }) {
  const isFresh = useWatchedPart(fresh, (ids) => ids.has(id));
  return isFresh ? <span data-fresh hidden /> : null;
}
