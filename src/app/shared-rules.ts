// Connects rules of several nodes: the holder of a workspace's lease evaluates the entries of all journals.
import { shardOfLease, type SharedWork } from '../cluster/leases/lease-tasks.ts';
import { type LeaseName, leaseOfWorkspace } from '../cluster/leases/leases.ts';
import { SharedRules, type SharedRulesParts } from '../cluster/shared-rules.ts';
import type { Json } from '../model/json.ts';
import { problem } from '../model/problem.ts';
import type { Sample } from '../model/sample.ts';
import type { SearchedStore } from '../rules/evaluation/last-samples.ts';
import type { RuleRuns, RuleRunsParts } from '../rules/rule-runs.ts';
import { ruleRows } from '../storage/records/rows/rules.ts';
import { missing } from '../structures/missing.ts';
import type { Parts } from './platform-parts.ts';

const entriesCall = 'ruleEntries';
const samplesCall = 'samplesOfDevice';
const runsCall = 'runsOfRule';

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
  const shared = new SharedRules({
    db: records.db,
    node: node?.id ?? missing('node'),
    registry,
    follower,
    leaseOf: leaseOfWorkspace,
    shardOf: (lease) => shardOfLease(lease as LeaseName),
    ask: (lease, request) => work.askHolder(lease as LeaseName, entriesCall, request),
  });
  const failed = (error: unknown) => telemetry.backgroundFailed('taking rules of a node', error);
  work.answer(entriesCall, shared.receive);
  work.follow({
    family: 'workspaces/',
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

/** Runs that are not saved yet are in the memory of the node with the rule. */
export function createRemoteRuleRuns(
  work: SharedWork,
  { records }: Parts,
  runs: () => RuleRuns,
): Required<Pick<RuleRunsParts, 'askRuns'>> {
  work.answer(runsCall, async (ruleId) => {
    const own = await runs().ownRunsOf(String(ruleId));
    return own === undefined ? null : [...own];
  });
  return {
    async askRuns(ruleId) {
      const rule = await ruleRows.find(records.db, ruleId);
      if (rule === undefined) return undefined;
      const lease = leaseOfWorkspace(rule.workspaceId);
      // What a silent node has saved is shown.
      const answer = await work.askHolder(lease, runsCall, ruleId).catch(() => undefined);
      return Array.isArray(answer) ? (answer as readonly Json[]) : undefined;
    },
  };
}

/** The samples of a device are with its owner, some of them only there. */
export function searchedByOwner({ store, ownership }: Parts, work: SharedWork): SearchedStore {
  work.answer(samplesCall, (range) => store.samples(range as Parameters<typeof store.samples>[0]));
  return {
    async samples(range) {
      const workspace = await ownership?.deviceWorkspaces.of(range.deviceId);
      // There is nothing elsewhere of an unknown device.
      if (workspace === undefined || ownership?.heldFor(workspace.workspaceId) !== undefined)
        return store.samples(range);
      const { unreadable: _, ...sent } = range;
      const found = await work.askHolder(
        leaseOfWorkspace(workspace.workspaceId),
        samplesCall,
        sent,
      );
      if (found === undefined) throw problem('deviceWithoutOwner');
      return found as Sample[];
    },
    // Entries behind the batch are in other journals.
    entriesFrom: async function* none() {},
    position: 0,
  };
}
