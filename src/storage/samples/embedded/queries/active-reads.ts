// Reads under way that may hold chunks across pauses: files they may still need are closed only after them.

export interface ActiveReads {
  /** Begins a read; call what it gives when the read has ended. */
  readonly begin: () => () => void;
  /** Calls back when every read that is under way now has ended. */
  readonly whenUnread: (callback: () => void) => void;
}

export function createActiveReads(): ActiveReads {
  const active = new Set<object>();
  let waiting: { readonly reads: Set<object>; readonly callback: () => void }[] = [];
  return {
    begin: () => {
      const read = {};
      active.add(read);
      return () => {
        active.delete(read);
        for (const { reads } of waiting) reads.delete(read);
        for (const { reads, callback } of waiting) if (reads.size === 0) callback();
        waiting = waiting.filter(({ reads }) => reads.size > 0);
      };
    },
    whenUnread: (callback) => {
      if (active.size === 0) callback();
      else waiting.push({ reads: new Set(active), callback });
    },
  };
}
