// Connects the duplicate filter: repetitions of uplinks are recognized across a restart.
import type { Parts } from './platform-parts.ts';
import { recoverDuplicates } from '../flows/duplicate-recovery.ts';
import { createDuplicateFilter, type DuplicateFilter } from '../ingest/duplicate-filter.ts';
import { mqttLimits } from '../ingest/mqtt/mqtt-limits.ts';

export async function composeDuplicates(parts: Parts): Promise<DuplicateFilter> {
  const { log, telemetry, now } = parts;
  const filter = createDuplicateFilter(now);
  const { confirmedAfterMs } = mqttLimits;
  await recoverDuplicates({ filter, log, confirmedAfterMs, now: now() });
  telemetry.gauge(
    'duplicate_keys',
    'Recent uplink keys held by the duplicate filter.',
    () => filter.size,
  );
  return filter;
}
