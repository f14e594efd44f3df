// Passing failures: what was written is cut off again and not acknowledged, and writing continues.

export abstract class PassingFailure extends Error {
  /** Of the appends that are lost. */
  abstract readonly problem: 'journalNotCopied' | 'deviceMoved';
}

/** No other node has what was written. */
export class NotCopied extends PassingFailure {
  override readonly name = 'NotCopied';
  readonly problem = 'journalNotCopied';

  constructor(cause: unknown) {
    super('No other node takes the copy of the journal', { cause });
  }
}

/** The leases lapsed during the write, such as while the process stood still. */
export class LeasesLapsed extends PassingFailure {
  override readonly name = 'LeasesLapsed';
  readonly problem = 'deviceMoved';

  constructor() {
    super('Other nodes may serve the devices by now');
  }
}
