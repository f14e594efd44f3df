// Writes raw uplinks and deliveries, syncs only some of them, says what it found damaged, and kills itself.
import { join } from 'node:path';
import process from 'node:process';
import { openTestLog, storedDelivery } from '../../src/storage/delivery-log/testing-log.ts';
import { addUplinks } from '../../src/storage/raw-uplinks/conformance/testing-uplinks.ts';
import { EmbeddedUplinks } from '../../src/storage/raw-uplinks/embedded/embedded-uplinks.ts';

export interface TornEnds {
  readonly damage: readonly unknown[];
  /** Every uplink before this position is durable. */
  readonly durable: number;
  /** Deliveries that are durable; `readable` of the last run are there. */
  readonly synced: number;
  readonly readable: number;
}

const uplinksARound = 400;
const deliveriesARound = 300;

const folder = process.env['POWER_DATA'] ?? '';
const [round, followedFrom] = process.argv.slice(2).map(Number) as [number, number];
const damage: unknown[] = [];
const uplinks = await EmbeddedUplinks.open({
  directory: join(folder, 'uplinks'),
  now: () => 0,
  retentionMs: Number.POSITIVE_INFINITY,
  bytesMax: Number.POSITIVE_INFINITY,
  followedFrom: round === 0 ? undefined : followedFrom,
  damaged: (place) => void damage.push(place),
  limits: {
    blockBytes: 1_500,
    segmentBytes: 300_000,
    unsyncedBytesMax: 20_000,
    unsyncedMsMax: Number.POSITIVE_INFINITY,
  },
});
await addUplinks(uplinks, { now: 0 }, { from: followedFrom, to: followedFrom + uplinksARound });

const deliveries = await openTestLog(join(folder, 'deliveries'), { expected: round > 0 });
damage.push(...deliveries.damage);
const { log } = deliveries;
const readable = (await log.endedOf('c')).size;
let synced = 0;
for (let i = 0; i < deliveriesARound; i++) {
  const n = round * deliveriesARound + i;
  // Answers that do not compress, so that what is not synced has several pages.
  const answer = Array.from({ length: 60 }, (_, at) =>
    ((n * 7_919 + at * 104_729) % 65_521).toString(36),
  ).join('');
  log.append(storedDelivery(n, { state: 'DELIVERED', answer }));
  if (i % 5 === 4) await log.write();
  if (i % 100 === 50) {
    await log.sync();
    synced = i + 1;
  }
}
await log.write();
process.stdout.write(JSON.stringify({ damage, durable: uplinks.durable, synced, readable }), () =>
  process.kill(process.pid, 'SIGKILL'),
);
