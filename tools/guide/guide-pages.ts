// Guide pages: which documents are pages of the guide, in the order of its contents.

export interface GuidePage {
  /** Path of the document in the repository. */
  readonly source: string;
  /** Last part of its address below /docs/guide; empty for the first page. */
  readonly slug: string;
  /** Its words in the contents. */
  readonly title: string;
}

export interface GuideGroup {
  readonly title: string;
  readonly pages: readonly GuidePage[];
}

export const guideGroups: readonly GuideGroup[] = [
  {
    title: 'Begin',
    pages: [
      { source: 'docs/guide/README.md', slug: '', title: 'Guide' },
      { source: 'docs/guide/start.md', slug: 'start', title: 'Start' },
      { source: 'docs/guide/concepts.md', slug: 'concepts', title: 'Concepts' },
      { source: 'docs/install.md', slug: 'install', title: 'Ways to install' },
      { source: 'docs/guide/moving.md', slug: 'moving', title: 'Moving here' },
    ],
  },
  {
    title: 'Send data',
    pages: [
      { source: 'docs/guide/http.md', slug: 'http', title: 'HTTP' },
      { source: 'docs/guide/mqtt.md', slug: 'mqtt', title: 'MQTT' },
      { source: 'docs/guide/payloads.md', slug: 'payloads', title: 'Payloads' },
      { source: 'docs/devices.md', slug: 'devices', title: 'All transports' },
      { source: 'docs/line-protocol.md', slug: 'line-protocol', title: 'InfluxDB line protocol' },
      { source: 'docs/sparkplug.md', slug: 'sparkplug', title: 'Sparkplug B' },
    ],
  },
  {
    title: 'Use data',
    pages: [
      { source: 'docs/guide/decoders.md', slug: 'decoders', title: 'Decoders' },
      { source: 'docs/guide/formulas.md', slug: 'formulas', title: 'Formulas' },
      { source: 'docs/guide/groups.md', slug: 'groups', title: 'Groups of devices' },
      { source: 'docs/guide/places.md', slug: 'places', title: 'Places' },
      { source: 'docs/guide/rules.md', slug: 'rules', title: 'Rules and templates' },
      { source: 'docs/guide/conditions.md', slug: 'conditions', title: 'Conditions' },
      { source: 'docs/output-connectors.md', slug: 'output-connectors', title: 'Outputs' },
      { source: 'docs/guide/api.md', slug: 'api', title: 'API' },
      { source: 'docs/guide/counters.md', slug: 'counters', title: 'Counters' },
      { source: 'docs/guide/usual.md', slug: 'usual', title: 'What is usual' },
      { source: 'docs/guide/corrections.md', slug: 'corrections', title: 'Corrections' },
      { source: 'docs/guide/why.md', slug: 'why', title: 'Why is there nothing?' },
      { source: 'docs/guide/export.md', slug: 'export', title: 'Export' },
      { source: 'docs/guide/dashboards.md', slug: 'dashboards', title: 'Dashboards' },
      { source: 'docs/guide/documents.md', slug: 'documents', title: 'Dashboards as files' },
      { source: 'docs/guide/map.md', slug: 'map', title: 'Map' },
      { source: 'docs/guide/assistants.md', slug: 'assistants', title: 'Assistants' },
      { source: 'docs/command-line.md', slug: 'command-line', title: 'Command line' },
      { source: 'clients/typescript/README.md', slug: 'typescript', title: 'TypeScript client' },
      { source: 'clients/python/README.md', slug: 'python', title: 'Python client' },
    ],
  },
  {
    title: 'Operate',
    pages: [
      { source: 'docs/operating.md', slug: 'operating', title: 'Operating' },
      { source: 'docs/identity.md', slug: 'identity', title: 'Sign-in' },
      { source: 'docs/guide/security.md', slug: 'security', title: 'Security' },
      { source: 'docs/guide/limits.md', slug: 'limits', title: 'Limits' },
      { source: 'docs/scaling.md', slug: 'scaling', title: 'Scaling' },
      { source: 'docs/measurements.md', slug: 'measurements', title: 'Measurements' },
    ],
  },
  {
    title: 'Reference',
    pages: [
      { source: 'docs/interface/interface.md', slug: 'interface', title: 'Interface' },
      {
        source: 'docs/interface/contract/conventions.md',
        slug: 'conventions',
        title: 'Conventions',
      },
      {
        source: 'docs/interface/contract/organizations.md',
        slug: 'organizations',
        title: 'Organizations',
      },
      { source: 'docs/interface/contract/devices.md', slug: 'device-records', title: 'Devices' },
      { source: 'docs/interface/contract/connectors.md', slug: 'connectors', title: 'Connectors' },
      { source: 'docs/interface/contract/scripts.md', slug: 'scripts', title: 'Scripts' },
      { source: 'docs/interface/contract/data-in.md', slug: 'data-in', title: 'Data in' },
      { source: 'docs/interface/contract/rules.md', slug: 'rule-records', title: 'Rules' },
      { source: 'docs/interface/contract/queries.md', slug: 'queries', title: 'Queries' },
      { source: 'docs/interface/contract/live.md', slug: 'live', title: 'Live stream' },
      { source: 'docs/interface/contract/decisions.md', slug: 'decisions', title: 'Decisions' },
    ],
  },
];

export const guidePages: readonly GuidePage[] = guideGroups.flatMap(({ pages }) => pages);
