// Flow samples: when each data flow brought its last sample.
import type { EpochMs } from '../../model/instant.ts';
import type { RecordsDb } from '../records.ts';

const rowsPerStatement = 100;

/** Keeps the newest time of each flow. The transaction is the caller's. */
export async function saveLastSamples(
  step: RecordsDb,
  lastSamples: ReadonlyMap<string, EpochMs>,
): Promise<void> {
  const rows = [...lastSamples].map(([dataFlowId, lastSampleAt]) => ({ dataFlowId, lastSampleAt }));
  for (let from = 0; from < rows.length; from += rowsPerStatement)
    await step
      .insertInto('flowSamples')
      .values(rows.slice(from, from + rowsPerStatement))
      .onConflict((conflict) =>
        conflict
          .column('dataFlowId')
          .doUpdateSet(({ ref }) => ({ lastSampleAt: ref('excluded.lastSampleAt') }))
          .whereRef('flowSamples.lastSampleAt', '<', 'excluded.lastSampleAt'),
      )
      .execute();
}
