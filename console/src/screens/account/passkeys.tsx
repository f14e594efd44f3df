// Passkeys of the own account: the list, a new one, another name, and the end of one.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Pencil, Trash2 } from 'lucide-react';
import { useState } from 'react';
import type { components } from '../../../generated/interface-types.ts';
import { aboutQuery, ask, platform } from '../../api/platform.ts';
import { hasPasskeys, newCredential } from '../../api/passkeys.ts';
import { Ago } from '../../ui/ago.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { type DataColumn, DataTable } from '../../ui/data-table.tsx';
import { TextField } from '../../ui/field.tsx';
import { FormDialog } from '../../ui/dialog.tsx';
import { toast } from '../../ui/toasts.tsx';
import { useAction } from '../../ui/use-action.ts';
import { useWords } from '../../words/language.tsx';
import { secondFactorWords } from './account-words.ts';
import { PasswordDialog } from './password.tsx';
import { RecoveryCodes, secondFactorQuery } from './second-factor.tsx';
import styles from './security.module.css';

type Passkey = components['schemas']['Passkey'];

type Asking =
  | { readonly about: 'new' }
  | { readonly about: 'name' | 'end'; readonly passkey: Passkey }
  | { readonly about: 'codes'; readonly codes: readonly string[] };

/** Nothing where the installation or the browser has none. */
export function Passkeys() {
  const words = useWords(secondFactorWords);
  const { data: about } = useQuery(aboutQuery);
  const { data: seen } = useQuery(secondFactorQuery);
  const known = useQueryClient();
  const [asking, setAsking] = useState<Asking>();
  if (about?.signInKinds.includes('PASSKEY') !== true || !hasPasskeys()) return null;
  if (seen?.available !== true) return null;
  const close = () => {
    setAsking(undefined);
    void known.invalidateQueries({ queryKey: ['second-factor'] });
    void known.invalidateQueries({ queryKey: ['sessions'] });
  };
  const create = (
    <Button look="primary" onClick={() => setAsking({ about: 'new' })}>
      {words.newPasskey}
    </Button>
  );
  return (
    <Card title={words.passkeys} actions={seen.passkeys.length > 0 && create}>
      {seen.passkeys.length === 0 && (
        <div className={styles['padded']}>
          <p>{words.noPasskey}</p>
          {create}
        </div>
      )}
      {seen.passkeys.length > 0 && <PasskeyTable passkeys={seen.passkeys} ask={setAsking} />}
      {asking !== undefined && <AskedDialog asking={asking} ask={setAsking} close={close} />}
    </Card>
  );
}

interface PasskeyTableProps {
  readonly passkeys: readonly Passkey[];
  readonly ask: (asking: Asking) => void;
}

function PasskeyTable({ passkeys, ask: open }: PasskeyTableProps) {
  const words = useWords(secondFactorWords);
  const columns: readonly DataColumn<Passkey>[] = [
    { key: 'name', header: words.name, cell: ({ name }) => name },
    { key: 'created', header: words.created, cell: ({ created }) => <Ago at={created} /> },
    {
      key: 'used',
      header: words.lastUsed,
      cell: ({ lastUsed }) => (lastUsed === null ? words.never : <Ago at={lastUsed} />),
    },
    {
      key: 'actions',
      header: words.actions,
      isQuiet: true,
      cell: (passkey) => (
        <>
          <IconButton
            label={words.rename(passkey.name)}
            icon={Pencil}
            onClick={() => open({ about: 'name', passkey })}
          />
          <IconButton
            label={words.end(passkey.name)}
            icon={Trash2}
            onClick={() => open({ about: 'end', passkey })}
          />
        </>
      ),
    },
  ];
  return (
    <DataTable
      label={words.yourPasskeys}
      columns={columns}
      rows={passkeys}
      keyOf={({ id }) => id}
    />
  );
}

interface AskedDialogProps {
  readonly asking: Asking;
  readonly ask: (asking: Asking) => void;
  readonly close: () => void;
}

function AskedDialog({ asking, ask: open, close }: AskedDialogProps) {
  const words = useWords(secondFactorWords);
  if (asking.about === 'new') return <Creation ask={open} close={close} />;
  if (asking.about === 'codes') return <RecoveryCodes codes={asking.codes} close={close} />;
  const { passkey, about } = asking;
  if (about === 'name') return <Naming passkey={passkey} close={close} />;
  return (
    <PasswordDialog
      title={words.end(passkey.name)}
      note={words.endNote}
      submitLabel={words.endIt}
      send={async (password) => {
        const params = { path: { id: passkey.id } };
        await ask(platform.POST('/v3/auth/passkeys/{id}/remove', { params, body: { password } }));
        toast(words.ended);
        close();
      }}
      close={close}
    />
  );
}

function Creation({ ask: open, close }: Omit<AskedDialogProps, 'asking'>) {
  const words = useWords(secondFactorWords);
  return (
    <PasswordDialog
      title={words.newPasskey}
      submitLabel={words.next}
      send={async (password) => {
        const options = { body: { password } };
        const asked = await ask(platform.POST('/v3/auth/passkeys/options', options));
        const credential = await newCredential(asked.options);
        if (credential === undefined) throw new Error(words.notCreated);
        const name = browserNameOf(navigator.userAgent) ?? words.passkey;
        const body = { ticket: asked.ticket, name, credential };
        const { recoveryCodes } = await ask(platform.POST('/v3/auth/passkeys', { body }));
        toast(words.passkeyCreated);
        if (recoveryCodes.length > 0) open({ about: 'codes', codes: recoveryCodes });
        else close();
      }}
      close={close}
    />
  );
}

function Naming({ passkey, close }: { readonly passkey: Passkey; readonly close: () => void }) {
  const words = useWords(secondFactorWords);
  const save = useAction({
    mutationFn: (name: string) => {
      const params = { path: { id: passkey.id } };
      return ask(platform.PUT('/v3/auth/passkeys/{id}', { params, body: { name } }));
    },
    onSuccess: close,
  });
  return (
    <FormDialog
      title={words.rename(passkey.name)}
      submitLabel={words.save}
      isBusy={save.isPending}
      error={save.error}
      submit={(given) => save.mutate(String(given.get('name')))}
      close={close}
    >
      <TextField
        label={words.name}
        name="name"
        defaultValue={passkey.name}
        maxLength={100}
        required
      />
    </FormDialog>
  );
}

// Browser name: browser and system of a session, as its owner would name them.

// Browsers name those that they are compatible with too, so that the order matters.
const browsers: readonly (readonly [RegExp, string])[] = [
  [/\bEdg(?:e|A|iOS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:Chrome|CriOS|HeadlessChrome)\//, 'Chrome'],
  [/\bVersion\/.*Safari\//, 'Safari'],
];
const systems: readonly (readonly [RegExp, string])[] = [
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
];
const programLengthMax = 40;

/** Undefined for a client that named nothing. */
export function browserNameOf(userAgent: string | null): string | undefined {
  if (userAgent === null || userAgent === '') return undefined;
  const [browser, system] = [browsers, systems].map(
    (names) => names.find(([pattern]) => pattern.test(userAgent))?.[1],
  );
  if (browser === undefined) return userAgent.split(' ')[0]?.slice(0, programLengthMax);
  return system === undefined ? browser : `${browser}, ${system}`;
}
