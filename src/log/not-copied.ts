// Not copied: no other node has what was written, so it was cut off again and is not acknowledged.

export class NotCopied extends Error {
  override readonly name = 'NotCopied';

  constructor(cause: unknown) {
    super('No other node takes the copy of the journal', { cause });
  }
}
