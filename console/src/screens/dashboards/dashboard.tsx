// Dashboard: one page of tiles, found by its id, with its loading and error states.
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { CurlRequest } from '../../api/curl.ts';
import { Sheet } from '../../ui/card.tsx';
import { Page } from '../../ui/page.tsx';
import { Answered, Empty } from '../../ui/states.tsx';
import { useWords } from '../../words/language.tsx';
import { DashboardBones } from './dashboard-bones.tsx';
import { DashboardEditor } from './dashboard-editor.tsx';
import { readConfiguration } from './dashboard-model.ts';
import { dashboardOf } from './dashboard-requests.ts';
import { dashboardsWords } from './dashboards-words.ts';
import { useReader } from './data/reader.tsx';

export function DashboardPage() {
  const words = useWords(dashboardsWords);
  const { workspaceId, dashboardId } = useParams({
    from: '/signed-in/shell/w/$workspaceId/dashboards/$dashboardId',
  });
  const answer = useQuery(dashboardOf(dashboardId, useReader()));
  const request: CurlRequest = { path: `/v3/dashboards/${dashboardId}` };
  const list = (
    <Link to="/w/$workspaceId/dashboards" params={{ workspaceId }}>
      {words.title}
    </Link>
  );
  const inPage = (name: string, children: ReactNode) => (
    <Page title={name} name={name} path={[list, name]}>
      <Sheet>{children}</Sheet>
    </Page>
  );
  if (answer.data === undefined)
    return inPage(
      words.title,
      <Answered answer={answer} curl={request} skeleton={<DashboardBones />}>
        {() => null}
      </Answered>,
    );
  const dashboard = answer.data;
  const configuration = readConfiguration(dashboard.configuration);
  if (configuration === undefined)
    return inPage(dashboard.name, <Empty title={words.foreign} note={words.foreignNote} />);
  return (
    <DashboardEditor
      key={dashboard.id}
      dashboard={dashboard}
      configuration={configuration}
      list={list}
    />
  );
}
