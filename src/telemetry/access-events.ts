// Access events: renewed certificates, failed sign-ins, and refused credentials by address and account for programs such as fail2ban.
import type { Log } from './log.ts';

type MakeCounter = (
  name: string,
  help: string,
  labels: readonly string[],
) => { inc(labels: Record<string, string>): void };

/** Lines a second; what comes faster is counted, and told with the next line. */
const linesPerSecondMax = 20;

export function accessEvents(
  counter: MakeCounter,
  log: Log,
  clock: () => number = () => performance.now(),
) {
  const refusals = counter(
    'authentication_failures_total',
    'Requests without a valid credential.',
    ['reason'],
  );
  let second = Number.NEGATIVE_INFINITY;
  let lines = 0;
  let untold = 0;
  const hasLine = (): boolean => {
    const now = Math.floor(clock() / 1_000);
    if (now !== second) {
      second = now;
      lines = 0;
    }
    return ++lines <= linesPerSecondMax;
  };
  const failures = counter(
    'provider_sign_ins_failed_total',
    'Failed sign-ins with the identity provider.',
    ['failure'],
  );
  return {
    certificateRenewed(port: string): void {
      log.info({ port }, 'certificate reloaded');
    },

    providerSignInFailed(failure: string, error: unknown): void {
      failures.inc({ failure });
      if (hasLine()) log.warn({ failure, error }, 'sign-in with the identity provider failed');
    },
    credentialRefused(refused: {
      /** The address that the request came from, by the trusted proxies. */
      readonly address: string;
      /** The route's pattern, never a path that may hold a secret. */
      readonly route: string;
      readonly reason: string;
      /** Whose password was tried. */
      readonly account?: string | undefined;
    }): void {
      refusals.inc({ reason: refused.reason });
      if (!hasLine()) {
        untold++;
        return;
      }
      log.warn({ ...refused, ...(untold > 0 && { untold }) }, 'authentication failed');
      untold = 0;
    },
  };
}
