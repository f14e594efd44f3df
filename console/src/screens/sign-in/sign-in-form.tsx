// Sign-in form: password, with a second step where it is asked for, passkey or provider.
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type FunctionComponent, useEffect, useRef, useState } from 'react';
import { aboutQuery } from '../../api/about.ts';
import { ask, platform } from '../../api/platform.ts';
import { Button } from '../../parts/button.tsx';
import { TextField } from '../../parts/field.tsx';
import { useWords } from '../../words/language.tsx';
import { FormError, type OutsideFrameProps } from './outside-frame.tsx';
import { PasskeyButton } from './passkey-button.tsx';
import { type Provider, ProviderButton, ProviderProblem } from './provider-button.tsx';
import { SecondStep, type SecondStepNeeded } from './second-step.tsx';
import { signInWords } from './sign-in-words.ts';
import styles from './sign-in.module.css';
import { useAction } from '../../parts/use-action.ts';

/** What a sign-in has around it, and where it leads. */
export interface SignInWay {
  readonly Frame: FunctionComponent<OutsideFrameProps>;
  /** Called when the session has begun. */
  readonly enter: () => Promise<void>;
  /** Address to continue at after a sign-in at the provider. */
  readonly to: string | undefined;
  /** Of the only user who may sign in here. */
  readonly email?: string;
}

/** Every way to sign in that the installation has. */
export function SignInForm({ way }: { readonly way: SignInWay }) {
  const words = useWords(signInWords);
  const { data: about } = useQuery(aboutQuery);
  const [needed, setNeeded] = useState<SecondStepNeeded>();
  // Shown before the answer, because nearly every installation has passwords.
  const hasPasswords = about?.signInKinds.includes('PASSWORD') ?? true;
  const hasPasskeys = about?.signInKinds.includes('PASSKEY') ?? false;
  const provider = about?.provider ?? null;
  if (needed !== undefined)
    return <SecondStep needed={needed} startAgain={() => setNeeded(undefined)} way={way} />;
  if (hasPasswords) return <FirstStep {...{ provider, hasPasskeys, way }} secondStep={setNeeded} />;
  return (
    <way.Frame title={words.title} name={words.signIn}>
      <ProviderProblem />
      <ProviderButton provider={provider} to={way.to} isMain />
    </way.Frame>
  );
}

interface FirstStepProps {
  readonly provider: Provider;
  /** Whether the installation has a name that passkeys can be of. */
  readonly hasPasskeys: boolean;
  readonly secondStep: (needed: SecondStepNeeded) => void;
  readonly way: SignInWay;
}

function FirstStep({ provider, hasPasskeys, secondStep, way }: FirstStepProps) {
  const { Frame, enter, to, email: onlyEmail } = way;
  const words = useWords(signInWords);
  const start = useRef<HTMLInputElement>(null);
  const login = useLogin({ secondStep, enter, refused: () => start.current?.focus() });
  useEffect(() => start.current?.focus(), []);
  return (
    <Frame
      title={words.title}
      lead={words.lead}
      name={words.signIn}
      submit={(given) =>
        login.mutate({ email: String(given.get('email')), password: String(given.get('password')) })
      }
    >
      <ProviderProblem />
      {onlyEmail === undefined ? (
        <TextField ref={start} label={words.email} {...emailInput} />
      ) : (
        <input {...emailInput} type="hidden" value={onlyEmail} />
      )}
      <TextField
        ref={onlyEmail === undefined ? null : start}
        label={words.password}
        {...passwordInput}
      />
      {login.error !== null && <FormError>{login.error.message}</FormError>}
      <Button type="submit" look="primary" disabled={login.isPending}>
        {login.isPending ? words.signingIn : words.signIn}
      </Button>
      {hasPasskeys && <PasskeyButton enter={enter} />}
      <ProviderButton provider={provider} to={to} />
      <Link className={styles['reset']} to="/password-reset">
        {words.resetPassword}
      </Link>
    </Frame>
  );
}

const emailInput = { name: 'email', type: 'email', autoComplete: 'username', required: true };
const passwordInput = {
  name: 'password',
  type: 'password',
  autoComplete: 'current-password',
  required: true,
};

interface LoginSteps {
  readonly secondStep: (needed: SecondStepNeeded) => void;
  readonly enter: () => Promise<void>;
  readonly refused: () => void;
}

/** Signs in, or says what the second step needs. */
function useLogin({ secondStep, enter, refused }: LoginSteps) {
  return useAction({
    mutationFn: (body: { email: string; password: string }) =>
      ask(platform.POST('/v3/auth/login', { body })),
    onSuccess: async (answer) => {
      if ('ticket' in answer) secondStep(answer);
      else await enter();
    },
    onError: refused,
  });
}
