// API keys: what programs may do here, each key with its permissions and its workspaces.
import { useQuery } from '@tanstack/react-query';
import { KeyRound, Trash2 } from 'lucide-react';
import { useState } from 'react';
import type { components } from '../../../generated/interface-types.ts';
import { ask, platform } from '../../api/platform.ts';
import { useAccount } from '../../session/session.ts';
import { Ago, useNow } from '../../ui/ago.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { Chip } from '../../ui/chip.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { type DataColumn, DataTable, RecordSheet } from '../../ui/data-table.tsx';
import { Dialog, FormDialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { RemoveDialog } from '../../ui/remove-record.tsx';
import { CodeBlock, Empty } from '../../ui/states.tsx';
import { useFormSave } from '../../ui/use-form-save.ts';
import { useFormats, useWords } from '../../words/language.tsx';
import { endOfDay } from '../../words/zone-times.ts';
import { OrganizationPage } from './organization-page.tsx';
import { organizationWords } from './organization-words.ts';
import { firstGrant, type Grant, grantBody, GrantFields } from './grant-fields.tsx';

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
    { key: 'created', header: words.created, cell: ({ created }) => <Ago at={created} /> },
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

// New key: name, workspaces, permissions; afterwards the secret, once, with a command that uses it.

interface NewKeyDialogProps {
  readonly organizationId: string;
  readonly close: () => void;
}

function NewKeyDialog({ organizationId, close }: NewKeyDialogProps) {
  const words = useWords(organizationWords);
  const { draft, change, saving } = useKeyForm(organizationId);
  const { save, saved, isBusy, error } = saving;
  if (saved !== undefined) return <SecretDialog secret={String(saved.secret)} close={close} />;
  return (
    <FormDialog
      title={words.createKey}
      isWide
      submitLabel={words.create}
      submit={save}
      isBusy={isBusy}
      error={error}
      close={close}
    >
      <TextField
        label={words.keyName}
        hint={words.keyNameHint}
        value={draft.name}
        required
        maxLength={500}
        onChange={(event) => change({ name: event.target.value })}
      />
      <TextField
        label={words.lastDay}
        hint={words.lastDayHint}
        type="date"
        value={draft.lastDay}
        onChange={(event) => change({ lastDay: event.target.value })}
      />
      <GrantFields grantee="key" grant={draft} change={change} />
    </FormDialog>
  );
}

function SecretDialog({ secret, close }: { readonly secret: string; readonly close: () => void }) {
  const words = useWords(organizationWords);
  const command = `curl -sS '${location.origin}/v3/workspaces' -H 'x-api-key: ${secret}'`;
  const footer = (
    <>
      <CopyButton content={secret} />
      <Button look="primary" onClick={close}>
        {words.done}
      </Button>
    </>
  );
  return (
    <Dialog title={words.secret} close={close} footer={footer}>
      <p>{words.secretNote}</p>
      <CodeBlock code={secret} />
      <CodeBlock code={command} />
    </Dialog>
  );
}

// Key form: the draft of a new key, and the request that creates it.

interface KeyDraft extends Grant {
  readonly name: string;
  /** The last day on which the key works, as `2026-12-31`; empty: without end. */
  readonly lastDay: string;
}

const firstDraft: KeyDraft = { name: '', lastDay: '', ...firstGrant };

function useKeyForm(organizationId: string) {
  const { zone } = useFormats();
  const [draft, setDraft] = useState(firstDraft);
  const saving = useFormSave({
    send: () => {
      const { name, lastDay } = draft;
      const expiration = lastDay === '' ? null : endOfDay(lastDay, zone);
      const body = { name, organizationId, expiration, ...grantBody(draft) };
      return ask(platform.POST('/v3/api-keys', { body }));
    },
    refreshes: [['keys']],
  });
  return { draft, change: (part: Partial<KeyDraft>) => setDraft({ ...draft, ...part }), saving };
}
