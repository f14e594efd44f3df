// Reads under way that may hold chunks across pauses: files they may still need are closed only after them.

export class ActiveReads {
  readonly #active = new Set<object>();
  #waiting: { readonly reads: Set<object>; readonly callback: () => void }[] = [];

  /** Calls back when every read that is under way now has ended. */
  readonly whenUnread = (callback: () => void): void => {
    if (this.#active.size === 0) callback();
    else this.#waiting.push({ reads: new Set(this.#active), callback });
  };

  /** Begins a read; call what it gives when the read has ended. */
  begin(): () => void {
    const read = {};
    this.#active.add(read);
    return () => {
      this.#active.delete(read);
      for (const { reads } of this.#waiting) reads.delete(read);
      for (const { reads, callback } of this.#waiting) if (reads.size === 0) callback();
      this.#waiting = this.#waiting.filter(({ reads }) => reads.size > 0);
    };
  }
}
