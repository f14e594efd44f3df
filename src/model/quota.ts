// Quotas: the limits of one organization, device or uplink, one row each with variable, default and message, and counts of temporary resources.
import { problem } from './problem.ts';

// Quota counts: temporary resources that organizations use, such as WebSockets and subscription items.

const retryAfterSeconds = 10;

export class QuotaCount {
  readonly max: number;
  readonly #quotas: Quotas;
  readonly #name: QuotaName;
  readonly #used = new Map<string, number>();

  constructor(quotas: Quotas, name: QuotaName) {
    this.#quotas = quotas;
    this.#name = name;
    this.max = quotas[name];
  }

  readonly usedBy = (organizationId: string): number => this.#used.get(organizationId) ?? 0;

  /**
   * Counts `amount` for the organization; false when that would be more than it may have, and
   * nothing is counted.
   */
  take(organizationId: string, amount: number): boolean {
    const wanted = this.usedBy(organizationId) + amount;
    if (wanted > this.#quotas[this.#name]) return false;
    this.#set(organizationId, wanted);
    return true;
  }

  give(organizationId: string, amount: number): void {
    this.#set(organizationId, this.usedBy(organizationId) - amount);
  }

  /** The refusal that names the limit (429). */
  refusal(): ReturnType<typeof problem> {
    return problem('quotaBusy', { ...quotaDetails(this.#quotas, this.#name), retryAfterSeconds });
  }

  #set(organizationId: string, amount: number): void {
    if (amount === 0) this.#used.delete(organizationId);
    else this.#used.set(organizationId, amount);
  }
}

/** The counts of what is open now. */
export interface OpenCounts {
  readonly webSockets: QuotaCount;
  readonly mqttConnections: QuotaCount;
  readonly subscriptionItems: QuotaCount;
}

export function openCounts(quotas: Quotas): OpenCounts {
  return {
    webSockets: new QuotaCount(quotas, 'webSockets'),
    mqttConnections: new QuotaCount(quotas, 'mqttConnections'),
    subscriptionItems: new QuotaCount(quotas, 'subscriptionItems'),
  };
}

interface QuotaRow {
  /** The environment variable that sets it. */
  readonly variable: string;
  readonly standard: number;
  readonly per: 'organization' | 'device' | 'uplink';
  /** What is counted, as a refusal says it. */
  readonly what: string;
}

export const quotaTable = {
  devices: { variable: 'QUOTA_DEVICES', standard: 1_000_000, per: 'organization', what: 'devices' },
  rules: { variable: 'QUOTA_RULES', standard: 10_000, per: 'organization', what: 'rules' },
  webSockets: {
    variable: 'QUOTA_WEBSOCKETS',
    standard: 2_000,
    per: 'organization',
    what: 'open WebSockets',
  },
  mqttConnections: {
    variable: 'QUOTA_MQTT_CONNECTIONS',
    standard: 20_000,
    per: 'organization',
    what: 'MQTT connections',
  },
  subscriptionItems: {
    variable: 'QUOTA_SUBSCRIPTION_ITEMS',
    standard: 100_000,
    per: 'organization',
    what: 'subscription items',
  },
  runScriptsRunning: {
    variable: 'QUOTA_RUN_SCRIPTS_RUNNING',
    standard: 4,
    per: 'organization',
    what: 'concurrent run-script requests',
  },
  runScriptsWaiting: {
    variable: 'QUOTA_RUN_SCRIPTS_WAITING',
    standard: 1_000,
    per: 'organization',
    what: 'queued run-script requests',
  },
  openAlarms: {
    variable: 'QUOTA_OPEN_ALARMS',
    standard: 100_000,
    per: 'organization',
    what: 'alarms that are not cleared',
  },
  views: { variable: 'QUOTA_VIEWS', standard: 10_000, per: 'organization', what: 'views' },
  stateBytes: {
    variable: 'QUOTA_STATE_BYTES',
    standard: 64 * 1024,
    per: 'device',
    what: 'bytes of state',
  },
  topics: { variable: 'QUOTA_TOPICS', standard: 1_000, per: 'device', what: 'topics' },
  dataKeys: { variable: 'QUOTA_DATA_KEYS', standard: 10_000, per: 'device', what: 'data keys' },
  ruleSamples: {
    variable: 'QUOTA_RULE_SAMPLES',
    standard: 1_000,
    per: 'uplink',
    what: 'samples made by rules',
  },
} as const satisfies Readonly<Record<string, QuotaRow>>;

export type QuotaName = keyof typeof quotaTable;

export const quotaNames = Object.keys(quotaTable) as QuotaName[];

/** The limits in force. */
export type Quotas = Readonly<Record<QuotaName, number>>;

/** The limits that hold where the operator sets none (contract 36). */
export const standardQuotas: Quotas = quotasFrom((_, { standard }) => standard);

/** One limit for each row, made by `limitOf`. */
export function quotasFrom(limitOf: (name: QuotaName, row: QuotaRow) => number): Quotas {
  return Object.fromEntries(
    quotaNames.map((name) => [name, limitOf(name, quotaTable[name])]),
  ) as Record<QuotaName, number>;
}

/** The details of a refusal: `throw problem('quotaReached', quotaDetails(quotas, 'devices'))`. */
export function quotaDetails(
  quotas: Quotas,
  name: QuotaName,
): {
  readonly limitName: QuotaName;
  readonly limitMax: number;
  readonly per: string;
  readonly what: string;
} {
  const { per, what } = quotaTable[name];
  return { limitName: name, limitMax: quotas[name], per, what };
}
