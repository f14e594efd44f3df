// Provider button: a link that leads to the provider and back, and why it did not lead to a session.
import { useSearch } from '@tanstack/react-router';
import type { components } from '../../../generated/interface-types.ts';
import { useWords } from '../../words/language.tsx';
import { FormError } from './outside-frame.tsx';
import { signInWords } from './sign-in-words.ts';
import styles from './sign-in.module.css';

export type Provider = components['schemas']['About']['provider'];

interface ProviderButtonProps {
  readonly provider: Provider;
  /** Where to continue. */
  readonly to: string | undefined;
  /** Whether there is no other way to sign in. */
  readonly isMain?: boolean;
}

/** A link and no form: the policy of the page forbids forms that redirect to another site. */
export function ProviderButton({ provider, to, isMain = false }: ProviderButtonProps) {
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
export function ProviderProblem() {
  const words = useWords(signInWords);
  const { problem } = useSearch({ strict: false });
  if (problem === undefined) return null;
  const known: Readonly<Record<string, string>> = words.problems;
  return <FormError>{known[problem] ?? words.problems.FAILED}</FormError>;
}
