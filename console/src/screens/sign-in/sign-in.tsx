// Sign-in: password, with a second step where it is asked for, or provider.
import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { aboutQuery } from '../../api/about.ts';
import { ask, platform } from '../../api/platform.ts';
import { Button } from '../../parts/button.tsx';
import { TextField } from '../../parts/field.tsx';
import { useWords } from '../../words/language.tsx';
import { FormError, OutsideFrame } from './outside-frame.tsx';
import { PasskeyButton } from './passkey-button.tsx';
import { type Provider, ProviderButton, ProviderProblem } from './provider-button.tsx';
import { SecondStep, type SecondStepNeeded } from './second-step.tsx';
import { signInWords } from './sign-in-words.ts';
import styles from './sign-in.module.css';
import { useEntrance } from './use-entrance.ts';

export function SignIn() {
  const words = useWords(signInWords);
  const { data: about } = useQuery(aboutQuery);
  // Shown before the answer, because nearly every installation has passwords.
  const hasPasswords = about?.signInKinds.includes('PASSWORD') ?? true;
  const hasPasskeys = about?.signInKinds.includes('PASSKEY') ?? false;
  if (hasPasswords)
    return <PasswordSignIn {...{ hasPasskeys }} provider={about?.provider ?? null} />;
  return (
    <OutsideFrame title={words.title} name={words.signIn}>
      <ProviderProblem />
      <ProviderButton provider={about?.provider ?? null} isMain />
    </OutsideFrame>
  );
}

interface PasswordSignInProps {
  readonly provider: Provider;
  /** Whether the installation has a name that passkeys can be of. */
  readonly hasPasskeys: boolean;
}

function PasswordSignIn({ provider, hasPasskeys }: PasswordSignInProps) {
  const [needed, setNeeded] = useState<SecondStepNeeded>();
  if (needed === undefined)
    return <FirstStep {...{ provider, hasPasskeys }} secondStep={setNeeded} />;
  return <SecondStep needed={needed} startAgain={() => setNeeded(undefined)} />;
}

interface FirstStepProps extends PasswordSignInProps {
  readonly secondStep: (needed: SecondStepNeeded) => void;
}

function FirstStep({ provider, hasPasskeys, secondStep }: FirstStepProps) {
  const words = useWords(signInWords);
  const email = useRef<HTMLInputElement>(null);
  const login = useLogin(secondStep, () => email.current?.focus());
  useEffect(() => email.current?.focus(), []);
  return (
    <OutsideFrame
      title={words.title}
      lead={words.lead}
      name={words.signIn}
      submit={(given) =>
        login.mutate({ email: String(given.get('email')), password: String(given.get('password')) })
      }
    >
      <ProviderProblem />
      <TextField ref={email} label={words.email} {...emailInput} />
      <TextField label={words.password} {...passwordInput} />
      {login.error !== null && <FormError>{login.error.message}</FormError>}
      <Button type="submit" look="primary" disabled={login.isPending}>
        {login.isPending ? words.signingIn : words.signIn}
      </Button>
      {hasPasskeys && <PasskeyButton />}
      <ProviderButton provider={provider} />
      <Link className={styles['reset']} to="/password-reset">
        {words.resetPassword}
      </Link>
    </OutsideFrame>
  );
}

const emailInput = { name: 'email', type: 'email', autoComplete: 'username', required: true };
const passwordInput = {
  name: 'password',
  type: 'password',
  autoComplete: 'current-password',
  required: true,
};

/** Signs in, or returns what the second step needs. */
function useLogin(secondStep: (needed: SecondStepNeeded) => void, onRefused: () => void) {
  const enter = useEntrance();
  return useMutation({
    mutationFn: (body: { email: string; password: string }) =>
      ask(platform.POST('/v3/auth/login', { body })),
    onSuccess: async (answer) => {
      if ('ticket' in answer) secondStep(answer);
      else await enter();
    },
    onError: onRefused,
  });
}
