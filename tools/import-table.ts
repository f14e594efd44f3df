// Who may import whom: one row per folder of src. Type-only imports count. Nothing else in the project repeats this table.

const stages = [
  'ingest',
  'decode',
  'validate',
  'aggregate',
  'live',
  'rules',
  'connectors',
  'network-servers',
  'query',
  'inventory',
  'access',
] as const;

/** Folders whose code neither logs nor reads a clock. */
export const stageFolders: readonly string[] = stages;

/** Folder of src -> folders of src it may import besides itself. A folder without a row may not exist. */
export const importTable: Readonly<Record<string, readonly string[]>> = {
  model: [],
  demo: ['model'],
  'file-backfill': ['model'],
  simulate: ['model'],
  telemetry: ['model'],
  contract: ['model'],
  accumulators: ['model'],
  filters: ['model'],
  templates: ['model'],
  egress: ['model'],
  journal: ['model'],
  bus: ['model'],
  scripting: ['model'],
  store: ['model', 'accumulators', 'filters', 'journal'],
  ingest: ['model', 'store'],
  inventory: ['model', 'store', 'filters'],
  access: ['model', 'store'],
  decode: ['model', 'scripting'],
  validate: ['model'],
  aggregate: ['model', 'accumulators', 'store'],
  query: ['model', 'accumulators', 'store'],
  live: ['model', 'contract'],
  rules: ['model', 'scripting', 'store', 'templates'],
  connectors: ['model', 'store', 'templates', 'egress'],
  'network-servers': ['model', 'store', 'egress'],
  flows: ['model', 'telemetry', 'scripting', 'store', 'bus', 'journal', 'egress', ...stages],
  http: ['model', 'telemetry', 'contract', 'store', 'flows', ...stages],
};

/** Files at the root of src; they may import anything. */
export const rootFiles: readonly string[] = [
  'main',
  'compose',
  'compose-access',
  'compose-closing',
  'compose-coap',
  'compose-deliveries',
  'compose-demo',
  'compose-disk',
  'compose-duplicates',
  'compose-figures',
  'compose-house',
  'compose-idempotency',
  'compose-live',
  'compose-output-effects',
  'compose-output-trials',
  'compose-lora',
  'compose-mqtt',
  'compose-parts',
  'compose-raw-uplinks',
  'compose-routes',
  'compose-rules',
  'compose-uplinks',
  'compose-verify',
  'config',
  'start-memory',
  'start-text',
  'verify-text',
  'wrapper-watch',
];

/** Folders that hold implementations of a port; besides tests only compose.ts and compose-verify.ts name them. */
export const implementationFolders: readonly string[] = [
  'store/embedded',
  'store/cluster',
  'bus/in-process',
  'bus/nats',
];
