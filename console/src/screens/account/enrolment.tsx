// Entry pages: a member sets up the second factor that the organization demands, the owner a first password.
import { useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { signOut, useAccount } from '../../session/session.ts';
import { Button } from '../../ui/button.tsx';
import { toastFailure } from '../../ui/toasts.tsx';
import { useAction } from '../../ui/use-action.ts';
import { useWords } from '../../words/language.tsx';
import { OutsideFrame, useReturn } from '../sign-in/outside-frame.tsx';
import { enrolmentWords, securityWords } from './account-words.ts';
import { Passkeys } from './passkeys.tsx';
import { PasswordForm } from './password.tsx';
import { SecondFactor, secondFactorQuery } from './second-factor.tsx';

export function Enrolment() {
  const words = useWords(enrolmentWords);
  const { organizationId, organizations } = useAccount();
  const { data: seen } = useQuery(secondFactorQuery);
  const { to } = useSearch({ from: '/signed-in/second-factor' });
  const goOn = useReturn(to);
  const leave = useAction({ mutationFn: signOut, onError: toastFailure });
  const own = organizations.find((one) => one.organizationId === organizationId);
  const isDone = seen !== undefined && (seen.authenticatorApp !== null || seen.passkeys.length > 0);
  const title = isDone ? words.isDone : words.title;
  const lead = isDone ? undefined : words.lead(own?.name ?? '');
  return (
    <OutsideFrame title={title} lead={lead} name={words.title}>
      {isDone && (
        <Button look="primary" onClick={() => void goOn()}>
          {words.goOn}
        </Button>
      )}
      <SecondFactor />
      <Passkeys />
      <Button look="ghost" disabled={leave.isPending} onClick={() => leave.mutate()}>
        {words.signOut}
      </Button>
    </OutsideFrame>
  );
}

// First password: the owner replaces the password that the first start printed, and continues.

export function FirstPassword() {
  const words = useWords(securityWords);
  const { to } = useSearch({ from: '/signed-in/first-password' });
  const goOn = useReturn(to);
  return (
    <OutsideFrame
      title={words.firstPassword}
      lead={words.firstPasswordLead}
      name={words.firstPassword}
    >
      <PasswordForm changed={goOn} />
    </OutsideFrame>
  );
}
