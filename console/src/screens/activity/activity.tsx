// Activity: who changed what in the workspace, one line for each request, by day.
import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { ChevronRight, X } from 'lucide-react';
import { useEffect, useId, useRef, useState } from 'react';
import type { components } from '../../../generated/interface-types.ts';
import { ask, platform } from '../../api/platform.ts';
import { useAccount } from '../../session/session.ts';
import { useNow } from '../../ui/ago.tsx';
import { Button } from '../../ui/button.tsx';
import { Sheet } from '../../ui/card.tsx';
import { Segments } from '../../ui/choice.tsx';
import { CopyButton, CurlButton } from '../../ui/copy-button.tsx';
import { Page } from '../../ui/page.tsx';
import { Pager } from '../../ui/paged-list.tsx';
import { Answered, Bone, Empty, Failure } from '../../ui/states.tsx';
import { useFormats, useWords } from '../../words/language.tsx';
import { ChangeList } from '../organization/change-list.tsx';
import { type ActivityRange, activityRanges, type ActivitySearch } from './activity-search.ts';
import { activityWords } from './activity-words.ts';
import styles from './activity.module.css';

// Requests of the activity: a page of it, and what one request changed in full.

type Activity = components['schemas']['Activity'];

const pageRows = 50;
const refreshMs = 15_000;
const minuteMs = 60_000;
const dayMs = 86_400_000;
const spansMs: Readonly<Record<ActivityRange, number>> = {
  '24h': dayMs,
  '7d': 7 * dayMs,
  '30d': 30 * dayMs,
};

/** The query of `GET /v3/activity`; a range begins on a full minute. */
function activityQuery(workspaceId: string, search: ActivitySearch, nowMs: number) {
  const { by, range, page = 0 } = search;
  const minute = Math.floor(nowMs / minuteMs) * minuteMs;
  return {
    workspaceId,
    page,
    size: pageRows,
    ...(by === undefined ? {} : { actorId: by }),
    ...(range === undefined ? {} : { from: new Date(minute - spansMs[range]).toISOString() }),
  };
}

const activityOf = (workspaceId: string, search: ActivitySearch) => {
  const { open: _, ...shown } = search;
  return queryOptions({
    queryKey: ['activity', workspaceId, shown],
    refetchInterval: refreshMs,
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => {
      const query = activityQuery(workspaceId, search, Date.now());
      return ask(platform.GET('/v3/activity', { signal, params: { query } }));
    },
  });
};

const entriesMax = 200;

/** Entries of the audit log of the same request, with values before and after. */
const entriesOf = (organizationId: string, activity: Activity) =>
  queryOptions({
    queryKey: ['audit', 'of', activity.id, activity.timestamp],
    queryFn: async ({ signal }) => {
      const { started, timestamp, actor, workspaceId, requestId } = activity;
      const to = new Date(Date.parse(timestamp) + 1).toISOString();
      const query = { organizationId, from: started, to, actorId: actor.id, size: entriesMax };
      const { content } = await ask(platform.GET('/v3/audit-logs', { signal, params: { query } }));
      return content.filter(
        (entry) => entry.workspaceId === workspaceId && entry.requestId === requestId,
      );
    },
  });

const route = getRouteApi('/signed-in/shell/w/$workspaceId/activity');

export function ActivityPage() {
  const words = useWords(activityWords);
  const { workspaceId } = route.useParams();
  const search = route.useSearch();
  const change = useChange();
  const [openedMs] = useState(() => Date.now());
  const answer = useQuery(activityOf(workspaceId, search));
  const query = activityQuery(workspaceId, search, openedMs);
  const parameters = Object.entries(query).map(([name, value]) => [name, String(value)]);
  const path = `/v3/activity?${new URLSearchParams(parameters)}`;
  const { page: _, open: __, ...filters } = search;
  return (
    <Page
      title={words.title}
      name={words.title}
      path={[words.title]}
      lead={words.lead}
      actions={<CurlButton request={{ path }} />}
    >
      <Tools search={search} change={change} rows={answer.data?.content ?? []} />
      <Answered answer={answer} curl={{ path }} skeleton={<Bones />}>
        {({ content, totalPages }) => (
          <>
            {content.length === 0 && (
              <Sheet>
                <Nothing isNarrowed={Object.keys(filters).length > 0} />
              </Sheet>
            )}
            <Days rows={content} search={search} change={change} />
            <Pager
              page={search.page ?? 0}
              pages={totalPages}
              go={(page) => change({ ...filters, ...(page === 0 ? {} : { page }) })}
            />
          </>
        )}
      </Answered>
    </Page>
  );
}

function useChange(): (search: ActivitySearch) => void {
  const navigate = useNavigate();
  return (search) => void navigate({ to: '.', search: search as never, resetScroll: false });
}

interface ToolsProps {
  readonly search: ActivitySearch;
  readonly change: (search: ActivitySearch) => void;
  readonly rows: readonly Activity[];
}

function Tools({ search, change, rows }: ToolsProps) {
  const words = useWords(activityWords);
  const { by, range } = search;
  const what = words.onlyBy(rows.find(({ actor }) => actor.id === by)?.actor.name ?? by ?? '');
  return (
    <div className={styles['tools']}>
      <Segments
        label={words.range}
        value={range ?? 'all'}
        options={[
          { value: 'all', label: words.all },
          ...activityRanges.map((value) => ({ value, label: words.ranges[value] })),
        ]}
        choose={(chosen) =>
          change({
            ...(by === undefined ? {} : { by }),
            ...(chosen === 'all' ? {} : { range: chosen }),
          })
        }
      />
      {by !== undefined && (
        <Button
          aria-label={words.removeFilter(what)}
          onClick={() => change(range === undefined ? {} : { range })}
        >
          {what}
          <X aria-hidden="true" />
        </Button>
      )}
    </div>
  );
}

interface DaysProps {
  readonly rows: readonly Activity[];
  readonly search: ActivitySearch;
  readonly change: (search: ActivitySearch) => void;
}

function Days({ rows, search, change }: DaysProps) {
  const words = useWords(activityWords);
  const { day } = useFormats();
  const now = useNow();
  const names = new Map([
    [day(new Date(now - dayMs).toISOString()), words.yesterday],
    [day(new Date(now).toISOString()), words.today],
  ]);
  const days = Map.groupBy(rows, ({ timestamp }) => day(timestamp));
  return [...days].map(([date, ofDay]) => (
    <section
      key={date}
      className={`stack gap-8 ${styles['day']}`}
      aria-label={names.get(date) ?? date}
    >
      <h2>
        {names.get(date) ?? date}
        {names.has(date) && <span className="faint"> {date}</span>}
      </h2>
      <Sheet>
        <ul className={styles['rows']}>
          {ofDay.map((activity) => (
            <ActivityRow
              key={activity.id}
              activity={activity}
              isOpen={search.open === activity.id}
              toggle={() => {
                const { open, ...rest } = search;
                change(open === activity.id ? rest : { ...rest, open: activity.id });
              }}
              onlyBy={() => {
                const { range } = search;
                change({ by: activity.actor.id, ...(range === undefined ? {} : { range }) });
              }}
            />
          ))}
        </ul>
      </Sheet>
    </section>
  ));
}

function Nothing({ isNarrowed }: { readonly isNarrowed: boolean }) {
  const words = useWords(activityWords);
  if (isNarrowed) return <Empty title={words.noMatch} note={words.noMatchNote} />;
  return <Empty title={words.empty} note={words.emptyNote} />;
}

function Bones() {
  return (
    <Sheet>
      <div className={styles['bones']}>
        {['24em', '30em', '18em', '26em', '22em'].map((width) => (
          <Bone key={width} width={width} />
        ))}
      </div>
    </Sheet>
  );
}

// Row of the activity: one request in a sentence; it opens to its records and their values.

interface ActivityRowProps {
  readonly activity: Activity;
  readonly isOpen: boolean;
  readonly toggle: () => void;
  /** Shows only what its author did. */
  readonly onlyBy: () => void;
}

function ActivityRow({ activity, isOpen, toggle, onlyBy }: ActivityRowProps) {
  const words = useWords(activityWords);
  const { clock } = useFormats();
  const sentence = useSentence(activity);
  const details = useId();
  const row = useReveal(isOpen);
  const { actor, timestamp } = activity;
  return (
    <li ref={row} data-open={isOpen}>
      <div className={styles['row']}>
        <button
          type="button"
          aria-expanded={isOpen}
          aria-controls={details}
          aria-label={words.show(`${actor.name} ${sentence}`)}
          onClick={toggle}
        >
          <ChevronRight aria-hidden="true" />
        </button>
        <time className="num mute" dateTime={timestamp}>
          {clock(timestamp)}
        </time>
        <span className={`shrinks breaks ${styles['what']}`}>
          <button
            type="button"
            className={styles['who']}
            title={words.filterBy(actor.name)}
            onClick={onlyBy}
          >
            {actor.name}
          </button>{' '}
          {sentence}
        </span>
        {actor.type !== 'USER' && <span className="faint">{words.by[actor.type]}</span>}
      </div>
      <div id={details} hidden={!isOpen}>
        {isOpen && <ActivityDetails activity={activity} />}
      </div>
    </li>
  );
}

/** The row of a link comes into view when the page opens with it. */
function useReveal(isOpen: boolean) {
  const row = useRef<HTMLLIElement>(null);
  const first = useRef(isOpen);
  useEffect(() => {
    if (first.current) row.current?.scrollIntoView({ block: 'center' });
  }, []);
  return row;
}

/** `created rule Leaks`, or `created 12 devices, changed 3 rules`. */
function useSentence({ changes, records }: Activity): string {
  const words = useWords(activityWords);
  const { count } = useFormats();
  return changes
    .map(({ action, resourceType, count: many }) => {
      const named = records.find(
        (record) => record.action === action && record.resourceType === resourceType,
      );
      const name = many === 1 ? (named?.resourceName ?? '') : '';
      const what = words.records(resourceType, count(many), many);
      return words.sentence(words.did[action], [what, name].filter(Boolean).join(' '));
    })
    .join(', ');
}

// Details of an activity: its records with links, values before and after, and its request id.

type ChangedRecord = Activity['records'][number];

function ActivityDetails({ activity }: { readonly activity: Activity }) {
  const words = useWords(activityWords);
  const { count } = useFormats();
  const { records, total, requestId } = activity;
  const entries = useEntries(activity);
  const changesOf = ({ resourceId, action }: ChangedRecord) =>
    entries.data?.find((entry) => entry.resourceId === resourceId && entry.action === action)
      ?.changes;
  return (
    <div className={styles['details']}>
      <ul>
        {records.map((record) => (
          <li key={`${record.action} ${record.resourceId}`}>
            <RecordName record={record} workspaceId={activity.workspaceId} />
            {entries.isPending && entries.isAsked && <Bone />}
            <ChangeList changes={changesOf(record) ?? []} />
          </li>
        ))}
      </ul>
      {total > records.length && (
        <p className="faint">{words.first(count(records.length), count(total))}</p>
      )}
      {entries.error !== null && <Failure error={entries.error} />}
      {!entries.isAsked && <p className="faint">{words.noValues}</p>}
      <p className="row wrap gap-8">
        {requestId !== null && (
          <>
            <span className="mute">{words.request}</span>
            <span className="mono">{requestId}</span>
            <CopyButton content={requestId} label={words.copyRequest} />
          </>
        )}
        <CopyButton content={location.href}>{words.copyLink}</CopyButton>
      </p>
    </div>
  );
}

/** The audit log has values, and only owners and admins may read it. */
function useEntries(activity: Activity) {
  const { organizationId, role } = useAccount();
  const isAsked = role === 'OWNER' || role === 'ADMIN';
  const { data, error, isPending } = useQuery({
    ...entriesOf(organizationId, activity),
    enabled: isAsked,
  });
  return { data, error, isPending, isAsked };
}

interface RecordNameProps {
  readonly record: ChangedRecord;
  readonly workspaceId: string;
}

function RecordName({ record, workspaceId }: RecordNameProps) {
  const words = useWords(activityWords);
  const { action, resourceType, resourceId: id, resourceName } = record;
  const name = resourceName ?? id;
  return (
    <span>
      <span className="mute">
        {words.did[action]} {words.records(resourceType, '', 1)}
      </span>{' '}
      {action === 'DELETE' ? (
        <b>{name}</b>
      ) : (
        <RecordLink resourceType={resourceType} id={id} name={name} workspaceId={workspaceId} />
      )}
    </span>
  );
}

interface RecordLinkProps {
  readonly resourceType: string;
  readonly id: string;
  readonly name: string;
  readonly workspaceId: string;
}

/** Leads to the page of the record, where its kind has one. */
function RecordLink({ resourceType, id, name, workspaceId }: RecordLinkProps) {
  switch (resourceType) {
    case 'DEVICE':
      return (
        <Link to="/w/$workspaceId/devices/$deviceId" params={{ workspaceId, deviceId: id }}>
          {name}
        </Link>
      );
    case 'RULE':
      return (
        <Link to="/w/$workspaceId/rules/$ruleId/edit" params={{ workspaceId, ruleId: id }}>
          {name}
        </Link>
      );
    case 'OUTPUT_CONNECTOR':
      return (
        <Link
          to="/w/$workspaceId/outputs/$outputId/settings"
          params={{ workspaceId, outputId: id }}
        >
          {name}
        </Link>
      );
    case 'ALARM':
      return (
        <Link to="/w/$workspaceId/alarms/$alarmId" params={{ workspaceId, alarmId: id }}>
          {name}
        </Link>
      );
    default:
      return <b>{name}</b>;
  }
}
