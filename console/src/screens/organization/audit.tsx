// Audit log: who changed what and when, with the values before and after.
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { ChevronLeft, ChevronRight, Download, X } from 'lucide-react';
import type { ReactNode } from 'react';
import type { components } from '../../../generated/interface-types.ts';
import { ask, platform } from '../../api/platform.ts';
import { Ago } from '../../ui/ago.tsx';
import { Button, FileLink } from '../../ui/button.tsx';
import { Sheet } from '../../ui/card.tsx';
import { type DataColumn, DataTable, TableSkeleton } from '../../ui/data-table.tsx';
import { Answered, Empty } from '../../ui/states.tsx';
import { useAccount } from '../../session/session.ts';
import { useWords } from '../../words/language.tsx';
import { activityWords } from '../activity/activity-words.ts';
import { OrganizationPage } from './organization-page.tsx';
import { organizationWords } from './organization-words.ts';
import type { AuditSearch } from '../activity/activity-search.ts';
import { ChangeList } from './change-list.tsx';
import styles from './audit.module.css';

type AuditEntry = components['schemas']['AuditEntry'];

const pageSize = 50;

export function Audit() {
  const words = useWords(organizationWords);
  const { organizationId } = useAccount();
  const search = useSearch({ from: '/signed-in/shell/o/$organizationId/settings/audit' });
  const { page = 0, actor, kind } = search;
  const filters = {
    organizationId,
    ...(actor !== undefined && { actorId: actor }),
    ...(kind !== undefined && { resourceType: kind }),
  };
  const query = { ...filters, page, size: pageSize };
  const path = `/v3/audit-logs?${new URLSearchParams(filters).toString()}&page=${page}&size=${pageSize}`;
  const entries = useQuery({
    queryKey: ['audit', query],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => ask(platform.GET('/v3/audit-logs', { signal, params: { query } })),
  });
  return (
    <OrganizationPage tab="audit" actions={<ExportLink filters={filters} />}>
      <Sheet>
        <Filters search={search} entries={entries.data?.content ?? []} />
        <Answered answer={entries} curl={{ path }} skeleton={<TableSkeleton rows={8} />}>
          {({ content, last }) =>
            content.length === 0 ? (
              <Empty title={words.noEntries} note={words.noEntriesNote} />
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

function ExportLink({ filters }: { readonly filters: Readonly<Record<string, string>> }) {
  const words = useWords(organizationWords);
  return (
    <FileLink
      look="plain"
      href={`/v3/audit-logs/export?${new URLSearchParams({ ...filters, format: 'csv' }).toString()}`}
    >
      <Download aria-hidden="true" />
      {words.exportCsv}
    </FileLink>
  );
}

function EntryTable({ entries }: { readonly entries: readonly AuditEntry[] }) {
  const words = useWords(organizationWords);
  const kinds = useWords(activityWords);
  const columns: readonly DataColumn<AuditEntry>[] = [
    { key: 'when', header: words.when, cell: ({ timestamp }) => <Ago at={timestamp} /> },
    {
      key: 'who',
      header: words.who,
      cell: ({ actor }) => (
        <FilterLink label={words.onlyBy(actor.name)} change={{ actor: actor.id }}>
          {actor.name}
        </FilterLink>
      ),
    },
    {
      key: 'what',
      header: words.what,
      cell: ({ action, resourceType, resourceName, resourceId }) => (
        <>
          {words.actionNames[action]}{' '}
          <FilterLink
            label={words.onlyKind(kinds.records(resourceType, '', 1))}
            change={{ kind: resourceType }}
          >
            {kinds.records(resourceType, '', 1)}
          </FilterLink>{' '}
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

interface FilterLinkProps {
  readonly label: string;
  readonly change: AuditSearch;
  readonly children: ReactNode;
}

/** Limits the log to the person or the kind that is clicked. */
function FilterLink({ label, change, children }: FilterLinkProps) {
  return (
    <Link
      from="/o/$organizationId/settings/audit"
      to="."
      search={({ page: _, ...others }) => ({ ...others, ...change })}
      title={label}
    >
      {children}
    </Link>
  );
}

interface FiltersProps {
  readonly search: AuditSearch;
  readonly entries: readonly AuditEntry[];
}

/** What the log is limited to, each with a button that ends it. */
function Filters({ search, entries }: FiltersProps) {
  const words = useWords(organizationWords);
  const kinds = useWords(activityWords);
  const navigate = useNavigate({ from: '/o/$organizationId/settings/audit' });
  const { actor, kind } = search;
  if (actor === undefined && kind === undefined) return null;
  const name = entries.find((entry) => entry.actor.id === actor)?.actor.name ?? actor;
  const without = (key: 'actor' | 'kind') => () => {
    const { [key]: _, page: __, ...others } = search;
    void navigate({ search: others });
  };
  return (
    <div className={styles['filters']}>
      {name !== undefined && (
        <Button onClick={without('actor')}>
          {words.onlyBy(name)}
          <X aria-hidden="true" />
        </Button>
      )}
      {kind !== undefined && (
        <Button onClick={without('kind')}>
          {words.onlyKind(kinds.records(kind, '', 1))}
          <X aria-hidden="true" />
        </Button>
      )}
    </div>
  );
}

function PageTurner({ page, isLast }: { readonly page: number; readonly isLast: boolean }) {
  const words = useWords(organizationWords);
  const navigate = useNavigate({ from: '/o/$organizationId/settings/audit' });
  const turn = (to: number) =>
    void navigate({
      search: ({ page: _, ...others }) => (to === 0 ? others : { ...others, page: to }),
    });
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
