// Password of the own account: asked for before something that protects the account changes, and changed.
import { type FormEvent, useRef } from 'react';
import { TextField } from '../../ui/field.tsx';
import { FormDialog } from '../../ui/dialog.tsx';
import { useAccount } from '../../session/session.ts';
import { useWords } from '../../words/language.tsx';
import { secondFactorWords, securityWords } from './account-words.ts';
import { useAction } from '../../ui/use-action.ts';
import { ask, platform } from '../../api/platform.ts';
import { Button } from '../../ui/button.tsx';
import { toast } from '../../ui/toasts.tsx';
import styles from './security.module.css';

interface PasswordDialogProps {
  readonly title: string;
  readonly note?: string;
  readonly submitLabel: string;
  /** Shows its error in the dialog. */
  readonly send: (password: string) => Promise<void>;
  readonly close: () => void;
}

export function PasswordDialog({ title, note, submitLabel, send, close }: PasswordDialogProps) {
  const words = useWords(secondFactorWords);
  const { email } = useAccount();
  const sending = useAction({ mutationFn: send });
  return (
    <FormDialog
      title={title}
      submitLabel={submitLabel}
      isBusy={sending.isPending}
      submit={(given) => sending.mutate(String(given.get('password')))}
      close={close}
    >
      {note !== undefined && <p>{note}</p>}
      {/* Says to a password manager whose password this is. */}
      <input hidden readOnly name="username" autoComplete="username" value={email ?? ''} />
      <TextField
        label={words.password}
        hint={words.passwordHint}
        error={sending.error?.message}
        name="password"
        type="password"
        autoComplete="current-password"
        required
      />
    </FormDialog>
  );
}

// Password form: the current one proves who asks; other sessions end.

export function PasswordForm({ changed }: { readonly changed?: () => Promise<void> }) {
  const words = useWords(securityWords);
  const { email } = useAccount();
  const form = useRef<HTMLFormElement>(null);
  const change = useAction({
    mutationFn: (body: { currentPassword: string; newPassword: string }) =>
      ask(platform.PUT('/v3/auth/password', { body })),
    onSuccess: () => {
      form.current?.reset();
      toast(words.changed);
      return changed?.();
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const given = new FormData(event.currentTarget);
    change.mutate({
      currentPassword: String(given.get('current')),
      newPassword: String(given.get('new')),
    });
  };
  return (
    <form ref={form} className={styles['form']} onSubmit={submit}>
      {/* Says to a password manager whose password this is. */}
      <input hidden readOnly name="username" autoComplete="username" value={email ?? ''} />
      <TextField
        label={words.currentPassword}
        name="current"
        type="password"
        autoComplete="current-password"
        required
      />
      <TextField
        label={words.newPassword}
        hint={words.passwordHint}
        error={change.error?.message}
        name="new"
        type="password"
        autoComplete="new-password"
        required
      />
      <Button type="submit" disabled={change.isPending}>
        {words.change}
      </Button>
    </form>
  );
}
