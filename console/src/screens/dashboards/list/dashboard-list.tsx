// Dashboards: every dashboard of the workspace, with what can be done to each.
import { useQuery } from '@tanstack/react-query';
import { Link, useParams, useSearch } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { Ago } from '../../../parts/ago.tsx';
import { Button } from '../../../parts/button.tsx';
import { ListPage, ListSearchField, PagedList } from '../../../parts/paged-list.tsx';
import { useWords } from '../../../words/language.tsx';
import { type DashboardRow, dashboardsOf } from '../dashboard-requests.ts';
import { dashboardsWords } from '../dashboards-words.ts';
import { NewDashboard } from './new-dashboard.tsx';
import { RowActions } from './row-actions.tsx';

export function Dashboards() {
  const words = useWords(dashboardsWords);
  const from = '/signed-in/shell/w/$workspaceId/dashboards';
  const { workspaceId } = useParams({ from });
  const search = useSearch({ from });
  const [isAsked, setAsked] = useState(false);
  const answer = useQuery(dashboardsOf(workspaceId, search));
  const path = `/v3/dashboards?workspaceId=${workspaceId}`;
  const add = (
    <Button needs="dashboard: create" look="primary" onClick={() => setAsked(true)}>
      <Plus aria-hidden="true" />
      {words.add}
    </Button>
  );
  const isEmpty = answer.data?.totalElements === 0 && search.q === undefined;
  return (
    <ListPage words={words} answer={answer} path={path} actions={!isEmpty && add}>
      {!isEmpty && <ListSearchField label={words.search} />}
      <PagedList
        answer={answer}
        path={path}
        headers={[words.name, words.changed]}
        actions={words.actions}
        words={words}
        add={add}
        row={(dashboard) => <DashboardLine dashboard={dashboard} workspaceId={workspaceId} />}
      />
      {isAsked && <NewDashboard workspaceId={workspaceId} close={() => setAsked(false)} />}
    </ListPage>
  );
}

interface DashboardLineProps {
  readonly dashboard: DashboardRow;
  readonly workspaceId: string;
}

function DashboardLine({ dashboard, workspaceId }: DashboardLineProps) {
  const { id, name, description, created, updated } = dashboard;
  return (
    <tr>
      <th scope="row">
        <Link
          to="/w/$workspaceId/dashboards/$dashboardId"
          params={{ workspaceId, dashboardId: id }}
        >
          {name}
        </Link>
        {(description ?? '') !== '' && <small className="mute">{description}</small>}
      </th>
      <td className="mute">
        <Ago at={updated ?? created} />
      </td>
      <td>
        <RowActions dashboard={dashboard} workspaceId={workspaceId} />
      </td>
    </tr>
  );
}
