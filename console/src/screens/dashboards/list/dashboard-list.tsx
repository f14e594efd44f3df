// Dashboards: every dashboard of the workspace, with what can be done to each.
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import type { CurlRequest } from '../../../api/curl.ts';
import { Ago } from '../../../parts/ago.tsx';
import { Button } from '../../../parts/button.tsx';
import { Sheet } from '../../../parts/card.tsx';
import { CurlButton } from '../../../parts/curl-button.tsx';
import { Page } from '../../../parts/page.tsx';
import { Pager } from '../../../parts/pager.tsx';
import { SearchField } from '../../../parts/search-field.tsx';
import { Answered, Bone, Empty } from '../../../parts/states.tsx';
import { useFormats, useWords } from '../../../words/language.tsx';
import { DashboardBones } from '../dashboard-bones.tsx';
import { type DashboardRow, dashboardsOf } from '../dashboard-requests.ts';
import styles from '../dashboards.module.css';
import { dashboardsWords } from '../dashboards-words.ts';
import { NewDashboard } from './new-dashboard.tsx';
import { RowActions } from './row-actions.tsx';

export function Dashboards() {
  const words = useWords(dashboardsWords);
  const { count } = useFormats();
  const from = '/signed-in/shell/w/$workspaceId/dashboards';
  const { workspaceId } = useParams({ from });
  const search = useSearch({ from });
  const navigate = useNavigate({ from: '/w/$workspaceId/dashboards' });
  const [isAsked, setAsked] = useState(false);
  const answer = useQuery(dashboardsOf(workspaceId, search));
  const total = answer.data?.totalElements;
  const request: CurlRequest = { path: `/v3/dashboards?workspaceId=${workspaceId}` };
  const add = (
    <Button look="primary" onClick={() => setAsked(true)}>
      <Plus aria-hidden="true" />
      {words.add}
    </Button>
  );
  const isEmpty = total === 0 && search.q === undefined;
  return (
    <Page
      title={words.title}
      name={words.title}
      path={[words.title]}
      lead={total === undefined ? <Bone width="5em" /> : words.count(count(total), total)}
      actions={
        <>
          <CurlButton request={request} />
          {!isEmpty && add}
        </>
      }
    >
      {!isEmpty && (
        <SearchField
          label={words.search}
          value={search.q ?? ''}
          change={(q) => void navigate({ search: q === '' ? {} : { q }, replace: true })}
        />
      )}
      <Sheet>
        <Answered answer={answer} curl={request} skeleton={<DashboardBones />}>
          {({ content, totalPages }) => {
            if (isEmpty)
              return (
                <Empty title={words.empty} note={words.emptyNote} actions={add} curl={request} />
              );
            if (content.length === 0)
              return <Empty title={words.noMatch} note={words.noMatchNote} />;
            return (
              <>
                <DashboardTable rows={content} workspaceId={workspaceId} />
                <Pager
                  page={search.page ?? 0}
                  pages={totalPages}
                  go={(page) => void navigate({ search: (before) => ({ ...before, page }) })}
                />
              </>
            );
          }}
        </Answered>
      </Sheet>
      {isAsked && <NewDashboard workspaceId={workspaceId} close={() => setAsked(false)} />}
    </Page>
  );
}

interface DashboardTableProps {
  readonly rows: readonly DashboardRow[];
  readonly workspaceId: string;
}

function DashboardTable({ rows, workspaceId }: DashboardTableProps) {
  const words = useWords(dashboardsWords);
  return (
    <table className={styles['list']}>
      <thead>
        <tr>
          <th scope="col">{words.name}</th>
          <th scope="col">{words.changed}</th>
          <th scope="col">
            <span className="sr">{words.actions}</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.id}>
            <th scope="row">
              <Link
                to="/w/$workspaceId/dashboards/$dashboardId"
                params={{ workspaceId, dashboardId: row.id }}
              >
                {row.name}
              </Link>
              {(row.description ?? '') !== '' && <small className="mute">{row.description}</small>}
            </th>
            <td className="mute">
              <Ago at={row.updated ?? row.created} />
            </td>
            <td>
              <RowActions dashboard={row} workspaceId={workspaceId} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
