// App setup: password, QR code with a first code, and the recovery codes, one after the other.
import { useState } from 'react';
import type { components } from '../../../generated/interface-types.ts';
import { ask, platform } from '../../api/platform.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { TextField } from '../../parts/field.tsx';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { late } from '../../parts/late.tsx';
import { toast } from '../../parts/toasts.tsx';
import { useWords } from '../../words/language.tsx';
import { PasswordDialog } from './password-dialog.tsx';
import { RecoveryCodes } from './recovery-codes.tsx';
import { secondFactorWords } from './second-factor-words.ts';
import styles from './security.module.css';
import { useAction } from '../../parts/use-action.ts';

/** Its encoder is larger than the rest of the screen. */
const QrCode = late('QrCode', async () => (await import('../../parts/qr-code.tsx')).QrCode);

type NewApp = components['schemas']['NewAuthenticatorApp'];

export function AppSetup({ close }: { readonly close: () => void }) {
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
      <div className={styles['key']}>
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
