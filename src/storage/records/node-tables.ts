// Tables with rows of single nodes, as Kysely sees them.
import type { Generated } from 'kysely';

/** JSON as a string; read and written only through `columns.ts`. */
type JsonText = string;

export interface NodeTables {
  idempotencyKeys: {
    id: string;
    bodyHash: string;
    firstSeenAt: number;
    answer: JsonText | null;
    journalPosition: number;
    durableParts: JsonText;
    /** The node whose journal has the parts; empty for the only platform. */
    node: Generated<string>;
    /** The process that does the work, of several nodes; null when none does. */
    runBy: Generated<string | null>;
  };
  /** Of several nodes. */
  rulePositions: { shard: number; journal: string; position: number };
  /** Only in PostgreSQL. */
  recordChanges: {
    sequence: Generated<number>;
    node: string;
    created: Generated<number>;
    changes: JsonText;
    lists: JsonText;
  };
}
