// EgressRefused: the error for a forbidden target. It is permanent, in contrast to a network error.

export class EgressRefused extends Error {
  override readonly name = 'EgressRefused';
  readonly host: string;
  readonly reason: string;

  constructor(host: string, reason: string) {
    super(`connections to ${host} are blocked (${reason} address)`);
    this.host = host;
    this.reason = reason;
  }
}
