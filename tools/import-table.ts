// Allowed imports: one row per folder of src. Type-only imports count. No other file repeats this table.

const stages = [
  'ingest',
  'decode',
  'validate',
  'live',
  'rules',
  'deliveries',
  'network-servers',
  'query',
  'inventory',
  'access',
  'exports',
] as const;

/** Folders whose code neither logs nor reads a clock. */
export const stageFolders: readonly string[] = [...stages, 'connectors'];

/** Folders that keep something on disk or in an engine. */
const stores = ['log', 'samples', 'records', 'raw-uplinks', 'delivery-log', 'data-folder'] as const;

/**
 * Folder of src -> other folders of src that it may import. A folder without a row must not exist.
 */
export const importTable: Readonly<Record<string, readonly string[]>> = {
  model: [],
  structures: [],
  telemetry: ['model', 'structures'],
  summaries: ['model', 'structures'],
  filters: ['model'],
  templates: ['model'],
  egress: ['model', 'structures'],
  connectors: ['model', 'structures', 'templates', 'egress'],
  contract: ['model', 'summaries', 'filters', 'connectors'],
  scripting: ['model', 'structures'],
  log: ['model', 'structures'],
  'data-folder': ['model', 'log'],
  copies: ['model', 'structures', 'log'],
  clickhouse: ['model', 'structures'],
  samples: ['model', 'structures', 'summaries', 'log', 'clickhouse'],
  'raw-uplinks': ['model', 'structures', 'log', 'clickhouse'],
  'delivery-log': ['model', 'structures', 'log'],
  records: ['model', 'structures', 'filters', 'data-folder'],
  leases: ['model', 'structures'],
  nodes: ['model', 'structures'],
  ingest: ['model', 'structures'],
  inventory: ['model', 'structures', 'records', 'samples', 'delivery-log', 'filters', 'connectors'],
  access: ['model', 'structures', 'records'],
  decode: ['model', 'scripting'],
  validate: ['model', 'structures'],
  exports: ['model', 'structures'],
  query: ['model', 'structures', 'summaries', 'samples'],
  live: ['model', 'structures', 'contract'],
  rules: ['model', 'structures', 'scripting', 'records', 'log', 'samples', 'templates'],
  deliveries: ['model', 'structures', 'templates', 'egress', 'connectors', 'delivery-log'],
  'network-servers': ['model', 'structures', 'egress'],
  flows: [
    'model',
    'structures',
    'telemetry',
    'scripting',
    'egress',
    'connectors',
    // Previews of templates render what deliveries will send.
    'templates',
    ...stores,
    ...stages,
  ],
  http: [
    'model',
    'structures',
    'telemetry',
    'contract',
    'raw-uplinks',
    'samples',
    'connectors',
    'nodes',
    'flows',
    ...stages,
  ],
};

/** The folder that connects everything; it may import any file of src. */
export const compositionFolder = 'composition';

/** Files at the root of src; they may import anything. */
export const rootFiles: readonly string[] = [
  'main',
  'migration-report',
  'config',
  'config-provider',
  'cluster-settings',
  'config-values',
  'start-memory',
  'start-message',
  'verify-report',
  'wrapper-watch',
];

/** Folders that implement a port. Only the composition and tests name them. */
export const implementationFolders: readonly string[] = [
  'samples/embedded',
  'samples/clickhouse',
  'records/sqlite',
  'records/postgres',
  'raw-uplinks/embedded',
  'raw-uplinks/clickhouse',
  'leases/postgres',
  'nodes/http',
];
