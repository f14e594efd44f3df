// Allowed imports: one row per folder of src. Type-only imports count. No other file repeats this table.

/** Folders whose code neither logs nor reads a clock. */
export const stageFolders: readonly string[] = [
  'transports',
  'transports/network-servers',
  'uplinks/decode',
  'uplinks/validate',
  'query',
  'query/exports',
  'rules/evaluation',
  'outputs/deliveries/attempts',
  'live/sessions',
  'outputs/connectors',
  'inventory',
  'access',
];

/** What every folder may import. */
const base = ['model', 'structures'];
/** The stores as their users see them. */
const stores = [
  'storage/log',
  'storage/samples',
  'storage/records',
  'storage/raw-uplinks',
  'storage/delivery-log',
  'storage/data-folder',
];
/** Areas that work on records and samples, each with its workers; a file of one may name types of another. */
const areas = [
  'uplinks',
  'rules',
  'outputs/deliveries',
  'reports',
  'downlinks',
  'live',
  'operations',
];

/**
 * Folder of src -> other folders of src that it may import. A folder within another one has a row
 * of its own only where it may import others, and the outer folder may import it, unless browsers
 * run the outer one. A folder of src without a row must not exist.
 */
export const importTable: Readonly<Record<string, readonly string[]>> = {
  model: [],
  structures: [],
  telemetry: base,
  scripting: base,
  'storage/log': base,
  'storage/data-folder': ['model', 'storage/log'],
  'storage/clickhouse': base,
  'storage/samples': [...base, 'query/summaries', 'storage/log', 'storage/clickhouse'],
  'storage/maps': base,
  'storage/block-log': ['storage/log'],
  'storage/raw-uplinks': [...base, 'storage/log', 'storage/block-log', 'storage/clickhouse'],
  'storage/delivery-log': [...base, 'storage/log', 'storage/block-log'],
  'storage/records': [...base, 'query/filters', 'storage/data-folder'],
  'outputs/templates': ['model'],
  'outputs/egress': base,
  'outputs/connectors': [...base, 'outputs/templates', 'outputs/egress'],
  'query/summaries': base,
  'query/filters': ['model'],
  'query/expressions': ['model'],
  'query/exports': [...base, 'storage/log', 'storage/samples'],
  query: [...base, 'storage/samples'],
  // Types of the contract only: browsers run what is here.
  dashboards: ['model', 'contract'],
  'dashboards/documents': [...base, 'dashboards'],
  contract: ['model', 'query/summaries', 'query/filters', 'outputs/connectors'],
  transports: base,
  'transports/network-servers': [...base, 'outputs/egress'],
  'uplinks/decode': ['model', 'scripting'],
  'uplinks/validate': base,
  'rules/evaluation': [
    ...base,
    'query/expressions',
    'query/summaries',
    'scripting',
    'storage/records',
    'storage/log',
    'storage/samples',
    'outputs/templates',
  ],
  'outputs/deliveries/attempts': [
    ...base,
    'outputs/templates',
    'outputs/egress',
    'outputs/connectors',
    'storage/delivery-log',
  ],
  'live/sessions': [...base, 'contract'],
  inventory: [
    'contract',
    'query/expressions',
    ...base,
    'storage/records',
    'storage/samples',
    'storage/delivery-log',
    'query/filters',
    'query/summaries',
    'outputs/connectors',
  ],
  access: [...base, 'storage/records'],
  uplinks: [
    ...base,
    'query/expressions',
    'query/summaries',
    ...stores,
    'telemetry',
    'scripting',
    'transports',
    'inventory',
    'access',
    'outputs/connectors',
    // Entries are accepted for devices that this node owns.
    'cluster',
    'live',
    'rules',
    'downlinks',
  ],
  rules: [...base, ...stores, 'scripting', 'inventory', 'outputs/templates', 'uplinks'],
  'rules/alarms': [...base, 'storage/records', 'inventory', 'rules/evaluation'],
  'rules/calculations': [
    ...base,
    'query/expressions',
    'query',
    'storage/samples',
    'storage/records',
    'inventory',
  ],
  'outputs/deliveries': [
    ...base,
    ...stores,
    'telemetry',
    'inventory',
    'access',
    'outputs',
    'uplinks',
  ],
  reports: [...base, 'storage/records', 'inventory', 'dashboards/documents', 'outputs/deliveries'],
  downlinks: [...base, 'inventory', 'outputs', 'transports', 'uplinks'],
  live: [
    ...base,
    ...stores,
    'inventory',
    'access',
    'rules/evaluation',
    'outputs/deliveries/attempts',
    'uplinks',
    'rules/alarms',
    'cluster',
  ],
  operations: [...base, ...stores, 'telemetry', 'inventory', 'query/exports'],
  'cluster/leases': base,
  'cluster/nodes': base,
  'cluster/replication': [...base, 'storage/log'],
  cluster: [...base, ...stores, 'telemetry', 'inventory', 'transports', ...areas],
  http: [
    ...base,
    'telemetry',
    'contract',
    'query/expressions',
    'storage/raw-uplinks',
    'storage/samples',
    'storage/maps',
    'outputs/connectors',
    'cluster/nodes',
    'scripting',
    'transports',
    'query',
    'dashboards',
    'inventory',
    'access',
    ...areas,
  ],
  'app/config': [...base, 'cluster/nodes'],
};

/** Folder of console/src -> other folders of it that it may import. Every folder has a row. */
export const consoleImportTable: Readonly<Record<string, readonly string[]>> = {
  words: [],
  api: ['words'],
  session: ['words', 'api'],
  ui: ['words', 'api', 'session'],
  charts: ['words', 'ui'],
  map: ['words', 'api', 'ui'],
  plan: ['words', 'ui'],
  // A screen may use the parts of another screen; imports of files never form a ring.
  screens: ['words', 'api', 'session', 'ui', 'charts', 'map', 'plan'],
  // Router, shell and palette load the screens.
  app: ['words', 'api', 'session', 'ui', 'charts', 'map', 'screens'],
};

/** Folders of src whose data the console bundles, without those within them that have a row. */
export const consoleSources: readonly string[] = [
  'model',
  'structures',
  'dashboards',
  'transports/network-servers',
];

/** The folder that connects everything, with the settings and the commands of the operator; it may import any file of src. */
export const compositionFolders: readonly string[] = ['app'];

/** Files at the root of src. */
export const rootFiles: readonly string[] = ['main'];

/** Folders that implement a port. Only the composition and tests name them. */
export const implementationFolders: readonly string[] = [
  'storage/samples/embedded',
  'storage/samples/clickhouse',
  'storage/records/sqlite',
  'storage/records/postgres',
  'storage/raw-uplinks/embedded',
  'storage/raw-uplinks/clickhouse',
  'cluster/leases/postgres',
  'cluster/nodes/http',
];
