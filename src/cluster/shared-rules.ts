// Shared rules: entries of every journal reach the node that holds the rules of their workspace, which evaluates each once.
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

interface State {
  readonly held: Map<string, RuleLease>;
  /** The last evaluated entry, by lease and journal. */
  readonly positions: Map<string, SharedRulePosition>;
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
  readonly #state: State = { held: new Map(), positions: new Map() };

  constructor(parts: SharedRulesParts) {
    this.#parts = parts;
  }

  /** Evaluates entries of the journal of this node, here or at the holders of their rules. */
  readonly handle = (entries: readonly DurableEntry[]): Promise<void> =>
    handleOwn(this.#parts, this.#state, entries);

  /** Answers `ask` of another node. */
  readonly receive = async (request: unknown): Promise<unknown> => {
    const { journal, entries } = request as EntriesMessage;
    try {
      await evaluate(this.#parts, this.#state, journal, entries);
      return 'done';
    } catch (error) {
      if (error instanceof RulesElsewhere) return 'elsewhere';
      throw error;
    }
  };

  /** Whether this node runs the rule. */
  readonly isOwn = (ruleId: string): boolean => {
    const lease = this.#leaseOfRule(ruleId);
    return lease !== undefined && isHeld(this.#state, lease);
  };

  /** The workspaces with rules that this node evaluates. */
  readonly workspaces = (): readonly string[] =>
    [...workspacesWithRules(this.#parts)].filter((id) =>
      isHeld(this.#state, this.#parts.leaseOf(id)),
    );

  /** Rejects in the transaction of effects of the rule when another node holds it. */
  readonly fence = async (step: RecordsDb, ruleId: string): Promise<void> => {
    const lease = this.#leaseOfRule(ruleId);
    await refuseUnlessHeld(this.#parts, this.#state, step, lease === undefined ? [] : [lease]);
  };

  /** Resolves when this node evaluates what the leases are about. */
  take(leases: readonly RuleLease[]): Promise<void> {
    return take(this.#parts, this.#state, leases);
  }

  /** Resolves when it evaluates that no longer. */
  leave(names: readonly string[]): Promise<void> {
    return leave(this.#parts, this.#state, names);
  }

  savePositions(step: RecordsDb): Promise<void> {
    return saveSharedRulePositions(step, [...this.#state.positions.values()]);
  }

  #leaseOfRule(ruleId: string): string | undefined {
    const found = this.#parts.registry.rule(ruleId);
    return found && this.#parts.leaseOf(found.rule.workspaceId);
  }
}

const isHeld = ({ held }: State, name: string): boolean => held.get(name)?.isValid() === true;

function workspacesWithRules({ registry }: SharedRulesParts): ReadonlySet<string> {
  return new Set([...registry.rules()].map(({ rule }) => rule.workspaceId));
}

async function handleOwn(
  parts: SharedRulesParts,
  state: State,
  entries: readonly DurableEntry[],
): Promise<void> {
  const { node, leaseOf, follower } = parts;
  const wanted = await follower().alone(async () => workspacesWithRules(parts));
  const byLease = Map.groupBy(
    entries.filter((entry) => wanted.has(workspaceOf(entry))),
    (entry) => leaseOf(workspaceOf(entry)),
  );
  const here = [...byLease].filter(([name]) => isHeld(state, name)).flatMap(([, own]) => own);
  here.sort((a, b) => a.position - b.position);
  if (here.length > 0) await evaluate(parts, state, node, here);
  const others = [...byLease].filter(([name]) => !isHeld(state, name));
  await Promise.all(others.map(([name, own]) => send(parts, name, own)));
}

async function send(
  { node, ask }: SharedRulesParts,
  lease: string,
  entries: readonly DurableEntry[],
): Promise<void> {
  for (const some of messagesOf(entries)) {
    const request = { journal: node, entries: some } satisfies EntriesMessage;
    const answer = await ask(lease, request);
    if (answer === 'done') continue;
    throw new RulesElsewhere(`no node currently evaluates ${lease}; will be retried`);
  }
}

async function evaluate(
  parts: SharedRulesParts,
  state: State,
  journal: string,
  entries: readonly DurableEntry[],
): Promise<void> {
  await parts.follower().evaluate(() => turnOf(parts, state, journal, entries));
}

async function take(
  { db, registry, follower, shardOf }: SharedRulesParts,
  state: State,
  leases: readonly RuleLease[],
): Promise<void> {
  await follower().alone(async () => {
    const shards = leases.map(({ name }) => shardOf(name));
    for (const one of await findSharedRulePositions(db, shards))
      state.positions.set(`workspaces/${one.shard} ${one.journal}`, one);
    // What another node has changed since.
    registry.reset();
    for (const lease of leases) state.held.set(lease.name, lease);
  });
}

async function leave(
  { db, follower, shardOf }: SharedRulesParts,
  state: State,
  names: readonly string[],
): Promise<void> {
  for (const name of names) state.held.delete(name);
  await follower().alone(async () => {
    const left = new Set(names.map(shardOf));
    const positions = [...state.positions].filter(([, { shard }]) => left.has(shard));
    await saveSharedRulePositions(
      db,
      positions.map(([, one]) => one),
    );
    for (const [key] of positions) state.positions.delete(key);
  });
}

/** The entries that were not evaluated yet. Throws RulesElsewhere when another node has the rules. */
function turnOf(
  parts: SharedRulesParts,
  state: State,
  journal: string,
  entries: readonly DurableEntry[],
): RuleTurn | undefined {
  const { leaseOf, shardOf } = parts;
  const keyOf = (lease: string) => `${lease} ${journal}`;
  const reached = new Map<string, number>();
  const fresh: DurableEntry[] = [];
  for (const entry of entries) {
    const lease = leaseOf(workspaceOf(entry));
    if (state.held.get(lease)?.isValid() !== true)
      throw new RulesElsewhere(`This node does not hold ${lease}`);
    const done = state.positions.get(keyOf(lease))?.position ?? -1;
    if (entry.position <= done) continue;
    fresh.push(entry);
    reached.set(lease, entry.position);
  }
  const last = fresh.at(-1);
  if (last === undefined) return undefined;
  const positions = [...reached].map(([lease, position]): [string, SharedRulePosition] => [
    keyOf(lease),
    { shard: shardOf(lease), journal, position },
  ]);
  return {
    entries: fresh,
    upTo: last.position,
    journal,
    async save(step) {
      await refuseUnlessHeld(parts, state, step, [...reached.keys()]);
      await saveSharedRulePositions(
        step,
        positions.map(([, one]) => one),
      );
    },
    done() {
      for (const [key, one] of positions) state.positions.set(key, one);
    },
  };
}

/** A node that was paused may believe that it holds what another one has taken. */
async function refuseUnlessHeld(
  { node }: SharedRulesParts,
  { held }: State,
  step: RecordsDb,
  names: readonly string[],
): Promise<void> {
  const leases = names.map((name) => ({ name, epoch: held.get(name)?.epoch ?? -1 }));
  if (await holdsLeases(step, node, leases)) return;
  throw new RulesElsewhere(`Another node holds one of ${names.join(', ')}`);
}

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
