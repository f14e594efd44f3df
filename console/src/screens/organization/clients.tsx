// OAuth clients: programs that get tokens, each with its permissions and its workspaces.
import { queryOptions, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { Bot, RotateCw, Trash2 } from 'lucide-react';
import { useState } from 'react';
import type { components } from '../../../generated/interface-types.ts';
import { ask, platform } from '../../api/platform.ts';
import { useAccount, useWorkspaces } from '../../session/session.ts';
import { Ago } from '../../ui/ago.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { type DataColumn, DataTable, RecordSheet } from '../../ui/data-table.tsx';
import { ConfirmDialog, Dialog, FormDialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { RemoveDialog } from '../../ui/remove-record.tsx';
import { CodeBlock, Empty } from '../../ui/states.tsx';
import { toastFailure } from '../../ui/toasts.tsx';
import { useAction } from '../../ui/use-action.ts';
import { useFormSave } from '../../ui/use-form-save.ts';
import { useWords } from '../../words/language.tsx';
import {
  firstGrant,
  type Grant,
  grantBody,
  GrantFields,
  PermissionSentence,
} from './grant-fields.tsx';
import { OrganizationPage } from './organization-page.tsx';
import { clientWords, organizationWords } from './organization-words.ts';
import styles from './clients.module.css';

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
        <span className="row inline gap-4">
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

// Client dialog: what a client may do in a sentence, where, and how it gets a token.

interface ClientDialogProps {
  readonly client: OAuthClient;
  readonly close: () => void;
}

const secretVariable = '"$CLIENT_SECRET"';

function ClientDialog({ client, close }: ClientDialogProps) {
  const words = useWords(clientWords);
  const shared = useWords(organizationWords);
  const known = useWorkspaces().data?.content ?? [];
  const { name, description, clientId, tokenUrl, permissions } = client;
  const names = client.workspaces.map(({ id }) => known.find((one) => one.id === id)?.name ?? id);
  return (
    <Dialog
      title={words.details(name)}
      close={close}
      footer={
        <Button look="primary" onClick={close}>
          {shared.done}
        </Button>
      }
    >
      {description !== null && <p>{description}</p>}
      <PermissionSentence grantee="client" permissions={permissions} />
      <dl className="facts gap-y-6">
        <dt>{shared.workspaces}</dt>
        <dd>{client.allWorkspaces ? shared.allWorkspaces : names.join(', ')}</dd>
        <dt>{words.clientId}</dt>
        <dd className="mono">{clientId}</dd>
      </dl>
      <Commands tokenUrl={tokenUrl} credentials={{ clientId, clientSecret: secretVariable }} />
    </Dialog>
  );
}

// New client: name, workspaces, permissions; afterwards its secret, once, with a command that gets a token.

interface NewClientDialogProps {
  readonly organizationId: string;
  readonly close: () => void;
}

const firstDraft: ClientDraft = { name: '', description: '', ...firstGrant };

function NewClientDialog({ organizationId, close }: NewClientDialogProps) {
  const words = useWords(clientWords);
  const shared = useWords(organizationWords);
  const [draft, setDraft] = useState(firstDraft);
  const change = (part: Partial<ClientDraft>) => setDraft({ ...draft, ...part });
  const { save, saved, isBusy, error } = useFormSave({
    send: () => createClient(draft, organizationId),
    refreshes: [['clients']],
  });
  if (saved !== undefined)
    return <ClientSecret tokenUrl={saved.tokenUrl} credentials={saved} close={close} />;
  return (
    <FormDialog
      title={words.create}
      isWide
      submitLabel={shared.create}
      submit={save}
      isBusy={isBusy}
      error={error}
      close={close}
    >
      <TextField
        label={words.name}
        hint={words.nameHint}
        value={draft.name}
        required
        maxLength={500}
        onChange={(event) => change({ name: event.target.value })}
      />
      <TextField
        label={words.description}
        hint={words.noDescription}
        value={draft.description}
        onChange={(event) => change({ description: event.target.value })}
      />
      <GrantFields grantee="client" grant={draft} change={change} />
    </FormDialog>
  );
}

// Client secret: shown once after creation and after each change, with the commands that use it.

interface ClientSecretProps {
  readonly tokenUrl: string;
  readonly credentials: Credentials;
  readonly close: () => void;
}

function ClientSecret({ tokenUrl, credentials, close }: ClientSecretProps) {
  const words = useWords(clientWords);
  const shared = useWords(organizationWords);
  const { clientId, clientSecret } = credentials;
  const footer = (
    <>
      <CopyButton content={clientSecret}>{words.copySecret}</CopyButton>
      <Button look="primary" onClick={close}>
        {shared.done}
      </Button>
    </>
  );
  return (
    <Dialog title={words.secret} close={close} footer={footer}>
      <p>{words.secretNote}</p>
      <dl className="facts gap-y-6">
        <dt>{words.clientId}</dt>
        <dd className="mono">{clientId}</dd>
        <dt>{words.secret}</dt>
        <dd className="mono">{clientSecret}</dd>
      </dl>
      <Commands tokenUrl={tokenUrl} credentials={credentials} />
    </Dialog>
  );
}

/** How the client gets a token, and what it does with it. */
function Commands({ tokenUrl, credentials }: Omit<ClientSecretProps, 'close'>) {
  const words = useWords(clientWords);
  return (
    <div className={`stack gap-6 ${styles['commands']}`}>
      <h3>{words.getToken}</h3>
      <CodeBlock code={tokenCommand(tokenUrl, credentials)} />
      <h3>{words.useToken}</h3>
      <CodeBlock code={readCommand()} />
    </div>
  );
}

// Requests of the OAuth clients, and the commands with which a client gets and uses its token.

type OAuthClient = components['schemas']['OAuthClient'];

/** What a client authenticates with. */
interface Credentials {
  readonly clientId: string;
  readonly clientSecret: string;
}

const clientsOf = (organizationId: string) =>
  queryOptions({
    queryKey: ['clients', organizationId],
    async queryFn({ signal }) {
      const query = { organizationId };
      return {
        content: await ask(platform.GET('/v3/oauth-clients', { signal, params: { query } })),
      };
    },
  });

interface ClientDraft extends Grant {
  readonly name: string;
  readonly description: string;
}

function createClient(draft: ClientDraft, organizationId: string) {
  const { name, description } = draft;
  const body = {
    name,
    organizationId,
    ...(description === '' ? {} : { description }),
    ...grantBody(draft),
  };
  return ask(platform.POST('/v3/oauth-clients', { body }));
}

function rotateSecret(id: string) {
  return ask(platform.POST('/v3/oauth-clients/{id}/rotate-secret', { params: { path: { id } } }));
}

function removeClient(id: string) {
  return ask(platform.DELETE('/v3/oauth-clients/{id}', { params: { path: { id } } }));
}

/** A command that prints a token; the secret is a variable of the shell where it is not known. */
function tokenCommand(tokenUrl: string, { clientId, clientSecret }: Credentials): string {
  return `curl -sS '${tokenUrl}' -d grant_type=client_credentials -d client_id=${clientId} -d client_secret=${clientSecret}`;
}

/** A command that reads with the token. */
function readCommand(): string {
  return `curl -sS '${location.origin}/v3/workspaces' -H "authorization: Bearer $ACCESS_TOKEN"`;
}
