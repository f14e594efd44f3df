// Opens the parts that several others use: data folder, disk watch, records, sample store, access and operations.
import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { AlarmFeed } from '../rules/alarms/alarm-notifications.ts';
import type { LeaseName } from '../cluster/leases/leases.ts';
import { leaseOfOperation } from '../cluster/leases/lease-tasks.ts';
import { copiedFiles, type JournalCopy } from '../cluster/replication/journal-copy.ts';
import type { ClusterConfig } from './config/cluster-settings.ts';
import type { Config } from './config/config.ts';
import type { TellNetworkServer } from '../inventory/devices/registration.ts';
import { createUplinkRouteCache } from '../inventory/devices/uplink-route-cache.ts';
import {
  actorOfOperation,
  readOperation,
  runOperationChunk,
} from '../inventory/operations/operations.ts';
import { QuotaUse } from '../inventory/workspaces/organizations.ts';
import { type EventAudience, LiveEvents } from '../live/live-events.ts';
import { createWorkspaceFanOut } from '../live/sessions/workspace-fan-out.ts';
import type { Actor } from '../model/principal.ts';
import { openCounts } from '../model/quota.ts';
import { ChangeFollower, type RecordChange } from '../model/record.ts';
import { DiskWatch } from '../operations/disk-watch.ts';
import { ChunkRunner, type OperationRunner, rest } from '../operations/operation-runner.ts';
import {
  DataFolder,
  DataFolderError,
  hasSampleFiles,
  nodeIdOf,
  storedNodeId,
  tightenDataFolder,
} from '../storage/data-folder/data-folder.ts';
import type { EntryLog } from '../storage/log/entry-log.ts';
import { positionBehindUplinks } from '../storage/raw-uplinks/embedded/uplink-segment.ts';
import { refreshStatistics } from '../storage/records/engine.ts';
import { openRecords, type OpenRecords } from '../storage/records/records.ts';
import { operationRows } from '../storage/records/rows/operations.ts';
import { type RecordedPositions, followerPositionRows } from '../storage/records/rows/positions.ts';
import { openSamples, type Samples } from '../storage/samples/samples.ts';
import type { Closers } from '../structures/closers.ts';
import { setRepeatingTimer, setTimer } from '../structures/timers.ts';
import { addBuildInfo } from '../telemetry/build-info.ts';
import type { Telemetry } from '../telemetry/events.ts';
import { addJournalFigures } from '../telemetry/journal-figures.ts';
import { Readiness } from '../telemetry/readiness.ts';
import { WorkTurns } from '../transports/work-turns.ts';
import { Followers, followersOfLog } from '../uplinks/followers/followers.ts';
import { ReportOutcomes } from '../reports/report-runs.ts';
import { Refusals } from '../uplinks/refusals.ts';
import { UplinkLimit } from '../uplinks/capture/capture-senders.ts';
import { composeAccess } from './access.ts';
import { type ComposedNode, composeNode } from './change-following.ts';
import { actingRequests } from './shared-work.ts';
import { openJournalCopy, refuseAdopted } from './journal-copies.ts';
import { watchPostgres } from './outages.ts';
import { PublicAddress, type Parts } from './platform-parts.ts';
import { recordsPlaceOf } from './records.ts';
import { samplePlaceOf, type SharedSamples } from './samples.ts';

/** What opens before everything else. */
interface Start {
  readonly config: Config;
  readonly telemetry: Telemetry;
  readonly closers: Closers;
  readonly now: () => number;
}

/**
 * Adds each part that it opens to the closers, so that the caller can close what is open when a
 * later one fails.
 */
export async function openParts(start: Start): Promise<Parts> {
  const { config, telemetry, closers, now } = start;
  const readiness = composeReadiness(telemetry);
  const disk = openFolder(start);
  const { cluster, dataDirectory } = config;
  const nodeId = cluster === undefined ? undefined : await nodeIdOf(dataDirectory);
  const seen = await undamagedRecords(config, nodeId);
  const changes = createChangeFollowers();
  const acting = new AsyncLocalStorage<Actor | undefined>();
  const requests = actingRequests(acting);
  const { published } = requests;
  const records = await openRecordsIn(start, disk, { acting, changes, nodeId, published });
  const node = await openNode(start, records, { changes, nodeId });
  readiness.add('records', telemetry.recordsStoppedBecause);
  const leases = leasesOfJournal(cluster);
  const journal = await openSampleStore(start, disk, { seen, continuity: leases.continuity });
  const directory = createUplinkRouteCache(records);
  const failed = (error: unknown) => telemetry.backgroundFailed('writing refusals', error);
  const refusals = new Refusals(records, now, setTimer, failed);
  closers.push('refusals', () => refusals.close());
  const address = new PublicAddress(config);
  const access = composeAccess(address.url, records, requests.actAs, now, {
    failed: telemetry.backgroundFailed,
    secure: config.publicUrl.startsWith('https:'),
  });
  closers.push('access', () => access.saveUses());
  changes.follow(directory, access);
  const network: { servers?: TellNetworkServer } = {};
  const work: { isOwn?: (lease: LeaseName) => boolean } = {};
  const isOwn = (id: string) => work.isOwn?.(leaseOfOperation(id)) ?? true;
  const workspaceFanOut = createWorkspaceFanOut(now);
  const elsewhere: { events?: EventAudience } = {};
  const liveEvents = new LiveEvents(workspaceFanOut, () => elsewhere.events);
  const running = { networkServers: () => network.servers, isOwn, liveEvents };
  const { runner: operations, recordChanged } = composeOperations({
    records,
    acting,
    telemetry,
    ...running,
  });
  changes.follow(new ChangeFollower(liveEvents.recordChanged), new ChangeFollower(recordChanged));
  closers.push('operations', () => operations.close());
  const reportOutcomes = new ReportOutcomes({
    records: { ...records, actor: () => undefined },
    failed: (error) => telemetry.backgroundFailed('noting refused mails of reports', error),
  });
  closers.push('outcomes of reports', reportOutcomes.close);
  return {
    config,
    telemetry,
    readiness,
    diskIsFull: disk.isFull,
    records,
    node,
    store: journal.samples,
    journalCopy: journal.journalCopy,
    sharedSamples: journal.shared,
    log: journal.log,
    followers: new Followers(journal.log),
    directory,
    access,
    address,
    now,
    newId: randomUUID,
    operations,
    workspaceFanOut,
    liveEvents,
    reportOutcomes,
    shareEvents: (events) => void (elsewhere.events = events),
    followChanges: changes.follow,
    useLeases: leases.use,
    networkServers: running.networkServers,
    useNetworkServers: (tell) => void (network.servers = tell),
    useChangeSharing: requests.useSharing,
    divideOperations: (holds) => void (work.isOwn = holds),
    turns: new WorkTurns(() => performance.now()),
    uplinkLimit: new UplinkLimit(config.uplinkRateLimitPerSecond, now),
    alarmFeed: new AlarmFeed(),
    quotaUse: new QuotaUse(records, config.quotas),
    openCounts: openCounts(config.quotas),
    refusals,
  };
}

function composeReadiness(telemetry: Telemetry): Readiness {
  const readiness = new Readiness();
  readiness.add('storage', telemetry.writingStoppedBecause);
  telemetry.labeledGauge(
    'not_ready',
    '1 for each active reason for a failing readiness probe.',
    'reason',
    () => readiness.states().map(({ name, holds }) => [name, Number(holds)] as const),
  );
  return readiness;
}

function openFolder({ config, telemetry, closers }: Start): DiskWatch {
  const { dataDirectory: directory } = config;
  const folder = new DataFolder(directory);
  closers.push('the data folder', () => folder.release());
  const disk = new DiskWatch(directory, telemetry, setRepeatingTimer);
  closers.push('the reserve of the disk', disk.keepRest);
  closers.push('the watch on the disk', disk.close);
  telemetry.gauge(
    'disk_free_bytes',
    'Free disk space of the data folder in bytes.',
    disk.freeBytes,
  );
  telemetry.gauge('data_folder_bytes', 'Size of the data folder in bytes.', disk.folderBytes);
  telemetry.folderTightened(tightenDataFolder(directory));
  return disk;
}

/**
 * What the records know of the journal. Throws DataFolderError when they, or their key, are missing
 * or cannot be used.
 */
async function undamagedRecords(
  config: Config,
  node: string | undefined,
): Promise<RecordedPositions> {
  const { dataDirectory: directory, secretsKey } = config;
  const hasSamples = hasSampleFiles(directory);
  const { check } = recordsPlaceOf(config, node);
  const { refusal, positions } = await check({ directory, secretsKey, hasSamples, node });
  if (refusal !== undefined) throw new DataFolderError(refusal);
  return positions;
}

async function openRecordsIn(
  { config, telemetry, closers, now }: Start,
  disk: DiskWatch,
  {
    acting,
    changes,
    nodeId,
    published,
  }: NodeOfRecords & {
    readonly acting: AsyncLocalStorage<Actor | undefined>;
    readonly published: () => void;
  },
): Promise<OpenRecords> {
  const records = await openRecords({
    directory: config.dataDirectory,
    engine: recordsPlaceOf(config, nodeId).engine,
    secretsKey: config.secretsKey,
    announce: changes.recordChanged,
    actor: () => acting.getStore(),
    now,
    quotas: config.quotas,
    stopped: telemetry.recordsStopped,
    migrating: telemetry.recordsMigrating,
    published,
  }).catch(disk.explain);
  closers.push('the records', () => records.close());
  watchPostgres(telemetry, config, records.db);
  closers.push('the watch on servers', () => telemetry.outages.close());
  return records;
}

/** All that follow record changes, as one. */
function createChangeFollowers() {
  const followers: ChangeFollower[] = [];
  return {
    follow: (...added: readonly ChangeFollower[]) => void followers.push(...added),
    recordChanged(change) {
      for (const follower of followers) follower.recordChanged(change);
    },
    changesMissed() {
      for (const follower of followers) follower.changesMissed();
    },
  } satisfies ChangeFollower & { readonly follow: unknown };
}

interface NodeOfRecords {
  readonly changes: ChangeFollower;
  /** Undefined for the only platform on its records. */
  readonly nodeId: string | undefined;
}

async function openNode(
  { config, telemetry, closers }: Start,
  records: OpenRecords,
  { changes: follower, nodeId: node }: NodeOfRecords,
): Promise<ComposedNode | undefined> {
  const { dataDirectory: directory } = config;
  const { db } = records;
  if (node === undefined) {
    const former = await storedNodeId(directory);
    if (former !== undefined) await followerPositionRows.adopt(db, { from: former, to: '' });
    return undefined;
  }
  await refuseAdopted(db, node, directory);
  if (hasSampleFiles(directory)) await followerPositionRows.adopt(db, { from: '', to: node });
  const composed = await composeNode({ node, records, telemetry, follower });
  closers.push('the node', composed.close);
  return composed;
}

/** With several nodes, the journal keeps nothing across a loss of leases, which exist later. */
function leasesOfJournal(cluster: ClusterConfig | undefined) {
  const known: { continuity?: () => number } = {};
  return {
    continuity: cluster && (() => known.continuity?.() ?? 0),
    use: ({ continuity }: { readonly continuity: () => number }) => {
      known.continuity = continuity;
    },
  };
}

async function openSampleStore(
  { config, telemetry, closers, now }: Start,
  disk: DiskWatch,
  {
    seen,
    continuity,
  }: {
    readonly seen: RecordedPositions;
    readonly continuity: (() => number) | undefined;
  },
): Promise<{
  readonly samples: Samples;
  readonly log: EntryLog;
  readonly shared: SharedSamples | undefined;
  readonly journalCopy: JournalCopy | undefined;
}> {
  const journalCopy = openJournalCopy(config);
  const uplinksTo = await positionBehindUplinks(join(config.dataDirectory, 'uplinks'));
  const directory = join(config.dataDirectory, 'samples');
  const stateReplaced =
    journalCopy && ((contents: string) => journalCopy.replaced(copiedFiles.shipping, contents));
  const place = { config, directory, telemetry, closers, now, stateReplaced };
  const { openStore, shared } = await samplePlaceOf(place);
  const samples = await openSamples({
    directory,
    now,
    openStore,
    seen: { ...seen, uplinksTo },
    hasRoom: () => !disk.isFull(),
    onWriting: disk.writingChanged,
    ...(journalCopy && { disk: journalCopy.disk }),
    ...(continuity && { continuity }),
    damaged: (damage) => telemetry.damageFound({ ...damage }),
    failed: (error) => telemetry.backgroundFailed('writing segments of samples', error),
  });
  closers.push('the sample store', () => samples.close());
  addJournalFigures(telemetry, samples.log, followersOfLog, now);
  addBuildInfo(telemetry);
  return { samples, log: samples.log, shared, journalCopy };
}

// Connects operations: work on many devices that continues after the answer, as the actor who ordered it.

function composeOperations(parts: {
  readonly records: OpenRecords;
  readonly acting: AsyncLocalStorage<Actor | undefined>;
  readonly telemetry: Telemetry;
  /** Undefined until network servers are connected. */
  readonly networkServers: () => TellNetworkServer | undefined;
  readonly liveEvents: LiveEvents;
  /** Whether this node runs the operation. */
  readonly isOwn: (id: string) => boolean;
}): {
  readonly runner: OperationRunner;
  readonly recordChanged: (change: RecordChange) => void;
} {
  const { records, acting, telemetry, networkServers } = parts;
  const show = async (id: string): Promise<void> => {
    if (!parts.liveEvents.wantsAny('OPERATION')) return;
    const operation = await readOperation(records, id);
    parts.liveEvents.operationMoved(operation.workspaceId, operation);
  };
  const failed = (error: unknown) => telemetry.backgroundFailed('showing an operation', error);
  const runner = new ChunkRunner({
    runChunk: async (id, isTimeUp) => {
      const actor = await actorOfOperation(records, id);
      const isDone = await acting.run(actor, () =>
        runOperationChunk(records, id, isTimeUp, networkServers()),
      );
      // Statistics from before many devices were added or deleted mislead the query planner.
      if (isDone) await refreshStatistics(records.db);
      await show(id).catch(failed);
      return isDone;
    },
    unfinished: () => operationRows.unfinished(records.db, 'others'),
    isOwn: parts.isOwn,
    organizationOf: async (id) => (await operationRows.find(records.db, id))?.organizationId ?? '',
    failed: (error) => telemetry.backgroundFailed('running an operation', error),
    clock: () => performance.now(),
    pause: rest,
  });
  return {
    runner,
    recordChanged({ kind, id, action }) {
      if (kind === 'operation' && action === 'created') show(id).catch(failed);
    },
  };
}
