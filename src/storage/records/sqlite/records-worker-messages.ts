// Messages between the records connection and its worker threads.

export interface RecordsWorkerStart {
  readonly path: string;
  readonly kind: 'reader' | 'checkpointer';
  readonly cacheKiB: number;
  readonly busyTimeoutMs: number;
}

/** Answered one after the other, by the same `id`. */
export type ToRecordsWorker =
  | {
      readonly id: number;
      readonly ask: 'rows';
      readonly text: string;
      readonly parameters: readonly unknown[];
    }
  /** The next part of a long answer. */
  | { readonly id: number; readonly ask: 'more'; readonly of: number }
  | { readonly id: number; readonly ask: 'checkpoint' }
  /** The next statement opens the database again: statistics of the query planner are read only then. */
  | { readonly id: number; readonly ask: 'renew' };

export interface FromRecordsWorker {
  readonly id: number;
  readonly rows?: unknown[];
  /** More rows wait at the worker: a message of all of them would hold the reader's event loop. */
  readonly hasMore?: boolean;
  readonly isTruncated?: boolean;
  readonly error?: {
    readonly message: string;
    readonly code: string | undefined;
    readonly errcode: number | undefined;
  };
}
