// Activity: who changed what in the workspace, one line for each request, by day.
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { X } from 'lucide-react';
import { useState } from 'react';
import { useNow } from '../../live/use-now.ts';
import { Button } from '../../parts/button.tsx';
import { Sheet } from '../../parts/card.tsx';
import { Segments } from '../../parts/choice.tsx';
import { CurlButton } from '../../parts/curl-button.tsx';
import { Page } from '../../parts/page.tsx';
import { Pager } from '../../parts/pager.tsx';
import { Answered, Bone, Empty } from '../../parts/states.tsx';
import { useFormats, useWords } from '../../words/language.tsx';
import { type Activity, activityOf, activityQuery } from './activity-requests.ts';
import { ActivityRow } from './activity-row.tsx';
import { type ActivitySearch, activityRanges } from './activity-search.ts';
import styles from './activity.module.css';
import { activityWords } from './activity-words.ts';

const route = getRouteApi('/signed-in/shell/w/$workspaceId/activity');
const dayMs = 86_400_000;

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
    <section key={date} className={styles['day']} aria-label={names.get(date) ?? date}>
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
