// Refused credentials: counted, and told by address and account, so that a program such as fail2ban can act on them.
import type { Log } from './log.ts';

type MakeCounter = (
  name: string,
  help: string,
  labels: readonly string[],
) => { inc(labels: Record<string, string>): void };

/** Lines a second; what comes faster is counted, and told with the next line. */
const linesPerSecondMax = 20;

export interface RefusedCredential {
  /** The address that the request came from, by the trusted proxies. */
  readonly address: string;
  /** The route's pattern, never a path that may hold a secret. */
  readonly route: string;
  readonly reason: string;
  /** Whose password was tried. */
  readonly account?: string | undefined;
}

export function accessEvents(
  counter: MakeCounter,
  log: Log,
  clock: () => number = () => performance.now(),
) {
  const refusals = counter('credentials_refused_total', 'Requests without a valid credential.', [
    'reason',
  ]);
  let second = Number.NEGATIVE_INFINITY;
  let lines = 0;
  let untold = 0;
  return {
    credentialRefused(refused: RefusedCredential): void {
      refusals.inc({ reason: refused.reason });
      const now = Math.floor(clock() / 1_000);
      if (now !== second) {
        second = now;
        lines = 0;
      }
      if (++lines > linesPerSecondMax) {
        untold++;
        return;
      }
      log.warn({ ...refused, ...(untold > 0 && { untold }) }, 'credential refused');
      untold = 0;
    },
  };
}
