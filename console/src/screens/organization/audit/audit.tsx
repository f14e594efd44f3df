// Audit log: who changed what and when, with the values before and after.
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { ChevronLeft, ChevronRight, Download } from 'lucide-react';
import type { components } from '../../../../generated/interface-types.ts';
import { ask, platform } from '../../../api/platform.ts';
import { Ago } from '../../../parts/ago.tsx';
import { Button } from '../../../parts/button.tsx';
import { Sheet } from '../../../parts/card.tsx';
import { type DataColumn, DataTable, TableSkeleton } from '../../../parts/data-table.tsx';
import { Answered, Empty } from '../../../parts/states.tsx';
import { useAccount } from '../../../session/session.ts';
import { useWords } from '../../../words/language.tsx';
import { OrganizationPage } from '../organization-page.tsx';
import { organizationWords } from '../organization-words.ts';
import { ChangeList } from './change-list.tsx';
import styles from './audit.module.css';

type AuditEntry = components['schemas']['AuditEntry'];

const pageSize = 50;

export function Audit() {
  const words = useWords(organizationWords);
  const { organizationId } = useAccount();
  const { page = 0 } = useSearch({ from: '/signed-in/shell/o/$organizationId/settings/audit' });
  const query = { organizationId, page, size: pageSize };
  const path = `/v3/audit-logs?organizationId=${organizationId}&page=${page}&size=${pageSize}`;
  const entries = useQuery({
    queryKey: ['audit', query],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => ask(platform.GET('/v3/audit-logs', { signal, params: { query } })),
  });
  return (
    <OrganizationPage tab="audit" actions={<ExportLink organizationId={organizationId} />}>
      <Sheet>
        <Answered answer={entries} curl={{ path }} skeleton={<TableSkeleton rows={8} />}>
          {({ content, last }) =>
            content.length === 0 ? (
              <Empty title={words.noEntries} note={words.noEntriesNote} curl={{ path }} />
            ) : (
              <>
                <EntryTable entries={content} />
                <PageTurner page={page} isLast={last} />
              </>
            )
          }
        </Answered>
      </Sheet>
    </OrganizationPage>
  );
}

function ExportLink({ organizationId }: { readonly organizationId: string }) {
  const words = useWords(organizationWords);
  return (
    <a
      className={styles['export']}
      href={`/v3/audit-logs/export?organizationId=${organizationId}&format=csv`}
      download
    >
      <Download aria-hidden="true" />
      {words.exportCsv}
    </a>
  );
}

function EntryTable({ entries }: { readonly entries: readonly AuditEntry[] }) {
  const words = useWords(organizationWords);
  const columns: readonly DataColumn<AuditEntry>[] = [
    { key: 'when', header: words.when, cell: ({ timestamp }) => <Ago at={timestamp} /> },
    { key: 'who', header: words.who, cell: ({ actor }) => actor.name },
    {
      key: 'what',
      header: words.what,
      cell: ({ action, resourceType, resourceName, resourceId }) => (
        <>
          {words.actionNames[action]} <span className="mono">{resourceType}</span>{' '}
          {resourceName ?? resourceId}
        </>
      ),
    },
    {
      key: 'changes',
      header: words.changes,
      cell: ({ changes }) => <ChangeList changes={changes} />,
    },
  ];
  return <DataTable label={words.audit} columns={columns} rows={entries} keyOf={({ id }) => id} />;
}

function PageTurner({ page, isLast }: { readonly page: number; readonly isLast: boolean }) {
  const words = useWords(organizationWords);
  const navigate = useNavigate({ from: '/o/$organizationId/settings/audit' });
  const turn = (to: number) => void navigate({ search: to === 0 ? {} : { page: to } });
  return (
    <div className={styles['turner']}>
      <Button disabled={page === 0} onClick={() => turn(page - 1)}>
        <ChevronLeft aria-hidden="true" />
        {words.newer}
      </Button>
      <Button disabled={isLast} onClick={() => turn(page + 1)}>
        {words.older}
        <ChevronRight aria-hidden="true" />
      </Button>
    </div>
  );
}
