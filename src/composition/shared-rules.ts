// Connects rules of several nodes: the holder of a workspace's lease evaluates the entries of all journals.
import type { Parts } from './platform-parts.ts';
import type { LastRun, RuleRuns } from '../flows/rule-runs.ts';
import {
  createSharedRules,
  type SharedRules,
  type SharedRulesParts,
} from '../flows/shared-rules.ts';
import type { SharedWork } from '../leases/held-work.ts';
import { leaseOfDevice, type LeaseName } from '../leases/leases.ts';
import { leaseOfWorkspace, shardOfLease } from '../leases/work-leases.ts';
import type { Json } from '../model/json.ts';
import { problem } from '../model/problem.ts';
import type { Sample } from '../model/sample.ts';
import { workspacesOfRules } from '../records/rows/rules.ts';
import type { SearchedStore } from '../rules/last-sample-search.ts';
import { missing } from '../structures/missing.ts';

const entriesCall = 'ruleEntries';
const samplesCall = 'samplesOfDevice';
const runsCall = 'runsOfRule';
const lastRunsCall = 'lastRunsOfRules';

export interface RuleWorkers {
  /** Called when rules came here: their scripts and timers begin. */
  readonly begin: () => Promise<void>;
  /** Resolves when what runs of rules that have left is saved. */
  readonly end: () => Promise<void>;
}

export function composeSharedRules(
  { records, telemetry, node }: Parts,
  work: SharedWork,
  { registry, follower }: Pick<SharedRulesParts, 'registry' | 'follower'>,
  workers: () => RuleWorkers,
): SharedRules {
  const shared = createSharedRules({
    ...{ db: records.db, node: node?.id ?? missing('node'), registry, follower },
    leaseOf: leaseOfWorkspace,
    shardOf: (lease) => shardOfLease(lease as LeaseName),
    ask: (lease, request) => work.askHolder(lease as LeaseName, entriesCall, request),
  });
  const failed = (error: unknown) => telemetry.backgroundFailed('taking rules of a node', error);
  work.answer(entriesCall, shared.receive);
  work.follow({
    family: 'rules/',
    gained(leases) {
      shared
        .take(leases)
        .then(() => workers().begin())
        .catch(failed);
    },
    async lost(names) {
      await shared.leave(names);
      await workers().end();
    },
  });
  return shared;
}

type ReadRuns = Pick<RuleRuns, 'runsOf' | 'lastRunsOf'>;

/** The newest runs of a rule are with the node that evaluates it, which saves them later. */
export function runsByHolder(
  { records: { db } }: Pick<Parts, 'records'>,
  work: SharedWork,
  runs: ReadRuns,
): ReadRuns {
  work.answer(runsCall, async (ruleId) => [...(await runs.runsOf(String(ruleId)))]);
  work.answer(lastRunsCall, async (ruleIds) => {
    const found = await runs.lastRunsOf(db, ruleIds as unknown as readonly string[]);
    return [...found].map(([id, run]) => [id, { ...run }]);
  });
  /** Not from the rules in memory: a node that evaluates nothing has not compiled new ones. */
  const groupsOf = async (ruleIds: readonly string[]) => {
    const workspaces = await workspacesOfRules(db, ruleIds);
    return Map.groupBy(ruleIds, (id) => {
      const workspaceId = workspaces.get(id);
      return workspaceId === undefined ? undefined : leaseOfWorkspace(workspaceId);
    });
  };
  const ask = async (lease: LeaseName | undefined, call: string, request: Json) => {
    if (lease === undefined) return undefined;
    // Without an answer there are the runs that were saved, until another node has the rules.
    return work.askHolder(lease, call, request).catch(() => undefined);
  };
  return {
    async runsOf(ruleId) {
      const [lease] = (await groupsOf([ruleId])).keys();
      const found = await ask(lease, runsCall, ruleId);
      return (found as readonly Json[] | undefined) ?? runs.runsOf(ruleId);
    },
    async lastRunsOf(readDb, ruleIds) {
      const groups = [...(await groupsOf(ruleIds))];
      const found = await Promise.all(
        groups.map(async ([lease, ids]) => {
          const answer = await ask(lease, lastRunsCall, ids);
          return answer === undefined
            ? [...(await runs.lastRunsOf(readDb, ids))]
            : (answer as unknown as readonly (readonly [string, LastRun])[]);
        }),
      );
      return new Map(found.flat());
    },
  };
}

/** The samples of a device are with its owner, some of them only there. */
export function searchedByOwner(
  { store, ownership }: Pick<Parts, 'store' | 'ownership'>,
  work: SharedWork,
): SearchedStore {
  work.answer(samplesCall, async (range) => {
    const found = await store.samples(range as unknown as Parameters<typeof store.samples>[0]);
    return found as unknown as Json;
  });
  return {
    async samples(range) {
      if (ownership?.heldFor(range.deviceId) !== undefined) return store.samples(range);
      const { unreadable: _, ...sent } = range;
      const found = await work.askHolder(leaseOfDevice(range.deviceId), samplesCall, sent);
      if (found === undefined) throw problem('deviceWithoutOwner');
      return found as unknown as Sample[];
    },
    // Entries behind the batch are in other journals.
    entriesFrom: async function* none() {},
    position: 0,
  };
}
