// Health of data flows in words: how many devices they have and when the last sample arrived.
import { Ago } from '../../ui/ago.tsx';
import { Dot, type DotTone } from '../../ui/chip.tsx';
import { useFormats, useWords } from '../../words/language.tsx';
import type { FlowItem } from './flow-requests.ts';
import styles from './flows.module.css';
import { flowsWords } from './flows-words.ts';

export interface Health {
  readonly deviceCount: number;
  readonly lastSampleAt: string | null;
}

/** Null without the permission to read devices. */
export function FlowHealth({ health }: { readonly health: Health | null }) {
  const words = useWords(flowsWords);
  const { count } = useFormats();
  if (health === null) return <span className="faint">{words.notShown}</span>;
  const { deviceCount, lastSampleAt } = health;
  return (
    <span className={styles['health']}>
      <Dot tone={toneOf(health)} />
      {deviceCount === 0 ? (
        words.noDevices
      ) : (
        <span>
          {words.devices(count(deviceCount), deviceCount)},{' '}
          {lastSampleAt === null ? (
            words.silent
          ) : (
            <>
              {words.last} <Ago at={lastSampleAt} />
            </>
          )}
        </span>
      )}
    </span>
  );
}

function toneOf({ deviceCount, lastSampleAt }: Health): DotTone {
  if (deviceCount === 0) return 'off';
  return lastSampleAt === null ? 'warn' : 'ok';
}

/** Of several flows together; null when one of them is not shown. */
export function healthOfAll(flows: readonly Pick<FlowItem, 'health'>[]): Health | null {
  let deviceCount = 0;
  let lastSampleAt: string | null = null;
  for (const { health } of flows) {
    if (health === null || health === undefined) return null;
    deviceCount += health.deviceCount;
    if (health.lastSampleAt !== null && health.lastSampleAt > (lastSampleAt ?? ''))
      ({ lastSampleAt } = health);
  }
  return { deviceCount, lastSampleAt };
}
