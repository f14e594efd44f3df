// Provider failure: what kind of failure an error of a sign-in by the provider is.
import { Problem, type ProblemName } from '../model/problem.ts';
import type { ProviderFailure } from '../model/sign-in-provider.ts';

const byProblem: Partial<Record<ProblemName, ProviderFailure>> = {
  signInExpired: 'EXPIRED',
  noEntry: 'NO_ENTRY',
  noOrganization: 'NO_ENTRY',
  emailNotVerified: 'EMAIL_NOT_VERIFIED',
  emailTaken: 'EMAIL_TAKEN',
  tooManyAttempts: 'TOO_MANY_ATTEMPTS',
};
/** Names and codes of errors that say that no answer came from the provider. */
const unreachable = /^(EgressRefused|TimeoutError|E[A-Z]+|UND_ERR_\w+)$/;

export function failureOf(thrown: unknown): ProviderFailure {
  if (thrown instanceof Problem) return byProblem[thrown.problem] ?? 'FAILED';
  if (!(thrown instanceof Error)) return 'FAILED';
  // The provider sends the browser back with this when its user says no.
  if ('error' in thrown && thrown.error === 'access_denied') return 'DENIED';
  return causesOf(thrown).some(isUnreachable) ? 'UNREACHABLE' : 'FAILED';
}

function isUnreachable(error: Error): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return unreachable.test(error.name) || (typeof code === 'string' && unreachable.test(code));
}

const causesMax = 5;

function causesOf(error: Error): readonly Error[] {
  const causes: Error[] = [];
  let next: unknown = error;
  while (next instanceof Error && causes.length < causesMax) {
    causes.push(next);
    next = next.cause;
  }
  return causes;
}
