// Sample events: uplinks, backfills, downlinks, notes and deleted samples, as log lines and metrics.
import type { Log } from './log.ts';
import type { MetricMakers } from './metric-makers.ts';

type DeletionReason = 'retention' | 'deviceDeleted';

export function sampleEvents({ counter, histogram }: MetricMakers, log: Log) {
  const uplinks = counter('uplinks_total', 'Uplinks by outcome.', ['outcome']);
  const backfills = counter('backfills_total', 'Backfill requests by outcome.', ['outcome']);
  const rejected = counter('samples_rejected_total', 'Backfill samples rejected.');
  const samples = counter('samples_stored_total', 'Samples stored durably.');
  const duplicates = counter('samples_duplicate_total', 'Duplicate samples ignored.');
  const uplinkSeconds = histogram(
    'uplink_seconds',
    'Uplink latency from receipt to durable storage.',
  );
  return {
    ...deletionEvents({ counter }, log),

    uplinkDurable(outcome: { samples: number; duplicates: number; seconds: number }): void {
      uplinks.inc({ outcome: 'durable' });
      samples.inc(outcome.samples);
      if (outcome.duplicates > 0) duplicates.inc(outcome.duplicates);
      uplinkSeconds.observe(outcome.seconds);
    },

    uplinkRefused(reason: string): void {
      uplinks.inc({ outcome: reason });
    },

    backfilled(outcome: { accepted: number; duplicates: number; rejected: number }): void {
      backfills.inc({ outcome: 'durable' });
      samples.inc(outcome.accepted);
      duplicates.inc(outcome.duplicates);
      rejected.inc(outcome.rejected);
    },

    /** Samples that were stored before the request ended early are not counted. */
    backfillRefused(reason: string): void {
      backfills.inc({ outcome: reason });
    },
  };
}

export function noteEvents({ counter }: Pick<MetricMakers, 'counter'>) {
  const downlinks = counter('downlinks_total', 'Downlinks by state.', ['state']);
  const notes = counter('processing_notes_total', 'Processing log entries by level and source.', [
    'level',
    'source',
  ]);
  return {
    downlinkChanged(state: string): void {
      downlinks.inc({ state });
    },

    noted({ level, source }: { level: string; source: string }): void {
      notes.inc({ level, source });
    },
  };
}

function deletionEvents({ counter }: Pick<MetricMakers, 'counter'>, log: Log) {
  const dropped = counter('samples_dropped_total', 'Samples dropped, by reason.', ['reason']);
  return {
    samplesDropped(reason: DeletionReason, deleted: { samples: number; bytes: number }): void {
      if (deleted.samples === 0) return;
      dropped.inc({ reason }, deleted.samples);
      log.info({ reason, ...deleted }, 'samples dropped');
    },

    rawUplinksDropped(deleted: { reason: DeletionReason; uplinks?: number; bytes?: number }): void {
      if ((deleted.uplinks ?? 0) + (deleted.bytes ?? 0) > 0)
        log.info(deleted, 'raw uplinks deleted (retention)');
    },
  };
}
