// The refusal of a target that may not be connected to: no network error, so trying again does not help.

export class EgressRefused extends Error {
  override readonly name = 'EgressRefused';
  readonly host: string;
  readonly reason: string;

  constructor(host: string, reason: string) {
    super(`${host} may not be connected to: ${reason} address`);
    this.host = host;
    this.reason = reason;
  }
}
