// API keys: what programs may do here, each key with its permissions and its workspaces.
import { useQuery } from '@tanstack/react-query';
import { KeyRound, Trash2 } from 'lucide-react';
import { useState } from 'react';
import type { components } from '../../../../generated/interface-types.ts';
import { ask, platform } from '../../../api/platform.ts';
import { useNow } from '../../../live/use-now.ts';
import { Ago } from '../../../parts/ago.tsx';
import { Button, IconButton } from '../../../parts/button.tsx';
import { Chip } from '../../../parts/chip.tsx';
import { type DataColumn, DataTable, RecordSheet } from '../../../parts/data-table.tsx';
import { RemoveDialog } from '../../../parts/remove-dialog.tsx';
import { Empty } from '../../../parts/states.tsx';
import { useAccount } from '../../../session/session.ts';
import { useFormats, useWords } from '../../../words/language.tsx';
import { OrganizationPage } from '../organization-page.tsx';
import { organizationWords } from '../organization-words.ts';
import { NewKeyDialog } from './new-key-dialog.tsx';

type ApiKey = components['schemas']['ApiKey'];

export function Keys() {
  const words = useWords(organizationWords);
  const { organizationId } = useAccount();
  const [isCreating, setCreating] = useState(false);
  const [removed, setRemoved] = useState<ApiKey>();
  const path = `/v3/api-keys?organizationId=${organizationId}`;
  const keys = useQuery({
    queryKey: ['keys', organizationId],
    queryFn: ({ signal }) =>
      ask(platform.GET('/v3/api-keys', { signal, params: { query: { organizationId } } })),
  });
  const createButton = (
    <Button needs="organization: manage" look="primary" onClick={() => setCreating(true)}>
      <KeyRound aria-hidden="true" />
      {words.createKey}
    </Button>
  );
  return (
    <OrganizationPage tab="keys" actions={createButton}>
      <RecordSheet
        answer={keys}
        path={path}
        none={<Empty title={words.noKeys} note={words.noKeysNote} />}
      >
        {(found) => <KeyTable keys={found} remove={setRemoved} />}
      </RecordSheet>
      {isCreating && (
        <NewKeyDialog organizationId={organizationId} close={() => setCreating(false)} />
      )}
      {removed !== undefined && <RemoveKey apiKey={removed} close={() => setRemoved(undefined)} />}
    </OrganizationPage>
  );
}

interface KeyTableProps {
  readonly keys: readonly ApiKey[];
  readonly remove: (key: ApiKey) => void;
}

function KeyTable({ keys, remove }: KeyTableProps) {
  const words = useWords(organizationWords);
  const columns: readonly DataColumn<ApiKey>[] = [
    { key: 'name', header: words.name, cell: ({ name }) => name },
    {
      key: 'prefix',
      header: words.begins,
      cell: ({ secretPrefix }) => <span className="mono">{secretPrefix}…</span>,
    },
    {
      key: 'workspaces',
      header: words.workspaces,
      cell: ({ allWorkspaces, workspaces }) =>
        allWorkspaces ? words.every : words.workspaceCount(workspaces.length),
    },
    { key: 'created', header: words.since, cell: ({ created }) => <Ago at={created} /> },
    { key: 'used', header: words.lastUsed, cell: ({ lastUsed }) => <Ago at={lastUsed} /> },
    {
      key: 'expiration',
      header: words.expires,
      cell: ({ expiration }) => <Expiration at={expiration} />,
    },
    {
      key: 'actions',
      header: words.actions,
      isQuiet: true,
      cell: (key) => (
        <IconButton
          needs="organization: manage"
          label={words.deleteKey(key.name)}
          icon={Trash2}
          onClick={() => remove(key)}
        />
      ),
    },
  ];
  return <DataTable label={words.keys} columns={columns} rows={keys} keyOf={({ id }) => id} />;
}

function Expiration({ at }: { readonly at: string | null }) {
  const words = useWords(organizationWords);
  const formats = useFormats();
  const now = useNow();
  if (at === null) return words.withoutEnd;
  if (Date.parse(at) <= now) return <Chip tone="bad">{words.expired}</Chip>;
  return (
    <time className="num" dateTime={at}>
      {formats.instant(at)}
    </time>
  );
}

function RemoveKey({ apiKey, close }: { readonly apiKey: ApiKey; readonly close: () => void }) {
  const words = useWords(organizationWords);
  const { id, name } = apiKey;
  return (
    <RemoveDialog
      name={name}
      title={words.deleteKey(name)}
      note={words.deleteKeyNote}
      send={() => ask(platform.DELETE('/v3/api-keys/{id}', { params: { path: { id } } }))}
      lists={[['keys']]}
      close={close}
    />
  );
}
