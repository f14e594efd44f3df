// Password dialog: asks for the own password before something that protects the account changes.
import { TextField } from '../../ui/field.tsx';
import { FormDialog } from '../../ui/dialog.tsx';
import { useAccount } from '../../session/session.ts';
import { useWords } from '../../words/language.tsx';
import { secondFactorWords } from './account-words.ts';
import { useAction } from '../../ui/use-action.ts';

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
