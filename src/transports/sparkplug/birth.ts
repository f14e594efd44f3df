// Birth: the metrics that an edge node or a device announced, by name and by alias, with their data keys.
import { isLongName } from '../../model/ids.ts';
import { InvalidPayload, type Metric, type PropertySet } from './sparkplug-payload.ts';
import { sparkplugLimits } from './sparkplug-limits.ts';

/** A metric as its birth announced it. */
export interface BornMetric {
  readonly name: string;
  /** Undefined without an alias: then its messages name it. */
  readonly alias: number | bigint | undefined;
  /** Key of its values in samples; undefined for other metrics, such as `Node Control/Rebirth`. */
  readonly key: string | undefined;
  readonly dataType: number;
  readonly unit: string | undefined;
}

export interface Birth {
  readonly byName: ReadonlyMap<string, BornMetric>;
  readonly byAlias: ReadonlyMap<number | bigint, BornMetric>;
  /** Of memory, roughly. */
  readonly bytes: number;
}

const metricBytes = 200;

/** Faults are names that are used twice. Throws InvalidPayload beyond the limits. */
export function birthOf(metrics: readonly Metric[], fault: (fault: string) => void): Birth {
  const byName = new Map<string, BornMetric>();
  const byAlias = new Map<number | bigint, BornMetric>();
  const keyOf = createKeys(fault);
  let bytes = 0;

  function add(name: string, metric: Metric): void {
    // Its reading says so.
    if (isLongName(name)) return;
    const known = byName.get(name);
    if (known !== undefined) fault(`duplicate metric ${JSON.stringify(name)} in the birth`);
    const { alias, datatype = 0 } = metric;
    const key = known?.key ?? (isData(name) ? keyOf(name) : undefined);
    const born = { name, alias, key, dataType: datatype, unit: unitOf(metric.properties) };
    byName.set(name, born);
    bytes += metricBytes + 2 * name.length;
    if (byName.size > sparkplugLimits.metricsPerNodeMax)
      throw new InvalidPayload(
        `the birth has more than ${sparkplugLimits.metricsPerNodeMax} metrics`,
      );
    if (alias === undefined) return;
    if (byAlias.has(alias)) fault(`duplicate alias ${alias} in the birth`);
    byAlias.set(alias, born);
  }

  function addMembers(name: string, { value }: Metric): void {
    if (typeof value !== 'object' || !('metrics' in value) || value.isDefinition) return;
    for (const member of value.metrics) {
      const path = memberName(name, member);
      add(path, member);
      addMembers(path, member);
    }
  }

  for (const metric of metrics) {
    const { name } = metric;
    if (name === undefined || name === '') {
      fault('the birth has a metric without a name');
      continue;
    }
    add(name, metric);
    addMembers(name, metric);
  }
  return { byName, byAlias, bytes };
}

/** A name that is too long gets no longer with each level. */
export function memberName(name: string, { name: own = '' }: Metric): string {
  return isLongName(name) ? name : `${name}/${own}`;
}

/** Commands to the node and the session number are not measurements. */
export function isData(name: string): boolean {
  return name !== 'bdSeq' && !/^(?:Node|Device) Control\//.test(name);
}

/** Gives each name a key; one that another name has already gets a number. */
function createKeys(fault: (fault: string) => void): (name: string) => string {
  const taken = new Set<string>();
  // The last number of each key, so that many equal keys are found without trying all numbers.
  const numbers = new Map<string, number>();
  return (name) => {
    const wanted = dataKeyOf(name);
    let key = wanted;
    for (let number = numbers.get(wanted) ?? 1; taken.has(key); key = `${wanted}_${number}`)
      numbers.set(wanted, ++number);
    taken.add(key);
    if (key !== wanted) fault(`the metric ${JSON.stringify(name)} is stored as ${key}`);
    return key;
  };
}

/** `Temp/Oil` is `Temp.Oil`; what no data key has becomes an underscore. */
export function dataKeyOf(name: string): string {
  const parts = name
    .split('/')
    .map((part) =>
      part
        .replaceAll(/[^A-Za-z0-9]+/g, (run) => (/^[._-]$/.test(run) ? run : '_'))
        .replaceAll(/^[._-]+|[._-]+$/g, ''),
    );
  return parts.filter((part) => part !== '').join('.') || 'value';
}

/** The property that Ignition and others write. */
function unitOf(properties: PropertySet | undefined): string | undefined {
  const at = properties?.keys.findIndex((key) => /^engUnit$/i.test(key)) ?? -1;
  const value = properties?.values[at]?.value;
  return typeof value === 'string' && value !== '' ? value : undefined;
}
