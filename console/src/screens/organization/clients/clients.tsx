// OAuth clients: programs that get tokens, each with its permissions and its workspaces.
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { Bot, RotateCw, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { Ago } from '../../../parts/ago.tsx';
import { Button, IconButton } from '../../../parts/button.tsx';
import { ConfirmDialog } from '../../../parts/confirm-dialog.tsx';
import { CopyButton } from '../../../parts/copy-button.tsx';
import { type DataColumn, DataTable, RecordSheet } from '../../../parts/data-table.tsx';
import { RemoveDialog } from '../../../parts/remove-dialog.tsx';
import { Empty } from '../../../parts/states.tsx';
import { toastFailure } from '../../../parts/toasts.tsx';
import { useAccount } from '../../../session/session.ts';
import { useWords } from '../../../words/language.tsx';
import { OrganizationPage } from '../organization-page.tsx';
import { organizationWords } from '../organization-words.ts';
import { ClientDialog } from './client-dialog.tsx';
import { clientsOf, type OAuthClient, removeClient, rotateSecret } from './client-requests.ts';
import { ClientSecret } from './client-secret.tsx';
import { clientWords } from './client-words.ts';
import styles from './clients.module.css';
import { NewClientDialog } from './new-client-dialog.tsx';
import { useAction } from '../../../parts/use-action.ts';

const route = '/signed-in/shell/o/$organizationId/settings/clients';

export function Clients() {
  const words = useWords(clientWords);
  const { organizationId } = useAccount();
  const { client: shownId } = useSearch({ from: route });
  const navigate = useNavigate({ from: '/o/$organizationId/settings/clients' });
  const [isCreating, setCreating] = useState(false);
  const [rotated, setRotated] = useState<OAuthClient>();
  const [removed, setRemoved] = useState<OAuthClient>();
  const path = `/v3/oauth-clients?organizationId=${organizationId}`;
  const clients = useQuery(clientsOf(organizationId));
  const shown = clients.data?.content.find(({ id }) => id === shownId);
  return (
    <OrganizationPage
      tab="clients"
      actions={
        <Button needs="organization: manage" look="primary" onClick={() => setCreating(true)}>
          <Bot aria-hidden="true" />
          {words.create}
        </Button>
      }
    >
      <RecordSheet
        answer={clients}
        path={path}
        none={<Empty title={words.empty} note={words.emptyNote} />}
      >
        {(found) => <ClientTable clients={found} rotate={setRotated} remove={setRemoved} />}
      </RecordSheet>
      {isCreating && (
        <NewClientDialog organizationId={organizationId} close={() => setCreating(false)} />
      )}
      {shown !== undefined && (
        <ClientDialog client={shown} close={() => void navigate({ search: {} })} />
      )}
      {rotated !== undefined && (
        <RotateClient client={rotated} close={() => setRotated(undefined)} />
      )}
      {removed !== undefined && (
        <RemoveClient client={removed} close={() => setRemoved(undefined)} />
      )}
    </OrganizationPage>
  );
}

interface ClientTableProps {
  readonly clients: readonly OAuthClient[];
  readonly rotate: (client: OAuthClient) => void;
  readonly remove: (client: OAuthClient) => void;
}

function ClientTable({ clients, ...acts }: ClientTableProps) {
  const words = useWords(clientWords);
  const shared = useWords(organizationWords);
  const { organizationId } = useAccount();
  const columns: readonly DataColumn<OAuthClient>[] = [
    {
      key: 'name',
      header: shared.name,
      cell: ({ id, name }) => (
        <Link
          to="/o/$organizationId/settings/clients"
          params={{ organizationId }}
          search={{ client: id }}
        >
          {name}
        </Link>
      ),
    },
    {
      key: 'clientId',
      header: words.clientId,
      cell: ({ name, clientId }) => (
        <span className={styles['id']}>
          <span className="mono">{clientId}</span>
          <CopyButton content={clientId} label={words.copyId(name)} />
        </span>
      ),
    },
    {
      key: 'workspaces',
      header: shared.workspaces,
      cell: ({ allWorkspaces, workspaces }) =>
        allWorkspaces ? shared.every : shared.workspaceCount(workspaces.length),
    },
    { key: 'created', header: shared.since, cell: ({ created }) => <Ago at={created} /> },
    {
      key: 'actions',
      header: shared.actions,
      isQuiet: true,
      cell: (client) => <Acts client={client} {...acts} />,
    },
  ];
  return (
    <DataTable label={shared.clients} columns={columns} rows={clients} keyOf={({ id }) => id} />
  );
}

function Acts({ client, rotate, remove }: Omit<ClientTableProps, 'clients'> & ClientProps) {
  const words = useWords(clientWords);
  return (
    <>
      <IconButton
        needs="organization: manage"
        label={words.rotateOf(client.name)}
        icon={RotateCw}
        onClick={() => rotate(client)}
      />
      <IconButton
        needs="organization: manage"
        label={words.removeOf(client.name)}
        icon={Trash2}
        onClick={() => remove(client)}
      />
    </>
  );
}

interface ClientProps {
  readonly client: OAuthClient;
}

function RotateClient({ client, close }: ClientProps & { readonly close: () => void }) {
  const words = useWords(clientWords);
  const shared = useWords(organizationWords);
  const rotate = useAction({
    mutationFn: () => rotateSecret(client.id),
    onError: toastFailure,
  });
  if (rotate.data !== undefined)
    return <ClientSecret tokenUrl={client.tokenUrl} credentials={rotate.data} close={close} />;
  return (
    <ConfirmDialog
      title={words.rotateTitle(client.name)}
      note={words.rotateNote}
      confirmLabel={words.rotate}
      cancelLabel={shared.cancel}
      isBusy={rotate.isPending}
      confirm={() => rotate.mutate()}
      close={close}
    />
  );
}

function RemoveClient({ client, close }: ClientProps & { readonly close: () => void }) {
  const words = useWords(clientWords);
  const { id, name } = client;
  return (
    <RemoveDialog
      name={name}
      title={words.removeTitle(name)}
      note={words.removeNote}
      send={() => removeClient(id)}
      lists={[['clients']]}
      close={close}
    />
  );
}
