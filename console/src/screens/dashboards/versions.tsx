// Versions of a dashboard: the newest 50, each to look at and to return to.
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { ask, platform } from '../../api/platform.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { useNarrow } from '../../ui/use-size.ts';
import { Answered, Empty } from '../../ui/states.tsx';
import { useFormats, useWords } from '../../words/language.tsx';
import { DashboardBones, DashboardFrame } from './dashboard-frame.tsx';
import { type Dashboard, dashboardOf, refreshLists, useReader } from './dashboard-requests.ts';
import { dashboardsWords, versionWords } from './dashboards-words.ts';
import styles from './tiles/tiles.module.css';
import { configurationOf, readConfiguration } from '../../../../src/dashboards/configuration.ts';
import { ActionFailure } from '../../ui/action-failure.tsx';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Sheet } from '../../ui/card.tsx';
import { Page } from '../../ui/page.tsx';
import { toast } from '../../ui/toasts.tsx';
import { useAction } from '../../ui/use-action.ts';
import type { DashboardSearch } from './dashboard-search.ts';
import { zoneShown } from './data/dashboard-range.ts';
import { TileGrid } from './grid/tile-grid.tsx';
import { useVariables } from './variable-values.ts';

/** As many as are kept. */
const versionsMax = 50;

interface VersionsDialogProps {
  readonly dashboard: Dashboard;
  readonly zone: string;
  readonly close: () => void;
}

export function VersionsDialog({ dashboard, zone, close }: VersionsDialogProps) {
  const words = useWords(versionWords);
  const formats = useFormats();
  const isNarrow = useNarrow();
  const { id, workspaceId } = dashboard;
  const answer = useQuery({
    queryKey: ['dashboard', 'versions', id, dashboard.version],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => {
      const params = { path: { id }, query: { size: versionsMax } };
      return ask(platform.GET('/v3/dashboards/{id}/versions', { signal, params }));
    },
  });
  const curl = { path: `/v3/dashboards/${id}/versions` };
  return (
    <Dialog title={words.title(dashboard.name)} isWide close={close}>
      <Answered answer={answer} curl={curl} skeleton={<DashboardBones />}>
        {({ content }) => (
          <div className={styles['scroll']}>
            <table>
              <thead>
                <tr>
                  <th scope="col">{words.version}</th>
                  <th scope="col">{words.saved}</th>
                  {!isNarrow && (
                    <>
                      <th scope="col">{words.by}</th>
                      <th scope="col">{words.name}</th>
                    </>
                  )}
                </tr>
              </thead>
              <tbody>
                {content.map(({ version, at, by, name }) => (
                  <tr key={version}>
                    <th scope="row">
                      {version === dashboard.version ? (
                        words.current(version)
                      ) : (
                        <Link
                          to="/w/$workspaceId/dashboards/$dashboardId"
                          params={{ workspaceId, dashboardId: id }}
                          search={{ version }}
                          onClick={close}
                        >
                          {words.look(version)}
                        </Link>
                      )}
                    </th>
                    {isNarrow ? (
                      <td>
                        {formats.instant(at, zone)}
                        <br />
                        <span className="mute">{by?.name ?? words.platform}</span>
                      </td>
                    ) : (
                      <>
                        <td>{formats.instant(at, zone)}</td>
                        <td>{by?.name ?? words.platform}</td>
                        <td>{name}</td>
                      </>
                    )}
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
      </Answered>
    </Dialog>
  );
}

// Version page: a dashboard as it was, with its data of now, and the way back to it.

interface VersionPageProps {
  /** As it is now. */
  readonly dashboard: Dashboard;
  readonly version: number;
  readonly search: DashboardSearch;
  readonly list: ReactNode;
}

export function VersionPage({ dashboard, version, search, list }: VersionPageProps) {
  const words = useWords(versionWords);
  const { id, name } = dashboard;
  const answer = useQuery({
    queryKey: ['dashboard', 'version', id, version],
    queryFn: ({ signal }) => {
      const params = { path: { id, version } };
      return ask(platform.GET('/v3/dashboards/{id}/versions/{version}', { signal, params }));
    },
  });
  const then = answer.data;
  if (then !== undefined)
    return <Shown dashboard={dashboard} then={then} search={search} list={list} />;
  return (
    <Page title={name} name={name} path={[list, name, words.look(version)]}>
      <Sheet>
        <Answered
          answer={answer}
          curl={{ path: `/v3/dashboards/${id}/versions/${version}` }}
          skeleton={<DashboardBones />}
        >
          {() => null}
        </Answered>
      </Sheet>
    </Page>
  );
}

interface ShownProps extends Omit<VersionPageProps, 'version'> {
  readonly then: Dashboard;
}

function Shown({ dashboard, then, search, list }: ShownProps) {
  const words = useWords(versionWords);
  const page = useWords(dashboardsWords);
  const formats = useFormats();
  const { id, workspaceId } = dashboard;
  const configuration = readConfiguration(then.configuration);
  const variables = useVariables(id, workspaceId, configuration ?? {}, search);
  const zone = zoneShown(search, configuration ?? configurationOf([]), undefined);
  const at = then.updated ?? then.created;
  return (
    <Page
      title={then.name}
      name={then.name}
      path={[list, dashboard.name, words.look(then.version)]}
      lead={words.savedAt(then.version, formats.instant(at, zone))}
      actions={
        <>
          <ButtonLink
            to="/w/$workspaceId/dashboards/$dashboardId"
            params={{ workspaceId, dashboardId: id }}
            search={{}}
          >
            {words.back}
          </ButtonLink>
          <Restore dashboard={dashboard} version={then.version} />
        </>
      }
    >
      {configuration === undefined ? (
        <Sheet>
          <Empty title={page.foreign} note={page.foreignNote} />
        </Sheet>
      ) : (
        <DashboardFrame
          workspaceId={workspaceId}
          dashboardId={`${id} ${then.version}`}
          configuration={configuration}
          variables={variables}
          search={search}
          zone={zone}
          isEarlier
          show={() => undefined}
        >
          <TileGrid />
        </DashboardFrame>
      )}
    </Page>
  );
}

/** What was changed meanwhile is refused with 409. */
function Restore({
  dashboard,
  version,
}: {
  readonly dashboard: Dashboard;
  readonly version: number;
}) {
  const words = useWords(versionWords);
  const { id, workspaceId } = dashboard;
  const client = useQueryClient();
  const navigate = useNavigate();
  const record = dashboardOf(id, useReader()).queryKey;
  const restore = useAction({
    mutationFn: () =>
      ask(
        platform.POST('/v3/dashboards/{id}/versions/{version}/restore', {
          params: { path: { id, version } },
          body: { version: dashboard.version },
        }),
      ),
    onSuccess: (restored) => {
      client.setQueryData(record, restored);
      void refreshLists();
      toast(words.restored(version));
      void navigate({
        to: '/w/$workspaceId/dashboards/$dashboardId',
        params: { workspaceId, dashboardId: id },
        search: {},
      });
    },
  });
  return (
    <>
      <ActionFailure error={restore.error} />
      <Button
        look="primary"
        needs="dashboard: update"
        disabled={restore.isPending}
        onClick={() => restore.mutate()}
      >
        {words.restore}
      </Button>
    </>
  );
}
