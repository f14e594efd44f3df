// Versions of a dashboard: the newest 50, each to look at and to return to.
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ask, platform } from '../../api/platform.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { useNarrow } from '../../ui/use-size.ts';
import { Answered } from '../../ui/states.tsx';
import { useFormats, useWords } from '../../words/language.tsx';
import { DashboardBones } from './dashboard-frame.tsx';
import type { Dashboard } from './dashboard-requests.ts';
import { versionWords } from './dashboards-words.ts';
import styles from './tiles/tiles.module.css';

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
