// Sign-in: its page, which leads back to the page that asked for it, and its form.
import { Link, useSearch } from '@tanstack/react-router';
import { useQuery } from '@tanstack/react-query';
import { type ComponentProps, type FunctionComponent, useEffect, useRef, useState } from 'react';
import { FormError, OutsideFrame, type OutsideFrameProps, useEntrance } from './outside-frame.tsx';
import type { components } from '../../../generated/interface-types.ts';
import { aboutQuery, ask, platform } from '../../api/platform.ts';
import { hasPasskeys, signedChallenge } from '../../api/passkeys.ts';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';
import { useAction } from '../../ui/use-action.ts';
import { useWords } from '../../words/language.tsx';
import { signInWords } from './sign-in-words.ts';
import styles from './sign-in.module.css';

export function SignIn() {
  const { to } = useSearch({ from: '/sign-in' });
  return <SignInForm way={{ Frame: OutsideFrame, enter: useEntrance(), to }} />;
}

// Sign-in form: password, with a second step where it is asked for, passkey or provider.

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
  if (hasPasswords)
    return (
      <FirstStep provider={provider} hasPasskeys={hasPasskeys} way={way} secondStep={setNeeded} />
    );
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

// Passkey button: signs in with a passkey of this device or of a phone nearby, without a name or password.

/** Nothing where the browser has no passkeys. */
function PasskeyButton({ enter }: { readonly enter: () => Promise<void> }) {
  const words = useWords(signInWords);
  const login = useAction({
    mutationFn: async () => {
      const { ticket, options } = await ask(platform.POST('/v3/auth/login/passkey-options'));
      const passkey = await signedChallenge(options);
      if (passkey === undefined) throw new Error(words.noPasskey);
      return ask(platform.POST('/v3/auth/login/passkey', { body: { ticket, passkey } }));
    },
    onSuccess: enter,
  });
  if (!hasPasskeys()) return null;
  return (
    <>
      {login.error !== null && <FormError>{login.error.message}</FormError>}
      <Button disabled={login.isPending} onClick={() => login.mutate()}>
        {words.withPasskey}
      </Button>
    </>
  );
}

// Provider button: a link that leads to the provider and back, and why it did not lead to a session.

type Provider = components['schemas']['About']['provider'];

interface ProviderButtonProps {
  readonly provider: Provider;
  /** Where to continue. */
  readonly to: string | undefined;
  /** Whether there is no other way to sign in. */
  readonly isMain?: boolean;
}

/** A link and no form: the policy of the page forbids forms that redirect to another site. */
function ProviderButton({ provider, to, isMain = false }: ProviderButtonProps) {
  const words = useWords(signInWords);
  if (provider === null) return null;
  const query = to === undefined ? '' : `?to=${encodeURIComponent(to)}`;
  return (
    <a
      className={`${styles['provider']} ${isMain ? styles['main'] : ''}`}
      href={`/v3/auth/oidc/start${query}`}
    >
      {words.signInWith(provider.label)}
    </a>
  );
}

/** Shown when the browser returned without a session. */
function ProviderProblem() {
  const words = useWords(signInWords);
  const { problem } = useSearch({ strict: false });
  if (problem === undefined) return null;
  const known: Readonly<Record<string, string>> = words.problems;
  return <FormError>{known[problem] ?? words.problems.FAILED}</FormError>;
}

// Second step: a passkey, a code of the authenticator app, or a recovery code completes the sign-in.

type Schemas = components['schemas'];
type SecondStepNeeded = Schemas['SecondStep'];
type Kind = SecondStepNeeded['secondFactors'][number];

interface SecondStepProps {
  readonly needed: SecondStepNeeded;
  readonly startAgain: () => void;
  readonly way: SignInWay;
}

function SecondStep({ needed, startAgain, way }: SecondStepProps) {
  const { ticket, passkeyOptions, secondFactors } = needed;
  const words = useWords(signInWords);
  const { enter, Frame } = way;
  const kinds = secondFactors.filter((kind) => kind !== 'PASSKEY' || hasPasskeys());
  const [kind, setKind] = useState<Kind>(kinds[0] ?? 'RECOVERY_CODE');
  const complete = useAction({
    mutationFn: async (code: string) => {
      const shown = await shownFactor(kind, code, passkeyOptions);
      if (shown === undefined) throw new Error(words.noPasskey);
      return ask(platform.POST('/v3/auth/login/second-factor', { body: { ticket, ...shown } }));
    },
    onSuccess: enter,
  });
  const { lead, label, input, choice } = kindParts(words)[kind];
  return (
    <Frame
      title={words.secondTitle}
      lead={lead}
      name={words.signIn}
      submit={(given) => complete.mutate(String(given.get('code') ?? ''))}
    >
      {input !== undefined && <FocusedField key={kind} label={label} {...input} />}
      {complete.error !== null && <FormError>{complete.error.message}</FormError>}
      <Button type="submit" look="primary" disabled={complete.isPending}>
        {kind === 'PASSKEY' ? choice : words.signIn}
      </Button>
      {kinds
        .filter((other) => other !== kind)
        .map((other) => (
          <Button key={other} onClick={() => setKind(other)}>
            {kindParts(words)[other].choice}
          </Button>
        ))}
      <Button look="ghost" onClick={startAgain}>
        {words.startAgain}
      </Button>
    </Frame>
  );
}

/** Takes the focus when it appears. */
function FocusedField(props: ComponentProps<typeof TextField>) {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  return <TextField ref={field} {...props} />;
}

type Shown = Pick<Schemas['SecondStepBody'], 'code' | 'recoveryCode' | 'passkey'>;

/** Undefined when the browser gave no passkey. */
async function shownFactor(
  kind: Kind,
  code: string,
  options: SecondStepNeeded['passkeyOptions'],
): Promise<Shown | undefined> {
  if (kind === 'ONE_TIME_CODE') return { code };
  if (kind === 'RECOVERY_CODE') return { recoveryCode: code };
  const passkey = options === null ? undefined : await signedChallenge(options);
  return passkey && { passkey };
}

const codeInput = { name: 'code', maxLength: 64, required: true } as const;

function kindParts(words: typeof signInWords.en) {
  return {
    ONE_TIME_CODE: {
      lead: words.secondLead,
      label: words.code,
      choice: words.withCode,
      input: { ...codeInput, inputMode: 'numeric', autoComplete: 'one-time-code' },
    },
    RECOVERY_CODE: {
      lead: words.recoveryLead,
      label: words.recoveryCode,
      choice: words.withRecovery,
      input: { ...codeInput, autoComplete: 'off' },
    },
    PASSKEY: {
      lead: words.passkeyLead,
      label: words.withPasskey,
      choice: words.withPasskey,
      input: undefined,
    },
  } as const;
}
