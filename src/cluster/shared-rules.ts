// Shared rules: the holder of a workspace evaluates its entries, also those that other nodes stored before it moved, each once.
import { type Expression, sql, type SqlBool } from 'kysely';
import { type DurableEntry, summaryOf } from '../model/journal-entry.ts';
import { problem } from '../model/problem.ts';
import type { RecordsDb } from '../storage/records/records.ts';
import type { RuleRegistry } from '../rules/evaluation/rule-registry.ts';
import type { RuleFollower } from '../rules/rule-follower.ts';
import type { RuleTurn } from '../rules/rule-lanes.ts';

const messageLimits = { entriesMax: 200, bytesMax: 1024 * 1024 } as const;

/** The right to the rules of some workspaces, which can end at any time. */
interface RuleLease {
  readonly name: string;
  readonly epoch: number;
  isValid(): boolean;
}

export interface SharedRulesParts {
  readonly db: RecordsDb;
  /** The id of this node, and of its journal. */
  readonly node: string;
  readonly registry: RuleRegistry;
  readonly follower: () => RuleFollower;
  /** The name of the lease of the workspace. */
  readonly leaseOf: (workspaceId: string) => string;
  /** The number of a lease. */
  readonly shardOf: (lease: string) => number;
  /** Asks the holder of the lease, if another node is known to have it. */
  readonly ask: (lease: string, request: unknown) => Promise<unknown>;
}

interface EntriesMessage {
  readonly journal: string;
  readonly entries: readonly DurableEntry[];
}

/** Rules move when leases do, such as while a node stops. */
class RulesElsewhere extends Error {
  override readonly name = 'RulesElsewhere';

  constructor(message: string) {
    super(message, { cause: problem('deviceMoved') });
  }
}

export class SharedRules {
  readonly #parts: SharedRulesParts;
  readonly #held = new Map<string, RuleLease>();
  /** The last evaluated entry, by lease and journal. */
  readonly #positions = new Map<string, SharedRulePosition>();

  constructor(parts: SharedRulesParts) {
    this.#parts = parts;
  }

  /**
   * Evaluates entries of the journal of this node. Those of workspaces that have moved since are
   * evaluated by the holders of their rules.
   */
  readonly handle = async (entries: readonly DurableEntry[]): Promise<void> => {
    const { node, leaseOf, follower } = this.#parts;
    const wanted = await follower().alone(async () => this.#workspacesWithRules());
    const byLease = Map.groupBy(
      entries.filter((entry) => wanted.has(workspaceOf(entry))),
      (entry) => leaseOf(workspaceOf(entry)),
    );
    // Decided once: what is gained meanwhile is asked of this node and tried again.
    const held = new Set([...byLease.keys()].filter((lease) => this.#isHeld(lease)));
    const here = [...byLease].flatMap(([lease, some]) => (held.has(lease) ? some : []));
    here.sort((a, b) => a.position - b.position);
    if (here.length > 0) await this.#evaluate(node, here);
    const moved = [...byLease].filter(([lease]) => !held.has(lease));
    await Promise.all(moved.map(([lease, some]) => this.#send(lease, some)));
  };

  /** Answers `ask` of another node. */
  readonly receive = async (request: unknown): Promise<unknown> => {
    const { journal, entries } = request as EntriesMessage;
    try {
      await this.#evaluate(journal, entries);
      return 'done';
    } catch (error) {
      if (error instanceof RulesElsewhere) return 'elsewhere';
      throw error;
    }
  };

  /** Whether this node runs the rule. */
  readonly isOwn = (ruleId: string): boolean => {
    const lease = this.#leaseOfRule(ruleId);
    return lease !== undefined && this.#isHeld(lease);
  };

  /** The workspaces with rules that this node evaluates. */
  readonly workspaces = (): readonly string[] =>
    [...this.#workspacesWithRules()].filter((id) => this.#isHeld(this.#parts.leaseOf(id)));

  /** Rejects in the transaction of effects of the rule when another node holds it. */
  readonly fence = async (step: RecordsDb, ruleId: string): Promise<void> => {
    const lease = this.#leaseOfRule(ruleId);
    await this.#refuseUnlessHeld(step, lease === undefined ? [] : [lease]);
  };

  /** Resolves when this node evaluates what the leases are about. */
  async take(leases: readonly RuleLease[]): Promise<void> {
    const { db, registry, follower, shardOf } = this.#parts;
    await follower().alone(async () => {
      const shards = leases.map(({ name }) => shardOf(name));
      for (const one of await findSharedRulePositions(db, shards))
        this.#positions.set(keyOf(`workspaces/${one.shard}`, one.journal), one);
      // What another node has changed since.
      registry.reset();
      for (const lease of leases) this.#held.set(lease.name, lease);
    });
  }

  /** Resolves when it evaluates that no longer. */
  async leave(names: readonly string[]): Promise<void> {
    const { db, follower, shardOf } = this.#parts;
    for (const name of names) this.#held.delete(name);
    await follower().alone(async () => {
      const left = new Set(names.map(shardOf));
      const positions = [...this.#positions].filter(([, { shard }]) => left.has(shard));
      await saveSharedRulePositions(
        db,
        positions.map(([, one]) => one),
      );
      for (const [key] of positions) this.#positions.delete(key);
    });
  }

  savePositions(step: RecordsDb): Promise<void> {
    return saveSharedRulePositions(step, [...this.#positions.values()]);
  }

  #isHeld(lease: string): boolean {
    return this.#held.get(lease)?.isValid() === true;
  }

  #leaseOfRule(ruleId: string): string | undefined {
    const found = this.#parts.registry.rule(ruleId);
    return found && this.#parts.leaseOf(found.rule.workspaceId);
  }

  #workspacesWithRules(): ReadonlySet<string> {
    return new Set([...this.#parts.registry.rules()].map(({ rule }) => rule.workspaceId));
  }

  async #send(lease: string, entries: readonly DurableEntry[]): Promise<void> {
    const { node, ask } = this.#parts;
    for (const some of messagesOf(entries)) {
      const request = { journal: node, entries: some } satisfies EntriesMessage;
      const answer = await ask(lease, request);
      if (answer === 'done') continue;
      throw new RulesElsewhere(`no node currently evaluates ${lease}; will be retried`);
    }
  }

  async #evaluate(journal: string, entries: readonly DurableEntry[]): Promise<void> {
    await this.#parts.follower().evaluate(() => this.#turnOf(journal, entries));
  }

  /** The entries that were not evaluated yet. Throws RulesElsewhere when another node has the rules. */
  #turnOf(journal: string, entries: readonly DurableEntry[]): RuleTurn | undefined {
    const { leaseOf, shardOf } = this.#parts;
    const reached = new Map<string, SharedRulePosition>();
    const fresh: DurableEntry[] = [];
    for (const entry of entries) {
      const { position } = entry;
      const lease = leaseOf(workspaceOf(entry));
      if (!this.#isHeld(lease)) throw new RulesElsewhere(`This node does not hold ${lease}`);
      const done = this.#positions.get(keyOf(lease, journal))?.position ?? -1;
      if (position <= done) continue;
      fresh.push(entry);
      reached.set(lease, { shard: shardOf(lease), journal, position });
    }
    const last = fresh.at(-1);
    if (last === undefined) return undefined;
    return {
      entries: fresh,
      upTo: last.position,
      journal,
      save: async (step) => {
        await this.#refuseUnlessHeld(step, [...reached.keys()]);
        await saveSharedRulePositions(step, [...reached.values()]);
      },
      done: () => {
        for (const [lease, one] of reached) this.#positions.set(keyOf(lease, journal), one);
      },
    };
  }

  /** A node that was paused may believe that it holds what another one has taken. */
  async #refuseUnlessHeld(step: RecordsDb, names: readonly string[]): Promise<void> {
    const leases = names.map((name) => ({ name, epoch: this.#held.get(name)?.epoch ?? -1 }));
    if (await holdsLeases(step, this.#parts.node, leases)) return;
    throw new RulesElsewhere(`Another node holds one of ${names.join(', ')}`);
  }
}

const keyOf = (lease: string, journal: string): string => `${lease} ${journal}`;

function workspaceOf(entry: DurableEntry): string {
  return summaryOf(entry)?.workspaceId ?? entry.replaces?.workspaceId ?? '';
}

/** What rules read of the entries, in messages of bounded length. */
function* messagesOf(entries: readonly DurableEntry[]): Generator<readonly DurableEntry[]> {
  let some: DurableEntry[] = [];
  let bytes = 0;
  for (const entry of entries) {
    const { position, deviceId, receivedAt, samples, trace, metrics, replaces } = entry;
    const sent: DurableEntry = {
      position,
      deviceId,
      receivedAt,
      samples,
      notes: [],
      duplicates: 0,
      ...(trace !== undefined && { trace }),
      ...(metrics !== undefined && { metrics }),
      ...(replaces !== undefined && { replaces }),
    };
    some.push(sent);
    bytes += JSON.stringify(sent).length;
    if (some.length < messageLimits.entriesMax && bytes < messageLimits.bytesMax) continue;
    yield some;
    [some, bytes] = [[], 0];
  }
  if (some.length > 0) yield some;
}

// Shared rule positions: how far the holder of each shard of workspaces has evaluated each journal.

interface SharedRulePosition {
  readonly shard: number;
  /** The id of the node. */
  readonly journal: string;
  /** The last entry that was evaluated. */
  readonly position: number;
}

async function findSharedRulePositions(
  db: RecordsDb,
  shards: readonly number[],
): Promise<SharedRulePosition[]> {
  if (shards.length === 0) return [];
  const query = db
    .selectFrom('rulePositions')
    .selectAll()
    .where('shard', 'in', [...shards]);
  return (await query.execute()).map((row) => ({ ...row, position: Number(row.position) }));
}

/** Within the transaction that writes the effects. */
async function saveSharedRulePositions(
  step: RecordsDb,
  positions: readonly SharedRulePosition[],
): Promise<void> {
  if (positions.length === 0) return;
  await step
    .insertInto('rulePositions')
    .values([...positions])
    .onConflict((conflict) =>
      conflict
        .columns(['shard', 'journal'])
        .doUpdateSet(({ ref }) => ({ position: ref('excluded.position') }))
        .whereRef('rulePositions.position', '<', 'excluded.position'),
    )
    .execute();
}

/** Whether the node holds all of these leases, with these epochs, until the transaction ends. */
async function holdsLeases(
  step: RecordsDb,
  node: string,
  leases: readonly { readonly name: string; readonly epoch: number }[],
): Promise<boolean> {
  if (leases.length === 0) return true;
  const rows = leases.map(({ name, epoch }) => sql`(${name}, cast(${epoch} as bigint))`);
  const isHeld: Expression<SqlBool> = sql`("name", cast("epoch" as bigint)) in (${sql.join(rows)})`;
  const { rows: found } = await sql<{ count: number }>`
    select count(*) as "count" from "leases" where "node" = ${node} and ${isHeld}`.execute(step);
  return Number(found[0]?.count) === leases.length;
}
