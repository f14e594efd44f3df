// Workload samples as the journal entries that their requests become.
import type { JournalEntry } from '../../src/model/journal-entry.ts';
import { dataAt, deviceName, type SampleColumns } from './workload.ts';

/** One entry for the samples of each device in the batch: an entry is one device's. */
export function entriesOf(batch: SampleColumns): JournalEntry[] {
  const byDevice = new Map<number, JournalEntry & { samples: unknown[] }>();
  for (let i = 0; i < batch.length; i++) {
    const device = batch.device[i]!;
    const deviceId = deviceName(device);
    let entry = byDevice.get(device);
    if (entry === undefined) {
      entry = { deviceId, receivedAt: batch.timestamp[i]!, notes: [], samples: [] };
      byDevice.set(device, entry);
    }
    entry.samples.push({
      deviceId,
      topic: 'default',
      timestamp: batch.timestamp[i]!,
      data: dataAt(batch, i),
      organizationId: '2800000000000001',
      workspaceId: '2900000000000001',
      dataFlowId: '0800000000000001',
      correlationId: 'a0b1c2d3-e4f5-4a6b-8c7d-9e0f1a2b3c4d',
      stored: true,
    });
  }
  return [...byDevice.values()];
}
