// Journal entries with everything that an entry can have, for tests of its formats.
import type { JournalEntry } from '../../model/journal-entry.ts';

const origin = {
  organizationId: '2800000000000001',
  workspaceId: '2900000000000001',
  dataFlowId: '0800000000000001',
  correlationId: 'a0b1c2d3-e4f5-4a6b-8c7d-9e0f1a2b3c4d',
  stored: true,
};
const deviceId = '0200000000000001';
const receivedAt = Date.UTC(2026, 10, 21, 8);
const data = {
  temperature: 21.5,
  occupied: true,
  label: 'Büro',
  none: null,
  in: { list: [1, {}] },
};

const captured: JournalEntry = {
  deviceId,
  receivedAt,
  samples: [{ deviceId, topic: 'default', timestamp: receivedAt - 9, data, ...origin }],
  notes: [],
  metrics: {
    uplinkId: origin.correlationId,
    deviceId,
    uplinkSize: 102,
    timestamp: receivedAt,
    latitude: -46.95,
    rssi: -107,
    sqiTimestamp: receivedAt + 1,
  },
  trace: {
    duplicateKey: 'key 1',
    raw: {
      topic: null,
      timestamp: receivedAt - 9,
      body: data,
      bodyBytes: 102,
      metrics: { snr: 7 },
    },
    times: {
      dataReceived: receivedAt,
      processingStart: receivedAt + 1,
      processingEnd: receivedAt + 2,
    },
    ruleHops: 2,
    rulesSkipped: true,
  },
};

/** The rows have three kinds, two correlation ids, and texts again and again. */
const backfilled: JournalEntry = {
  deviceId,
  receivedAt: receivedAt + 5,
  samples: Array.from({ length: 12 }, (_, i) => ({
    deviceId,
    topic: i % 4 === 0 ? 'climate/indoor' : 'default',
    timestamp: receivedAt - i * 60_000,
    data: i % 3 === 0 ? { level: i / 7, label: `label ${i % 9}` } : { level: i, on: i % 2 === 0 },
    ...(i === 5 && { meta: { why: 'a repeated text', lone: '\ud800' } }),
    ...origin,
    dataFlowId: null,
    correlationId: i < 8 ? 'job-1' : 'job-2',
    stored: i !== 6,
  })),
  notes: [],
};

const noted: JournalEntry = {
  deviceId: 'any text \ud800',
  receivedAt: receivedAt + 6.5,
  samples: [],
  notes: [
    {
      id: 'note-1',
      deviceId,
      timestamp: receivedAt,
      correlationId: origin.correlationId,
      level: 'ERROR',
      source: 'SCRIPT',
      message: 'Malformed sample: it must be an object',
      details: { sample: [1] },
    },
  ],
  state: { count: 3 },
};

export const entriesWithEverything: readonly JournalEntry[] = [captured, backfilled, noted];
