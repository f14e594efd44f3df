// Second factor: the authenticator app of the own account, its recovery codes, and how to change them.
import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { components } from '../../../generated/interface-types.ts';
import { ask, platform } from '../../api/platform.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { TextField } from '../../ui/field.tsx';
import { Dialog, FormDialog } from '../../ui/dialog.tsx';
import { late } from '../../ui/late.tsx';
import { Answered, Bone } from '../../ui/states.tsx';
import { toast } from '../../ui/toasts.tsx';
import { useAction } from '../../ui/use-action.ts';
import { useWords } from '../../words/language.tsx';
import { secondFactorWords } from './account-words.ts';
import { PasswordDialog } from './password.tsx';
import styles from './security.module.css';

type State = components['schemas']['SecondFactor'];

/** Nothing for an account whose provider asks for the second factor. */
export function SecondFactor() {
  const words = useWords(secondFactorWords);
  const state = useQuery(secondFactorQuery);
  if (state.data?.available === false) return null;
  return (
    <Card title={words.title} isPadded>
      <Answered answer={state} curl={{ path: secondFactorPath }} skeleton={<Bone />}>
        {(seen) => <Factors seen={seen} />}
      </Answered>
    </Card>
  );
}

type Asking = 'setUp' | 'renew' | 'remove';

function Factors({ seen }: { readonly seen: State }) {
  const words = useWords(secondFactorWords);
  const known = useQueryClient();
  const [asking, setAsking] = useState<Asking>();
  const close = () => {
    setAsking(undefined);
    void known.invalidateQueries({ queryKey: ['second-factor'] });
    void known.invalidateQueries({ queryKey: ['sessions'] });
  };
  const hasApp = seen.authenticatorApp !== null;
  const isProtected = hasApp || seen.passkeys.length > 0;
  return (
    <div className={styles['form']}>
      <p>{hasApp ? words.on : words.none}</p>
      {isProtected && <p className="mute">{words.left(seen.recoveryCodes)}</p>}
      <div className="flow wrap gap-8">
        {!hasApp && (
          <Button look="primary" onClick={() => setAsking('setUp')}>
            {words.setUp}
          </Button>
        )}
        {isProtected && <Button onClick={() => setAsking('renew')}>{words.renew}</Button>}
        {hasApp && (
          <Button look="danger" onClick={() => setAsking('remove')}>
            {words.remove}
          </Button>
        )}
      </div>
      {asking === 'setUp' && <AppSetup close={close} />}
      {asking === 'renew' && <Renewal close={close} />}
      {asking === 'remove' && <Removal close={close} />}
    </div>
  );
}

interface AskingProps {
  readonly close: () => void;
}

function Renewal({ close }: AskingProps) {
  const words = useWords(secondFactorWords);
  const [codes, setCodes] = useState<readonly string[]>();
  if (codes !== undefined) return <RecoveryCodes codes={codes} close={close} />;
  return (
    <PasswordDialog
      title={words.renew}
      submitLabel={words.create}
      send={async (password) => {
        const body = { password };
        const answer = await ask(platform.POST('/v3/auth/second-factor/recovery-codes', { body }));
        setCodes(answer.recoveryCodes);
      }}
      close={close}
    />
  );
}

function Removal({ close }: AskingProps) {
  const words = useWords(secondFactorWords);
  return (
    <PasswordDialog
      title={words.remove}
      note={words.removeNote}
      submitLabel={words.remove}
      send={async (password) => {
        const body = { password };
        await ask(platform.POST('/v3/auth/second-factor/app/remove', { body }));
        toast(words.removed);
        close();
      }}
      close={close}
    />
  );
}

// App setup: password, QR code with a first code, and the recovery codes, one after the other.

/** Its encoder is larger than the rest of the screen. */
const QrCode = late('QrCode', async () => (await import('../../ui/qr-code.tsx')).QrCode);

type NewApp = components['schemas']['NewAuthenticatorApp'];

function AppSetup({ close }: { readonly close: () => void }) {
  const words = useWords(secondFactorWords);
  const [app, setApp] = useState<NewApp>();
  const [codes, setCodes] = useState<readonly string[]>();
  if (codes !== undefined) return <RecoveryCodes codes={codes} close={close} />;
  if (app !== undefined) return <FirstCode app={app} turnedOn={setCodes} close={close} />;
  return (
    <PasswordDialog
      title={words.setUp}
      submitLabel={words.next}
      send={async (password) => {
        const body = { password };
        setApp(await ask(platform.POST('/v3/auth/second-factor/app', { body })));
      }}
      close={close}
    />
  );
}

interface FirstCodeProps {
  readonly app: NewApp;
  readonly turnedOn: (recoveryCodes: readonly string[]) => void;
  readonly close: () => void;
}

function FirstCode({ app: { secret, address }, turnedOn, close }: FirstCodeProps) {
  const words = useWords(secondFactorWords);
  const confirm = useAction({
    mutationFn: (code: string) =>
      ask(platform.POST('/v3/auth/second-factor/app/confirm', { body: { code } })),
    onSuccess: ({ recoveryCodes }) => {
      toast(words.isOn);
      if (recoveryCodes.length > 0) turnedOn(recoveryCodes);
      else close();
    },
  });
  return (
    <FormDialog
      title={words.setUp}
      submitLabel={words.turnOn}
      isBusy={confirm.isPending}
      submit={(given) => confirm.mutate(String(given.get('code')))}
      close={close}
    >
      <p>{words.scan}</p>
      <QrCode content={address} label={words.qrCode} />
      <div className="row wrap gap-8 text-code">
        <span>{words.key}</span>
        <code>{secret.match(/.{1,4}/g)?.join(' ')}</code>
        <CopyButton content={secret} label={words.copyKey} />
      </div>
      <TextField label={words.code} error={confirm.error?.message} {...codeInput} required />
    </FormDialog>
  );
}

const codeInput = {
  name: 'code',
  inputMode: 'numeric',
  autoComplete: 'one-time-code',
  maxLength: 10,
} as const;

// Recovery codes: shown once, to be saved elsewhere; and the state of the second factor.

interface RecoveryCodesProps {
  readonly codes: readonly string[];
  readonly close: () => void;
}

export function RecoveryCodes({ codes, close }: RecoveryCodesProps) {
  const words = useWords(secondFactorWords);
  return (
    <Dialog
      title={words.recoveryTitle}
      close={close}
      footer={
        <>
          <CopyButton content={`${codes.join('\n')}\n`}>{words.copyCodes}</CopyButton>
          <Button look="primary" onClick={close}>
            {words.done}
          </Button>
        </>
      }
    >
      <p>{words.recoveryNote}</p>
      <ul className={styles['codes']} aria-label={words.recoveryTitle}>
        {codes.map((code) => (
          <li key={code} className="mono">
            {code}
          </li>
        ))}
      </ul>
    </Dialog>
  );
}

// Second factor query: what the own account shows besides the password.

const secondFactorPath = '/v3/auth/second-factor';

export const secondFactorQuery = queryOptions({
  queryKey: ['second-factor'],
  queryFn: ({ signal }) => ask(platform.GET(secondFactorPath, { signal })),
});
