// Opens the parts that several others use: data folder, disk watch, records, sample store, access and operations.
import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { composeAccess } from './access.ts';
import { composeOperations } from './operations.ts';
import { recordsPlaceOf } from './records.ts';
import { samplePlaceOf, type SharedSamples } from './samples.ts';
import type { Parts } from './platform-parts.ts';
import { createPublicAddress } from './public-address.ts';
import type { Config } from '../config.ts';
import {
  claimDataFolder,
  DataFolderError,
  hasSampleFiles,
  tightenDataFolder,
} from '../data-folder/data-folder.ts';
import { createAlarmFeed } from '../flows/alarm-feed.ts';
import { type DiskWatch, openDiskWatch } from '../flows/disk-watch.ts';
import { createFollowers, followersOfLog } from '../flows/followers.ts';
import { createLiveEvents } from '../flows/live-events.ts';
import type { EntryLog } from '../log/entry-log.ts';
import type { TellNetworkServer } from '../inventory/devices/registration.ts';
import { createUplinkRouteCache } from '../inventory/devices/uplink-route-cache.ts';
import { createQuotaUse } from '../inventory/workspaces/quota-use.ts';
import { createWorkspaceFanOut } from '../live/workspace-fan-out.ts';
import type { Actor } from '../model/actor.ts';
import { openCounts } from '../model/quota-count.ts';
import type { RecordChange } from '../model/record.ts';
import { positionBehindUplinks } from '../raw-uplinks/embedded/newest-position.ts';
import { type OpenRecords, openRecords } from '../records/records.ts';
import type { RecordedPositions } from '../records/rows/recorded-positions.ts';
import { openSamples, type Samples } from '../samples/samples.ts';
import type { Closers } from '../structures/closers.ts';
import { setRepeatingTimer } from '../structures/timers.ts';
import { addBuildInfo } from '../telemetry/build-info.ts';
import type { Telemetry } from '../telemetry/events.ts';
import { addJournalFigures } from '../telemetry/journal-figures.ts';
import { createReadiness, type Readiness } from '../telemetry/readiness.ts';

/** What opens before everything else. */
interface Start {
  readonly config: Config;
  readonly telemetry: Telemetry;
  readonly closers: Closers;
  readonly now: () => number;
}

type FollowChange = (change: RecordChange) => void;

/**
 * Adds each part that it opens to the closers, so that the caller can close what is open when a
 * later one fails.
 */
export async function openParts(start: Start): Promise<Parts> {
  const { config, telemetry, closers, now } = start;
  const readiness = composeReadiness(telemetry);
  const disk = openFolder(start);
  const seen = await undamagedRecords(config);
  const changeFollowers: FollowChange[] = [];
  const acting = new AsyncLocalStorage<Actor | undefined>();
  const records = await openRecordsIn(start, disk, acting, changeFollowers);
  readiness.add('records', telemetry.recordsStoppedBecause);
  const { samples: store, log, shared } = await openSampleStore(start, disk, seen);
  const directory = createUplinkRouteCache(records);
  const address = createPublicAddress(config);
  const access = composeAccess(address.url, records, acting, now);
  closers.push('access', () => access.runMaintenance());
  changeFollowers.push(directory.recordChanged, access.recordChanged);
  const network: { servers?: TellNetworkServer } = {};
  const networkServers = () => network.servers;
  const workspaceFanOut = createWorkspaceFanOut(now);
  const liveEvents = createLiveEvents(workspaceFanOut);
  changeFollowers.push(liveEvents.recordChanged);
  const live = { liveEvents, isFollowed: () => workspaceFanOut.wanting('OPERATION').length > 0 };
  const operations = composeOperations({ records, acting, telemetry, networkServers, ...live });
  changeFollowers.push(operations.recordChanged);
  closers.push('operations', () => operations.close());
  return {
    config,
    telemetry,
    readiness,
    diskIsFull: disk.isFull,
    records,
    store,
    sharedSamples: shared,
    log,
    followers: createFollowers(log),
    directory,
    access,
    address,
    now,
    newId: randomUUID,
    operations,
    workspaceFanOut,
    liveEvents,
    followChanges: (follow) => void changeFollowers.push(follow),
    useNetworkServers: (tell) => void (network.servers = tell),
    alarmFeed: createAlarmFeed(),
    quotaUse: createQuotaUse(records, config.quotas),
    openCounts: openCounts(config.quotas),
  };
}

function composeReadiness(telemetry: Telemetry): Readiness {
  const readiness = createReadiness();
  readiness.add('storage', telemetry.writingStoppedBecause);
  telemetry.labeledGauge(
    'not_ready',
    '1 for each reason why /health/ready answers 503.',
    'reason',
    () => readiness.states().map(({ name, holds }) => [name, Number(holds)] as const),
  );
  return readiness;
}

function openFolder({ config, telemetry, closers }: Start): DiskWatch {
  const { dataDirectory: directory } = config;
  const folder = claimDataFolder(directory);
  closers.push('the data folder', () => folder.release());
  const disk = openDiskWatch({ directory, events: telemetry, setRepeatingTimer });
  closers.push('the reserve of the disk', disk.keepRest);
  closers.push('the watch on the disk', disk.close);
  telemetry.gauge('disk_free_bytes', 'Bytes free on the disk of the data folder.', disk.freeBytes);
  telemetry.gauge('data_folder_bytes', 'Bytes of the files in the data folder.', disk.folderBytes);
  telemetry.folderTightened(tightenDataFolder(directory));
  return disk;
}

/**
 * What the records know of the journal. Throws DataFolderError when they, or their key, are missing
 * or cannot be used.
 */
async function undamagedRecords(config: Config): Promise<RecordedPositions> {
  const { dataDirectory: directory, secretsKey } = config;
  const hasSamples = hasSampleFiles(directory);
  const { check } = recordsPlaceOf(config);
  const { refusal, positions } = await check({ directory, secretsKey, hasSamples });
  if (refusal !== undefined) throw new DataFolderError(refusal);
  return positions;
}

async function openRecordsIn(
  { config, telemetry, closers, now }: Start,
  disk: DiskWatch,
  acting: AsyncLocalStorage<Actor | undefined>,
  changeFollowers: readonly FollowChange[],
): Promise<OpenRecords> {
  const records = await openRecords({
    directory: config.dataDirectory,
    engine: recordsPlaceOf(config).engine,
    secretsKey: config.secretsKey,
    announce: (change) => {
      for (const follow of changeFollowers) follow(change);
    },
    actor: () => acting.getStore(),
    now,
    quotas: config.quotas,
    stopped: telemetry.recordsStopped,
  }).catch(disk.explain);
  closers.push('the records', () => records.close());
  return records;
}

interface OpenedSamples {
  readonly samples: Samples;
  readonly log: EntryLog;
  readonly shared: SharedSamples | undefined;
}

async function openSampleStore(
  { config, telemetry, closers, now }: Start,
  disk: DiskWatch,
  seen: RecordedPositions,
): Promise<OpenedSamples> {
  const uplinksTo = await positionBehindUplinks(join(config.dataDirectory, 'uplinks'));
  const directory = join(config.dataDirectory, 'samples');
  const place = { config, directory, telemetry, closers, now };
  const { openStore, shared } = await samplePlaceOf(place);
  const samples = await openSamples({
    directory,
    now,
    openStore,
    seen: { ...seen, uplinksTo },
    hasRoom: () => !disk.isFull(),
    onWriting: disk.writingChanged,
    damaged: (damage) => telemetry.damageFound({ ...damage }),
    failed: (error) => telemetry.backgroundFailed('writing segments of samples', error),
  });
  closers.push('the sample store', () => samples.close());
  addJournalFigures(telemetry, samples.log, followersOfLog, now);
  addBuildInfo(telemetry);
  return { samples, log: samples.log, shared };
}
