// Shared dashboard: what a link shows to someone without an account; only this dashboard, only to read.
import { useQuery } from '@tanstack/react-query';
import { useLocation, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { type ReactNode, useMemo } from 'react';
import { Refusal } from '../../../api/platform.ts';
import { Sheet } from '../../../ui/card.tsx';
import { Page } from '../../../ui/page.tsx';
import { Answered, Empty } from '../../../ui/states.tsx';
import { useWords } from '../../../words/language.tsx';
import { DashboardBones, DashboardFrame } from '../dashboard-frame.tsx';
import {
  type Configuration,
  readConfiguration,
} from '../../../../../src/dashboards/configuration.ts';
import {
  type Dashboard,
  dashboardOf,
  ReaderProvider,
  sharedReader,
  useReader,
} from '../dashboard-requests.ts';
import { useVariables } from '../variable-values.ts';
import type { DashboardSearch } from '../dashboard-search.ts';
import { dashboardsWords, shareWords } from '../dashboards-words.ts';
import styles from '../dashboards.module.css';
import { zoneShown } from '../data/dashboard-range.ts';
import { TileGrid } from '../grid/tile-grid.tsx';
import { RangeBar, RangeSentence } from '../range-bar.tsx';

const refreshMs = 60_000;

/** The token is behind the number sign, which no browser sends to a server. */
export function SharedDashboard() {
  const words = useWords(shareWords);
  const token = useLocation({ select: ({ hash }) => hash });
  const reader = useMemo(() => sharedReader(token), [token]);
  return (
    <div className={styles['shared']}>
      <header className={styles['brand']}>
        <img src="/sun.svg" alt="" />
        Heliograph
      </header>
      <main>
        <ReaderProvider value={reader}>
          {token === '' ? (
            <InPage name={words.dashboard}>
              <Invalid />
            </InPage>
          ) : (
            <Read />
          )}
        </ReaderProvider>
      </main>
    </div>
  );
}

function Read() {
  const words = useWords(shareWords);
  const page = useWords(dashboardsWords);
  const { dashboardId } = useParams({ from: '/shared/dashboards/$dashboardId' });
  const answer = useQuery({
    ...dashboardOf(dashboardId, useReader()),
    // A revoked link stops showing what it showed.
    refetchInterval: refreshMs,
  });
  const { data, error } = answer;
  const isRefused = error instanceof Refusal && [401, 403, 404].includes(error.status);
  if (isRefused || data === undefined)
    return (
      <InPage name={isRefused ? words.dashboard : words.loading}>
        {isRefused ? (
          <Invalid />
        ) : (
          <Answered answer={answer} skeleton={<DashboardBones />}>
            {() => null}
          </Answered>
        )}
      </InPage>
    );
  const stored = readConfiguration(data.configuration);
  if (stored === undefined)
    return (
      <InPage name={data.name}>
        <Empty title={page.foreign} note={page.foreignNote} />
      </InPage>
    );
  // A link sends nothing.
  const tiles = stored.tiles.filter(({ kind }) => kind !== 'control');
  return <Shown dashboard={data} configuration={{ ...stored, tiles }} />;
}

interface ShownProps {
  readonly dashboard: Dashboard;
  readonly configuration: Configuration;
}

function Shown({ dashboard, configuration }: ShownProps) {
  const words = useWords(shareWords);
  const { id, name, workspaceId } = dashboard;
  // Without the bar of the time machine nothing would say that it is not now.
  const { at: _at, ...search } = useSearch({ from: '/shared/dashboards/$dashboardId' });
  const navigate = useNavigate({ from: '/shared/dashboards/$dashboardId' });
  const change = (next: DashboardSearch) =>
    void navigate({ search: next, hash: true, resetScroll: false });
  const variables = useVariables(id, workspaceId, configuration, search);
  const zone = zoneShown(search, configuration, undefined);
  const ownZone = zoneShown({}, configuration, undefined);
  const parts = { configuration, search, zone, ownZone, change };
  const { from: _, to: __, ...kept } = search;
  return (
    <Page
      title={name}
      name={name}
      path={[name]}
      lead={
        <span>
          <RangeSentence {...parts} /> · {words.shared}
        </span>
      }
      actions={<RangeBar {...parts} />}
    >
      <DashboardFrame
        workspaceId={workspaceId}
        dashboardId={id}
        configuration={configuration}
        variables={variables}
        search={search}
        zone={zone}
        show={(range) => change({ ...kept, ...range })}
      >
        <TileGrid />
      </DashboardFrame>
    </Page>
  );
}

function InPage({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <Page title={name} name={name} path={[name]}>
      <Sheet>{children}</Sheet>
    </Page>
  );
}

function Invalid() {
  const words = useWords(shareWords);
  return <Empty title={words.invalid} note={words.invalidNote} />;
}
