// New password: set with a mailed link, which works once and within an hour (contract 36).
import { useParams } from '@tanstack/react-router';
import { ask, platform } from '../../api/platform.ts';
import { Refusal } from '../../api/refusal.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { discardSession } from '../../session/session.ts';
import { useWords } from '../../words/language.tsx';
import { OutsideFrame } from './outside-frame.tsx';
import { accessWords } from './access-words.ts';
import { DeadLink } from './dead-link.tsx';
import { PasswordField } from './password-field.tsx';
import { useAction } from '../../ui/use-action.ts';

export function NewPassword() {
  const words = useWords(accessWords);
  const { token } = useParams({ from: '/password-reset/$token' });
  const setting = useAction({
    mutationFn: (password: string) => {
      const params = { path: { token } };
      return ask(platform.POST('/v3/auth/password-reset/{token}', { params, body: { password } }));
    },
    onSuccess: discardSession,
  });
  if (setting.error instanceof Refusal && setting.error.status === 404)
    return (
      <DeadLink name={words.newPassword} note={words.deadReset}>
        <ButtonLink to="/password-reset" look="primary">
          {words.newLink}
        </ButtonLink>
      </DeadLink>
    );
  if (setting.isSuccess)
    return (
      <OutsideFrame title={words.isSet} lead={words.isSetLead} name={words.newPassword}>
        <ButtonLink to="/sign-in" look="primary">
          {words.signIn}
        </ButtonLink>
      </OutsideFrame>
    );
  return (
    <OutsideFrame
      title={words.newPassword}
      lead={words.newPasswordLead}
      name={words.newPassword}
      submit={(given) => setting.mutate(String(given.get('password')))}
    >
      {/* The link does not say whose password it is; the password manager asks. */}
      <input hidden readOnly name="username" autoComplete="username" value="" />
      <PasswordField
        label={words.newPasswordField}
        hint={words.passwordRules}
        error={setting.error}
        isNew
        isFirst
      />
      <Button type="submit" look="primary" disabled={setting.isPending}>
        {setting.isPending ? words.setting : words.setPassword}
      </Button>
    </OutsideFrame>
  );
}
