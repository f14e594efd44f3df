// Node rows: rows about the journal of one of several nodes that share the records have its id.
import { PostgresAdapter } from 'kysely';
import type { RecordsDb } from './records.ts';

/** Of a database that several nodes write, as one of them opened it. */
export class NodeAdapter extends PostgresAdapter {
  readonly node: string;

  constructor(node: string) {
    super();
    this.node = node;
  }

  /**
   * Migrations are one transaction, so that its turn is the lock. A second one would let two nodes
   * that start wait for each other.
   */
  override async acquireMigrationLock(): Promise<void> {}
  override async releaseMigrationLock(): Promise<void> {}
}

/** The id of the node that opened the database; empty for the only platform. */
export function nodeOf(db: RecordsDb): string {
  const { adapter } = db.getExecutor();
  return adapter instanceof NodeAdapter ? adapter.node : '';
}

/** The name of a row of the node. Names of the only platform contain no slash. */
export function nameOfNode(node: string, name: string): string {
  return node === '' ? name : `${node}/${name}`;
}

/** The rows of the node, with their names as its own. */
export function rowsOfNode<Value>(
  node: string,
  rows: Iterable<readonly [name: string, value: Value]>,
): [string, Value][] {
  const prefix = nameOfNode(node, '');
  return [...rows].flatMap(([name, value]): [string, Value][] => {
    const own = name.slice(prefix.length);
    return name.startsWith(prefix) && !own.includes('/') ? [[own, value]] : [];
  });
}
